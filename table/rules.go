package table

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/rangeio"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/streamfmt"
)

// Rules is a check of a table by the plain moves of the rules (game.Game.Moves and
// Primitive) and look-ups: nothing of the steps and the set methods that made the
// table is asked. Each position that is checked must read as it is written; a
// finished one must have the value of the rules; of any other every move must lead
// to a position of the table, and its value must follow from theirs. If all are
// checked, the start must be there, every other position must be led to by one of
// the table, and the table's own numbers must be right: of a tiered game nothing can
// be wrong then. (Of a game with cycles, positions that lead to one another and are
// led to by no others are found by VerifyCyclic alone.)
type Rules struct {
	Sample uint64              // how many positions, at random, each as likely; 0: all
	Seed   uint64              // of the random numbers
	Report func(share float64) // is told how much is done; may be nil
}

const (
	// rulesEvery is how many positions are checked between two looks at the context.
	rulesEvery = 1 << 12
	// rulesStates is how many bytes of states a worker keeps.
	rulesStates = 32 << 20

	missingStart = "is missing: it is the start"
)

// Verify checks a table of a tiered game. It returns the game, how many positions
// were checked and how many there are. What is wrong first, in the order of tiers
// and keys, is a *Fault.
func (r Rules) Verify(ctx context.Context, fsys store.FS, data string) (g game.Tiered, checked, all uint64, err error) {
	t, err := Open(fsys, data)
	if err != nil {
		return nil, 0, 0, err
	}
	defer t.Close()
	v := &verifier{g: t.g}
	if _, ok, err := t.Lookup(t.g.Start()); err != nil {
		return nil, 0, 0, err
	} else if !ok {
		return nil, 0, 0, v.faultAt(0, t.g.Start(), missingStart)
	}
	var parts []*rulesPart
	var next *tierio.Tier
	for i := t.g.Tiers(); i >= 0; i-- {
		tier, err := tierio.OpenParts(fsys, []string{t.files[i].Name()}, t.g, i)
		if err != nil {
			return nil, 0, 0, err
		}
		defer tier.Close()
		ranges := make([]uint64, tier.Len())
		for j := range ranges {
			ranges[j] = tier.Range(j)
		}
		children := next
		parts = append(parts, &rulesPart{
			name: t.files[i].Name(), counts: t.Counts(i), ranges: ranges,
			slots: func(rng uint64) int { return len(t.g.Low(i, rng)) },
			reader: func() rulesReader {
				r := &tierReader{g: t.g, tier: i, here: tier.Cursor(verifyAhead)}
				if children != nil {
					r.next = children.Cursor(verifyAhead)
				}
				return r
			},
			fault: func(p game.Position, reason string) error { return v.faultAt(i, p, reason) },
		})
		next = tier
	}
	slices.Reverse(parts)
	checked, all, err = r.run(ctx, &plainRules{
		Game:     t.g,
		finished: func(p game.Position) int { return int(t.g.Primitive(p)) },
		follows:  func(p game.Position, children []byte) int { return followsTiered(t.g.ToMove(p), children) },
		words:    func(value byte) string { return game.Value(value).String() },
	}, parts)
	return t.g, checked, all, err
}

// VerifyCyclic is Verify for a game with cycles. What is wrong first is a
// *CyclicFault.
func (r Rules) VerifyCyclic(ctx context.Context, fsys store.FS, data string) (g game.Cyclic, checked, all uint64, err error) {
	t, err := OpenCyclic(fsys, data)
	if err != nil {
		return nil, 0, 0, err
	}
	defer t.Close()
	checked, all, err = r.verifyCyclic(ctx, t, filepath.Join(data, CyclicFile))
	return t.g, checked, all, err
}

