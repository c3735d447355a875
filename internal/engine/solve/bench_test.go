package solve_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	games "github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// A syncFS is the local file system. It counts its syncs, or leaves them out.
type syncFS struct {
	store.Local
	off bool

	mu     sync.Mutex // guards the fields below
	syncs  int
	waited time.Duration
}

func (f *syncFS) Sync(name string) error {
	if f.off {
		return nil
	}
	began := time.Now()
	err := f.Local.Sync(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	f.waited += time.Since(began)
	return err
}

// solveOn solves a game into a new directory on a file system.
func solveOn(b *testing.B, fsys store.FS, g game.Game, after time.Duration) (dir string) {
	b.Helper()
	dir = b.TempDir()
	data := must.Get(store.Create(fsys, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(b)
	defer data.Close()
	if _, err := solve.Run(b.Context(), data, g, solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true,
		Final: solve.FinalNo, UntilTier: -1, SyncAfter: after}); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkSync measures the cost of surviving a power cut: a run without any sync, a normal
// one, and one that also syncs the directories of quick jobs.
func BenchmarkSync(b *testing.B) {
	for _, spec := range []string{
		"connectn width=4 height=5 connect=3",
		"connectn width=5 height=5 connect=4",
		"quickcross width=4 height=4 connect=4",
		"mancala pits=3 stones=3",
	} {
		g := must.Get(games.Kinds().Parse(spec))(b)
		for _, way := range []struct {
			name  string
			off   bool
			after time.Duration
		}{{"none", true, 0}, {"synced", false, 0}, {"all", false, 1}} {
			b.Run(spec+"/"+way.name, func(b *testing.B) {
				f := &syncFS{off: way.off}
				for b.Loop() {
					solveOn(b, f, g, way.after)
				}
				b.ReportMetric(float64(f.syncs)/float64(b.N), "syncs")
				b.ReportMetric(f.waited.Seconds()/float64(b.N), "s-in-syncs")
			})
		}
	}
}

// BenchmarkLookup looks up random positions of 5×5 connect 4.
func BenchmarkLookup(b *testing.B) {
	g := must.Get(games.Kinds().Parse("connectn width=5 height=5 connect=4"))(b)
	dir := solveOn(b, store.Local{}, g, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	var positions []game.Position // from random games
	for len(positions) < 20_000 {
		p := g.Start()
		for moves := g.Moves(nil, p); len(moves) > 0; moves = g.Moves(nil, p) {
			p = moves[rng.IntN(len(moves))].To
			positions = append(positions, p)
		}
	}
	rng.Shuffle(len(positions), func(i, j int) { positions[i], positions[j] = positions[j], positions[i] })
	for b.Loop() {
		lookUp(b, g, dir, positions)
	}
}

// lookUp looks up positions in a table, and reports the times.
func lookUp(b *testing.B, g game.Game, dir string, positions []game.Position) {
	began := time.Now()
	t := must.Get(table.OpenOf(store.Local{}, dir, g))(b)
	defer t.Close()
	opened := time.Since(began)
	var times []time.Duration
	for _, p := range positions {
		began := time.Now()
		if _, ok, err := t.Lookup(p); err != nil || !ok {
			b.Fatalf("%#x was not found: %v", p, err)
		}
		times = append(times, time.Since(began))
	}
	first := times[0]
	slices.Sort(times)
	for unit, d := range map[string]time.Duration{"µs-open": opened, "µs-first": first, "µs-median": times[len(times)/2], "µs-99%": times[len(times)*99/100]} {
		b.ReportMetric(float64(d.Nanoseconds())/1000, unit)
	}
}
