package layers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A Kernel does the work of a job on its intervals. It is used by one goroutine.
type Kernel interface {
	// Do processes the rows of an interval. An error names the position.
	Do(r *Rows) error
	// Counted returns the counts so far.
	Counted() step.Counters
}

// Rows are the sorted rows of an interval, in memory that is reused for the next one.
type Rows struct {
	// Predecessors are input of all steps but solve of a tier with inner moves, and ties. The
	// forward pass removes duplicates, begin the predecessors in the tier of terminal positions.
	Predecessors []Row
	// Messages are input of the retrograde pass.
	Messages []Row
	// Known are the states that earlier passes have stored: input, of possible and mark at least
	// those of the keys of Predecessors, of solve and ties at least those of the keys of Messages,
	// of all other steps those of all keys.
	Known []Row
	// States are the states that the job adds or changes: output of all steps but solve and values.
	States []Row
	// Values are the output of values, and of solve in a tier without inner moves.
	Values []Row
	// Edges calls do for each row of Predecessors of decided[i], for solve and ties.
	Edges func(decided []Row, do func(i int, row Row) error) error
}

// of returns the rows of a kind that a job receives, or writes as its shards.
func (r *Rows) of(kind Kind) *[]Row {
	switch kind {
	case Messages:
		return &r.Messages
	case Values:
		return &r.Values
	}
	return &r.Predecessors
}

// NewKernel returns the kernel of the job of a step and a stage. It sends messages through out, whose
// kind must be that of the step's messages.
func NewKernel(name string, g game.Game, at step.Stage, out *Outbox) Kernel {
	k := kernel{name: name, g: g, values: g.Values(), asked: g, batched: game.IsBatched(g), tier: at.Tier(), pass: at.Pass(), last: game.LastTier(g), loops: game.Loops(g, at.Tier()), out: out}
	for tier := k.tier; tier <= k.last && !k.draws; tier++ {
		k.draws = game.Loops(g, tier)
	}
	k.symmetric, _ = g.(game.Symmetric)
	k.reversible, _ = g.(game.Reversible)
	k.tiered, _ = g.(game.Tiered)
	k.expander, _ = g.(game.Expander)
	switch {
	case step.IsForward(name):
		return &possible{k}
	case name == step.Ties || name == step.Solve && k.loops:
		return &pass{k, nil}
	}
	return &decide{k}
}

// A kernel contains what all kernels have in common. It counts the positions written, and how many of them are done
// (terminal, or with a value). As messages it counts the rows sent; several moves of a position to the same
// successor count once.
type kernel struct {
	step.Counters

	name       string // the name of the step
	g          game.Game
	values     game.Values
	tiered     game.Tiered     // nil: one tier
	symmetric  game.Symmetric  // nil: each position is stored
	reversible game.Reversible // nil: predecessors are stored
	expander   game.Expander   // nil: the successors are those of Moves
	asked      game.Game       // g, with the positions of batch computed
	batched    bool
	batch      []game.Position
	tier, pass int
	last       int // tier
	loops      bool
	draws      bool // play from the tier may never end
	out        *Outbox
	fresh      []Row // new positions; in decide, the states that the rules give
	moves      []game.Move
	next       []game.Successor
	tiers      []int // by index in next, the tier
	before     []game.Position
}

// tierOf returns the tier of a position.
func (k *kernel) tierOf(p game.Position) int {
	if k.tiered == nil {
		return 0
	}
	return k.tiered.Tier(p)
}