func (r Rules) verifyCyclic(ctx context.Context, t *Cyclic, name string) (checked, all uint64, err error) {
	v := &cyclicVerifier{g: t.g}
	if _, ok, err := t.Lookup(t.g.Start()); err != nil {
		return 0, 0, err
	} else if !ok {
		return 0, 0, v.faultAt(t.g.Start(), missingStart)
	}
	ranges := make([]uint64, t.file.Len())
	for i := range ranges {
		ranges[i] = t.file.Range(i)
	}
	return r.run(ctx, &plainRules{
		Game: t.g,
		finished: func(p game.Position) int {
			if v := t.g.Primitive(p); v != 0 {
				return int(v.Outcome().For(t.g.ToMove(p)))
			}
			return 0
		},
		follows: func(_ game.Position, children []byte) int { return followsCyclic(children) },
		words:   func(value byte) string { return game.WorthOf(value).String() },
	}, []*rulesPart{{
		name: name, counts: t.Counts(), ranges: ranges, own: true,
		slots: func(rng uint64) int { return game.RangeLen(t.g, rng) },
		reader: func() rulesReader {
			return &stateReader{t: &Cyclic{g: t.g, file: t.file}, cursor: t.file.Cursor(), states: make(map[uint64]*block.State)}
		},
		fault: v.faultAt,
	}})
}

// plainRules are the rules by which the values of one kind of game are checked. A
// value is the byte of the table; as an int it may be more than a byte holds.
type plainRules struct {
	game.Game
	finished func(p game.Position) int                  // the value of a finished position, 0 of the others
	follows  func(p game.Position, children []byte) int // from all its children's; -1 if one is none
	words    func(value byte) string
}

// followsTiered is the value of whoever is to move: the winner hastens, the loser
// delays, ties are drawn out.
func followsTiered(player game.Player, children []byte) int {
	win, tie, loss := math.MaxInt, 0, 0
	for _, child := range children {
		value := game.Value(child)
		n := value.Remoteness() + 1
		switch value.Outcome() {
		case game.WinFor(player):
			win = min(win, n)
		case game.Tie:
			tie = max(tie, n)
		case game.Undecided:
			return -1
		default:
			loss = max(loss, n)
		}
	}
	switch {
	case win < math.MaxInt:
		return win<<2 | int(game.WinFor(player))
	case tie > 0:
		return tie<<2 | int(game.Tie)
	}
	return loss<<2 | int(game.WinFor(player.Other()))
}

// followsCyclic is the worth of whoever is to move, from what the children are worth
// to the opponent: a lost one wins, the nearest; nothing but won ones lose, by the
// farthest; then a tie, the nearest, is better than play that never ends.
func followsCyclic(children []byte) int {
	win, tie, loss, won := math.MaxInt, math.MaxInt, 0, 0
	for _, child := range children {
		w := game.WorthOf(child)
		n := w.Remoteness + 1
		switch w.Result {
		case game.Loses:
			win = min(win, n)
		case game.Ties:
			tie = min(tie, n)
		case game.Wins:
			loss = max(loss, n)
			won++
		}
	}
	switch {
	case win < math.MaxInt:
		return win<<2 | int(game.Wins)
	case won == len(children):
		return loss<<2 | int(game.Loses)
	case tie < math.MaxInt:
		return tie<<2 | int(game.Ties)
	}
	return int(game.Draws)
}

// A rulesPart is what is gone through at once: a tier, or the whole of a table of a
// game with cycles.
type rulesPart struct {
	name   string           // of its file
	counts streamfmt.Counts // that the file says it has
	ranges []uint64         // that it has
	own    bool             // its positions lead to its own, otherwise to those of the next part
	slots  func(rng uint64) int
	reader func() rulesReader // of one worker
	fault  func(p game.Position, reason string) error
}

// A rulesReader reads a part, and looks up where its positions lead.
type rulesReader interface {
	// load makes a range of the part the one that is looked at, and returns its
	// positions, which hold until the next call.
	load(rng uint64) (block.Set, error)
	// at is the position of a slot of that range, and its value.
	at(slot int) (game.Position, byte)
	// find looks a position up to which one of that range leads: its range, its
	// slot there and its value.
	find(p game.Position) (rng uint64, slot int, value byte, ok bool, err error)
}

// A tierReader reads a tier of a tiered game.
type tierReader struct {
	g          game.Tiered
	tier       int
	here, next *tierio.Cursor // next is nil in the last tier
	block      block.Block
	children   []tierValues // the ranges to which this one leads, as far as was asked
}

// tierValues are the values of a range.
type tierValues struct {
	rng    uint64
	low    []uint32
	there  block.Set
	values []byte
}

