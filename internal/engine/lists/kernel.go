package lists

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A PositionError describes an error in the rows of a position.
type PositionError struct {
	Key    uint64
	Reason string
}

func (e *PositionError) Error() string { return fmt.Sprintf("position %#x: %s", e.Key, e.Reason) }

// A Kernel does the work of a job on its intervals, in the forward or the retrograde pass. It
// is used by one goroutine.
type Kernel interface {
	// Do processes the sorted Predecessors and Messages of an interval, and returns the rows to
	// write. In the forward pass they overwrite predecessors; in the retrograde pass they are in
	// dst[:0]. A violation of the rules is a *PositionError.
	Do(dst, predecessors, messages []Row) ([]Row, error)
	// Counted returns the counts so far.
	Counted() step.Counters
}

// NewKernel returns the kernel of a step and a tier. It sends messages through out, whose
// kind must be that of the step's messages.
func NewKernel(name string, g game.Acyclic, tier int, out *Outbox) Kernel {
	k := kernel{g: g, asked: g, tier: tier, out: out}
	_, k.batched = g.(game.Batched)
	if name == step.Solve {
		return &solve{k, g.Values()}
	}
	return &possible{k}
}

// A kernel contains what possible and solve have in common. It counts the positions
// written, and how many of them are done (terminal, or, in solve, with a value, which all
// have). As messages it counts the rows sent; several moves of a position to the same
// successor count once.
type kernel struct {
	step.Counters

	g       game.Acyclic
	asked   game.Game // g, with the positions of batch computed
	batched bool
	batch   []game.Position
	tier    int
	out     *Outbox
	moves   []game.Move
}

// ask has the first position of rows, which are sorted, computed, and many of the next ones with it. first is true
// for the first rows of an interval.
func (k *kernel) ask(rows []Row, first bool) (err error) {
	if !k.batched || !first && rows[0].Key <= k.batch[len(k.batch)-1] {
		return nil
	}
	k.batch = k.batch[:0]
	for _, r := range rows {
		if n := len(k.batch); n == 0 || k.batch[n-1] != r.Key {
			if n == game.BatchSize {
				break
			}
			k.batch = append(k.batch, r.Key)
		}
	}
	k.asked, err = game.BatchOf(k.g, k.batch)
	return err
}

// successors returns the moves of a position that is not terminal, one for each successor.
func (k *kernel) successors(p game.Position) ([]game.Move, error) {
	k.moves = game.DistinctMoves(k.asked.Moves(k.moves[:0], p))
	if len(k.moves) == 0 {
		return nil, &PositionError{p, "it is not terminal, and has no moves"}
	}
	return k.moves, nil
}

func (k *kernel) Counted() step.Counters { return k.Counters }

// A possible is the kernel of the forward pass, which receives no messages.
type possible struct{ kernel }

func (k *possible) Do(_, rows, _ []Row) ([]Row, error) {
	rows = merge(rows, Predecessors)
	for i, r := range rows {
		if i > 0 && r.Key == rows[i-1].Key {
			continue
		}
		if err := k.ask(rows[i:], i == 0); err != nil {
			return nil, err
		}
		k.Positions++
		if k.asked.Primitive(r.Key) != 0 {
			k.Finished++
			continue
		}
		moves, err := k.successors(r.Key)
		if err != nil {
			return nil, err
		}
		for i := range moves {
			successor := moves[i].To
			tier := k.g.Tier(successor)
			if tier <= k.tier || tier > k.g.Tiers() {
				return nil, &PositionError{r.Key, fmt.Sprintf("a move leads from tier %d to %#x of tier %d, expected one of the tiers after it, up to %d", k.tier, successor, tier, k.g.Tiers())}
			}
			if err := k.out.Send(tier, Row{Key: successor, Word: r.Key}); err != nil {
				return nil, err
			}
		}
		k.Messages += int64(len(moves))
	}
	return rows, nil
}

// A solve is the kernel of the retrograde pass.
type solve struct {
	kernel
	values game.Values
}

// Do checks that each position receives one message from each of its successors, and that
// there is no message to any other position.
func (k *solve) Do(dst, predecessors, messages []Row) ([]Row, error) {
	dst = dst[:0]
	for len(predecessors) > 0 {
		if err := k.ask(predecessors, len(dst) == 0); err != nil {
			return dst, err
		}
		p := predecessors[0].Key
		n := 1
		for n < len(predecessors) && predecessors[n].Key == p {
			n++
		}
		received := 0
		for received < len(messages) && messages[received].Key <= p {
			received++
		}
		v, err := k.value(p, messages[:received])
		if err != nil {
			return dst, err
		}
		dst = append(dst, Row{Key: p, Word: uint64(v)})
		if err := k.send(predecessors[:n], v); err != nil {
			return dst, err
		}
		predecessors, messages = predecessors[n:], messages[received:]
	}
	if len(messages) > 0 {
		return dst, errUnknownRecipient(messages[0].Key)
	}
	k.Positions += int64(len(dst))
	k.Finished += int64(len(dst))
	return dst, nil
}

// errUnknownRecipient returns the error of a message to a position that is not in the tier.
func errUnknownRecipient(p game.Position) error {
	return &PositionError{p, "received a message, but no list of predecessors contains the position"}
}

// value returns the value of a position that has received the given messages.
func (k *solve) value(p game.Position, messages []Row) (game.Value, error) {
	if len(messages) > 0 && messages[0].Key != p {
		return 0, errUnknownRecipient(messages[0].Key)
	}
	if v := k.asked.Primitive(p); v != 0 {
		if len(messages) > 0 {
			return 0, &PositionError{p, "received a message, but the position is terminal"}
		}
		return k.values.Ended(v, k.asked.ToMove(p)), nil
	}
	moves, err := k.successors(p)
	if err != nil {
		return 0, err
	}
	mover := k.asked.ToMove(p)
	received, best := 0, game.Value(0)
	for _, m := range messages {
		received += TimesOf(m.Word)
		v := ValueOf(m.Word)
		if !v.Valid() || v.Remoteness() >= game.MaxRemoteness {
			return 0, &PositionError{p, fmt.Sprintf("a message has the value %d, expected that of a successor", v)}
		}
		if best == 0 || k.values.Better(mover, v, best) {
			best = v
		}
	}
	if received != len(moves) {
		why := "messages are missing"
		if received > len(moves) {
			why = "duplicate messages"
		}
		return 0, &PositionError{p, fmt.Sprintf("it has %d successors, but received messages for %d: %s", len(moves), received, why)}
	}
	return k.values.Before(best), nil
}

// send sends the value of a position to its predecessors.
func (k *solve) send(predecessors []Row, v game.Value) error {
	if k.tier == 0 {
		return nil // the initial position has no predecessors
	}
	word := Message(v, 1)
	for i, r := range predecessors {
		if i > 0 && r.Word == predecessors[i-1].Word {
			continue
		}
		tier := k.g.Tier(r.Word)
		if tier < 0 || tier >= k.tier {
			return &PositionError{r.Key, fmt.Sprintf("its predecessor %#x is of tier %d, expected one before tier %d", r.Word, tier, k.tier)}
		}
		if err := k.out.Send(tier, Row{Key: r.Word, Word: word}); err != nil {
			return err
		}
		k.Messages++
	}
	return nil
}
