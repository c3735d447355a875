package layers

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A PositionError describes an error in the rows of a position.
type PositionError struct {
	Game   game.Game
	Key    uint64
	Reason string
}

func (e *PositionError) Error() string {
	return fmt.Sprintf("position %s: %s", game.Key(e.Game, e.Key), e.Reason)
}

// A Kernel does the work of a job on its intervals, in the forward or the retrograde pass. It
// is used by one goroutine.
type Kernel interface {
	// Do processes the rows of an interval. A violation of the rules is a *PositionError.
	Do(r *Rows) error
	// Counted returns the counts so far.
	Counted() step.Counters
}

// Rows are the sorted rows of an interval, in memory that is reused for the next one.
type Rows struct {
	Predecessors []Row // input; the forward pass removes duplicates
	Messages     []Row // input of the retrograde pass
	Answers      []Row // output of the forward pass, and input of the retrograde pass, if answers are kept
	Values       []Row // output of the retrograde pass
}

// Made returns the rows that a job writes as its shards, which are of the given kind.
func (r *Rows) Made(kind Kind) []Row {
	if kind == Values {
		return r.Values
	}
	return r.Predecessors
}

// NewKernel returns the kernel of a step and a tier. It sends messages through out, whose
// kind must be that of the step's messages. If answers is set, the forward pass writes them, and
// the retrograde pass reads them instead of asking the rules.
func NewKernel(name string, g game.Game, tier int, out *Outbox, answers bool) Kernel {
	k := kernel{g: g, values: g.Values(), asked: g, batched: game.IsBatched(g), tier: tier, out: out, answers: answers}
	if name == step.Solve {
		return &solve{k}
	}
	return &possible{k}
}

