//go:build !js

package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/stored"
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
	Sample uint64              // how many positions to check, drawn uniformly at random; 0, or more than half of them: all
	Seed   uint64              // seed of the random number generator
	Report func(share float64) // called with the share that is done; may be nil
}

const (
	// rulesEvery is the number of positions between two checks of the context, and of those that are computed at once.
	rulesEvery = game.BatchSize
	// textsEvery is the number of positions of a game that computes many at once of which one is written as text and read.
	textsEvery = 64
)

// Verify checks a table. It returns the number of positions checked, and the number of all.
// The first error in the order of tiers and keys is a *Fault.
func (r Rules) Verify(ctx context.Context, t *Table) (checked, all uint64, err error) {
	if _, err := t.start(); err != nil {
		return 0, 0, err
	}
	if all, err = t.Positions(); err != nil {
		return 0, 0, err
	}
	c := &rulesCheck{
		g:     &plainRules{Game: t.g, values: t.g.Values(), cyclic: !game.IsAcyclic(t.g), most: game.MostRemoteness(t.g)},
		total: all, report: r.Report,
	}
	if r.Sample > 0 && r.Sample <= all/2 {
		c.total = r.Sample
		err = c.sample(ctx, t, r.Seed)
	} else {
		var parts []*stored.Part
		if parts, err = t.method.Parts(func(int) bool { return true }); err == nil {
			err = c.run(ctx, parts)
		}
	}
	if err != nil {
		return 0, 0, explain(t.g, err)
	}
	return c.total, all, nil
}

// plainRules contains the rules by which values are checked.
type plainRules struct {
	game.Game
	values game.Values
	cyclic bool // play may never end
	most   int  // the greatest remoteness that the format can store
}

// follows computes the value of a position of a player from the values of its successors: the outcome, as
// values store it, and the number of moves to the end. The winner chooses the shortest way and
// the loser the longest; a tie is better than play that never ends. ok is false if a successor
// has no value.
func (g *plainRules) follows(player game.Player, successors []game.Value) (o game.Outcome, n int, ok bool) {
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

// run checks the parts, one after the other.
func (c *rulesCheck) run(ctx context.Context, parts []*stored.Part) error {
	marks, err := newReached(parts[0]) // made by the moves of the current part
	for i, part := range parts {
		reached := marks // made by the moves of the previous part, or if Own, of this one
		c.counts = make(map[*stored.File]Counts)
		for i := range part.Files {
			c.counts[&part.Files[i]] = make(Counts)
		}
		if err == nil && !part.Own && i+1 < len(parts) {
			marks, err = newReached(parts[i+1])
		}
		scan := &Scan{ctx: ctx, g: c.g.Game, parts: []*stored.Part{part}, n: part.Len}
		switch {
		case err != nil:
		case part.Own && c.g.cyclic:
			err = c.reach(scan, part, marks)
		default:
			err = c.positions(scan, marks)
		}
		if err == nil {
			err = c.checkReachable(scan, reached)
		}
		for i := range part.Files {
			if f := &part.Files[i]; err == nil && !maps.Equal(c.counts[f], f.Counts) {
				err = stored.NoCounts(f.Name)
			}
		}
		if err != nil {
			return err
		}
		parts[i] = nil // what the part has cached is garbage now
	}
	return nil
}

// sample checks a random sample of all positions.
func (c *rulesCheck) sample(ctx context.Context, t *Table, seed uint64) error {
	sample, err := t.Sample(ctx, c.total, seed, Selection{})
	for _, b := range sample {
		if err != nil {
			return err
		}
		n := (len(b.Positions) + rulesEvery - 1) / rulesEvery
		err = parallel.All(ctx, n, func() func(int) error {
			one := newRulesPosition(c.g, lookedUp{t}, nil)
			return func(i int) error {
				from := i * rulesEvery
				n := min(rulesEvery, len(b.Positions)-from)
				err := c.check(ctx, one, n, func(i int) (game.Position, game.Value) { return b.Positions[from+i], b.Values[from+i] })
				c.progress(uint64(n))
				return err
			}
		})
	}
	return err
}

// lookedUp finds positions by look-ups.
type lookedUp struct{ *Table }

// Find looks up a position. It returns no range.
func (t lookedUp) Find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	v, ok, err = t.method.Lookup(p)
	return 0, 0, v, ok, err
}

