package layers_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// movesDir creates a data directory with passes that stored the given edges, in runs of up
// to run rows. It returns the directory of the last pass, which contains its index.
func movesDir(t *testing.T, g game.Cyclic, passes [][]layers.Row, run int) (dir string) {
	t.Helper()
	data := t.TempDir()
	index := &jobdir.Index{Game: g.Spec(), Runs: []jobdir.Run{{Dir: "create"}}}
	before := int64(0)
	for i, rows := range passes {
		found := jobdir.Found{Pass: "mark" + string(rune('0'+i)), Step: step.Mark, Number: i, Messages: before}
		before = int64(len(rows))
		found.New[game.Draws] = min(1, before)
		index.Passes = append(index.Passes, found)
		dir = filepath.Join(data, found.Pass)
		must.OK(t, os.Mkdir(dir, 0o777))
		create := func(name string) (io.WriteCloser, error) { return os.Create(filepath.Join(dir, name)) }
		edges := layers.NewEdgeOutbox(create, i, g, run)
		var err error
		for _, row := range rows {
			err = errors.Join(err, edges.SendEdges(row.Word, []game.Move{{To: row.Key}}))
		}
		must.OK(t, errors.Join(edges.Finish(err), index.Write(store.Local{}, dir)))
		files := must.Get(jobdir.SealAll(store.Local{}, dir))(t)
		seal := &store.Seal{Game: g.Spec(), Job: found.Pass, Files: files}
		must.OK(t, seal.Write(store.Local{}, dir))
	}
	return dir
}

// TestMoves finds edges by sets of successors, in files and in memory, with one and with many runs and with
// ranges in any order, and checks that each edge is found once.
func TestMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	g := game.WithRanges(gametest.RulesOnly(testgames.Graph{Size: 1 << 13}), 1<<8)
	for _, run := range []int{1 << 20, 3000, 70} {
		passes := make([][]layers.Row, 3)
		predecessors := make(map[game.Position][]game.Position)
		for i := range passes {
			for from := range game.Position(2000) {
				successor := min(r.Uint64N(1<<13), r.Uint64N(1<<13)) // prefers low positions
				predecessors[successor] = append(predecessors[successor], from<<2|uint64(i))
				passes[i] = append(passes[i], layers.Row{Key: successor, Word: from<<2 | uint64(i)})
			}
		}
		moves := must.Get(layers.OpenMoves(store.Local{}, movesDir(t, g, passes, run), g))(t)
		edges := must.Get(layers.LoadEdges(t.Context(), moves, 2, 500))(t)
		if most, _, ok := layers.EdgesMemory(moves, g, 500); !ok || edges.Memory() > most || edges.Memory() < 4*3*2000 {
			t.Errorf("edges in memory: %d bytes, planned %d (%t)", edges.Memory(), most, ok)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if some, err := layers.LoadEdges(ended, moves, 2, 500); err == nil || some != nil {
			t.Errorf("edges of which a part was not read: %v, %v", some, err)
		}
		readers, found := []step.Moves{moves.Reader(), edges}, 0
		for i := range 600 {
			rng, density := r.Uint64N(game.Ranges(g)), []float64{0.01, 0.3, 1}[r.IntN(3)]
			set := make(block.Set, block.Words(g.RangeSize()))
			var want, got []game.Position
			for slot := range g.RangeSize() {
				if r.Float64() < density {
					set.Add(slot)
					want = append(want, predecessors[rng<<8|uint64(slot)]...)
				}
			}
			if err := readers[i%2].Predecessors(rng<<8, set, func(predecessor game.Position) { got = append(got, predecessor) }); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("runs of %d: range %d, %d positions: predecessors %v, want %v", run, rng, set.Count(), got, want)
			}
			found += len(got)
		}
		if err := moves.Close(); err != nil || found == 0 {
			t.Errorf("runs of %d: %d moves found, %v", run, found, err)
		}
	}
}

// TestMovesMissing checks that OpenMoves notices missing edges, by the messages of the next
// pass and by the number of open positions.
func TestMovesMissing(t *testing.T) {
	g := game.WithRanges(gametest.RulesOnly(testgames.TieGame()), 4)
	rows := []layers.Row{{Key: 1, Word: 0}, {Key: 2, Word: 0}}
	for _, c := range []struct {
		change func(x *jobdir.Index)
		want   string
	}{
		{func(*jobdir.Index) {}, ""},
		{func(x *jobdir.Index) { x.Passes[1].Messages++ }, "mark1: the passes up to this one received 3 messages, but 2 edges are stored before it"},
		{func(x *jobdir.Index) { x.Passes[1].New[game.Draws] = 3 }, "mark1: it found 3 positions that are not terminal, but stored 2 edges"},
	} {
		dir := movesDir(t, g, [][]layers.Row{rows, rows}, 10)
		fsys := store.Local{}
		index := must.Get(jobdir.ReadIndex(fsys, dir, g))(t)
		c.change(index)
		must.OK(t, errors.Join(os.Remove(filepath.Join(dir, store.Success)), index.Write(fsys, dir)))
		files := must.Get(jobdir.SealAll(fsys, dir))(t)
		must.OK(t, (&store.Seal{Game: g.Spec(), Job: "mark1", Files: files}).Write(fsys, dir))
		moves, err := layers.OpenMoves(fsys, dir, g)
		if c.want == "" {
			if err != nil || moves.Rows() != 4 {
				t.Errorf("%v, %v", moves, err)
			}
			continue
		}
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || !jobdir.Damaged(err) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
