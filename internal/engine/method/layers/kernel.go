package layers

import (
	"cmp"
	"fmt"
	"slices"

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

// A Kernel does the work of a job on its intervals. It is used by one goroutine.
type Kernel interface {
	// Do processes the rows of an interval. A violation of the rules is a *PositionError.
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
	// Edges calls do for each predecessor of decided[i], for solve and ties.
	Edges func(decided []Row, do func(i int, predecessor game.Position) error) error
}

// Made returns the rows that a job writes as its shards, which are of the given kind.
func (r *Rows) Made(kind Kind) []Row {
	if kind == Values {
		return r.Values
	}
	return r.Predecessors
}

// NewKernel returns the kernel of the job of a step and a stage. It sends messages through out, whose
// kind must be that of the step's messages. If known is false, solve of a tier without inner moves asks the rules
// in place of reading Rows.Known.
func NewKernel(name string, g game.Game, at step.Stage, out *Outbox, known bool) Kernel {
	k := kernel{g: g, values: g.Values(), asked: g, batched: game.IsBatched(g), tier: at.Tier(), pass: at.Pass(), last: game.LastTier(g), loops: game.Loops(g, at.Tier()), out: out, known: known}
	for tier := k.tier; tier <= k.last && !k.draws; tier++ {
		k.draws = game.Loops(g, tier)
	}
	k.symmetric, _ = g.(game.Symmetric)
	k.reversible, _ = g.(game.Reversible)
	k.layered, _ = g.(game.Layered)
	k.expander, _ = g.(game.Expander)
	switch {
	case name == step.Begin:
		return &begin{k}
	case name == step.Values:
		return &values{k}
	case name == step.Ties || name == step.Solve && k.loops:
		return &pass{kernel: k}
	case name == step.Solve:
		return &solve{k}
	}
	return &possible{kernel: k}
}

// A kernel contains what all kernels have in common. It counts the positions written, and how many of them are done
// (terminal, or with a value). As messages it counts the rows sent; several moves of a position to the same
// successor count once.
type kernel struct {
	step.Counters

	g          game.Game
	values     game.Values
	layered    game.Layered    // nil: one tier
	symmetric  game.Symmetric  // nil: each position is stored
	reversible game.Reversible // nil: predecessors are stored
	expander   game.Expander   // nil: the successors are those of Moves
	known      bool
	asked      game.Game // g, with the positions of batch computed
	batched    bool
	batch      []game.Position
	tier, pass int
	last       int // tier
	loops      bool
	draws      bool // play from the tier may never end
	out        *Outbox
	moves      []game.Move
	next       []game.Successor
	tiers      []int // by index in next, the tier, see endedTier
	before     []game.Position
}

// tierOf returns the tier of a position.
func (k *kernel) tierOf(p game.Position) int {
	if k.layered == nil {
		return 0
	}
	return k.layered.Tier(p)
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

// answer asks the rules for a position that ask has had computed. It sets the successors, each once, and their
// tiers. Which of them the rules decide is not asked for in a game that is Batched.
func (k *kernel) answer(p game.Position) (State, error) {
	mover := k.asked.ToMove(p)
	k.next, k.tiers = k.next[:0], k.tiers[:0]
	if v := game.KnownValue(k.asked, p); v != 0 {
		return decided(k.values.Ended(v, mover)), nil
	}
	k.expand(p)
	if n := len(k.next); n == 0 {
		return 0, &PositionError{k.g, p, "it is not terminal, and has no moves"}
	} else if n > game.MaxMoves {
		return 0, &PositionError{k.g, p, fmt.Sprintf("it has %d successors, at most %d are provided for", n, game.MaxMoves)}
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
			tier |= endedTier
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

// endedTier is added to a tier in kernel.tiers for a successor that the rules decide.
const endedTier = 1 << 16

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

// errTier returns the error of a move to a tier to which none may lead.
func (k *kernel) errTier(p, successor game.Position, tier int) error {
	want := "one of the tiers after it"
	if k.loops {
		want = "this tier or one after it"
	}
	return &PositionError{k.g, p, fmt.Sprintf("a move leads from tier %d to %s of tier %d, expected %s, up to %d", k.tier, game.Key(k.g, successor), tier, want, k.last)}
}

func (k *kernel) Counted() step.Counters { return k.Counters }

// A possible is the kernel of the forward pass: init, possible and mark.
type possible struct {
	kernel
	fresh []Row // one row of each new position
}

// Do finds the positions that are not known, and sends them to their successors.
func (k *possible) Do(r *Rows) error {
	r.Predecessors, r.States, k.fresh = merge(r.Predecessors, Predecessors), r.States[:0], k.fresh[:0]
	known := r.Known
	for i, row := range r.Predecessors {
		if i > 0 && row.Key == r.Predecessors[i-1].Key {
			continue
		}
		for len(known) > 0 && known[0].Key < row.Key {
			known = known[1:]
		}
		if len(known) == 0 || known[0].Key > row.Key {
			k.fresh = append(k.fresh, row)
		}
	}
	for i, row := range k.fresh {
		if err := k.ask(k.fresh[i:], i == 0); err != nil {
			return err
		}
		state, err := k.answer(row.Key)
		if err != nil {
			return err
		}
		r.States = append(r.States, Row{Key: row.Key, Word: uint64(state)})
		k.Positions++
		if len(k.next) == 0 {
			k.Finished++
		}
		if err := k.send(row.Key); err != nil {
			return err
		}
	}
	return nil
}

// send sends a position to its successors. The row of a successor that the rules decide, or of any in a Reversible game, names
// no predecessor: none will get its value.
func (k *possible) send(p game.Position) error {
	for i, s := range k.next {
		tier := k.tiers[i] &^ endedTier
		row, to := Row{Key: s.Position, Word: p}, step.At(tier, 0)
		if k.reversible != nil || tier != k.tiers[i] {
			row.Word = s.Position
		}
		if tier == k.tier {
			if k.pass == game.MaxRemoteness {
				return &PositionError{k.g, p, fmt.Sprintf("it is reached after %d moves in its tier, and has another one there: at most %d are provided for", k.pass, game.MaxRemoteness)}
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

// A solve is the kernel of the retrograde pass over a tier without inner moves.
type solve struct{ kernel }

// Do checks that each position receives one message from each of its successors, and that
// there is no message to any other position.
func (k *solve) Do(r *Rows) error {
	r.Values = r.Values[:0]
	predecessors, messages, known := r.Predecessors, r.Messages, r.Known
	for len(predecessors) > 0 {
		p := predecessors[0].Key
		state, err := k.stateOf(predecessors, &known, len(r.Values) == 0)
		if err != nil {
			return err
		}
		received, err := k.received(p, &messages)
		if err != nil {
			return err
		}
		v, err := k.value(p, state, received)
		if err != nil {
			return err
		}
		r.Values = append(r.Values, Row{Key: p, Word: uint64(v)})
		if err := k.sendBack(p, take(&predecessors, p), v, outerTiers); err != nil {
			return err
		}
	}
	if err := k.checkRest(messages); err != nil {
		return err
	}
	if k.known && len(known) > 0 {
		return &PositionError{k.g, known[0].Key, "a state is stored, but no list of predecessors contains the position"}
	}
	k.Positions += int64(len(r.Values))
	k.Finished += int64(len(r.Values))
	return nil
}

// take removes the rows of a key from the beginning of rows, and returns them.
func take(rows *[]Row, key uint64) (of []Row) {
	n := 0
	for n < len(*rows) && (*rows)[n].Key == key {
		n++
	}
	of, *rows = (*rows)[:n], (*rows)[n:]
	return of
}

// stored returns the state in a row of States.
func (k *kernel) stored(row Row) (State, error) {
	state := State(row.Word)
	if !state.valid() {
		return 0, &PositionError{k.g, row.Key, "the stored state is none"}
	}
	return state, nil
}

// stateOf returns the state of the position of the first row, which it removes from known, or asks for it.
func (k *solve) stateOf(rows []Row, known *[]Row, first bool) (State, error) {
	p := rows[0].Key
	if !k.known {
		if err := k.ask(rows, first); err != nil {
			return 0, err
		}
		return k.answer(p)
	}
	if len(*known) == 0 || (*known)[0].Key != p {
		return 0, &PositionError{k.g, p, "no state is stored for this position"}
	}
	row := (*known)[0]
	*known = (*known)[1:]
	return k.stored(row)
}

// received removes the messages to p, and those to keys before it, from messages, and returns the former.
func (k *kernel) received(p game.Position, messages *[]Row) ([]Row, error) {
	for len(*messages) > 0 && (*messages)[0].Key < p {
		if k.reversible == nil {
			return nil, k.errUnknownRecipient((*messages)[0].Key)
		}
		*messages = (*messages)[1:]
	}
	return take(messages, p), nil
}

// checkRest checks messages that no position has received. A Reversible game sends some to positions that play cannot
// reach.
func (k *kernel) checkRest(messages []Row) error {
	if len(messages) > 0 && k.reversible == nil {
		return k.errUnknownRecipient(messages[0].Key)
	}
	return nil
}

// errUnknownRecipient returns the error of a message to a position that is not in the tier.
func (k *kernel) errUnknownRecipient(p game.Position) error {
	return &PositionError{k.g, p, "received a message, but no list of predecessors contains the position"}
}

// errCount returns the error of a position that has received messages of a wrong number of successors.
func (k *kernel) errCount(p game.Position, successors, received int) error {
	why := "messages are missing"
	if received > successors {
		why = "duplicate messages"
	}
	return &PositionError{k.g, p, fmt.Sprintf("it has %d successors, but received messages for %d: %s", successors, received, why)}
}

// checkMessage checks a message to an open position.
func (k *kernel) checkMessage(m Row) error {
	v := ValueOf(m.Word)
	if v.Valid() && v.Remoteness() < game.MaxRemoteness || v == 0 && k.draws && TimesOf(m.Word) > 0 {
		return nil
	}
	return &PositionError{k.g, m.Key, fmt.Sprintf("a message has the value %d, expected that of a successor", v)}
}

// value returns the value of a position with the given state that has received the given messages.
func (k *solve) value(p game.Position, state State, messages []Row) (game.Value, error) {
	if v := state.Value(); v != 0 {
		if len(messages) > 0 && k.reversible == nil {
			return 0, &PositionError{k.g, p, "received a message, but the position is terminal"}
		}
		return v, nil
	}
	received := 0
	best, any := k.bestKnown(state)
	for _, m := range messages {
		received += TimesOf(m.Word)
		if err := k.checkMessage(m); err != nil {
			return 0, err
		}
		if v := ValueOf(m.Word); !any || k.values.Better(state.Mover(), v, best) {
			best, any = v, true
		}
	}
	if received != state.outer() {
		return 0, k.errCount(p, state.outer(), received)
	}
	return k.values.Before(best), nil
}

// bestKnown returns the value of the best of the successors that the rules decide; any is false if there is none.
func (k *kernel) bestKnown(s State) (v game.Value, any bool) {
	mover := s.Mover()
	add := func(w game.Value) {
		if !any || k.values.Better(mover, w, v) {
			v, any = w, true
		}
	}
	if n := s.won(); n > 0 {
		add(k.successorValue(game.Wins, mover, n-1))
	}
	if s&tiedBit != 0 {
		add(k.successorValue(game.Ties, mover, 0))
	}
	if n := s.lost(); n > 0 {
		add(k.successorValue(game.Loses, mover, n-1))
	}
	return v, any
}

// successorValue returns the value of a successor that has a result for the player to move before it.
func (k *kernel) successorValue(result game.Result, mover game.Player, remoteness int) game.Value {
	if k.values.OfMover && result != game.Ties {
		result = game.Wins + game.Loses - result
	}
	return k.valueOf(result, mover, remoteness)
}

// The predecessors to which sendBack sends.
const (
	innerTier = 1 << iota
	outerTiers
)

// sendBack sends the value of a position to its predecessors: those in rows, or those that the game computes.
func (k *kernel) sendBack(p game.Position, rows []Row, v game.Value, which int) error {
	if k.reversible != nil {
		if !k.batched && game.KnownValue(k.g, p) != 0 {
			return nil
		}
		return k.sendReversed(p, v, which)
	}
	for i, r := range rows {
		if r.Word == r.Key || i > 0 && r.Word == rows[i-1].Word { // no predecessor, or a move to the same position
			continue
		}
		if err := k.sendTo(p, r.Word, v, which); err != nil {
			return err
		}
	}
	return nil
}

// sendReversed is sendBack for a Reversible game. Equal canonical predecessors count once.
func (k *kernel) sendReversed(p game.Position, v game.Value, which int) error {
	k.before = k.reversible.Predecessors(k.before[:0], p)
	if k.symmetric != nil {
		for i, from := range k.before {
			k.before[i] = k.symmetric.Canonical(from)
		}
	}
	slices.Sort(k.before)
	for _, from := range slices.Compact(k.before) {
		if from != p {
			if err := k.sendTo(p, from, v, which); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendTo sends the value v of p to a predecessor.
func (k *kernel) sendTo(p, predecessor game.Position, v game.Value, which int) error {
	tier := k.tierOf(predecessor)
	to := step.At(tier, 0)
	switch {
	case tier == k.tier && k.loops:
		if which&innerTier == 0 {
			return nil
		}
		to = step.At(tier, v.Remoteness()+1)
		if v.Outcome() == game.Tie {
			to = step.At(tier, step.TiesPass+v.Remoteness()+1)
		}
		if v.Remoteness() >= game.MaxRemoteness {
			return &PositionError{k.g, p, fmt.Sprintf("it is decided in %d plies, at most %d are provided for", v.Remoteness(), game.MaxRemoteness-1)}
		}
		k.Inner++
	case tier < 0 || tier >= k.tier:
		return &PositionError{k.g, p, fmt.Sprintf("its predecessor %s is of tier %d, expected one before tier %d", game.Key(k.g, predecessor), tier, k.tier)}
	case which&outerTiers == 0:
		return nil
	}
	k.Messages++
	return k.out.Send(to, Row{Key: predecessor, Word: Message(v, 1)})
}
