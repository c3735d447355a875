package analysis

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/search"
)

// BenchmarkEvaluation analyzes $TREEREDUCE_EVALUATION random positions of Connect 4 on 7×6 with 8
// to 16 stones, each for a second on one core, as play web does. It reports how many of the moves
// that are then marked best are best by outcome, and best by outcome and remoteness.
func BenchmarkEvaluation(b *testing.B) {
	n := longtest.Number(b, "TREEREDUCE_EVALUATION", 50)
	g := solved.Game(b, "connectn width=7 height=6 connect=4")
	exact := newOracle(b, g)
	z := New(g, nil, nil, search.Options{Memory: 32 << 20, Threads: 1})
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 2))
		var outcome, distance, proven int
		var nodes uint64
		for done := 0; done < n; {
			stones := 8 + r.IntN(9)
			walk := gametest.Walk(r, g, stones)
			p := walk[len(walk)-1]
			if len(walk) <= stones || g.Primitive(p) != 0 {
				continue
			}
			done++
			shown := z.Begin(p)
			for begun := time.Now(); !shown.Done; {
				next := z.Step(b.Context(), shown, nil)
				if time.Since(begun) > time.Second {
					break
				}
				shown = next
			}
			want, got := exact.value(p), g.Values().Before(exact.value(shown.Moves[shown.Best].To))
			if shown.Known && ResultOf(g, p, shown.Value) != ResultOf(g, p, want) {
				b.Errorf("%q: %s, want %s", g.AppendText(nil, p), g.Values().Text(shown.Value), g.Values().Text(want))
			}
			nodes += shown.Nodes
			if shown.Known {
				proven++
			}
			if got == want {
				distance++
			}
			if ResultOf(g, p, got) == ResultOf(g, p, want) {
				outcome++
			}
		}
		percent := func(part int) float64 { return 100 * float64(part) / float64(n) }
		b.ReportMetric(float64(n), "positions")
		b.ReportMetric(percent(outcome), "%outcome")
		b.ReportMetric(percent(distance), "%distance")
		b.ReportMetric(percent(proven), "%proven")
		b.ReportMetric(float64(nodes)/float64(n), "nodes/position")
	}
}

// An oracle returns exact values, from searches to the end. It keeps them in the file
// $TREEREDUCE_VALUES, if that is set: a line for each position, its hash and its value.
type oracle struct {
	b      *testing.B
	g      game.Game
	s      *search.Searcher
	values map[game.Position]game.Value
	file   *os.File // nil: none
}

func newOracle(b *testing.B, g game.Game) *oracle {
	b.Helper()
	s, err := search.New(g, search.Options{Memory: 256 << 20})
	must.OK(b, err)
	o := &oracle{b: b, g: g, s: s, values: make(map[game.Position]game.Value)}
	if name := os.Getenv("TREEREDUCE_VALUES"); name != "" {
		if o.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { o.file.Close() })
		for lines := bufio.NewScanner(o.file); lines.Scan(); {
			var p game.Position
			var v game.Value
			if _, err := fmt.Sscan(lines.Text(), &p, &v); err != nil {
				b.Fatalf("%s: %q: %v", name, lines.Text(), err)
			}
			o.values[p] = v
		}
	}
	return o
}

// value returns the value of a position, which may be finished.
func (o *oracle) value(p game.Position) game.Value {
	o.b.Helper()
	if v, ok := o.values[p]; ok {
		return v
	}
	r, err := o.s.Search(o.b.Context(), p, search.Limit{Bare: true})
	if err != nil || !r.Exact {
		o.b.Fatalf("%q: exact %t, %v", o.g.AppendText(nil, p), r.Exact, err)
	}
	o.values[p] = r.Value
	if o.file != nil {
		if _, err := fmt.Fprintln(o.file, p, uint16(r.Value)); err != nil {
			o.b.Fatal(err)
		}
	}
	return r.Value
}
