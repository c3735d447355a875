// Package referee lets players play against each other by the rules, and trusts none of
// them. It checks every move and keeps the time. A player that breaks a rule, fails or is
// late loses that play, and the next one begins. The package runs matches and tournaments,
// rates the players, and writes and reads files of played games. It does not know how
// players choose their moves.
package referee

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/player"
)

// DefaultGrace is the time that a move may take beyond its limit: the referee measures from outside, so
// its measurement includes delays of the machine for which the player is not responsible.
const DefaultGrace = 500 * time.Millisecond

// patience is how long the referee waits for a player whose time is over before it goes on
// without an answer.
const patience = 2 * time.Second

// A Reason is why a play has ended.
type Reason uint8

// The reasons: the rules of the game, a player, or the game's game.DrawRule.
const (
	Finished  Reason = iota // by the rules of the game
	Resigned                // the player to move resigned
	Illegal                 // the player to move made an illegal move
	Failed                  // the player to move made no move: it crashed, or broke the protocol
	Late                    // the player to move took too long
	Repeated                // a draw: a position was repeated too often
	Endless                 // a draw: too many plies
	Adjourned               // not ended: the play may be continued
)

// reasons are the words for the reasons.
var reasons = [...]string{"finished", "resigned", "illegal", "failed", "late", "repetition", "plies", "adjourned"}

// String returns the word used in files: finished, resigned, illegal, failed, late,
// repetition, plies or adjourned.
func (r Reason) String() string { return reasons[r] }

// A Seat is a player in a play.
type Seat struct {
	Name   string
	Player player.Player
	Limit  time.Duration // of each move; 0: no limit
}

// Rules are the conditions of a play in addition to the rules of the game.
type Rules struct {
	Grace time.Duration // beyond the limit of a move, see DefaultGrace
	Watch func(Played)  // receives the play at the start and after each move; may be nil
}

// Played is a game that was played.
type Played struct {
	History *player.History // the game and its moves
	Players [2]string       // the names of the players First and Second
	Opening int             // the number of moves at the beginning that were given, not chosen
	// Outcome is FirstWins, SecondWins or, by the rules, Tie. Undecided is a draw, or that
	// of an Adjourned play.
	Outcome game.Outcome
	Reason  Reason
	// The fault of the loser, each in one line. The Place is where it happened, Did is what the loser did if Reason
	// does not say all, in words that follow the name, and Message is what the player or the referee reported.
	Place, Did, Message string

	Times []time.Duration // of the chosen moves, and of a move that was late

	abandoned [2]bool // the player has not returned from Move
}

// Fault reports whether the play ended by a fault of the loser.
func (p Played) Fault() bool { return p.Reason == Illegal || p.Reason == Failed || p.Reason == Late }

// Dismiss closes the player of a side if it has lost by a fault, and reports whether the
// player must be replaced by a new one. A player that has not returned from Move is not
// closed.
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

// Text describes in words how the play of a game with these values ended.
func (p Played) Text(vs game.Values) string {
	text, reason := "tie", fmt.Sprintf(" (%s)", p.Reason)
	switch {
	case vs.Puzzle && p.Outcome == game.Tie:
		text = vs.Word(game.Tie)
	case p.Reason == Adjourned:
		text = reasons[Adjourned]
	case p.Outcome == game.Undecided:
		text = "draw" + reason
	case p.Outcome != game.Tie:
		text = p.Players[p.Outcome.Winner()] + " wins"
		if p.Reason != Finished {
			text += reason
		}
	}
	text += " after " + numfmt.Count(len(p.History.Names()), "move")
	if detail := p.Detail(); detail != "" {
		text += ": " + detail
	}
	return text
}

// Detail describes the loser's fault and where it happened, in one line; "" without one.
func (p Played) Detail() string {
	if p.Place == "" {
		return p.Message
	}
	return p.Place + ": " + p.Message
}

// placeOf returns the Place of a fault at the last position of h.
func placeOf(h *player.History) string {
	return fmt.Sprintf("move %d, %s at %q", len(h.Names())+1, player.Side(h.Turn()), h.Game().AppendText(nil, h.Position()))
}

// didOf returns the Did of a player whose fault is err. If it has chosen a move, which is not legal, name is that move.
func didOf(err error, name string, chosen bool) string {
	if !chosen {
		if failure := new(player.Failure); errors.As(err, &failure) && !errors.Is(err, player.ErrIllegal) {
			return failure.Did
		}
		return ""
	}
	if quoted := player.Quoted(name); name == "" || quoted != `"`+name+`"` || strings.Contains(name, " ") {
		name = quoted
	}
	return fmt.Sprintf("played %s, which is not a legal move,", name)
}

// Explain describes a fault as a sentence for people: "cheat played 3, which is not a legal move, on
// move 13; alice wins".
func (p Played) Explain() string {
	winner := p.Outcome.Winner()
	did := cmp.Or(p.Did, map[Reason]string{Illegal: "chose a move that is not legal", Failed: "failed", Late: "took too long"}[p.Reason])
	return fmt.Sprintf("%s %s on move %d; %s wins", p.Players[winner.Other()], did, len(p.History.Names())+1, p.Players[winner])
}

