package solve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedtest "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// halfBoards are odd and even widths, boards of one and two columns, boards that are higher than
// wide, a connect that is longer than one side, and boards whose low columns are the right half
// (6×3), less than that (3×10), or more.
var halfBoards = [][3]int{{4, 4, 3}, {5, 3, 3}, {3, 4, 3}, {6, 3, 3}, {1, 7, 3}, {2, 6, 3}, {3, 5, 4}, {7, 2, 3}, {3, 10, 2}, {2, 11, 3}}

// TestHalf solves boards with jobs that compute half of the positions, with enough memory and
// with hardly any, also after jobs that have computed all positions, and compares the table and the text of all positions with
// those of jobs that compute all positions. These are the same as what is read from the table.
func TestHalf(t *testing.T) {
	for _, b := range halfBoards {
		t.Run(rules(t, b[0], b[1], b[2]).Spec(), func(t *testing.T) {
			if testing.Short() && max(b[0], b[1]) > 5 {
				t.Skip("it takes long with the race detector, and starts the same goroutines as the others")
			}
			compareHalf(t, b)
		})
	}
}

// TestLongHalf tests larger boards.
func TestLongHalf(t *testing.T) {
	longtest.Skip(t)
	for _, b := range [][3]int{{5, 4, 4}, {4, 5, 3}, {4, 4, 4}} {
		t.Run(rules(t, b[0], b[1], b[2]).Spec(), func(t *testing.T) { compareHalf(t, b) })
	}
}

// TestWholeAfterHalf continues a run by a runner whose jobs need all positions, which makes the directories with half of them
// again.
func TestWholeAfterHalf(t *testing.T) {
	g := rules(t, 4, 4, 3)
	want, _ := solved(t, g, nil)
	dir, _ := solved(t, g, func(o *solve.Options) { o.UntilTier = 9 })
	o := options()
	o.Runner = wholeRunner{&inline.Runner{}}
	must.Get(solveInto(t, dir, g, o, store.Resume))(t)
	solvedtest.SameTable(t, store.Local{}, dir, want)
}

// A wholeRunner computes all positions.
type wholeRunner struct{ runner.Runner }

func compareHalf(t *testing.T, board [3]int) {
	g := rules(t, board[0], board[1], board[2])
	whole, _ := solved(t, g, func(o *solve.Options) { o.Lines, o.KeepAll, o.Final = true, true, solve.FinalYes })
	for _, memory := range []int{0, 1} {
		fresh := rules(t, board[0], board[1], board[2]) // without the tables that g has made
		half, _ := solved(t, fresh, func(o *solve.Options) {
			o.Runner, o.Reducers, o.Final = &inline.Runner{Memory: memory}, 3, solve.FinalYes
		})
		solvedtest.SameTable(t, store.Local{}, half, whole)
		if final(t, half) != final(t, whole) {
			t.Errorf("memory %d: final differs", memory)
		}
	}
	mixed, _ := solved(t, g, func(o *solve.Options) { o.Runner, o.UntilTier = wholeRunner{&inline.Runner{}}, g.Tiers()*2/3 })
	must.Get(solveInto(t, mixed, g, options(), store.Resume))(t)
	solvedtest.SameTable(t, store.Local{}, mixed, whole)

	tab := must.Get(table.OpenOf(store.Local{}, whole, g))(t)
	defer tab.Close()
	all := uint64(len(solvedtest.Values(t, store.Local{}, whole, g)))
	if n, err := tab.Verify(t.Context()); err != nil || n != all {
		t.Errorf("%d positions are verified, %v, want %d", n, err, all)
	}
	for _, sample := range []uint64{0, all/4 + 1, all*3/4 + 1} {
		if checked, n, err := (table.Rules{Sample: sample}).Verify(t.Context(), tab); err != nil || n != all || checked < min(sample, n) {
			t.Errorf("%d of %d positions are verified, %v, want %d of %d", checked, n, err, sample, all)
		}
	}
}

// TestShards has a job write shards for the table, of which one may have been lost: then the driver writes the tier.
func TestShards(t *testing.T) {
	const tier = 9
	g := rules(t, 4, 4, 3)
	half := mirror.HalfOf(g)
	for lost, want := range []string{"[tier-09.pack]", "[tier-09.pack]", "[tier-09-00000.pack tier-09-00001.pack]"} {
		dir, o := t.TempDir(), options()
		o.Runner = &forger{at: fmt.Sprint("data_second", tier), forge: func(job *runner.Job) (runner.Stats, error) {
			parts := *job
			parts.Parts = true
			stats, err := new(inline.Runner).Run(t.Context(), &parts)
			must.OK(t, err)
			in := must.Get(blocks.OpenTier(store.Local{}, filepath.Join(job.Output, jobdir.PartName(0)), half, tier))(t)
			defer in.Close()
			c, b := in.Cursor(0), new(block.Block)
			for shard := range 2 {
				if shard == lost {
					continue
				}
				w := blocks.NewWriter(must.Get(os.Create(filepath.Join(job.Output, jobdir.ShardName(jobdir.TablePart, shard))))(t), half, tier)
				for i := shard * in.Len() / 2; i < (shard+1)*in.Len()/2; i++ {
					must.Get(c.Load(b, must.Get(c.Entry(i))(t).First))(t)
					must.OK(t, w.Add(b))
				}
				must.OK(t, w.Finish(nil))
			}
			return stats, nil
		}}
		must.Get(solveInto(t, dir, g, o, store.Fresh))(t)
		tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
		must.Get(tab.Verify(t.Context()))(t)
		must.OK(t, tab.Close())
		var names []string
		for _, name := range must.Get(filepath.Glob(filepath.Join(dir, table.Dir, "tier-09*")))(t) {
			names = append(names, filepath.Base(name))
		}
		if fmt.Sprint(names) != want {
			t.Errorf("shard %d is lost: %v, want %s", lost, names, want)
		}
	}
}
