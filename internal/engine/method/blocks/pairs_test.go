package blocks_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// shuffled is a runner that does in memory what a cluster does between tasks: it passes
// each pair to the reducer of its range, the pairs of one range in any order. Like the tasks of a cluster, it computes all positions.
type shuffled struct {
	inline       inline.Runner
	maps, memory int
	random       *rand.Rand
}

type pair struct {
	rng    uint64
	packed []byte
}

// options returns the options of a packed job.
func (r *shuffled) options(job *runner.Job) step.Options {
	return step.Options{Source: "stdin", Combine: true, FS: job.FS, Tier: job.Tier,
		Packed: true, Reducers: job.Reducers, Predecessors: job.Predecessors, Memory: r.memory, Output: job.Output, Create: createIn(job.FS, job.Output)}
}

func (r *shuffled) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	if job.Step == step.Init || job.Step == step.Final {
		return r.inline.Run(ctx, job)
	}
	g := job.Method.Game().(game.Blockwise)
	inputs, records, err := job.Method.Splits(job, func(int64) int { return r.maps })
	if err != nil {
		return stats, err
	}
	mapped, reduced, err := r.run(job, inputs, blocks.Borders(g, job.Tier, job.Reducers), r.options(job))
	stats.Records = reduced.Records
	return stats, errors.Join(err, readOnce(mapped.In, records))
}

// readOnce checks that the mappers have read each record exactly once, including those at
// the borders of intervals.
func readOnce(read, records int64) error {
	if read != records {
		return fmt.Errorf("mappers read %d records, want %d, each once", read, records)
	}
	return nil
}

