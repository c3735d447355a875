package task_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/block"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/runner/inline"
	"github.com/treereduce/treereduce/solve"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/store"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/task"
	"github.com/treereduce/treereduce/tierio"
)

// shuffled is a runner that does in memory what a cluster does between tasks:
// it hands each pair to the reducer of its range, pairs of one range in any order.
type shuffled struct {
	maps, memory int
	random       *rand.Rand
}

type pair struct {
	rng    uint64
	packed []byte
}

func taskJob(job *runner.Job, memory int) *task.Job {
	return &task.Job{Step: job.Step, Game: job.Game, FS: job.FS, Tier: job.Tier,
		Reducers: job.Reducers, Parents: job.Parents, Memory: memory}
}

func (r *shuffled) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	if job.Step != step.Possible && job.Step != step.Solve {
		return (&inline.Runner{}).Run(ctx, job)
	}
	j := taskJob(job, r.memory)
	tier := job.Tier - 1
	if job.Step == step.Solve {
		tier = job.Tier + 1
	}
	shares, _, err := task.Shares(job.FS, job.Input[0], job.Game, tier, func(int64) int { return r.maps })
	if err != nil {
		return stats, err
	}
	borders := step.Borders(job.Game, job.Tier, job.Reducers)
	parts := make([][]pair, len(borders))
	for _, s := range shares {
		var out bytes.Buffer
		if _, err := j.Map(strings.NewReader(s.String()+"\n"), &out); err != nil {
			return stats, err
		}
		pairs := streamfmt.NewPairReader(&out, "map")
		for {
			rng, packed, err := pairs.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return stats, err
			}
			i, found := slices.BinarySearch(borders, rng)
			if !found {
				i--
			}
			parts[i] = append(parts[i], pair{rng, bytes.Clone(packed)})
		}
	}
	for i, pairs := range parts {
		r.random.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
		slices.SortStableFunc(pairs, func(a, b pair) int { return int(int64(a.rng) - int64(b.rng)) })
		var in []byte
		for _, p := range pairs {
			in = streamfmt.AppendPair(in, p.rng, p.packed)
		}
		n, err := j.Reduce(i, bytes.NewReader(in), job.Output)
		if err != nil {
			return stats, err
		}
		stats.Records += n.Out
	}
	return stats, nil
}

// TestSame solves boards by tasks, with one and with several maps and reducers
// and with hardly any memory, and wants the table of the inline runner.
func TestSame(t *testing.T) {
	for _, board := range [][3]int{{3, 3, 3}, {4, 4, 3}, {2, 5, 3}, {5, 3, 3}} {
		g, err := connectn.New(board[0], board[1], board[2])
		if err != nil {
			t.Fatal(err)
		}
		want := solved(t, g, &inline.Runner{}, 1)
		for _, way := range []struct{ maps, reducers, memory int }{{1, 1, 0}, {3, 4, 0}, {2, 2, 1}} {
			r := &shuffled{way.maps, way.memory, rand.New(rand.NewPCG(1, 2))}
			got := solved(t, g, r, way.reducers)
			for name, text := range want {
				if !bytes.Equal(got[name], text) {
					t.Errorf("%s, %+v: %s is not that of the inline runner", g.Spec(), way, name)
				}
			}
		}
	}
}

// solved returns the files of the table and of final.
func solved(t *testing.T, g game.Tiered, r runner.Runner, reducers int) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	o := solve.Options{Runner: r, Reducers: reducers, Codec: tierio.Blocks, Final: solve.FinalYes, UntilTier: -1}
	if _, err := solve.Run(t.Context(), data, g, o); err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	tables, err := filepath.Glob(filepath.Join(dir, "table", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := filepath.Glob(filepath.Join(dir, "final", "part-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range parts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files["final"] = append(files["final"], text...)
	}
	return files
}

// TestErrors wants what is wrong with a task's input to be said in one line.
func TestErrors(t *testing.T) {
	g, err := connectn.New(4, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	job := &task.Job{Step: step.Possible, Game: g, FS: store.Local{}, Tier: 3, Reducers: 2}
	borders := step.Borders(g, 3, 2)
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"a line that is no share", mapError(job, "part-00000.blocks 0 ff"), "stdin:1: expected a share"},
		{"a file that is not there", mapError(job, dir+"/part-00000.blocks\t0\tff"), "no such file"},
		{"a partition too many", reduceError(job, dir, 2, nil), "partition 2: expected one of 2"},
		{"a range of another reducer", reduceError(job, dir, 0, streamfmt.AppendPair(nil, borders[1], []byte("x"))), "expected a range from 0x0 on and below"},
		{"ranges in the wrong order", reduceError(job, dir, 1, streamfmt.AppendPair(oneRange(borders[1]+1), borders[1], nil)), fmt.Sprintf("found %#x", borders[1])},
		{"half a pair", reduceError(job, dir, 0, []byte{0, 0}), "pair 0: cut short"},
		{"bytes that are no block", reduceError(job, dir, 0, streamfmt.AppendPair(nil, 0, []byte("nonsense"))), "range 0x0: "},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", c.what, c.err, c.want)
		}
	}
}

// oneRange is a pair with the first position of a range of tier 3.
func oneRange(rng uint64) []byte {
	g, err := connectn.New(4, 4, 3)
	if err != nil {
		panic(err)
	}
	var b block.Block
	b.Reset(3, rng, g.LowBits(), g.Low(3, rng))
	b.Open.Add(0)
	var encoder streamfmt.Encoder
	return streamfmt.AppendPair(nil, rng, encoder.AppendBlock(nil, &b, new([256]uint64)))
}

func mapError(job *task.Job, line string) error {
	_, err := job.Map(strings.NewReader(line), io.Discard)
	return err
}

func reduceError(job *task.Job, dir string, partition int, in []byte) error {
	_, err := job.Reduce(partition, bytes.NewReader(in), dir)
	return err
}

// FuzzReduce wants any input to be pairs or an error.
func FuzzReduce(f *testing.F) {
	g, err := connectn.New(3, 3, 3)
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	f.Add(streamfmt.AppendPair(nil, 0, []byte{9, 1, 0, 1, 0}))
	f.Add([]byte(fmt.Sprintf("%c%c", 0, 0)))
	f.Fuzz(func(t *testing.T, in []byte) {
		job := &task.Job{Step: step.Possible, Game: g, FS: store.Local{}, Tier: 2, Reducers: 1}
		if n, err := job.Reduce(0, bytes.NewReader(in), dir); err == nil && n.In < 0 {
			t.Error("fewer than no records")
		}
	})
}
