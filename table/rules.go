//go:build !js

package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// Rules verifies a table with the rules of the game alone: the methods Moves and Primitive of
// game.Game, and look-ups. It uses none of the code that made the table, neither the steps nor
// the set methods. For each position that it checks, Parse must read back the position that
// AppendText wrote (one in 64 of a game that is game.Batched). A position that the rules decide must have their value. Every move of any
// other position must lead to a position of the table, and its value must follow from the
// values of these: a draw has a draw among its successors, and none that the mover wins or ties. If all positions are
// checked, the table must also contain the initial
// position, play must reach every other position, and the
// recorded counts must be right. This finds every error. Of the images of a position of a game.Symmetric, the canonical one
// must be there. Memory contains one bit for each position or slot, two where play may never end, and the data that each
// worker caches.
type Rules struct {
	Sample uint64              // how many positions to check, drawn uniformly at random; 0: all
	Seed   uint64              // seed of the random number generator
	Report func(share float64) // called with the share that is done; may be nil
}

const (
	// rulesEvery is the number of positions between two checks of the context, and of those that are computed at once.
	rulesEvery = game.BatchSize
	// textsEvery is the number of positions of a game that computes many at once of which one is written as text and read.
	textsEvery = 64
	// rulesKeep is the number of bytes of rows that a worker caches.
	rulesKeep = 32 << 20
	// rangesAtOnce is the maximum number of ranges that a worker takes at a time. It takes
	// fewer if there are not enough ranges for every worker to take some rangesTurns times.
	rangesAtOnce = 64
	rangesTurns  = 8
)

// Verify checks a table. It returns the number of positions checked, and the number of all.
// The first error in the order of tiers and keys is a *Fault.
func (r Rules) Verify(ctx context.Context, t *Table) (checked, all uint64, err error) {
	if _, err := t.start(); err != nil {
		return 0, 0, err
	}
	parts, most, err := t.contents.parts()
	if err != nil {
		return 0, 0, err
	}
	return r.run(ctx, &plainRules{Game: t.g, values: t.g.Values(), cyclic: !game.IsAcyclic(t.g), most: most}, parts)
}

// plainRules contains the rules by which values are checked.
type plainRules struct {
	game.Game
	values game.Values
	cyclic bool // play may never end
	most   int  // the greatest remoteness that the format can store
}

// follows computes the value of a position from the values of its successors: the outcome, as
// values store it, and the number of moves to the end. The winner chooses the shortest way and
// the loser the longest; a tie is better than play that never ends. ok is false if a successor
// has no value.
func (g *plainRules) follows(p game.Position, successors []game.Value) (o game.Outcome, n int, ok bool) {
	player := g.ToMove(p)
	var best [game.Ties + 1]int // by the mover's result: 1 + the number of moves to the end; 0: no such successor
	for _, v := range successors {
		result, n := v.Outcome().For(player), v.Remoteness()+2
		if !v.Valid() && !g.cyclic {
			return 0, 0, false
		}
		if g.values.OfMover { // the opponent moves in the successor
			result = [...]game.Result{game.Draws: game.Draws, game.Loses: game.Wins, game.Wins: game.Loses, game.Ties: game.Ties}[v.Outcome()]
		}
		soon := result == game.Wins || result == game.Ties && g.values.TiesSoon
		if old := best[result]; old == 0 || soon == (n < old) {
			best[result] = n
		}
	}
	result := game.Loses
	for _, better := range [...]game.Result{game.Draws, game.Ties, game.Wins} {
		if best[better] > 0 {
			result = better
		}
	}
	switch n = best[result] - 1; {
	case result == game.Draws:
		return game.Undecided, 0, true
	case g.values.OfMover || result == game.Ties:
		return game.Outcome(result), n, true
	case result == game.Wins:
		return game.WinFor(player), n, true
	}
	return game.WinFor(player.Other()), n, true
}

