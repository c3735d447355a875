// Package referee has players play by the rules, and trusts none of them: it checks every
// move, keeps the time, and whoever breaks a rule, breaks down or is late has lost that
// play, and the next one begins. It makes matches and tournaments of single plays, rates
// the players, and writes and reads files of what was played. It knows nothing of how
// anybody chooses his moves.
package referee

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/player"
)

// DefaultGrace is what a move may take beyond its limit. The referee measures from
// outside, where a pipe and a busy machine take their time too: that is not the player's.
const DefaultGrace = 100 * time.Millisecond

// patience is how long the referee waits for a player whose time is over: then it goes on
// without him.
const patience = 2 * time.Second

// A Reason is why a play has ended.
type Reason uint8

// The reasons: by the rules of the game, by one of the players, by the game's
// game.DrawRule.
const (
	Finished  Reason = iota // the rules say so
	Resigned                // who was to move gave up
	Illegal                 // he made a move that is none
	Failed                  // he could make none: crashed, broke the protocol
	Late                    // he took too long
	Repeated                // a draw: a position has come too often
	Endless                 // a draw: too many plies
	Adjourned               // it has not ended: whoever reads it may go on
)

// reasons are the words for them.
var reasons = [...]string{"finished", "resigned", "illegal", "failed", "late", "repetition", "plies", "adjourned"}

// String is the word that stands in files: finished, resigned, illegal, failed, late,
// repetition, plies or adjourned.
func (r Reason) String() string { return reasons[r] }

// A Seat is a player at the table.
type Seat struct {
	Name   string
	Player player.Player
	Limit  time.Duration // of each move; 0: none
}

// Rules are what a play goes by besides the rules of the game.
type Rules struct {
	Grace time.Duration         // beyond the limit of a move, see DefaultGrace
	Watch func(*player.History) // is told the start and what each move leads to; may be nil
}

// Played is a game that has been played to its end.
type Played struct {
	Game    string    // its spec
	Players [2]string // the names of who played First and Second
	Opening int       // so many of the moves were given, the others chosen
	Moves   []string  // their names
	// Outcome is FirstWins, SecondWins or, by the rules, Tie; Undecided is a draw, or of a
	// play that is Adjourned.
	Outcome game.Outcome
	Reason  Reason
	Detail  string // of who has lost by a fault: what it was, and where; one line

	Times []time.Duration // of the moves that were chosen; not in files

	abandoned [2]bool // who was asked and has not come back
}

// Fault reports whether the play ended by the fault of who lost it.
func (p Played) Fault() bool { return p.Reason == Illegal || p.Reason == Failed || p.Reason == Late }

// Dismiss closes the player of a side if he has lost by a fault, and reports whether he must
// be made anew. Who was asked and has not come back is not even closed.
func (p Played) Dismiss(side game.Player, who player.Player) bool {
	if p.abandoned[side] {
		return true
	}
	if !p.Fault() || p.Outcome != game.WinFor(side.Other()) {
		return false
	}
	who.Close()
	return true
}

// Seconds are the times of the moves that were chosen.
func (p Played) Seconds() []float64 {
	all := make([]float64, len(p.Times))
	for i, took := range p.Times {
		all[i] = took.Seconds()
	}
	return all
}

