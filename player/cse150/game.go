package cse150

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/player"
)

// lastSecond is what a player has, beyond its limit, to come to an end.
const lastSecond = time.Second

// patience is how long the game waits for a player that does not notice that its time is
// over: then it goes on without it.
const patience = 2 * time.Second

// A Game is the course's run_game: two players, of whom the first is row 0.
type Game struct {
	Players [2]Player
	Timeout time.Duration // of a move, to which comes a last second; 0: none
	Out     io.Writer     // what run_game prints
	Rand    *rand.Rand    // chooses for whoever is late
}

// Play plays from a state to the end, which it returns. Before each move it prints the
// state and an empty line, then the move; at the end the state and who has won. Whoever
// has no move a second after the timeout gets one at random, and the game says so. The
// error is of ctx, player.ErrLeft of a human who ends it, or of a player that has no
// move, or one that is none: that ends the game, as in the course.
func (g *Game) Play(ctx context.Context, s State) (State, error) {
	for !s.Ended() {
		if _, err := fmt.Fprintf(g.Out, "%s\n\n", s.Repr()); err != nil {
			return s, err
		}
		p := g.Players[s.row]
		a, err := g.ask(ctx, p, s)
		switch {
		case ctx.Err() != nil:
			return s, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTime):
			fmt.Fprintln(g.Out, "Time is up and no valid move was returned, playing a random move.")
			a, err = anyOf(g.Rand, s), nil
		case err == nil:
			err = s.Check(a)
		}
		if err != nil {
			return s, fmt.Errorf("%s (%d): %w", p.Name(), s.row, err)
		}
		if _, err := fmt.Fprintln(g.Out, a); err != nil {
			return s, err
		}
		s = s.Result(a)
	}
	end := "Draw!"
	for row, p := range g.Players {
		if s.Utility(row) > 0 {
			end = fmt.Sprintf("%s (%d) won!", p.Name(), row)
		}
	}
	_, err := fmt.Fprintf(g.Out, "%s\n%s\n", s.Repr(), end)
	return s, err
}

// ask has a player choose. The error of one that is late is context.DeadlineExceeded.
func (g *Game) ask(parent context.Context, p Player, s State) (Action, error) {
	if g.Timeout == 0 {
		return p.Move(parent, s, 0)
	}
	ctx, cancel := context.WithTimeout(parent, g.Timeout+lastSecond)
	defer cancel()
	type answer struct {
		action Action
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		a, err := p.Move(ctx, s, g.Timeout)
		answered <- answer{a, err}
	}()
	select {
	case a := <-answered:
		return a.action, a.err
	case <-ctx.Done():
	}
	// It may be asked again only when it has come back.
	select {
	case <-answered:
		return Action{}, context.Cause(ctx)
	case <-time.After(patience):
		return Action{}, errors.New("it does not come back")
	}
}

// A Guest is any player of package player that sits at the course's table.
type Guest struct {
	name   string
	game   game.Game
	start  func(context.Context) (player.Player, error)
	player player.Player // nil: it has to be started
	played *player.History
}

// NewGuest makes a Guest of a name, for games of Mancala that begin where g does; start
// starts the player.
func NewGuest(name string, g game.Game, start func(context.Context) (player.Player, error)) *Guest {
	return &Guest{name: name, game: g, start: start}
}

// Start starts the player, if it is not there. Move does it too, after it has failed: then
// it takes of the time of the move.
func (p *Guest) Start(ctx context.Context) error {
	if p.player != nil {
		return nil
	}
	started, err := p.start(ctx)
	if err == nil {
		p.player = started
	}
	return err
}

// Name is the name that it was given.
func (p *Guest) Name() string { return p.name }

// Move is the move that the player makes, after the others of the game have been shown to
// it.
func (p *Guest) Move(ctx context.Context, s State, limit time.Duration) (a Action, err error) {
	if err := p.follow(s); err != nil {
		return a, err
	}
	if err := p.Start(ctx); err != nil {
		return a, err
	}
	name, err := p.player.Move(ctx, p.played.Clone(), limit)
	if err != nil {
		p.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return a, err
	}
	if err := p.played.Play(name); err != nil {
		return a, err
	}
	if pit, err := strconv.Atoi(name); err == nil {
		return Action{s.row, pit}, nil
	}
	return s.None(), nil
}

// follow finds out what has been played since the player was asked last: a game from its
// start; or the opponent's move, before which there may be one that was made for the
// player, as it was late.
func (p *Guest) follow(s State) error {
	want, err := p.game.Parse(fmt.Sprintf("State(%s, %d)", s, s.row))
	if err != nil {
		return err
	}
	if p.played == nil || p.game.Start() == want {
		p.played = player.NewHistory(p.game)
	}
	for _, m := range append(p.played.Moves(), game.Move{To: p.played.Position()}) {
		h := p.played.Clone()
		if m.Name != "" {
			if err := h.Play(m.Name); err != nil {
				return err
			}
		}
		for _, m := range h.Moves() {
			if m.To == want {
				if err := h.Play(m.Name); err != nil {
					return err
				}
				break
			}
		}
		if h.Position() == want {
			p.played = h
			return nil
		}
	}
	return fmt.Errorf("%s does not follow from what it has seen", s)
}

// Close ends the player.
func (p *Guest) Close() error {
	if p.player == nil {
		return nil
	}
	err := p.player.Close()
	p.player = nil
	return err
}
