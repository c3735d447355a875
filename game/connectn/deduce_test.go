package connectn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
)

// TestDeduce compares what Deduce says with the rules of single boards, for every slot of every range of
// all small boards, and for both halves of them.
func TestDeduce(t *testing.T) {
	boards := 0
	for width := 1; width <= 9; width++ {
		for height := 1; height <= 9; height++ {
			if width*(height+1) > 20 {
				continue
			}
			for connect := 1; connect <= max(width, height); connect++ {
				g := mustNew(t, width, height, connect)
				t.Run(fmt.Sprintf("%d×%d connect %d", width, height, connect), func(t *testing.T) { testDeduce(t, g) })
				boards++
			}
		}
	}
	t.Logf("%d boards", boards)
}

func testDeduce(t *testing.T, g *Rules) {
	slots := 0
	for _, of := range []game.Blockwise{g, mirror.HalfOf(g)} {
		deduce, half := game.DeducerOf(of), of != game.Blockwise(g)
		var d block.Deduced
		for tier := range g.Tiers() + 1 {
			for rng := range uint64(1) << (g.KeyBits() - g.LowBits()) {
				low := of.Low(tier, rng)
				if low == nil {
					continue
				}
				d.Reset(len(low))
				deduce(&d, tier, rng, 0, len(d.Unknown))
				for slot, l := range low {
					slots++
					checkDeduced(t, g, half, &d, tier, rng<<g.LowBits()|game.Position(l), slot)
				}
			}
		}
	}
	if slots == 0 {
		t.Error("no slots")
	}
}

// checkDeduced compares what Deduce says of a slot with the rules of its board p.
func checkDeduced(t *testing.T, g *Rules, half bool, d *block.Deduced, tier int, p game.Position, slot int) {
	t.Helper()
	value, possible := deduced(g, p, tier)
	if half && !mirror.HalfOf(g).IsStored(p) {
		possible = false
	}
	want := "impossible"
	if possible {
		want = fmt.Sprint("value ", value)
	}
	got, sets := "impossible", 0
	if d.Unknown.Has(slot) {
		got = "value 0"
		sets++
	}
	for i, known := range d.Known {
		if known.Has(slot) {
			got = fmt.Sprint("value ", d.Values[i])
			sets++
		}
	}
	if got != want || sets > 1 {
		t.Fatalf("%s tier %d: %#x is %s, in %d sets, want %s", g.Spec(), tier, p, got, sets, want)
	}
}

// TestDeduceParts calls Deduce for parts of random ranges of larger boards, and for both halves: each word
// alone, in any order, and between random cuts. The result must be that of one call. Random slots of it are
// compared with the rules of single boards.
func TestDeduceParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, board := range [][3]int{{5, 5, 4}, {5, 5, 3}, {6, 6, 4}, {7, 6, 4}} {
		g := mustNew(t, board[0], board[1], board[2])
		for _, of := range []game.Blockwise{g, mirror.HalfOf(g)} {
			testDeduceParts(t, r, g, of)
		}
	}
}

func testDeduceParts(t *testing.T, r *rand.Rand, g *Rules, of game.Blockwise) {
	deduce, half := game.DeducerOf(of), of != game.Blockwise(g)
	var once, parts block.Deduced // the sets of parts have contents before the first call
	const segment = 64            // words of a segment of a compact block
	long, found := 0, [4]int{}    // longer ranges, and slots by the set that has them
	for ranges := 0; ranges < 120; {
		tier, rng := r.IntN(g.Tiers()+1), randomRange(r, g)
		low := of.Low(tier, rng)
		if low == nil {
			continue
		}
		ranges++
		once.Reset(len(low))
		words := len(once.Unknown)
		deduce(&once, tier, rng, 0, words)
		if words > segment {
			long++
		}
		same := func(way string) {
			if parts.Values != once.Values || !slices.Equal(parts.Unknown, once.Unknown) ||
				!slices.Equal(parts.Known[0], once.Known[0]) || !slices.Equal(parts.Known[1], once.Known[1]) {
				t.Fatalf("%s tier %d, range %#x, half %t: %s differs from one call", g.Spec(), tier, rng, half, way)
			}
		}
		parts.Reset(len(low))
		for _, i := range r.Perm(words) {
			deduce(&parts, tier, rng, i, i+1)
		}
		same("a call for each word")
		parts.Reset(len(low))
		for from := 0; from < words; {
			to := from + 1 + r.IntN(words-from)
			deduce(&parts, tier, rng, from, to)
			from = to
		}
		same("a call for each cut")
		for range 50 {
			slot := r.IntN(len(low))
			checkDeduced(t, g, half, &once, tier, rng<<g.LowBits()|game.Position(low[slot]), slot)
			switch {
			case once.Unknown.Has(slot):
				found[0]++
			case once.Known[0].Has(slot):
				found[1]++
			case once.Known[1].Has(slot):
				found[2]++
			default:
				found[3]++
			}
		}
	}
	t.Logf("%s, half %t: %d ranges of more than %d words; slots that are open, over, won with a move, impossible: %v", g.Spec(), half, long, segment, found)
	if long == 0 || slices.Contains(found[:], 0) {
		t.Errorf("%s, half %t: too few kinds of ranges or slots", g.Spec(), half)
	}
}

// randomRange returns the range of random columns.
func randomRange(r *rand.Rand, g *Rules) (rng uint64) {
	for c := range g.width {
		if shift := g.shift(c); shift >= g.LowBits() {
			n := r.IntN(g.height + 1)
			rng |= (1<<n | r.Uint64N(1<<n)) << (shift - g.LowBits())
		}
	}
	return rng
}

// deduced returns the value of a board that is terminal or won with one move, otherwise 0, and whether
// a piece on top can have been the last move.
func deduced(g *Rules, p game.Position, tier int) (value byte, possible bool) {
	mover := g.ToMove(p)
	possible = tier == 0
	for c := range g.width {
		column := g.column(p, c)
		n, _ := pieces(column)
		if n == 0 || game.Player(1-column>>(n-1)&1) == mover {
			continue
		}
		before := g.column(p, c)&(1<<(n-1)-1) | 1<<(n-1) // the column without its highest piece
		possible = possible || g.Primitive(p-(column-before)<<g.shift(c)) == 0
	}
	if v := g.Primitive(p); v != 0 {
		return byte(v), possible
	}
	for _, m := range g.Moves(nil, p) {
		if won := game.NewValue(game.WinFor(mover), 0); g.Primitive(m.To) == won {
			return byte(game.NewValue(game.WinFor(mover), 1)), possible
		}
	}
	return 0, possible
}