// Image returns none: it is needed for ranges only.
func (lookedUp) Image(game.Position) (image game.Position, ok bool) { return 0, false }

// A rulesCheck is a check in progress.
type rulesCheck struct {
	g     *plainRules
	total uint64 // number of positions to check

	mu     sync.Mutex
	counts map[*stored.File]Counts // numbers of positions checked so far, by file of the current part and by value
	done   uint64                  // number of positions that were checked
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

// newReached returns an empty set.
func newReached(part *stored.Part) (reachedSlots, error) {
	reached := make(reachedSlots, part.Len)
	for i := range part.Len {
		rng, _, err := part.Range(i)
		if err != nil {
			return nil, err
		}
		reached[rng] = make(block.Set, block.Words(part.Slots(rng)))
	}
	return reached, nil
}

// progress reports that n more positions were checked.
func (c *rulesCheck) progress(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done += n; c.report != nil {
		c.report(min(1, float64(c.done)/float64(c.total)))
	}
}

// checkReachable returns a Fault if a position of a part, other than the initial one, is not in reached.
func (c *rulesCheck) checkReachable(scan *Scan, reached reachedSlots) error {
	return scan.each(nil, stored.Ahead, func(b *loaded) func(int) error {
		return func(int) error {
			set := reached[b.rng]
			for _, slot := range b.slots {
				if set != nil && set.Has(int(slot)) {
					continue
				}
				if p, _ := b.At(int(slot)); p != game.StoredOf(c.g.Game, c.g.Start()) {
					return newFault(c.g.Game, p, "cannot be reached: no move of a position of the table leads to it")
				}
			}
			return nil
		}
	})
}

// positions checks the positions of a part, and marks their successors.
func (c *rulesCheck) positions(scan *Scan, marks reachedSlots) error {
	return scan.each(nil, stored.Ahead, func(b *loaded) func(int) error {
		one := newRulesPosition(c.g, b, marks)
		return func(int) error { return c.batch(scan.ctx, one, b) }
	})
}

// batch checks the positions of a batch, and counts them.
func (c *rulesCheck) batch(ctx context.Context, one *rulesPosition, b *loaded) error {
	err := c.check(ctx, one, len(b.slots), func(i int) (game.Position, game.Value) { return b.At(int(b.slots[i])) })
	checked := make(Counts)
	for _, slot := range b.slots {
		_, v := b.At(int(slot))
		checked[v] += b.Times(int(slot))
	}
	c.mu.Lock()
	for v, n := range checked {
		c.counts[b.file][v] += n
	}
	c.mu.Unlock()
	c.progress(checked.Total())
	return err
}

// reach checks the positions of a part that play can reach, and marks them: in each pass, those that are marked and that no
// pass has checked before.
func (c *rulesCheck) reach(scan *Scan, part *stored.Part, marks reachedSlots) error {
	start, slot, _, ok, err := part.Reader(0).Find(c.g.Start())
	done, err2 := newReached(part)
	if err = cmp.Or(err, err2); err != nil {
		return err
	}
	if ok {
		marks.add(start, slot)
	}
	for {
		var of []int
		for i := range part.Len {
			if rng, _, err := part.Range(i); err != nil {
				return err
			} else if !slices.Equal(marks[rng], done[rng]) {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil
		}
		err := scan.each(of, stored.Ahead, func(b *loaded) func(int) error {
			one := newRulesPosition(c.g, b, marks)
			return func(int) error {
				b.slots = slices.DeleteFunc(b.slots, func(slot uint32) bool { return !marks.has(b.rng, int(slot)) || done.has(b.rng, int(slot)) })
				for _, slot := range b.slots {
					done.add(b.rng, int(slot))
				}
				return c.batch(scan.ctx, one, b)
			}
		})
		var fault *Fault
		if errors.As(err, &fault) { // another pass may have an earlier one
			return cmp.Or(c.positions(scan, nil), err)
		} else if err != nil {
			return err
		}
	}
}

// check checks the positions at(0) to at(n-1).
func (c *rulesCheck) check(ctx context.Context, one *rulesPosition, n int, at func(i int) (game.Position, game.Value)) error {
	for i := range n {
		if i%rulesEvery == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			one.ask(i, min(n, i+rulesEvery), at)
		}
		p, v := at(i)
		reason, err := one.check(p, v)
		if reason != "" && len(one.batch) > 0 {
			one.asked, one.batch = c.g.Game, one.batch[:0] // computed alone, moves have names
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
	return nil
}

// A rulesPosition checks single positions, one after the other.
type rulesPosition struct {
	g      *plainRules
	asked  game.Game       // the game, with the positions of batch computed
	batch  []game.Position // empty: each position is computed alone
	finder stored.Finder
	marks  reachedSlots // where check marks the successors; nil: it does not mark them

	checked int
	text    []byte
	moves   []game.Move
	values  []game.Value
}

func newRulesPosition(g *plainRules, f stored.Finder, marks reachedSlots) *rulesPosition {
	return &rulesPosition{g: g, finder: f, marks: marks}
}

// ask has the positions at(from) to at(to-1) computed, if the game does that for many at once. If it fails, they are
// computed alone.
func (c *rulesPosition) ask(from, to int, at func(i int) (game.Position, game.Value)) {
	c.asked, c.batch = c.g.Game, c.batch[:0]
	if !game.IsBatched(c.g.Game) {
		return
	}
	for i := from; i < to; i++ {
		p, _ := at(i)
		c.batch = append(c.batch, p)
	}
	slices.Sort(c.batch)
	if batch, err := game.BatchOf(c.g.Game, c.batch); err == nil {
		c.asked = batch
	} else {
		c.batch = c.batch[:0]
	}
}

// check returns a description of what is wrong with a position and its value, or "".
func (c *rulesPosition) check(p game.Position, v game.Value) (reason string, err error) {
	if err := c.g.Check(p); err != nil {
		return fmt.Sprintf("is no position: %v", err), nil
	}
	if of := game.StoredOf(c.g.Game, p); of != p {
		return fmt.Sprintf("is an image of %s, which stands for it", game.Key(c.g.Game, of)), nil
	}
	if c.checked++; c.checked%textsEvery == 0 || !game.IsBatched(c.g.Game) {
		c.text = c.g.AppendText(c.text[:0], p)
		if again, err := c.g.Parse(string(c.text)); err != nil {
			return fmt.Sprintf("its text is not read: %v", err), nil
		} else if again != p {
			return fmt.Sprintf("its text is read as position %s", game.Key(c.g.Game, again)), nil
		}
	}
	c.moves = c.asked.Moves(c.moves[:0], p)
	mover := c.asked.ToMove(p)
	if known := game.KnownValue(c.asked, p); known != 0 {
		switch want := c.g.values.Ended(known, mover); {
		case len(c.moves) > 0 && c.asked.Primitive(p) != 0:
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
		rng, slot, successor, ok, err := c.finder.Find(m.To)
		if err != nil {
			return "", err
		}
		if !ok {
			return missing(c.g, m), nil
		}
		if c.marks != nil {
			c.marks.add(rng, slot)
			if m.To, ok = c.finder.Image(m.To); ok { // to which the image of p leads
				if rng, slot, _, ok, err = c.finder.Find(m.To); err != nil {
					return "", err
				}
				if !ok {
					return "the image of " + missing(c.g, m), nil
				}
				c.marks.add(rng, slot)
			}
		}
		c.values = append(c.values, successor)
	}
	outcome, n, ok := c.g.follows(mover, c.values)
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