// A kernel contains what possible and solve have in common. It counts the positions
// written, and how many of them are done (terminal, or, in solve, with a value, which all
// have). As messages it counts the rows sent; several moves of a position to the same
// successor count once.
type kernel struct {
	step.Counters

	g       game.Game
	values  game.Values
	answers bool
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

// answer asks the rules for a position that ask has had computed. It returns the word of a row of answers, and the
// moves, one for each successor.
func (k *kernel) answer(p game.Position) (word uint64, moves []game.Move, err error) {
	mover := k.asked.ToMove(p)
	if v := k.asked.Primitive(p); v != 0 {
		return Message(k.values.Ended(v, mover), 0), nil, nil
	}
	k.moves = game.DistinctMoves(k.asked.Moves(k.moves[:0], p))
	if len(k.moves) == 0 {
		return 0, nil, &PositionError{k.g, p, "it is not terminal, and has no moves"}
	}
	return Message(game.NewValue(game.Undecided, int(mover)), len(k.moves)), k.moves, nil
}

func (k *kernel) Counted() step.Counters { return k.Counters }

// A possible is the kernel of the forward pass, which receives no messages.
type possible struct{ kernel }

func (k *possible) Do(r *Rows) error {
	r.Predecessors, r.Answers = merge(r.Predecessors, Predecessors), r.Answers[:0]
	for i, row := range r.Predecessors {
		if i > 0 && row.Key == r.Predecessors[i-1].Key {
			continue
		}
		if err := k.ask(r.Predecessors[i:], i == 0); err != nil {
			return err
		}
		answer, moves, err := k.answer(row.Key)
		if err != nil {
			return err
		}
		if k.answers {
			r.Answers = append(r.Answers, Row{Key: row.Key, Word: answer})
		}
		k.Positions++
		if len(moves) == 0 {
			k.Finished++
		}
		if err := k.send(row.Key, moves); err != nil {
			return err
		}
	}
	return nil
}

// send sends a position to its successors.
func (k *possible) send(p game.Position, moves []game.Move) error {
	for i := range moves {
		successor := moves[i].To
		tier := game.TierOf(k.g, successor)
		if tier <= k.tier || tier > game.LastTier(k.g) {
			return &PositionError{k.g, p, fmt.Sprintf("a move leads from tier %d to %s of tier %d, expected one of the tiers after it, up to %d", k.tier, game.Key(k.g, successor), tier, game.LastTier(k.g))}
		}
		if err := k.out.Send(tier, Row{Key: successor, Word: p}); err != nil {
			return err
		}
	}
	k.Messages += int64(len(moves))
	return nil
}

// A solve is the kernel of the retrograde pass.
type solve struct{ kernel }

// Do checks that each position receives one message from each of its successors, and that
// there is no message to any other position.
func (k *solve) Do(r *Rows) error {
	r.Values = r.Values[:0]
	predecessors, messages, answers := r.Predecessors, r.Messages, r.Answers
	for len(predecessors) > 0 {
		p := predecessors[0].Key
		answer, err := k.known(predecessors, &answers, len(r.Values) == 0)
		if err != nil {
			return err
		}
		n := 1
		for n < len(predecessors) && predecessors[n].Key == p {
			n++
		}
		received := 0
		for received < len(messages) && messages[received].Key <= p {
			received++
		}
		v, err := k.value(p, answer, messages[:received])
		if err != nil {
			return err
		}
		r.Values = append(r.Values, Row{Key: p, Word: uint64(v)})
		if err := k.send(predecessors[:n], v); err != nil {
			return err
		}
		predecessors, messages = predecessors[n:], messages[received:]
	}
	if len(messages) > 0 {
		return k.errUnknownRecipient(messages[0].Key)
	}
	if k.answers && len(answers) > 0 {
		return &PositionError{k.g, answers[0].Key, "an answer of the rules is stored, but no list of predecessors contains the position"}
	}
	k.Positions += int64(len(r.Values))
	k.Finished += int64(len(r.Values))
	return nil
}

// known returns the answer for the position of the first row, which it removes from answers, or asks for it.
func (k *solve) known(rows []Row, answers *[]Row, first bool) (word uint64, err error) {
	p := rows[0].Key
	if !k.answers {
		if err := k.ask(rows, first); err != nil {
			return 0, err
		}
		word, _, err = k.answer(p)
		return word, err
	}
	if len(*answers) == 0 || (*answers)[0].Key != p {
		return 0, &PositionError{k.g, p, "no answer of the rules is stored for this position"}
	}
	word, *answers = (*answers)[0].Word, (*answers)[1:]
	return word, nil
}

// errUnknownRecipient returns the error of a message to a position that is not in the tier.
func (k *solve) errUnknownRecipient(p game.Position) error {
	return &PositionError{k.g, p, "received a message, but no list of predecessors contains the position"}
}

// value returns the value of a position with the given answer that has received the given messages.
func (k *solve) value(p game.Position, answer uint64, messages []Row) (game.Value, error) {
	if len(messages) > 0 && messages[0].Key != p {
		return 0, k.errUnknownRecipient(messages[0].Key)
	}
	ended, successors := ValueOf(answer), TimesOf(answer)
	if ended.Valid() {
		if len(messages) > 0 {
			return 0, &PositionError{k.g, p, "received a message, but the position is terminal"}
		}
		return ended, nil
	}
	mover := game.Player(ended.Remoteness())
	received, best := 0, game.Value(0)
	for _, m := range messages {
		received += TimesOf(m.Word)
		v := ValueOf(m.Word)
		if !v.Valid() || v.Remoteness() >= game.MaxRemoteness {
			return 0, &PositionError{k.g, p, fmt.Sprintf("a message has the value %d, expected that of a successor", v)}
		}
		if best == 0 || k.values.Better(mover, v, best) {
			best = v
		}
	}
	if received != successors {
		why := "messages are missing"
		if received > successors {
			why = "duplicate messages"
		}
		return 0, &PositionError{k.g, p, fmt.Sprintf("it has %d successors, but received messages for %d: %s", successors, received, why)}
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
		tier := game.TierOf(k.g, r.Word)
		if tier < 0 || tier >= k.tier {
			return &PositionError{k.g, r.Key, fmt.Sprintf("its predecessor %s is of tier %d, expected one before tier %d", game.Key(k.g, r.Word), tier, k.tier)}
		}
		if err := k.out.Send(tier, Row{Key: r.Word, Word: word}); err != nil {
			return err
		}
		k.Messages++
	}
	return nil
}
