package cse150

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// lastSecond is the additional time that a player has after its limit.
const lastSecond = time.Second

// A Game is the course's run_game: two players, the first of whom is row 0.
type Game struct {
	Players [2]referee.Entrant // their limits are ignored
	Timeout time.Duration      // of a move, plus lastSecond; 0: none
	Out     io.Writer          // what run_game prints
	Rand    *rand.Rand         // chooses the moves of late players
}

// Play plays a game of Mancala. Before each move it prints the state and an empty line,
// then the move; at the end the state and the winner. If a player has no move a second
// after the timeout, Play prints that and makes a random move for it. The error is that of
// ctx; player.ErrLeft if a human ends the game; or that of a player that returns no move or
// an illegal one, which ends the game, as in the course.
func (g *Game) Play(ctx context.Context, board game.Game) error {
	var seats [2]referee.Seat
	for row, e := range g.Players {
		p, err := e.New(ctx)
		if err != nil {
			return err
		}
		s := &seat{game: g, restart: e.New, player: p}
		defer s.Close()
		seats[row] = referee.Seat{Name: e.Name, Player: s}
	}
	played, err := referee.Rules{Watch: g.print}.Play(ctx, board, seats, nil)
	if err != nil {
		return err
	}
	end := "Draw!"
	for row, e := range g.Players {
		switch {
		case played.Outcome == game.WinFor(game.Player(row)):
			end = fmt.Sprintf("%s (%d) won!", e.Name, row)
		case played.Fault():
			return fmt.Errorf("%s (%d): %s", e.Name, row, played.Detail())
		}
	}
	_, err = fmt.Fprintln(g.Out, end)
	return err
}

// print prints the last move and the state.
func (g *Game) print(p referee.Played) {
	h := p.History
	if n := len(h.Names()); n > 0 {
		fmt.Fprintln(g.Out, ActionText(h.Mover(n-1), h.Names()[n-1]))
	}
	fmt.Fprintln(g.Out, Repr(h.Game(), h.Position()))
	if _, over := h.Finished(); !over {
		fmt.Fprintln(g.Out)
	}
}

// A seat is a player with the course's timeout.
type seat struct {
	game    *Game
	restart func(context.Context) (player.Player, error)
	player  player.Player // nil: it has failed, and must be started again
}

// Move returns the player's move, or a random move if it is late.
func (s *seat) Move(ctx context.Context, h *player.History, _ time.Duration) (string, error) {
	limited := ctx
	if s.game.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, s.game.Timeout+lastSecond)
		defer cancel()
	}
	name, err := s.ask(limited, h)
	if limited.Err() != nil && ctx.Err() == nil {
		fmt.Fprintln(s.game.Out, "Time is up and no valid move was returned, playing a random move.")
		moves := h.Moves()
		return moves[s.game.Rand.IntN(len(moves))].Name, nil
	}
	return name, err
}

// ask asks the player for a move, and closes it if it fails.
func (s *seat) ask(ctx context.Context, h *player.History) (name string, err error) {
	if s.player == nil {
		if s.player, err = s.restart(ctx); err != nil {
			s.player = nil
			return "", err
		}
	}
	if name, err = s.player.Move(ctx, h, s.game.Timeout); err != nil {
		s.Close()
	}
	return name, err
}

// Close closes the player.
func (s *seat) Close() error {
	p := s.player
	if s.player = nil; p == nil {
		return nil
	}
	return p.Close()
}
