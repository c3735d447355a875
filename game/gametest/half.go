package gametest

import (
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// CheckHalved checks the contract of game.Halved for a position and its moves.
func CheckHalved(t testing.TB, g game.Halved, p game.Position) {
	t.Helper()
	stored, balanced := halves(t, g, p)
	tier, bits := g.Tier(p), g.LowBits()
	if bits > 30 {
		t.Fatalf("%#x: %d low bits", p, bits)
	}
	image := g.Mirror(p)
	imageStored, imageBalanced := halves(t, g, image)
	switch {
	case !stored && !imageStored:
		t.Fatalf("%#x: neither it nor its mirror image %#x is stored", p, image)
	case balanced != (stored && imageStored) || imageBalanced != balanced:
		t.Fatalf("%#x: balanced is %v, but stored is %v, and %v for its mirror image", p, balanced, stored, imageStored)
	}
	rng, low := split(g, p)
	if high, low := g.Mirror(rng<<bits), g.Mirror(game.Position(low)); high|low != image || high&low != 0 {
		t.Fatalf("%#x: the mirror images of range and low part, %#x and %#x, are not those parts of %#x", p, high, low, image)
	}
	if slot, want := g.Slot(low), slices.Index(g.Low(tier, rng), low); slot != want {
		t.Fatalf("%#x: Slot is %d, want %d", p, slot, want)
	}
	for _, m := range g.Moves(nil, p) {
		switch to, toBalanced := halves(t, g, m.To); {
		case stored && !balanced && !to:
			t.Fatalf("%#x: it is stored and not balanced, but its move %s leads to %#x, which is not stored", p, m.Name, m.To)
		case !stored && to && !toBalanced:
			t.Fatalf("%#x: it is not stored, but its move %s leads to %#x, which is stored and not balanced", p, m.Name, m.To)
		}
	}
}

// halves returns whether a position is stored, and whether it is balanced. It checks the sets of
// its range.
func halves(t testing.TB, g game.Halved, p game.Position) (stored, balanced bool) {
	t.Helper()
	tier := g.Tier(p)
	rng, low := split(g, p)
	lows := g.Low(tier, rng)
	slot, _ := slices.BinarySearch(lows, low)
	all, both := g.Stored(tier, rng)
	for _, set := range []block.Set{all, both} {
		if set == nil {
			continue
		}
		if len(set) != block.Words(len(lows)) || set.Empty() {
			t.Fatalf("%#x: Stored returns a set of %d words, %d slots, for a range of %d slots", p, len(set), set.Count(), len(lows))
		}
	}
	return all != nil && all.Has(slot), both != nil && both.Has(slot)
}