// run runs the maps of a job, one for each line of splits, then the reduces.
func (r *shuffled) run(job *runner.Job, inputs [][]step.Split, borders []uint64, o step.Options) (mapped, reduced step.Counters, err error) {
	parts := make([][]pair, len(borders))
	for _, splits := range inputs {
		var out bytes.Buffer
		n, err := job.Method.Map(job.Step, strings.NewReader(step.SplitsLine(splits)), &out, o)
		if err != nil {
			return mapped, reduced, err
		}
		mapped.In += n.In
		mapped.Records += n.Records
		pairs := streamfmt.NewPairReader(&out, "map")
		for {
			rng, packed, err := pairs.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return mapped, reduced, err
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
		o.Part = i
		n, err := job.Method.Reduce(job.Step, bytes.NewReader(in), io.Discard, o)
		if err != nil {
			return mapped, reduced, err
		}
		reduced.In += n.In
		reduced.Records += n.Records
		reduced.Finished += n.Finished
	}
	return mapped, reduced, nil
}

// createIn returns a function that creates files in a directory.
func createIn(fsys store.FS, dir string) func(name string) (io.WriteCloser, error) {
	return func(name string) (io.WriteCloser, error) { return fsys.Create(path.Join(dir, name)) }
}

// TestSame solves boards with tasks, with one and with several maps and reducers and with
// hardly any memory, and compares the table with that of the inline runner.
func TestSame(t *testing.T) {
	for _, board := range [][3]int{{3, 3, 3}, {4, 4, 3}, {2, 5, 3}, {5, 3, 3}} {
		g := must.Get(connectn.New(board[0], board[1], board[2]))(t)
		same(t, g)
	}
}

// TestForward checks that the blocks of forward jobs are compact, and the same from all writers: the inline runner, reducers, or the
// driver from lines.
func TestForward(t *testing.T) {
	g := must.Get(connectn.New(4, 4, 3))(t)
	forward := func(r runner.Runner) string {
		return solved.Dir(t, g, func(o *solve.Options) { o.Runner, o.KeepAll, o.Lines, o.UntilTier = r, true, true, g.Tiers() })
	}
	want := forward(&inline.Runner{})
	reduced := forward(&shuffled{maps: 3, random: rand.New(rand.NewPCG(1, 2))})
	for tier := range g.Tiers() + 1 {
		dir := fmt.Sprintf("data_first%d", tier)
		parts := []string{filepath.Join(want, dir, jobdir.PartName(0)), filepath.Join(reduced, dir, jobdir.PartName(0))}
		job := &runner.Job{Step: step.Possible, Tier: tier, Method: method.Of(g), FS: store.Local{}, Output: t.TempDir()}
		lines := must.Get(os.Open(filepath.Join(want, dir, jobdir.LinesName(0))))(t)
		must.OK(t, job.Method.WriteShard(job, 0, lines, dir))
		must.OK(t, lines.Close())
		for _, part := range append(parts, filepath.Join(job.Output, jobdir.PartName(0))) {
			if !bytes.Equal(must.Get(os.ReadFile(part))(t), must.Get(os.ReadFile(parts[0]))(t)) {
				t.Errorf("%s differs from that of the inline runner", part)
			}
		}
		file := must.Get(jobdir.OpenPacked(store.Local{}, parts[0], nil))(t)
		defer file.Close()
		cursor := file.Cursor(tier, 0)
		for i := range cursor.Len() {
			raw := must.Get(cursor.Raw(must.Get(cursor.Cell(i))(t)))(t)
			if _, n := binary.Uvarint(raw); raw[n] != 5 {
				t.Errorf("tier %d, block %d: of kind %d", tier, i, raw[n])
			}
		}
	}
}

// same solves a game with tasks, and compares the output with that of the inline runner.
func same(t *testing.T, g game.Game) {
	t.Helper()
	want := solvedBy(t, g, &inline.Runner{}, 1)
	for _, way := range []struct{ maps, reducers, memory int }{{1, 1, 0}, {9, 4, 100_000}, {2, 2, 1}} {
		r := &shuffled{maps: way.maps, memory: way.memory, random: rand.New(rand.NewPCG(1, 2))}
		t.Run(fmt.Sprintf("%s, %+v", g.Spec(), way), func(t *testing.T) {
			got := solvedBy(t, g, r, way.reducers)
			solved.SameText(t, store.Local{}, got, want)
			for _, diff := range solved.TableDifferences(store.Local{}, got, want) {
				t.Error(diff)
			}
			if g, blocks := g.(game.Blockwise); blocks {
				shardsOf(t, got, g, way.reducers)
			}
		})
	}
}

// shardsOf checks that reducers have written the tiers of a table that are large enough, and all of them one of these if
// the board is wider than two columns, which are one range.
func shardsOf(t *testing.T, dir string, g game.Blockwise, reducers int) {
	t.Helper()
	seal := must.Get(store.ReadSeal(store.Local{}, filepath.Join(dir, table.Dir)))(t)
	most, large := 0, false
	for tier := range g.Tiers() + 1 {
		records, shards := uint64(0), table.TierShards(seal, tier)
		for _, f := range shards {
			records += f.Records
		}
		whole := shards[0].Name == filepath.Base(table.TierFile(tier))
		if enough := records >= 1024*uint64(reducers); enough && whole && reducers > 1 || records < 1024 && !whole {
			t.Errorf("tier %d, %d positions by %d reducers: %s", tier, records, reducers, shards[0].Name)
		} else if enough {
			most, large = max(most, len(shards)), true
		}
	}
	if large && most != reducers && !strings.Contains(g.Spec(), "width=2") {
		t.Errorf("no tier has more than %d shards, want %d", most, reducers)
	}
}

// spoiled is a runner whose jobs lose or damage a shard of the table.
type spoiled struct {
	shuffled
	spoil func(shard string) error
}

func (r *spoiled) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	stats, err := r.shuffled.Run(ctx, job)
	if err != nil || job.Step != step.Solve {
		return stats, err
	}
	shards, err := jobdir.Shards(job.FS, filepath.Join(job.Output, jobdir.TablePart))
	if err == nil && len(shards) > 0 {
		err = r.spoil(shards[len(shards)-1])
	}
	return stats, err
}

