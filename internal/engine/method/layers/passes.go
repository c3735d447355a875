package layers

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// The kernels of this file are the retrograde pass over a tier with inner moves. First, begin receives the values of
// the successors in later tiers. Positions that are won by one of these, or a tie, are due: a due row waits for
// the pass whose number is the remoteness, as a successor in the tier may decide the position before. Pass r of solve
// decides the positions that are won in r, and those that are lost because their last successor is. It sends their values to their
// predecessors in the tier, for the pass after their remoteness. The passes of ties follow, and values sends the values
// to earlier tiers; a position without a value is a draw.

// due is the word of a row that a position sends to itself: a successor in a later tier, or one that the rules decide,
// wins or ties it in the pass that receives the row, unless others decide it before.
const due = 0

// resultOf returns what the value of a successor means for the player to move.
func (k *kernel) resultOf(v game.Value, mover game.Player) game.Result {
	if k.values.OfMover { // the value is from the view of the opponent
		mover = game.Second
	}
	return v.Outcome().For(mover)
}

// valueOf returns the value of a position with a result for the player to move.
func (k *kernel) valueOf(result game.Result, mover game.Player, remoteness int) game.Value {
	switch {
	case k.values.OfMover || result == game.Ties:
		return result.In(remoteness)
	case result == game.Loses:
		mover = mover.Other()
	}
	return game.NewValue(game.WinFor(mover), remoteness)
}

// sendDue sends a due row of an open position.
func (k *kernel) sendDue(p game.Position, pass int) error {
	k.Inner++
	return k.out.Send(step.At(k.tier, pass), Row{Key: p, Word: due})
}

// A pass is the kernel of a pass of solve or ties.
type pass struct {
	kernel
	decided []Row // with values
}

func (k *pass) Do(r *Rows) error {
	r.States, k.decided = r.States[:0], k.decided[:0]
	known := r.Known
	for messages := r.Messages; len(messages) > 0; {
		p := messages[0].Key
		received := upTo(&messages, p)
		for _, m := range received {
			k.Received += int64(max(1, TimesOf(m.Word)))
		}
		if below(&known, p); len(known) == 0 || known[0].Key != p {
			if k.reversible == nil {
				return k.errUnknownRecipient(p)
			}
			continue
		}
		state, err := k.stored(known[0])
		if err != nil {
			return err
		}
		if state.Value() != 0 {
			continue // decided in an earlier pass, or terminal
		}
		next, err := k.next(p, state, received)
		if err != nil {
			return err
		}
		if next == state {
			continue
		}
		r.States = append(r.States, Row{Key: p, Word: uint64(next)})
		if v := next.Value(); v != 0 {
			k.decided = append(k.decided, Row{Key: p, Word: uint64(v)})
		}
	}
	k.Positions += int64(len(k.decided))
	k.Finished += int64(len(k.decided))
	if k.reversible != nil {
		for _, row := range k.decided {
			if err := k.sendBack(row.Key, nil, game.Value(row.Word), true); err != nil {
				return err
			}
		}
		return nil
	}
	return r.Edges(k.decided, func(i int, row Row) error {
		if row.Word == row.Key {
			return nil
		}
		return k.sendTo(row.Key, row.Word, game.Value(k.decided[i].Word), true)
	})
}

// next returns the state of an open position after the messages of the pass.
func (k *pass) next(p game.Position, state State, messages []Row) (State, error) {
	mover, isDue, lost := state.Mover(), false, 0
	ties := k.pass > step.TiesPass
	for _, m := range messages {
		if m.Word == due {
			isDue = true
			continue
		}
		switch v := ValueOf(m.Word); {
		case v.Remoteness() != k.pass%step.TiesPass-1 || !v.Valid() || ties != (v.Outcome() == game.Tie):
			return 0, k.errorf(p, "a message of pass %s has the value %d", step.At(0, k.pass).Suffix()[1:], v)
		case ties:
		case k.resultOf(v, mover) == game.Wins:
			return decided(k.valueOf(game.Wins, mover, k.pass)), nil
		default:
			lost += TimesOf(m.Word)
		}
	}
	switch {
	case ties:
		return decided(k.valueOf(game.Ties, mover, k.pass-step.TiesPass)), nil
	case isDue:
		return decided(k.valueOf(game.Wins, mover, k.pass)), nil
	}
	left := state.inner() - lost
	if left < 0 {
		return 0, k.errCount(p, state.inner(), lost)
	}
	state = state.with(left, max(state.longest(), k.pass))
	if left > 0 || state.blocked() {
		return state, nil
	}
	return decided(k.valueOf(game.Loses, mover, state.longest())), nil
}
