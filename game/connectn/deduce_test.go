package connectn

import (
	"fmt"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
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
	for _, of := range []game.Tiered{g, game.HalfOf(g)} {
		deduce, half := game.DeducerOf(of), of != game.Tiered(g)
		var d block.Deduced
		for tier := range g.Tiers() + 1 {
			for rng := range uint64(1) << (g.KeyBits() - g.LowBits()) {
				low := of.Low(tier, rng)
				if low == nil {
					continue
				}
				d.Reset(len(low))
				deduce(&d, tier, rng, 0, len(d.Open))
				for slot, l := range low {
					slots++
					p := rng<<g.LowBits() | game.Position(l)
					value, possible := deduced(g, p, tier)
					if half && !game.HalfOf(g).IsStored(p) {
						possible = false
					}
					want := "impossible"
					if possible {
						want = fmt.Sprint("value ", value)
					}
					got := "impossible"
					if d.Open.Has(slot) {
						got = "value 0"
					}
					for i, known := range d.Known {
						if known.Has(slot) {
							got = fmt.Sprint("value ", d.Values[i])
						}
					}
					if got != want {
						t.Fatalf("%s tier %d: %#x is %s, want %s", g.Spec(), tier, p, got, want)
					}
				}
			}
		}
	}
	if slots == 0 {
		t.Error("no slots")
	}
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
