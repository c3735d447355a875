package connectn

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
)

var (
	_ game.Searched  = (*Rules)(nil)
	_ game.Evaluator = (*Rules)(nil)
)

// worth is a value as the player to move sees it.
func worth(r *Rules, p game.Position, v game.Value) int {
	switch v.Outcome() {
	case game.WinFor(r.ToMove(p)):
		return game.WonIn(v.Remoteness())
	case game.WinFor(r.ToMove(p).Other()):
		return game.LostIn(v.Remoteness())
	}
	return 0
}

// What Expand says of a position is so: the value lies within the bounds, with those of
// parity and without; its children are where the moves lead, one of them is as good as
// any, and their keys are those of their positions or of their mirror images.
func TestExpand(t *testing.T) {
	const infinite = 1 << 16
	for _, b := range [][3]int{{3, 3, 3}, {4, 3, 3}, {4, 4, 4}, {5, 3, 3}, {2, 6, 2}, {3, 4, 2}, {5, 1, 2}, {1, 5, 3}} {
		g := mustNew(t, b[0], b[1], b[2])
		values := gametest.Search(g)
		r := rand.New(rand.NewPCG(3, 4))
		for _, p := range slices.Sorted(maps.Keys(values)) {
			v := values[p]
			if g.Primitive(p) != 0 || r.IntN(len(values)) > 10000 {
				continue
			}
			want := worth(g, p, v)
			for _, asked := range []game.Asked{
				{Alpha: -infinite, Beta: infinite},
				{Alpha: -infinite, Beta: infinite, NoBounds: true, NoFold: true},
				{Alpha: want - 1, Beta: want},
				{Alpha: want, Beta: want + 1},
			} {
				n := game.Node{Asked: asked}
				g.Root(&n, p)
				g.Expand(&n)
				if want < n.Low || want > n.High {
					t.Fatalf("%s, %+v: %q is worth %d, the bounds are %d to %d", g.Spec(), asked, g.AppendText(nil, p), want, n.Low, n.High)
				}
				if n.Low >= asked.Beta || n.High <= asked.Alpha || n.Low == n.High {
					continue
				}
				best := -infinite
				for _, c := range n.Children {
					to := g.MoveOf(p, c.Move).To
					if c.Key != to && (asked.NoFold || c.Key != g.mirror(to)) {
						t.Fatalf("%s: %q: the key after %d is %#x, the position %#x", g.Spec(), g.AppendText(nil, p), c.Move, c.Key, to)
					}
					var root game.Node
					if g.Root(&root, c.Key); root.State[stateOwn] != c.State[stateOwn] || root.State[stateAll] != c.State[stateAll] {
						t.Fatalf("%s: %q: the state after %d is not that of its key", g.Spec(), g.AppendText(nil, p), c.Move)
					}
					score := -worth(g, to, values[to])
					if score > 0 {
						score--
					} else if score < 0 {
						score++
					}
					best = max(best, score)
				}
				if max(best, n.Low) != want {
					t.Fatalf("%s, %+v: %q is worth %d, its children %d", g.Spec(), asked, g.AppendText(nil, p), want, best)
				}
			}
		}
	}
}

// A spot is an empty square where one more stone makes a line, whether it can lie there
// yet or not.
func TestSpots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, b := range [][3]int{{7, 6, 4}, {8, 7, 4}, {6, 5, 4}, {5, 5, 3}, {6, 6, 5}, {9, 3, 2}, {1, 63, 4}, {32, 1, 6}, {4, 4, 1}} {
		g := mustNew(t, b[0], b[1], b[2])
		for range 300 {
			all := uint64(0)
			for c := range g.width {
				all |= (1<<r.IntN(g.height+1) - 1) << g.shift(c)
			}
			x := r.Uint64() & all
			if g.lines.in(x) != 0 {
				continue
			}
			spots := g.spots(x)
			for rest := g.forms.board &^ all; rest != 0; rest &= rest - 1 {
				m := rest & -rest
				if got, want := spots&m != 0, g.lines.in(x|m) != 0; got != want {
					t.Fatalf("%s: stones %#x, square %#x: a spot: %v, want %v", g.Spec(), x, m, got, want)
				}
			}
		}
	}
}