func (r *tierReader) load(rng uint64) (block.Set, error) {
	r.children = r.children[:0]
	if _, err := r.here.Load(&r.block, rng); err != nil {
		return nil, err
	}
	r.block.Open.Union(r.block.Done) // an open one is a position too, of value 0
	return r.block.Open, nil
}

func (r *tierReader) at(slot int) (game.Position, byte) { return r.block.Key(slot), r.block.Val[slot] }

func (r *tierReader) find(p game.Position) (rng uint64, slot int, value byte, ok bool, err error) {
	if r.next == nil || r.g.Tier(p) != r.tier+1 {
		return 0, 0, 0, false, nil
	}
	rng = p >> r.g.LowBits()
	i := slices.IndexFunc(r.children, func(c tierValues) bool { return c.rng == rng })
	if i < 0 {
		i = len(r.children)
		if err := r.add(rng); err != nil {
			return 0, 0, 0, false, err
		}
	}
	c := &r.children[i]
	slot, ok = slices.BinarySearch(c.low, uint32(p-rng<<r.g.LowBits()))
	if !ok || !c.there.Has(slot) {
		return 0, 0, 0, false, nil
	}
	return rng, slot, c.values[slot], true, nil
}

// add reads a range of the next tier.
func (r *tierReader) add(rng uint64) error {
	b, err := r.next.Block(r.block.Range, rng)
	if err != nil {
		return err
	}
	r.children = slices.Grow(r.children, 1)[:len(r.children)+1]
	c := &r.children[len(r.children)-1]
	c.rng, c.low = rng, nil
	if b != nil {
		c.low, c.values = b.Low, append(c.values[:0], b.Val...)
		c.there = append(c.there[:0], b.Done...)
		c.there.Union(b.Open)
	}
	return nil
}

// A stateReader reads the table of a game with cycles.
type stateReader struct {
	t      *Cyclic // to find ranges
	cursor *rangeio.Cursor
	states map[uint64]*block.State // those read last
	rng    uint64
	home   *block.State
}

func (r *stateReader) load(rng uint64) (_ block.Set, err error) {
	r.rng = rng
	r.home, err = r.state(rng)
	if err != nil {
		return nil, err
	}
	return r.home.Reached, nil
}

func (r *stateReader) at(slot int) (game.Position, byte) {
	value, _ := r.home.Value(slot)
	return r.rng*uint64(r.t.g.RangeSize()) + uint64(slot), value
}

func (r *stateReader) find(p game.Position) (rng uint64, slot int, value byte, ok bool, err error) {
	size := uint64(r.t.g.RangeSize())
	rng, slot = p/size, int(p%size)
	s, err := r.state(rng)
	if err != nil || s == nil {
		return 0, 0, 0, false, err
	}
	value, ok = s.Value(slot)
	return rng, slot, value, ok, nil
}

// state is the state of a range, nil if the table has none.
func (r *stateReader) state(rng uint64) (*block.State, error) {
	if s, ok := r.states[rng]; ok {
		return s, nil
	}
	i, ok := r.t.find(rng)
	if !ok {
		return nil, nil
	}
	if len(r.states)*block.StatePlanes*r.t.g.RangeSize()/8 > rulesStates {
		clear(r.states)
	}
	s := new(block.State)
	if err := r.cursor.Read(i, s); err != nil {
		return nil, err
	}
	r.states[rng] = s
	return s, nil
}

// run checks parts, one after the other.
func (r Rules) run(ctx context.Context, g *plainRules, parts []*rulesPart) (checked, all uint64, err error) {
	for _, part := range parts {
		all += part.counts.Total()
	}
	c := &rulesCheck{g: g, report: r.Report, total: all}
	if r.Sample > 0 && r.Sample < all {
		c.total, c.sample = r.Sample, newSample(all, r.Sample, r.Seed)
	}
	var led ledTo // by positions of the part before
	var first uint64
	for i, part := range parts {
		n := part.counts.Total()
		if c.sample != nil && !c.sample.any(first, first+n) {
			first += n
			continue
		}
		firsts, err := c.count(ctx, part, first)
		if err != nil {
			return 0, 0, err
		}
		var marks ledTo // by those of this part
		if c.sample == nil {
			switch {
			case part.own:
				marks = newLedTo(part)
			case i+1 < len(parts):
				marks = newLedTo(parts[i+1])
			}
			if !part.own {
				err = c.unled(ctx, part, led)
			}
		}
		if err == nil {
			err = c.positions(ctx, part, firsts, marks)
		}
		if err == nil && part.own && c.sample == nil {
			err = c.unled(ctx, part, marks)
		}
		if err != nil {
			return 0, 0, err
		}
		led = marks
		first += n
	}
	return c.total, all, nil
}