// A rulesPart is a part of a table that is checked at once: a tier of blocks, or a complete
// table.
type rulesPart struct {
	files  []rulesFile // in the order of the ranges
	ranges ranges      // the ranges of the part
	own    bool        // moves lead to positions of the same part, otherwise of the next
	// slots returns the number of slots of a range. If it is nil, there is one for each
	// position.
	slots func(rng uint64) int
	// half is not nil if the part stores half of its positions. Then the ranges, and what a
	// reader reads, are those that are stored, and a finder finds the position or its mirror
	// image: the one that is stored. A picker picks from all.
	half *halfPart
	// reader returns a reader for one worker, which may read ahead the given number of bytes.
	reader func(ahead int) rulesReader
	// picker returns a picker for one worker. If it is nil, a reader is used to pick.
	picker func(ahead int) picker
}

// ranges are the ranges of a part of a table. They are safe for concurrent use.
type ranges interface {
	Len() int
	// at returns the i-th range, and an upper bound for the number of its positions.
	at(i int) (rng uint64, most int, err error)
}

// A rulesFile is a file of a part, with its recorded counts.
type rulesFile struct {
	name   string
	counts Counts
	end    int // one more than the index of its last range
}

// A rulesReader reads a part, and looks up the successors of its positions.
type rulesReader interface {
	// load reads a range of the part as the current range, and appends the slots of its
	// positions, in ascending order.
	load(slots []uint32, rng uint64) ([]uint32, error)
	// at returns the position and the value of a slot of the current range.
	at(slot int) (game.Position, game.Value)
	finder
}

// A finder looks up successors of the positions of a part.
type finder interface {
	// find looks up p, a successor of a position of the range that was read last: its range,
	// its slot in that range, and its value.
	find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error)
}

// A picker reads single positions of a part, and looks up their successors.
type picker interface {
	// pick calls take for the positions of a range with the given numbers, which are
	// ascending. most is the upper bound of the range. Numbers beyond the last position are
	// ignored.
	pick(rng uint64, most int, numbers []uint64, take func(i int, p game.Position, v game.Value)) error
	finder
}

// run checks the parts, one after the other.
func (r Rules) run(ctx context.Context, g *plainRules, parts []*rulesPart) (checked, all uint64, err error) {
	for _, part := range parts {
		all += part.total()
	}
	c := &rulesCheck{g: g, report: r.Report, total: all}
	if r.Sample > 0 && r.Sample < all && !(r.Sample > all/2 && parts[0].half != nil) {
		c.total = r.Sample
		return c.total, all, c.sample(ctx, parts, all, r.Seed)
	}
	var reached reachedSlots // marks made by the moves of the previous part
	var first uint64
	for i, part := range parts {
		firsts, err := c.count(ctx, part, first)
		if err != nil {
			return 0, 0, err
		}
		first += part.total()
		var marks reachedSlots // marks made by the moves of this part
		switch {
		case part.own:
			marks, err = newReached(part, append(firsts, first))
		case i+1 < len(parts):
			marks, err = newReached(parts[i+1], nil)
		}
		if err == nil && !part.own {
			err = c.checkReachable(ctx, part, reached)
		}
		switch {
		case err == nil && part.own && g.cyclic:
			err = c.reach(ctx, part, marks, append(firsts, first))
		case err == nil:
			err = c.positions(ctx, part, part.all(), marks)
		}
		if err == nil && part.own {
			err = c.checkReachable(ctx, part, marks)
		}
		if err != nil {
			return 0, 0, err
		}
		reached = marks
	}
	return c.total, all, nil
}

// all returns all positions of the part, range by range.
func (part *rulesPart) all() []drawn {
	all := make([]drawn, part.ranges.Len())
	for i := range all {
		all[i] = drawn{i: i, out: true}
	}
	return all
}