// Ended reports whether play has ended at the last position of h, by the rules of the game
// or by its game.DrawRule.
func Ended(h *player.History) (game.Outcome, Reason, bool) {
	if outcome, ok := h.Finished(); ok {
		return outcome, Finished, true
	}
	switch rule := game.DrawRuleOf(h.Game()); {
	case rule.Repetitions > 0 && h.Times() >= rule.Repetitions:
		return game.Undecided, Repeated, true
	case rule.Plies > 0 && len(h.Names()) >= rule.Plies:
		return game.Undecided, Endless, true
	}
	return game.Undecided, 0, false
}

// PlayAtRandom makes random moves until the play has ended or has that many moves, and reports whether it has ended.
func PlayAtRandom(h *player.History, random *rand.Rand, moves int) bool {
	for {
		if _, _, over := Ended(h); over || len(h.Names()) >= moves {
			return over
		}
		legal := h.Moves()
		if h.Play(legal[random.IntN(len(legal))].Name) != nil {
			return true // cannot happen: the move is legal
		}
	}
}

// Play lets two players, First and Second, play a game after the moves of an opening. A player
// that can only pass is not asked. Its error is the cause of ctx's end, player.ErrLeft, or an error in
// the opening; then nothing is decided.
func (r Rules) Play(ctx context.Context, g game.Game, seats [2]Seat, opening []string) (Played, error) {
	h := player.NewHistory(g)
	p := Played{History: h, Players: [2]string{seats[0].Name, seats[1].Name}, Opening: len(opening)}
	for i, name := range opening {
		if err := h.Play(name); err != nil {
			return p, fmt.Errorf("opening: move %d: %w", i+1, err)
		}
	}
	watch := func() {
		if r.Watch != nil {
			now := p
			now.History = h.Clone()
			r.Watch(now)
		}
	}
	watch()
	for over := false; ; {
		if p.Outcome, p.Reason, over = Ended(h); over {
			break
		}
		if moves := h.Moves(); len(moves) == 1 && moves[0].Name == game.Pass {
			if err := h.Play(game.Pass); err != nil {
				return p, err
			}
			p.Times = append(p.Times, 0)
			watch()
			continue
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
		if back := (player.TakenBack{}); errors.As(err, &back) {
			for range min(back.Moves, len(h.Names())-len(opening)) {
				h.Undo()
			}
			p.Times = p.Times[:len(h.Names())-len(opening)]
			watch()
			continue
		}
		chosen := false // a move
		switch {
		case errors.As(err, new(lateError)):
			p.Reason = Late
			p.Times = append(p.Times, took)
		case errors.Is(err, player.ErrResigned):
			p.Reason, err = Resigned, nil
		case errors.Is(err, player.ErrIllegal):
			p.Reason = Illegal
		case err != nil:
			p.Reason = Failed
		default:
			p.Reason, chosen = Illegal, true
			if err = h.Play(name); err == nil {
				p.Times = append(p.Times, took)
				watch()
				continue
			}
		}
		p.Outcome = game.WinFor(h.Turn().Other())
		if err != nil {
			p.Place, p.Did, p.Message = placeOf(h), didOf(err, name, chosen), brief(err.Error())
		}
		break
	}
	return p, nil
}

// ask asks a player for a move. Whatever the player does, ask returns soon after the limit,
// and soon after the end of ctx.
func (r Rules) ask(parent context.Context, seat Seat, h *player.History) (name string, took time.Duration, err error) {
	type answer struct {
		name string
		took time.Duration
		err  error
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	begun := time.Now()
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
	allowed := seat.Limit + r.Grace
	var alarm <-chan time.Time // nil: there is no limit
	if seat.Limit > 0 {
		timer := time.NewTimer(allowed)
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case a := <-answered:
		if seat.Limit == 0 || a.took <= allowed || failed(a.err) {
			return a.name, a.took, a.err
		}
		return "", a.took, lateError{a.took, seat.Limit, r.Grace}
	case <-alarm:
	case <-parent.Done():
	}
	took = time.Since(begun)
	cancel()
	select {
	case a := <-answered:
		if failed(a.err) {
			return "", took, a.err
		}
		return "", took, lateError{took, seat.Limit, r.Grace}
	case <-time.After(patience):
		return "", took, errors.Join(lateError{took, seat.Limit, r.Grace}, errAbandoned)
	}
}

// A lateError is the error for a move that was late.
type lateError struct{ took, limit, grace time.Duration }

func (e lateError) Error() string {
	text := fmt.Sprintf("it took %v, the limit is %v", e.took.Round(time.Millisecond), e.limit)
	if e.grace > 0 {
		text += fmt.Sprintf(" and the grace %v", e.grace)
	}
	return text
}

// errAbandoned is part of the error of a player that does not return from Move. The player must
// not be called again, not even to close it.
var errAbandoned = errors.New("no answer")

// failed reports whether err is an error other than a resignation or the end of the time.
func failed(err error) bool {
	return err != nil && !errors.Is(err, player.ErrResigned) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}

// maxDetail is the maximum length of a fault's description: a program's text may be a
// megabyte.
const maxDetail = 1000

// brief returns the beginning of a text on one line.
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