// ask asks the rules for the positions of sorted rows, one of each, and calls do with the state of each, whose successors are
// in next. Many positions of a Batched game are computed at a time.
func (k *kernel) ask(rows []Row, do func(p game.Position, state State) error) error {
	k.batch = k.batch[:0]
	for i, row := range rows {
		if k.batched && (len(k.batch) == 0 || row.Key > k.batch[len(k.batch)-1]) {
			k.batch = k.batch[:0]
			for _, r := range rows[i:] {
				if n := len(k.batch); n == game.BatchSize {
					break
				} else if n == 0 || k.batch[n-1] != r.Key {
					k.batch = append(k.batch, r.Key)
				}
			}
			var err error
			if k.asked, err = game.BatchOf(k.g, k.batch); err != nil {
				return err
			}
		}
		if i > 0 && row.Key == rows[i-1].Key {
			continue
		}
		state, err := k.answer(row.Key)
		if err == nil {
			err = do(row.Key, state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// answer asks the rules for a position. It sets the successors, each once, and their
// tiers. Which of them the rules decide is not asked for in a game that is Batched.
func (k *kernel) answer(p game.Position) (State, error) {
	mover := k.asked.ToMove(p)
	k.next, k.tiers = k.next[:0], k.tiers[:0]
	if v := game.KnownValue(k.asked, p); v != 0 {
		return decided(k.values.Ended(v, mover)), nil
	}
	k.expand(p)
	if n := len(k.next); n == 0 {
		return 0, k.errorf(p, "it is not terminal, and has no moves")
	} else if n > game.MaxMoves {
		return 0, k.errorf(p, "it has %d successors, at most %d are provided for", n, game.MaxMoves)
	}
	inner, outer, known := 0, 0, State(0)
	for _, s := range k.next {
		tier := k.tierOf(s.Position)
		if tier < k.tier || tier == k.tier && !k.loops || tier > k.last {
			return 0, k.errTier(p, s.Position, tier)
		}
		switch {
		case s.Known != 0:
			known = k.withKnown(known, k.values.Ended(s.Known, k.g.ToMove(s.Position)), mover)
		case tier == k.tier:
			inner++
		default:
			outer++
		}
		k.tiers = append(k.tiers, tier)
	}
	return opened(mover, known, inner, outer), nil
}

// expand sets the successors of p, each once.
func (k *kernel) expand(p game.Position) {
	if k.next = k.next[:0]; k.expander != nil {
		k.next = distinct(k.expander.Successors(k.next, p))
		return
	}
	k.moves = k.asked.Moves(k.moves[:0], p)
	for _, m := range k.moves {
		if k.symmetric != nil {
			m.To = k.symmetric.Canonical(m.To)
		}
		k.next = append(k.next, game.Successor{Position: m.To})
	}
	k.next = distinct(k.next)
	for i := 0; i < len(k.next) && !k.batched; i++ {
		k.next[i].Known = game.KnownValue(k.g, k.next[i].Position)
	}
}

// distinct removes duplicates: each position stays once. It may change the order.
func distinct(all []game.Successor) []game.Successor {
	const few = 16
	if len(all) > few {
		slices.SortFunc(all, func(a, b game.Successor) int { return cmp.Compare(a.Position, b.Position) })
		return slices.CompactFunc(all, func(a, b game.Successor) bool { return a.Position == b.Position })
	}
	n := 0
	seen := uint64(0) // a bit for each position of all[:n], which others may share
next:
	for _, s := range all {
		bit := uint64(1) << (s.Position * 0x9e3779b97f4a7c15 >> 58)
		for j := 0; seen&bit != 0 && j < n; j++ {
			if all[j].Position == s.Position {
				continue next
			}
		}
		seen |= bit
		all[n] = s
		n++
	}
	return all[:n]
}

// withKnown adds to the bits of a state those for a successor of value v that the rules decide.
func (k *kernel) withKnown(bits State, v game.Value, mover game.Player) State {
	switch k.resultOf(v, mover) {
	case game.Wins:
		if n := v.Remoteness() + 1; bits.won() == 0 || n < bits.won() {
			bits = bits&^(3<<wonShift) | State(n)<<wonShift
		}
		return bits | blockedBit
	case game.Ties:
		return bits | tiedBit | blockedBit
	}
	return bits&^(3<<lostShift) | State(max(bits.lost(), v.Remoteness()+1))<<lostShift
}

// errorf returns an error in the rows of a position.
func (k *kernel) errorf(p game.Position, format string, args ...any) error {
	return fmt.Errorf("position %s: %s", game.Key(k.g, p), fmt.Sprintf(format, args...))
}

// errTier returns the error of a move to a tier to which none may lead.
func (k *kernel) errTier(p, successor game.Position, tier int) error {
	want := "one of the tiers after it"
	if k.loops {
		want = "this tier or one after it"
	}
	return k.errorf(p, "a move leads from tier %d to %s of tier %d, expected %s, up to %d", k.tier, game.Key(k.g, successor), tier, want, k.last)
}

func (k *kernel) Counted() step.Counters { return k.Counters }

// A possible is the kernel of the forward pass: init, possible and mark.
type possible struct{ kernel }

// Do finds the positions that are not known, and sends them to their successors.
func (k *possible) Do(r *Rows) error {
	r.Predecessors, r.States, k.fresh = merge(r.Predecessors, Predecessors), r.States[:0], k.fresh[:0]
	known := r.Known
	for _, row := range r.Predecessors {
		if below(&known, row.Key); len(known) == 0 || known[0].Key > row.Key {
			k.fresh = append(k.fresh, row)
		}
	}
	return k.ask(k.fresh, func(p game.Position, state State) error {
		r.States = append(r.States, Row{Key: p, Word: uint64(state)})
		k.Positions++
		if len(k.next) == 0 {
			k.Finished++
		}
		return k.send(p)
	})
}

// send sends a position to its successors. The row of a successor that the rules decide, or of any in a Reversible game, names
// no predecessor: none will get its value.
func (k *possible) send(p game.Position) error {
	for i, s := range k.next {
		tier := k.tiers[i]
		row, to := Row{Key: s.Position, Word: p}, step.At(tier, 0)
		if k.reversible != nil || s.Known != 0 {
			row.Word = s.Position
		}
		if tier == k.tier {
			if k.pass == game.MaxRemoteness {
				return k.errorf(p, "it is reached after %d moves in its tier, and has another one there: at most %d are provided for", k.pass, game.MaxRemoteness)
			}
			to = step.At(k.tier, k.pass+1)
		}
		if err := k.out.Send(to, row); err != nil {
			return err
		}
	}
	k.Messages += int64(len(k.next))
	return nil
}

// A decide is the kernel of the retrograde jobs that read all positions of a tier: solve in a tier without inner moves,
// and, in one with them, begin and values, between which passes decide more positions. A position without a value after them
// is a draw.
type decide struct{ kernel }

// Do checks that each position receives one message from each of its successors in later tiers, and that there is no
// message to any other position. Without states, solve asks the rules.
func (k *decide) Do(r *Rows) error {
	known, predecessors, messages := r.Known, r.Predecessors, r.Messages
	r.Predecessors, r.States, r.Values = r.Predecessors[:0], r.States[:0], r.Values[:0]
	if k.name == step.Solve && len(known) == 0 {
		k.fresh = k.fresh[:0]
		err := k.ask(predecessors, func(p game.Position, state State) error {
			k.fresh = append(k.fresh, Row{Key: p, Word: uint64(state)})
			return nil
		})
		if err != nil {
			return err
		}
		known = k.fresh
	}
	for _, row := range known {
		p := row.Key
		state, err := k.stored(row)
		if err != nil {
			return err
		}
		early, from, received := below(&messages, p), upTo(&predecessors, p), upTo(&messages, p)
		switch {
		case len(from) > 0 && from[0].Key < p:
			err = k.errUnstored(from[0].Key)
		case len(early) > 0 && k.reversible == nil:
			err = k.errUnknownRecipient(early[0].Key)
		case k.name == step.Solve && len(from) == 0:
			err = k.errorf(p, "a state is stored, but no list of predecessors contains the position")
		case state.Value() != 0 && len(received) > 0 && k.reversible == nil:
			err = k.errorf(p, "received a message, but the position is terminal")
		case state.Value() == 0 && k.name != step.Values:
			state, err = k.receive(p, state, received)
		}
		if err == nil {
			err = k.write(r, p, state, from)
		}
		if err != nil {
			return err
		}
	}
	if len(predecessors) > 0 {
		return k.errUnstored(predecessors[0].Key)
	}
	if len(messages) > 0 && k.reversible == nil {
		return k.errUnknownRecipient(messages[0].Key)
	}
	return nil
}

// write writes what is decided of a position, and sends its value to predecessors.
func (k *decide) write(r *Rows, p game.Position, state State, predecessors []Row) error {
	k.Positions++
	v := state.Value()
	if k.name != step.Begin {
		k.Finished++
		r.Values = append(r.Values, Row{Key: p, Word: uint64(v)})
		if k.tier == 0 {
			return nil
		}
		return k.sendBack(p, predecessors, v, false)
	}
	if v != 0 {
		k.Finished++
		if err := k.sendBack(p, predecessors, v, true); err != nil {
			return err
		}
	}
	for _, row := range predecessors { // those that are still needed, in the memory of all
		if row.Word != p && (v == 0 || k.tierOf(row.Word) < k.tier) {
			r.Predecessors = append(r.Predecessors, row)
		}
	}
	r.States = append(r.States, Row{Key: p, Word: uint64(state)})
	return nil
}

// isMessage reports whether a message may have a value, of a number of moves.
func (k *decide) isMessage(v game.Value, times int) bool {
	return v.Valid() && v.Remoteness() < game.MaxRemoteness || v == 0 && k.draws && times > 0
}

// receive returns the state of an open position after the messages from later tiers. In a tier with inner moves, it sends
// what is due.
func (k *decide) receive(p game.Position, state State, messages []Row) (State, error) {
	mover := state.Mover()
	received, lost, longest, won, tied := 0, 0, state.lost(), state.won(), int(state/tiedBit&1)
	for _, m := range messages {
		v, times := ValueOf(m.Word), TimesOf(m.Word)
		if !k.isMessage(v, times) {
			return 0, k.errorf(p, "a message has the value %d, expected that of a successor", v)
		}
		plies := v.Remoteness() + 1
		received += times
		switch k.resultOf(v, mover) {
		case game.Wins:
			if won == 0 || plies < won {
				won = plies
			}
		case game.Ties:
			if tied == 0 || plies < tied == k.values.TiesSoon {
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
	case won == 1 || won > 0 && !k.loops:
		return decided(k.valueOf(game.Wins, mover, won)), nil
	case state.inner() == 0 && !state.blocked():
		return decided(k.valueOf(game.Loses, mover, longest)), nil
	case !k.loops && tied > 0:
		return decided(k.valueOf(game.Ties, mover, tied)), nil
	case !k.loops:
		return state, nil
	}
	if won > 0 {
		if err := k.sendDue(p, won); err != nil {
			return 0, err
		}
	}
	if tied > 0 {
		return state, k.sendDue(p, step.TiesPass+tied)
	}
	return state, nil
}

// below removes the rows with keys below key from the beginning of rows, and returns them.
func below(rows *[]Row, key uint64) (of []Row) {
	n := 0
	for n < len(*rows) && (*rows)[n].Key < key {
		n++
	}
	of, *rows = (*rows)[:n], (*rows)[n:]
	return of
}

// upTo removes the rows with keys up to last from the beginning of rows, and returns them.
func upTo(rows *[]Row, last uint64) (of []Row) {
	n := 0
	for n < len(*rows) && (*rows)[n].Key <= last {
		n++
	}
	of, *rows = (*rows)[:n], (*rows)[n:]
	return of
}

// stored returns the state in a row of States.
func (k *kernel) stored(row Row) (State, error) {
	state := State(row.Word)
	if !state.valid() {
		return 0, k.errorf(row.Key, "the stored state is none")
	}
	return state, nil
}

// errUnstored returns the error of predecessors of a position without a state.
func (k *kernel) errUnstored(p game.Position) error {
	return k.errorf(p, "no state is stored for this position")
}

// errUnknownRecipient returns the error of a message to a position that is not in the tier.
func (k *kernel) errUnknownRecipient(p game.Position) error {
	return k.errorf(p, "received a message, but no list of predecessors contains the position")
}

// errCount returns the error of a position that has received messages of a wrong number of successors.
func (k *kernel) errCount(p game.Position, successors, received int) error {
	why := "messages are missing"
	if received > successors {
		why = "duplicate messages"
	}
	return k.errorf(p, "it has %d successors, but received messages for %d: %s", successors, received, why)
}

// sendBack sends the value of a position to its predecessors, in its tier if inner is set, otherwise in earlier ones: those in
// rows, or those that the game computes.
func (k *kernel) sendBack(p game.Position, rows []Row, v game.Value, inner bool) error {
	k.before = k.before[:0]
	if k.reversible == nil {
		for _, r := range rows {
			k.before = append(k.before, r.Word)
		}
	} else if k.batched || game.KnownValue(k.g, p) == 0 {
		k.before = k.reversible.Predecessors(k.before, p)
		if k.symmetric != nil {
			for i, from := range k.before {
				k.before[i] = k.symmetric.Canonical(from)
			}
		}
		slices.Sort(k.before)
	}
	for i, from := range k.before {
		if from == p || i > 0 && from == k.before[i-1] { // no predecessor, or several moves
			continue
		}
		if err := k.sendTo(p, from, v, inner); err != nil {
			return err
		}
	}
	return nil
}

// sendTo sends the value v of p to a predecessor, unless that is in another tier than inner says.
func (k *kernel) sendTo(p, predecessor game.Position, v game.Value, inner bool) error {
	tier := k.tierOf(predecessor)
	to := step.At(tier, 0)
	switch {
	case tier == k.tier && k.loops:
		if !inner {
			return nil
		}
		to = step.At(tier, v.Remoteness()+1)
		if v.Outcome() == game.Tie {
			to = step.At(tier, step.TiesPass+v.Remoteness()+1)
		}
		if v.Remoteness() >= game.MaxRemoteness {
			return k.errorf(p, "it is decided in %d plies, at most %d are provided for", v.Remoteness(), game.MaxRemoteness-1)
		}
		k.Inner++
	case tier < 0 || tier >= k.tier:
		return k.errorf(p, "its predecessor %s is of tier %d, expected one before tier %d", game.Key(k.g, predecessor), tier, k.tier)
	case inner:
		return nil
	}
	k.Messages++
	return k.out.Send(to, Row{Key: predecessor, Word: Message(v, 1)})
}
