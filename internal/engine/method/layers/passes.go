package layers

import (
	"fmt"

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

// A begin is the kernel of the first retrograde job of a tier.
type begin struct{ kernel }

func (k *begin) Do(r *Rows) error {
	messages, predecessors := r.Messages, r.Predecessors
	r.Predecessors, r.States = r.Predecessors[:0], r.States[:0]
	for _, row := range r.Known {
		p := row.Key
		state, err := k.stored(row)
		if err != nil {
			return err
		}
		received, err := k.received(p, &messages)
		if err != nil {
			return err
		}
		from := take(&predecessors, p)
		if state.Value() == 0 {
			if state, err = k.open(p, state, received); err != nil {
				return err
			}
		} else if len(received) > 0 && k.reversible == nil {
			return &PositionError{k.g, p, "received a message, but the position is terminal"}
		}
		v := state.Value()
		if v != 0 {
			k.Finished++
			if err := k.sendBack(p, from, v, innerTier); err != nil {
				return err
			}
		}
		for _, row := range from { // those that are still needed
			if row.Word != p && (v == 0 || k.tierOf(row.Word) < k.tier) {
				r.Predecessors = append(r.Predecessors, row)
			}
		}
		r.States = append(r.States, Row{Key: p, Word: uint64(state)})
	}
	k.Positions += int64(len(r.States))
	if len(predecessors) > 0 {
		return &PositionError{k.g, predecessors[0].Key, "no state is stored for this position"}
	}
	return k.checkRest(messages)
}

// open returns the state of an open position after the messages from later tiers, and sends what is due.
func (k *begin) open(p game.Position, state State, messages []Row) (State, error) {
	received, lost, longest, won, tied := 0, 0, state.lost(), state.won(), int(state/tiedBit&1)
	for _, m := range messages {
		if err := k.checkMessage(m); err != nil {
			return 0, err
		}
		v, times := ValueOf(m.Word), TimesOf(m.Word)
		plies := v.Remoteness() + 1
		received += times
		switch k.resultOf(v, state.Mover()) {
		case game.Wins:
			if won == 0 || plies < won {
				won = plies
			}
		case game.Ties:
			if tied == 0 || plies < tied {
				tied = plies
			}
		case game.Loses:
			lost += times
			longest = max(longest, plies)
		}
	}
	if received != state.outer() {
		return 0, k.errCount(p, state.outer(), received)
	}
	if lost < received {
		state |= blockedBit
	}
	state = state.with(state.inner(), longest)
	switch {
	case won == 1:
		return decided(k.valueOf(game.Wins, state.Mover(), 1)), nil
	case state.inner() == 0 && !state.blocked():
		return decided(k.valueOf(game.Loses, state.Mover(), longest)), nil
	case won > 1:
		if err := k.sendDue(p, won); err != nil {
			return 0, err
		}
	}
	if tied > 0 {
		return state, k.sendDue(p, step.TiesPass+tied)
	}
	return state, nil
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
		received := take(&messages, p)
		for _, m := range received {
			k.Received += int64(max(1, TimesOf(m.Word)))
		}
		for len(known) > 0 && known[0].Key < p {
			known = known[1:]
		}
		if len(known) == 0 || known[0].Key != p {
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
			if err := k.sendReversed(row.Key, game.Value(row.Word), innerTier); err != nil {
				return err
			}
		}
		return nil
	}
	return r.Edges(k.decided, func(i int, predecessor game.Position) error {
		p := k.decided[i].Key
		if predecessor == p {
			return nil
		}
		return k.sendTo(p, predecessor, game.Value(k.decided[i].Word), innerTier)
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
			return 0, &PositionError{k.g, p, fmt.Sprintf("a message of pass %s has the value %d", step.At(0, k.pass).Suffix()[1:], v)}
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
	state = state.with(left, max(state.outer(), k.pass))
	if left > 0 || state.blocked() {
		return state, nil
	}
	return decided(k.valueOf(game.Loses, mover, state.outer())), nil
}

// A values is the kernel of the last retrograde job of a tier: it sends the values of positions to earlier tiers. A position without a value is a draw.
type values struct{ kernel }

func (k *values) Do(r *Rows) error {
	r.Values = r.Values[:0]
	predecessors := r.Predecessors
	for _, row := range r.Known {
		state, err := k.stored(row)
		if err != nil {
			return err
		}
		v := state.Value()
		r.Values = append(r.Values, Row{Key: row.Key, Word: uint64(v)})
		if from := take(&predecessors, row.Key); k.tier > 0 {
			if err := k.sendBack(row.Key, from, v, outerTiers); err != nil {
				return err
			}
		}
	}
	if len(predecessors) > 0 {
		return &PositionError{k.g, predecessors[0].Key, "no state is stored for this position"}
	}
	k.Positions += int64(len(r.Values))
	k.Finished += int64(len(r.Values))
	return nil
}