// TestShardLost checks that the driver writes the tiers of which a shard is missing, as if an earlier driver had been
// killed while it moved them, or damaged.
func TestShardLost(t *testing.T) {
	g := must.Get(connectn.New(4, 4, 3))(t)
	want := solvedBy(t, g, &inline.Runner{}, 1)
	for name, spoil := range map[string]func(shard string) error{
		"missing": os.Remove,
		"cut":     func(shard string) error { return os.Truncate(shard, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			r := &spoiled{shuffled{maps: 2, random: rand.New(rand.NewPCG(1, 2))}, spoil}
			got := solvedBy(t, g, r, 2)
			for _, diff := range solved.TableDifferences(store.Local{}, got, want) {
				t.Error(diff)
			}
			left, err := filepath.Glob(filepath.Join(got, "*", "*tier-*-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("%q are left, %v", left, err)
			}
		})
	}
}

// solvedBy solves a game, with its final, and returns the data directory.
func solvedBy(t *testing.T, g game.Game, r runner.Runner, reducers int) (dir string) {
	t.Helper()
	return solved.Dir(t, g, func(o *solve.Options) { o.Runner, o.Reducers, o.Combine, o.Final = r, reducers, false, solve.FinalYes })
}

// TestErrors checks that invalid input of a task is reported in one line.
func TestErrors(t *testing.T) {
	g := must.Get(connectn.New(4, 4, 3))(t)
	dir := t.TempDir()
	job := func(name string, tier int) *runner.Job {
		return &runner.Job{Step: name, Method: method.Of(g), FS: store.Local{}, Tier: tier, Reducers: 2, Output: dir}
	}
	possible := job(step.Possible, 3)
	borders := blocks.Borders(g, 3, 2)
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"a line that is no split", mapError(possible, "part-00000.pack 0 ff"), "stdin:1: expected an input split"},
		{"a tier below all", mapError(job(step.Solve, -5), ""), "no tier -5 can be written of a game with tiers 0 to 16"},
		{"a tier above all", reduceError(job(step.Possible, 17), 0, nil), "no tier 17"},
		{"the first tier, forward", mapError(job(step.Possible, 0), ""), "no tier 0"},
		{"the last tier, back", reduceError(job(step.Solve, 16), 0, nil), "no tier 16"},
		{"a file that is not there", mapError(possible, dir+"/part-00000.pack\t0\tff"), "no such file"},
		{"a partition too many", reduceError(possible, 2, nil), "partition 2: expected one of 2"},
		{"a range of another reducer", reduceError(possible, 0, streamfmt.AppendPair(nil, borders[1], []byte("x"))), "expected a range from 0x0 on and below"},
		{"ranges in the wrong order", reduceError(possible, 1, streamfmt.AppendPair(oneRange(borders[1]+1), borders[1], nil)), fmt.Sprintf("found %#x", borders[1])},
		{"half a pair", reduceError(possible, 0, []byte{0, 0}), "pair 0: cut short"},
		{"bytes that are no block", reduceError(possible, 0, streamfmt.AppendPair(nil, 0, []byte("nonsense"))), "range 0x0: "},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", c.what, c.err, c.want)
		}
	}
}

// oneRange returns a pair with the first position of a range of tier 3.
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

func mapError(job *runner.Job, line string) error {
	_, err := job.Method.Map(job.Step, strings.NewReader(line), io.Discard, new(shuffled).options(job))
	return err
}

func reduceError(job *runner.Job, partition int, in []byte) error {
	_, err := reducePairs(job, partition, in)
	return err
}

// reducePairs runs the reduce of a packed job.
func reducePairs(job *runner.Job, partition int, in []byte) (step.Counters, error) {
	o := new(shuffled).options(job)
	o.Part = partition
	return job.Method.Reduce(job.Step, bytes.NewReader(in), io.Discard, o)
}

// FuzzReducePairs checks that any input is either valid pairs or an error.
func FuzzReducePairs(f *testing.F) {
	g := must.Get(connectn.New(3, 3, 3))(f)
	dir := f.TempDir()
	f.Add(streamfmt.AppendPair(nil, 0, []byte{9, 1, 0, 1, 0}))
	f.Add([]byte(fmt.Sprintf("%c%c", 0, 0)))
	f.Fuzz(func(t *testing.T, in []byte) {
		job := &runner.Job{Step: step.Possible, Method: method.Of(g), FS: store.Local{}, Tier: 2, Reducers: 1, Output: dir}
		if n, err := reducePairs(job, 0, in); err == nil && n.In < 0 {
			t.Error("fewer than no records")
		}
	})
}