// Text is how the play ended, in words.
func (p Played) Text() string {
	text, reason := "tie", fmt.Sprintf(" (%s)", p.Reason)
	switch {
	case p.Reason == Adjourned:
		text = reasons[Adjourned]
	case p.Outcome == game.Undecided:
		text = "draw" + reason
	case p.Outcome != game.Tie:
		text = p.Players[game.FirstWins-p.Outcome] + " wins"
		if p.Reason != Finished {
			text += reason
		}
	}
	s := "s"
	if len(p.Moves) == 1 {
		s = ""
	}
	text += fmt.Sprintf(" after %d move%s", len(p.Moves), s)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// Ended reports whether play has ended where h stands, by the rules of the game or by
// its game.DrawRule.
func Ended(h *player.History, rule game.DrawRule) (game.Outcome, Reason, bool) {
	if outcome, ok := h.Finished(); ok {
		return outcome, Finished, true
	}
	switch {
	case rule.Repetitions > 0 && h.Times() >= rule.Repetitions:
		return game.Undecided, Repeated, true
	case rule.Plies > 0 && len(h.Names()) >= rule.Plies:
		return game.Undecided, Endless, true
	}
	return game.Undecided, 0, false
}

// Play has two players, First before Second, play a game from where an opening has led.
// The error is that of ctx, or player.ErrLeft, or the opening's: nothing is decided then.
func (r Rules) Play(ctx context.Context, g game.Game, seats [2]Seat, opening []string) (Played, error) {
	p := Played{Game: g.Spec(), Players: [2]string{seats[0].Name, seats[1].Name}, Opening: len(opening)}
	h := player.NewHistory(g)
	for i, name := range opening {
		if err := h.Play(name); err != nil {
			return p, fmt.Errorf("opening: move %d: %w", i+1, err)
		}
	}
	watch := func() {
		if r.Watch != nil {
			r.Watch(h.Clone())
		}
	}
	watch()
	for rule, over := game.DrawRuleOf(g), false; ; {
		if p.Outcome, p.Reason, over = Ended(h, rule); over {
			break
		}
		seat := seats[h.Turn()]
		name, took, err := r.ask(ctx, seat, h.Clone())
		p.abandoned[h.Turn()] = errors.Is(err, errAbandoned)
		switch {
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case errors.Is(err, player.ErrLeft):
			return p, err
		}
		limit := seat.Limit + r.Grace
		switch {
		case seat.Limit > 0 && took > limit && !failed(err):
			p.Reason = Late
			err = fmt.Errorf("it took %v, the limit is %v", took.Round(time.Millisecond), seat.Limit)
		case errors.Is(err, player.ErrResigned):
			p.Reason, err = Resigned, nil
		case err != nil:
			p.Reason = Failed
		default:
			p.Reason = Illegal
			if err = h.Play(name); err == nil {
				p.Moves, p.Times = h.Names(), append(p.Times, took)
				watch()
				continue
			}
		}
		p.Outcome = game.WinFor(h.Turn().Other())
		if err != nil {
			p.Detail = brief(fmt.Sprintf("move %d, %s at %q: %v", len(h.Names())+1, player.Side(h.Turn()), g.AppendText(nil, h.Position()), err))
		}
		break
	}
	p.Moves = h.Names()
	return p, nil
}

// ask has a player choose. Whatever it does, the referee goes on soon after the limit,
// and soon after ctx has ended.
func (r Rules) ask(parent context.Context, seat Seat, h *player.History) (name string, took time.Duration, err error) {
	type answer struct {
		name string
		took time.Duration
		err  error
	}
	begun := time.Now()
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	if seat.Limit > 0 {
		ctx, cancel = context.WithTimeout(parent, seat.Limit+r.Grace)
		defer cancel()
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if cause := recover(); cause != nil {
				a.err = fmt.Errorf("panic: %v", cause)
			}
			a.took = time.Since(begun)
			answered <- a
		}()
		a.name, a.err = seat.Player.Move(ctx, h, seat.Limit)
	}()
	select {
	case a := <-answered:
		return a.name, a.took, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answered:
		return a.name, a.took, a.err
	case <-time.After(patience):
		return "", time.Since(begun), errAbandoned
	}
}

// errAbandoned is of a player that does not come back: nothing more can be asked of it,
// not even to close.
var errAbandoned = errors.New("it does not come back")

// failed reports whether an error is neither a resignation nor of the time.
func failed(err error) bool {
	return err != nil && !errors.Is(err, player.ErrResigned) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errAbandoned)
}

// maxDetail is how much of a fault is told: the rest is the program's, and may be a megabyte.
const maxDetail = 1000

// brief is oneLine of the beginning of a text.
func brief(text string) string {
	if text = oneLine(text); len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "…"
	}
	return text
}

// oneLine puts a text on one line.
func oneLine(text string) string {
	return cmp.Or(strings.Join(strings.FieldsFunc(text, unicode.IsControl), " "), "-")
}
