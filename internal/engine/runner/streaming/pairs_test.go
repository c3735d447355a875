package streaming

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mills"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// A paired runner runs jobs by layers as a cluster would: a map for each line of splits, pairs in the order of their keys, and
// three reducers.
type paired struct {
	inline.Runner
	t      *testing.T
	random *rand.Rand
	jobs   map[string]int // by step
}

func (r *paired) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	p := &plan{Runner: &Runner{Reducers: 3}, job: job}
	if job.Step == step.Init || job.Step == step.Final {
		return r.Runner.Run(ctx, job)
	}
	must.OK(r.t, p.fill())
	if p.reads == 0 {
		return r.Runner.Run(ctx, job)
	}
	r.jobs[job.Step]++
	sent, reduced := int64(0), make(map[string]int64)
	memory := []int{1, 40 * layers.RowMemory, 0}
	o := step.Options{Source: job.Name, FS: job.FS, Tier: job.Tier, Pass: job.Pass, Edges: job.Edges, Runs: job.Runs, Absorb: job.Absorb,
		Combine: true, Memory: memory[r.random.IntN(len(memory))], Packed: true,
		Create: func(name string) (io.WriteCloser, error) { return job.FS.Create(path.Join(job.Output, name)) }}
	if layers.WritesOf(job.Step, job.Method.Game(), job.Tier).Shards {
		o.Edges = nil // they are the input of the maps
	}
	for _, key := range p.keys {
		o.Borders = append(o.Borders, binary.BigEndian.Uint64(key))
	}
	type pair struct {
		key    uint64
		packed []byte
	}
	shuffled := make([][]pair, len(p.keys)+1)
	for _, splits := range p.input {
		var out bytes.Buffer
		n, err := job.Method.Map(job.Step, strings.NewReader(step.SplitsLine(splits)), &out, o)
		if err != nil {
			return stats, err
		}
		sent += n.Records
		for pairs := streamfmt.NewPairReader(&out, "pairs"); ; {
			key, packed, err := pairs.Next()
			if err == io.EOF {
				break
			}
			must.OK(r.t, err)
			to, equal := slices.BinarySearch(o.Borders, key)
			if equal {
				to++
			}
			shuffled[to] = append(shuffled[to], pair{key, bytes.Clone(packed)})
		}
	}
	for part, pairs := range shuffled {
		r.random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		slices.SortStableFunc(pairs, func(a, b pair) int {
			return bytes.Compare(binary.BigEndian.AppendUint64(nil, a.key), binary.BigEndian.AppendUint64(nil, b.key))
		})
		var in []byte
		for _, p := range pairs {
			in = streamfmt.AppendPair(in, p.key, p.packed)
		}
		o.Part = part
		var out bytes.Buffer
		n, err := job.Method.Reduce(job.Step, bytes.NewReader(in), &out, o)
		if err != nil {
			return stats, err
		}
		if out.Len() > 0 {
			r.t.Errorf("%s, partition %d: it prints %q", job.Name, part, out.String())
		}
		n.Each(func(name string, v int64) { reduced[name] += v })
	}
	if received := reduced[step.RecordsIn]; received != sent {
		r.t.Errorf("%s: the maps sent %d rows, the reducers received %d", job.Name, sent, received)
	}
	stats.Count(job, reduced)
	return stats, nil
}

// TestPairs solves games with packed records. The table must be that of a run without a cluster.
func TestPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	games := []game.Game{must.Get(quickcross.New(3, 3, 2))(t), must.Get(mills.New(3))(t), must.Get(mnk.New(4, 3, 4))(t)}
	for range 10 {
		games = append(games, testgames.RandomTiered(random, testgames.RandomOptions(random)))
	}
	r, shards := &paired{t: t, random: random, jobs: make(map[string]int)}, 0
	for _, g := range games {
		want := solved.Dir(t, g, func(o *solve.Options) { o.Final = solve.FinalYes })
		got := solved.Dir(t, g, func(o *solve.Options) { o.Runner, o.Reducers, o.Final = r, 3, solve.FinalYes })
		solved.SameText(t, store.Local{}, got, want)
		shards += len(must.Get(filepath.Glob(filepath.Join(got, table.Dir, "tier-*-*.pack")))(t))
	}
	if shards < 3 {
		t.Errorf("the reducers have written %d shards of tables, want 3", shards)
	}
	for _, name := range []string{step.Possible, step.Mark, step.Begin, step.Solve, step.Ties, step.Values} {
		if r.jobs[name] == 0 {
			t.Errorf("no job of step %s was run", name)
		}
	}
}