// sample checks a random sample of all positions.
func (c *rulesCheck) sample(ctx context.Context, parts []*rulesPart, all, seed uint64) error {
	s := newSample(all, c.total, seed)
	var first uint64
	for _, part := range parts {
		for i, f := range part.files {
			n := f.counts.Total()
			file, err := part.bounded(i)
			if err != nil {
				return err
			}
			of, err := file.draw(ctx, s.among(first, first+n), n, s.random(first), nil)
			if err != nil {
				return err
			}
			first += n
			if len(of) > 0 && of[0].out {
				err = c.positions(ctx, part, of, nil)
			} else {
				err = c.picked(ctx, part, of)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// total returns the number of positions, as recorded in the files.
func (part *rulesPart) total() (all uint64) {
	for _, f := range part.files {
		all += f.counts.Total()
	}
	return all
}

// A rulesCheck is a check in progress.
type rulesCheck struct {
	g     *plainRules
	total uint64 // number of positions to check

	mu     sync.Mutex
	done   uint64
	report func(share float64)
}

// reachedSlots is the set of positions that moves lead to, by range.
type reachedSlots map[uint64]block.Set

// add adds a slot. It is safe for concurrent use.
func (r reachedSlots) add(rng uint64, slot int) { atomic.OrUint64(&r[rng][slot>>6], 1<<(slot&63)) }

// has reports whether add has added a slot.
func (r reachedSlots) has(rng uint64, slot int) bool {
	return atomic.LoadUint64(&r[rng][slot>>6])>>(slot&63)&1 != 0
}

// newReached returns an empty set. firsts is needed for a part without slots only: the number of
// the first position of each range, and the number of all positions at the end.
func newReached(part *rulesPart, firsts []uint64) (reachedSlots, error) {
	reached := make(reachedSlots, part.ranges.Len())
	for i := range part.ranges.Len() {
		rng, _, err := part.ranges.at(i)
		if err != nil {
			return nil, err
		}
		n := 0
		if part.slots != nil {
			n = part.slots(rng)
		} else {
			n = int(firsts[i+1] - firsts[i])
		}
		reached[rng] = make(block.Set, block.Words(n))
	}
	return reached, nil
}

// count counts the positions of a part, and compares the numbers with those recorded in its
// files, for each value. It returns the number of the first position of each range, counting
// from first.
func (c *rulesCheck) count(ctx context.Context, part *rulesPart, first uint64) (firsts []uint64, err error) {
	firsts = make([]uint64, part.ranges.Len(), part.ranges.Len()+1)
	var mu sync.Mutex
	counts := make([]Counts, len(part.files))
	for i := range counts {
		counts[i] = make(Counts)
	}
	err = part.each(ctx, part.all(), func(reader rulesReader) func(drawn, []uint32) error {
		return func(d drawn, slots []uint32) error {
			here := make(Counts)
			var low [256]uint64 // by value; most values are small, and an array is faster than a map
			rng, _, err := part.ranges.at(d.i)
			if err != nil {
				return err
			}
			weight := part.half.weights(rng)
			for _, slot := range slots {
				if _, v := reader.at(int(slot)); int(v) < len(low) {
					low[v] += weight(slot)
				} else {
					here[v] += weight(slot)
				}
			}
			for v, n := range low {
				if n > 0 {
					here[game.Value(v)] = n
				}
			}
			firsts[d.i] = uint64(len(slots))
			file := sort.Search(len(part.files), func(f int) bool { return part.files[f].end > d.i })
			mu.Lock()
			defer mu.Unlock()
			for v, n := range here {
				counts[file][v] += n
			}
			return nil
		}
	})
	for i, f := range part.files {
		if err == nil && !maps.Equal(counts[i], f.counts) {
			err = wrongCounts(f.name)
		}
	}
	for i, n := range firsts {
		firsts[i] = first
		first += n
	}
	return firsts, err
}

// checkReachable returns a Fault if a position of a part, other than the initial one, is not in reached.
func (c *rulesCheck) checkReachable(ctx context.Context, part *rulesPart, reached reachedSlots) error {
	return part.each(ctx, part.all(), func(reader rulesReader) func(drawn, []uint32) error {
		return func(d drawn, slots []uint32) error {
			rng, _, err := part.ranges.at(d.i)
			if err != nil {
				return err
			}
			set := reached[rng]
			for _, slot := range slots {
				if set != nil && set.Has(int(slot)) {
					continue
				}
				if p, _ := reader.at(int(slot)); p != canonical(c.g.Game, c.g.Start()) {
					return newFault(c.g.Game, p, "cannot be reached: no move of a position of the table leads to it")
				}
			}
			return nil
		}
	})
}

// positions checks the given positions of a part, and marks their successors.
func (c *rulesCheck) positions(ctx context.Context, part *rulesPart, of []drawn, marks reachedSlots) error {
	return part.each(ctx, of, func(reader rulesReader) func(drawn, []uint32) error {
		one := newRulesPosition(c.g, reader)
		one.marks, one.half = marks, part.half
		return func(d drawn, slots []uint32) error {
			slots = d.of(slots)
			return c.check(ctx, one, len(slots), part.half.times(), func(i int) (game.Position, game.Value) { return reader.at(int(slots[i])) })
		}
	})
}

// reach checks the positions of a part that play can reach, and marks them: in each pass, those that are marked and that no
// pass has checked before. Its parameters are those of newReached.
func (c *rulesCheck) reach(ctx context.Context, part *rulesPart, marks reachedSlots, firsts []uint64) error {
	start, slot, _, ok, err := part.reader(0).find(c.g.Start())
	done, err2 := newReached(part, firsts)
	if err = cmp.Or(err, err2); err != nil {
		return err
	}
	if ok {
		marks.add(start, slot)
	}
	for {
		var of []drawn
		for _, d := range part.all() {
			if rng, _, err := part.ranges.at(d.i); err != nil {
				return err
			} else if !slices.Equal(marks[rng], done[rng]) {
				of = append(of, d)
			}
		}
		if len(of) == 0 {
			return nil
		}
		err := part.each(ctx, of, func(reader rulesReader) func(drawn, []uint32) error {
			one := newRulesPosition(c.g, reader)
			one.marks = marks
			return func(d drawn, slots []uint32) error {
				rng, _, err := part.ranges.at(d.i)
				if err != nil {
					return err
				}
				slots = slices.DeleteFunc(slots, func(slot uint32) bool { return !marks.has(rng, int(slot)) || done.has(rng, int(slot)) })
				for _, slot := range slots {
					done.add(rng, int(slot))
				}
				return c.check(ctx, one, len(slots), 1, func(i int) (game.Position, game.Value) { return reader.at(int(slots[i])) })
			}
		})
		var fault *Fault
		if errors.As(err, &fault) { // another pass may have an earlier one
			return cmp.Or(c.positions(ctx, part, part.all(), nil), err)
		} else if err != nil {
			return err
		}
	}
}

// picked checks positions of a part that were drawn together with their values.
func (c *rulesCheck) picked(ctx context.Context, part *rulesPart, of []drawn) error {
	return part.pickEach(ctx, of, func(picker picker) func(drawn) error {
		one := newRulesPosition(c.g, picker)
		return func(d drawn) error {
			return c.check(ctx, one, len(d.positions), 1, func(i int) (game.Position, game.Value) { return d.positions[i], d.values[i] })
		}
	})
}

// check checks the positions at(0) to at(n-1), and reports the progress; each counts the given
// number of times.
func (c *rulesCheck) check(ctx context.Context, one *rulesPosition, n, times int, at func(i int) (game.Position, game.Value)) error {
	for i := range n {
		if i%rulesEvery == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			one.ask(c.g, i, min(n, i+rulesEvery), at)
		}
		p, v := at(i)
		reason, err := one.check(p, v)
		if reason != "" && one.g != c.g {
			one.g = c.g // computed alone, moves have names
			reason, err = one.check(p, v)
			reason = cmp.Or(reason, "it is wrong among other positions, and right alone: the rules contradict themselves")
		}
		if err != nil {
			return err
		}
		if reason != "" {
			return newFault(c.g.Game, p, reason)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done += uint64(times * n); c.report != nil {
		c.report(min(1, float64(c.done)/float64(c.total)))
	}
	return nil
}

// A rulesPosition checks single positions, one after the other.
type rulesPosition struct {
	g      *plainRules
	whole  game.Game // c.g may have some positions only
	finder finder
	marks  reachedSlots
	half   *halfPart

	batched game.Batched // nil: each position is computed alone
	asked   []game.Position
	checked int
	text    []byte
	moves   []game.Move
	values  []game.Value
}

func newRulesPosition(g *plainRules, f finder) *rulesPosition {
	batched, _ := g.Game.(game.Batched)
	return &rulesPosition{g: g, whole: g.Game, finder: f, batched: batched}
}

// ask has the positions at(from) to at(to-1) computed, if the game does that for many at once. If it fails, they are
// computed alone.
func (c *rulesPosition) ask(g *plainRules, from, to int, at func(i int) (game.Position, game.Value)) {
	c.g = g
	if c.batched == nil {
		return
	}
	c.asked = c.asked[:0]
	for i := from; i < to; i++ {
		p, _ := at(i)
		c.asked = append(c.asked, p)
	}
	slices.Sort(c.asked)
	batch, err := c.batched.Batch(c.asked)
	if err != nil {
		return
	}
	c.g = &plainRules{batch, g.values, g.cyclic, g.most}
}

// check returns a description of what is wrong with a position and its value, or "".
func (c *rulesPosition) check(p game.Position, v game.Value) (reason string, err error) {
	if err := c.g.Check(p); err != nil {
		return fmt.Sprintf("is no position: %v", err), nil
	}
	if of := canonical(c.whole, p); of != p {
		return fmt.Sprintf("is an image of %s, which stands for it", game.Key(c.g.Game, of)), nil
	}
	if c.checked++; c.batched == nil || c.checked%textsEvery == 0 {
		c.text = c.g.AppendText(c.text[:0], p)
		if again, err := c.g.Parse(string(c.text)); err != nil {
			return fmt.Sprintf("its text is not read: %v", err), nil
		} else if again != p {
			return fmt.Sprintf("its text is read as position %s", game.Key(c.g.Game, again)), nil
		}
	}
	c.moves = c.g.Moves(c.moves[:0], p)
	mover := c.g.ToMove(p)
	if known := game.KnownValue(c.g.Game, p); known != 0 {
		switch want := c.g.values.Ended(known, mover); {
		case len(c.moves) > 0 && c.g.Primitive(p) != 0:
			return "it is terminal, but has moves", nil
		case v != want:
			return fmt.Sprintf("expected %s (the rules decide it), found %s", c.g.values.Text(want), c.g.values.Text(v)), nil
		}
		return "", nil
	}
	if len(c.moves) == 0 {
		return "it is not terminal, but has no moves", nil
	}
	c.values = c.values[:0]
	for _, m := range c.moves {
		rng, slot, successor, ok, err := c.finder.find(m.To)
		if err != nil {
			return "", err
		}
		if !ok {
			return missing(c.g, m), nil
		}
		if c.marks != nil {
			c.marks.add(rng, slot)
			if ok, err := c.markImage(m.To); err != nil {
				return "", err
			} else if !ok {
				m.To = c.half.g.Mirror(m.To)
				return "the mirror image of " + missing(c.g, m), nil
			}
		}
		c.values = append(c.values, successor)
	}
	outcome, n, ok := c.g.follows(p, c.values)
	if !ok {
		return "one of its moves leads to a position without a value", nil
	}
	if n > c.g.most {
		return fmt.Sprintf("it is more than %s from its end, found %s", numfmt.Count(c.g.most, "move"), c.g.values.Text(v)), nil
	}
	if want := game.NewValue(outcome, n); v != want {
		return fmt.Sprintf("expected %s, as its moves lead to, found %s", c.g.values.Text(want), c.g.values.Text(v)), nil
	}
	return "", nil
}

// eachRange calls check for all ranges, on all cores, and returns the error of the lowest
// range that has one. newCheck returns the check of one worker.
func eachRange(ctx context.Context, ranges []uint64, newCheck func() func(rng uint64) error) error {
	return each(ctx, len(ranges), func() func(int) error {
		check := newCheck()
		return func(i int) error { return check(ranges[i]) }
	})
}

// each is like eachRange, with the numbers of the ranges.
func each(ctx context.Context, ranges int, newCheck func() func(i int) error) error {
	workers := runtime.GOMAXPROCS(0)
	return parallel.Each(ctx, workers, ranges, max(1, min(rangesAtOnce, ranges/(rangesTurns*workers))), newCheck)
}