// A rulesCheck is a check that goes on.
type rulesCheck struct {
	g      *plainRules
	total  uint64  // how many positions are to be checked
	sample *sample // nil: all

	mu     sync.Mutex
	done   uint64
	report func(share float64)
}

// ledTo is the positions to which moves lead, by range.
type ledTo map[uint64]block.Set

func newLedTo(part *rulesPart) ledTo {
	led := make(ledTo, len(part.ranges))
	for _, rng := range part.ranges {
		led[rng] = make(block.Set, block.Words(part.slots(rng)))
	}
	return led
}

// each calls check for the ranges of a part, on all cores, with their numbers.
func (c *rulesCheck) each(ctx context.Context, part *rulesPart, newCheck func(rulesReader) func(i int, positions block.Set) error) error {
	numbers := make([]uint64, len(part.ranges))
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	return eachRange(ctx, numbers, func() func(uint64) error {
		reader := part.reader()
		check := newCheck(reader)
		return func(i uint64) error {
			positions, err := reader.load(part.ranges[i])
			if err != nil {
				return err
			}
			return check(int(i), positions)
		}
	})
}

// count counts the positions of a part, which must be as many as its file says of
// each value. It returns the number that the first position of each range has, if
// that of the part is first.
func (c *rulesCheck) count(ctx context.Context, part *rulesPart, first uint64) (firsts []uint64, err error) {
	firsts = make([]uint64, len(part.ranges))
	var mu sync.Mutex
	var counts streamfmt.Counts
	err = c.each(ctx, part, func(reader rulesReader) func(int, block.Set) error {
		var slots []uint32
		return func(i int, positions block.Set) error {
			slots = positions.Append(slots[:0])
			var here streamfmt.Counts
			for _, slot := range slots {
				_, value := reader.at(int(slot))
				here[value]++
			}
			firsts[i] = uint64(len(slots))
			mu.Lock()
			defer mu.Unlock()
			counts.Add(&here)
			return nil
		}
	})
	if err == nil && counts != part.counts {
		err = wrongCounts(part.name)
	}
	for i, n := range firsts {
		firsts[i] = first
		first += n
	}
	return firsts, err
}

// unled wants every position of a part to be led to, but the start.
func (c *rulesCheck) unled(ctx context.Context, part *rulesPart, led ledTo) error {
	return c.each(ctx, part, func(reader rulesReader) func(int, block.Set) error {
		var slots []uint32
		return func(i int, positions block.Set) error {
			set := led[part.ranges[i]]
			slots = positions.Append(slots[:0])
			for _, slot := range slots {
				if set != nil && set.Has(int(slot)) {
					continue
				}
				if p, _ := reader.at(int(slot)); p != c.g.Start() {
					return part.fault(p, "cannot be reached: no move of a position of the table leads to it")
				}
			}
			return nil
		}
	})
}

