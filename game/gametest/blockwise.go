package gametest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// CheckBlockwise checks the contract of game.Blockwise for a position: its slot, and that the moves
// across and within its range are those of Moves.
func CheckBlockwise(t testing.TB, g game.Blockwise, p game.Position) {
	t.Helper()
	tier := g.Tier(p)
	at := fmt.Sprintf("tier %d, %#x (%q)", tier, p, g.AppendText(nil, p))
	if tier < 0 || tier > g.Tiers() {
		t.Fatalf("%s: the last tier is %d", at, g.Tiers())
	}
	if g.LowBits() > 31 {
		t.Fatalf("%s: %d low bits", at, g.LowBits())
	}
	if g.ToMove(p) != g.TierToMove(tier) {
		t.Fatalf("%s: the player to move is not that of the tier", at)
	}
	rng, low := split(g, p)
	slot, ok := slices.BinarySearch(g.Low(tier, rng), low)
	if !ok {
		t.Fatalf("%s: its low part %#x is not in Low", at, low)
	}
	targets := checkRanges(t, at, g, tier, rng)
	if g.Primitive(p) != 0 {
		return
	}
	across, within := movesOf(t, at, g, p)
	slices.Sort(targets)
	if !slices.Equal(across, targets) {
		t.Fatalf("%s: moves lead to the ranges %x, Targets are %x", at, across, targets)
	}
	var mapped []uint32
	if table, kinds := g.Within(tier, rng); table != nil {
		slots, none := len(g.Low(tier, rng)), uint32(len(g.Low(tier+1, rng)))
		if len(table) != slots*kinds {
			t.Fatalf("%s: Within has %d successors of %d slots, want %d of each", at, len(table), slots, kinds)
		}
		for _, c := range table[slot*kinds : (slot+1)*kinds] {
			if c != none {
				mapped = append(mapped, c)
			}
		}
	}
	slices.Sort(mapped)
	if !slices.Equal(within, mapped) {
		t.Fatalf("%s: moves lead to the slots %d, Within to %d", at, within, mapped)
	}
}

// checkRanges checks that the sources and targets of a range have its slots, and that it is a target
// and a source of them. It returns the targets.
func checkRanges(t testing.TB, at string, g game.Blockwise, tier int, rng uint64) (targets []uint64) {
	t.Helper()
	lows := g.Low(tier, rng)
	for _, source := range checkAppended(t, at, "Sources", g.Sources([]uint64{12345}, tier, rng)) {
		if source == rng || !sameList(g.Low(tier-1, source), lows) {
			t.Fatalf("%s: source %#x has other slots", at, source)
		}
		if !slices.Contains(g.Targets(nil, tier-1, source), rng) {
			t.Fatalf("%s: source %#x does not have %#x as a target", at, source, rng)
		}
	}
	targets = checkAppended(t, at, "Targets", g.Targets([]uint64{12345}, tier, rng))
	for _, target := range targets {
		if target == rng || !sameList(g.Low(tier+1, target), lows) {
			t.Fatalf("%s: target %#x has other slots", at, target)
		}
		if !slices.Contains(g.Sources(nil, tier+1, target), rng) {
			t.Fatalf("%s: target %#x does not have %#x as a source", at, target, rng)
		}
	}
	return targets
}

// movesOf returns, sorted, the ranges to which moves across ranges lead, and the slots to which those
// within the range lead. It checks that each move leads to the next tier, and does not change both.
func movesOf(t testing.TB, at string, g game.Blockwise, p game.Position) (across []uint64, within []uint32) {
	t.Helper()
	next := g.Tier(p) + 1
	rng, low := split(g, p)
	successors := g.Low(next, rng)
	for _, m := range g.Moves(nil, p) {
		if tier := g.Tier(m.To); tier != next {
			t.Fatalf("%s: move %s leads to tier %d", at, m.Name, tier)
		}
		to, toLow := split(g, m.To)
		if to != rng {
			if toLow != low {
				t.Fatalf("%s: move %s changes range and low part", at, m.Name)
			}
			across = append(across, to)
			continue
		}
		successor, ok := slices.BinarySearch(successors, toLow)
		if !ok {
			t.Fatalf("%s: move %s leads to the low part %#x, which is not in Low", at, m.Name, toLow)
		}
		within = append(within, uint32(successor))
	}
	slices.Sort(across)
	slices.Sort(within)
	return across, within
}

// checkFinish checks that Finish agrees with Primitive on a reachable position.
func (c contract) checkFinish(g game.Blockwise, p game.Position) {
	c.Helper()
	tier, end := g.Tier(p), g.Primitive(p)
	rng, low := split(g, p)
	var b block.Block
	b.Reset(tier, rng, g.LowBits(), g.Low(tier, rng))
	slot, _ := b.Slot(low, 0)
	b.Open.Add(slot)
	g.Finish(&b)
	if b.Count() != 1 || b.Done.Has(slot) != (end != 0) {
		c.failf(p, "Primitive is %d, but Finish leaves %d open and %d done", end, b.Open.Count(), b.Done.Count())
	}
	if found := game.Value(b.Val[slot]); end != 0 && found != end {
		c.failf(p, "Primitive is %d, but Finish sets %d", end, found)
	}
}

// checkDeduced checks what Deduce says of a reachable position: it is one, and its value, if Deduce says it,
// is that of Primitive, or a win with one move.
func (c contract) checkDeduced(g game.Blockwise, p game.Position) {
	c.Helper()
	deduce := game.DeducerOf(g)
	if deduce == nil {
		return
	}
	tier, end := g.Tier(p), g.Primitive(p)
	rng, low := split(g, p)
	slot, _ := slices.BinarySearch(g.Low(tier, rng), low)
	var d block.Deduced
	d.Reset(len(g.Low(tier, rng)))
	deduce(&d, tier, rng, 0, len(d.Unknown))
	said, kinds := game.Value(0), 0
	if d.Unknown.Has(slot) {
		kinds++
	}
	for i, known := range d.Known {
		if known.Has(slot) {
			said = game.Value(d.Values[i])
			kinds++
		}
	}
	if kinds != 1 {
		c.failf(p, "it is in %d sets of Deduce, expected 1", kinds)
	}
	if said == 0 || said == end {
		return
	}
	wins := func(m game.Move) bool {
		v := g.Values().Before(g.Primitive(m.To))
		return v == said && g.Values().Ended(v, g.ToMove(p)).Outcome().Winner() == g.ToMove(p)
	}
	if end != 0 || !slices.ContainsFunc(g.Moves(nil, p), wins) {
		c.failf(p, "Deduce says %d", said)
	}
}

// sameList reports whether two lists are equal; usually they are the same slice.
func sameList(a, b []uint32) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// checkAppended requires a list that begins with 12345 and contains no range twice.
func checkAppended(t testing.TB, at, name string, list []uint64) []uint64 {
	t.Helper()
	if len(list) == 0 || list[0] != 12345 {
		t.Fatalf("%s: %s does not append", at, name)
	}
	list = list[1:]
	if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != len(list) {
		t.Fatalf("%s: %s gives a range twice: %x", at, name, list)
	}
	return list
}

// split returns the range and the low part of a position.
func split(g game.Blockwise, p game.Position) (rng uint64, low uint32) {
	return p >> g.LowBits(), uint32(p & (1<<g.LowBits() - 1))
}