// positions checks the positions of a part that are picked, and marks those to which
// their moves lead.
func (c *rulesCheck) positions(ctx context.Context, part *rulesPart, firsts []uint64, marks ledTo) error {
	return c.each(ctx, part, func(reader rulesReader) func(int, block.Set) error {
		var slots []uint32
		one := &rulesPosition{g: c.g, reader: reader, marks: marks}
		return func(i int, positions block.Set) error {
			slots = positions.Append(slots[:0])
			if c.sample != nil {
				slots = c.sample.of(slots, firsts[i])
			}
			for n, slot := range slots {
				if n%rulesEvery == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				p, value := reader.at(int(slot))
				reason, err := one.check(p, value)
				if err != nil {
					return err
				}
				if reason != "" {
					return part.fault(p, reason)
				}
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.done += uint64(len(slots)); c.report != nil {
				c.report(float64(c.done) / float64(c.total))
			}
			return nil
		}
	})
}

// A rulesPosition checks one position after the other.
type rulesPosition struct {
	g      *plainRules
	reader rulesReader
	marks  ledTo

	text   []byte
	moves  []game.Move
	values []byte
}

// check says what is wrong with a position of a value; "" if nothing.
func (c *rulesPosition) check(p game.Position, value byte) (reason string, err error) {
	if err := c.g.Check(p); err != nil {
		return fmt.Sprintf("is no position: %v", err), nil
	}
	c.text = c.g.AppendText(c.text[:0], p)
	if again, err := c.g.Parse(string(c.text)); err != nil {
		return fmt.Sprintf("its text is not read: %v", err), nil
	} else if again != p {
		return fmt.Sprintf("its text is read as position %#x", again), nil
	}
	c.moves = c.g.Moves(c.moves[:0], p)
	if end := c.g.finished(p); end != 0 {
		switch {
		case len(c.moves) > 0:
			return "it is finished, but has moves", nil
		case int(value) != end:
			return fmt.Sprintf("expected %s (it is finished), found %s", c.g.words(byte(end)), c.g.words(value)), nil
		}
		return "", nil
	}
	if len(c.moves) == 0 {
		return "it is not finished, but has no moves", nil
	}
	c.values = c.values[:0]
	for _, m := range c.moves {
		rng, slot, child, ok, err := c.reader.find(m.To)
		if err != nil {
			return "", err
		}
		if !ok {
			return fmt.Sprintf("its move %s leads to '%s' (%#x), which is missing", m.Name, c.g.AppendText(nil, m.To), m.To), nil
		}
		if c.marks != nil {
			atomic.OrUint64(&c.marks[rng][slot>>6], 1<<(slot&63))
		}
		c.values = append(c.values, child)
	}
	switch want := c.g.follows(p, c.values); {
	case want < 0:
		return "one of its moves leads to a position without a value", nil
	case want > math.MaxUint8:
		return fmt.Sprintf("it is more than %d moves from its end, found %s", game.MaxByteRemoteness, c.g.words(value)), nil
	case int(value) != want:
		return fmt.Sprintf("expected %s, as its moves lead to, found %s", c.g.words(byte(want)), c.g.words(value)), nil
	}
	return "", nil
}

// A sample is some of the numbers below another, each as likely as the others.
type sample struct {
	numbers []uint64 // ascending
	out     bool     // these are the ones that are not picked
}

// newSample picks n of the numbers below all.
func newSample(all, n, seed uint64) *sample {
	s := &sample{out: n > all/2}
	if s.out {
		n = all - n
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for uint64(len(s.numbers)) < n {
		for range n - uint64(len(s.numbers)) {
			s.numbers = append(s.numbers, random.Uint64N(all))
		}
		slices.Sort(s.numbers)
		s.numbers = slices.Compact(s.numbers)
	}
	return s
}

// between lists its numbers from first to the one before end.
func (s *sample) between(first, end uint64) []uint64 {
	i, _ := slices.BinarySearch(s.numbers, first)
	j, _ := slices.BinarySearch(s.numbers, end)
	return s.numbers[i:j]
}

// any reports whether one of the numbers from first to the one before end is picked.
func (s *sample) any(first, end uint64) bool {
	n := uint64(len(s.between(first, end)))
	if s.out {
		return n < end-first
	}
	return n > 0
}

// of keeps of slots, the first of which has a number, those that are picked.
func (s *sample) of(slots []uint32, first uint64) []uint32 {
	numbers := s.between(first, first+uint64(len(slots)))
	if !s.out {
		for i, n := range numbers {
			slots[i] = slots[n-first]
		}
		return slots[:len(numbers)]
	}
	kept := slots[:0]
	for i, slot := range slots {
		if len(numbers) > 0 && numbers[0] == first+uint64(i) {
			numbers = numbers[1:]
		} else {
			kept = append(kept, slot)
		}
	}
	return kept
}
