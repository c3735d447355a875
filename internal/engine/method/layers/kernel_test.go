package layers_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
)

// A run solves a game in a directory, as the loop of jobs would.
type run struct {
	t        testing.TB
	g        game.Layered
	dir      string
	lines    bool // whether directories have lines, too
	interval int  // rows
	box      int  // rows
	parts    int  // per job

	forward, backward []*layers.Dir // by tier
	counts            step.Counters
}

// job runs a job; do gets a writer for each shard, and the outbox of each reducer.
func (r *run) job(name string, tier int, kind, sends layers.Kind, do func(parts []*layers.PartWriter, box []*layers.Outbox)) *layers.Dir {
	r.t.Helper()
	dir := filepath.Join(r.dir, name)
	must.OK(r.t, os.Mkdir(dir, 0o777))
	fsys := &jobdir.SumFS{FS: store.Local{}}
	create := func(name string) (io.WriteCloser, error) { return fsys.Create(filepath.Join(dir, name)) }
	var writers []*layers.PartWriter
	var boxes []*layers.Outbox
	var outboxes []*layers.OutboxWriter
	for i := range max(1, r.parts) {
		f := must.Get(create(jobdir.PartName(i)))(r.t)
		writers = append(writers, layers.NewPartWriter(f, r.g, tier, kind))
		out := layers.NewOutboxWriter(func() (io.WriteCloser, error) { return create(layers.OutboxName(i)) }, r.g, sends)
		outboxes = append(outboxes, out)
		boxes = append(boxes, outboxOf(r.g, sends, r.box, out.Append))
	}
	do(writers, boxes)
	for i, w := range writers {
		must.OK(r.t, outboxes[i].Finish(w.Finish(boxes[i].Flush())))
	}
	if r.lines {
		must.OK(r.t, layers.WriteLines(fsys, dir, r.g, create))
	}
	return r.seal(dir, fsys)
}

// seal seals a directory and opens it.
func (r *run) seal(dir string, fsys store.FS) *layers.Dir {
	r.t.Helper()
	sealed := must.Get(jobdir.SealAll(fsys, dir))(r.t)
	seal := store.Seal{Game: r.g.Spec(), Job: filepath.Base(dir), Files: sealed}
	must.OK(r.t, seal.Write(store.Local{}, dir))
	must.Get(jobdir.Check(r.t.Context(), store.Local{}, dir, r.g.Spec()))(r.t)
	return must.Get(layers.OpenDir(store.Local{}, dir, r.g))(r.t)
}

// outboxOf returns an empty outbox.
func outboxOf(g game.Game, kind layers.Kind, most int, emit func(*streamfmt.Packer) error) *layers.Outbox {
	o := new(layers.Outbox)
	o.Reset(g, kind, most, emit)
	return o
}

// part returns the number of the shard to which interval i is written.
func part(i, intervals, parts int) int { return i * parts / intervals }

func senders(dirs []*layers.Dir, tier int) (senders []*layers.Dir) {
	for _, d := range dirs {
		if d != nil && slices.Contains(d.Receivers(), tier) {
			senders = append(senders, d)
		}
	}
	return senders
}

// possible runs the job of a tier in the forward pass.
func (r *run) possible(tier int) {
	r.t.Helper()
	src := must.Get(layers.OpenInbox(senders(r.forward, tier), step.At(tier, 0), layers.Predecessors))(r.t)
	defer src.Close()
	d := r.job(fmt.Sprintf("data_first%d", tier), tier, layers.Predecessors, layers.Predecessors, func(parts []*layers.PartWriter, box []*layers.Outbox) {
		var l layers.Loader
		var rows layers.Rows
		intervals := layers.Cut(r.interval, src)
		for i, sh := range intervals {
			n := part(i, len(intervals), len(parts))
			k := layers.NewKernel(step.Possible, r.g, step.At(tier, 0), box[n])
			if tier == 0 {
				rows.Predecessors = layers.Start(r.g)
			} else {
				rows.Predecessors = must.Get(l.Load(rows.Predecessors, src, sh))(r.t)
			}
			must.OK(r.t, k.Do(&rows))
			must.OK(r.t, parts[n].Append(rows.Predecessors))
			r.counts.Positions += k.Counted().Positions
			r.counts.Messages += k.Counted().Messages
		}
	})
	r.forward = append(r.forward, d)
}

// solve runs the job of a tier in the retrograde pass.
func (r *run) solve(tier int) (err error) {
	r.t.Helper()
	predecessors := must.Get(layers.Open(store.Local{}, r.g, layers.Predecessors, tier, r.forward[tier].Path))(r.t)
	defer predecessors.Close()
	messages := must.Get(layers.OpenInbox(senders(r.backward, tier), step.At(tier, 0), layers.Messages))(r.t)
	defer messages.Close()
	r.backward[tier] = r.job(fmt.Sprintf("data_second%d", tier), tier, layers.Values, layers.Messages, func(parts []*layers.PartWriter, box []*layers.Outbox) {
		var l layers.Loader
		var rows layers.Rows
		intervals := layers.Cut(r.interval, predecessors, messages)
		for i, sh := range intervals {
			n := part(i, len(intervals), len(parts))
			rows.Predecessors = must.Get(l.Load(rows.Predecessors, predecessors, sh))(r.t)
			rows.Messages = must.Get(l.Load(rows.Messages, messages, sh))(r.t)
			if err = layers.NewKernel(step.Solve, r.g, step.At(tier, 0), box[n]).Do(&rows); err != nil {
				return
			}
			must.OK(r.t, parts[n].Append(rows.Values))
		}
	})
	return err
}

// all runs all jobs, and returns the values of all positions.
func (r *run) all() map[game.Position]game.Value {
	r.t.Helper()
	for tier := range r.g.Tiers() + 1 {
		r.possible(tier)
	}
	r.backward = make([]*layers.Dir, r.g.Tiers()+1)
	values := make(map[game.Position]game.Value)
	for tier := r.g.Tiers(); tier >= 0; tier-- {
		must.OK(r.t, r.solve(tier))
		src := must.Get(layers.Open(store.Local{}, r.g, layers.Values, tier, r.backward[tier].Path))(r.t)
		err := src.Each(func(rows []layers.Row) error {
			for _, row := range rows {
				values[row.Key] = layers.ValueOf(row.Word)
			}
			return nil
		})
		must.OK(r.t, err)
		for p, v := range values {
			rows := must.Get(layers.Find(src, p))(r.t)
			i := slices.IndexFunc(rows, func(row layers.Row) bool { return row.Key == p })
			if (i >= 0) != (r.g.Tier(p) == tier) || i >= 0 && layers.ValueOf(rows[i].Word) != v {
				r.t.Fatalf("Find %#x in tier %d: row %d", p, tier, i)
			}
			if len(values) > 300 {
				break
			}
		}
		src.Close()
	}
	return values
}

// unasked is a game whose moves and values may not be asked for.
type unasked struct{ game.Layered }

func (unasked) Primitive(game.Position) game.Value           { panic("asked") }
func (unasked) Moves([]game.Move, game.Position) []game.Move { panic("asked") }
func (g unasked) Batch([]game.Position) (game.Game, error)   { panic("asked") }

// TestStates solves a tier from the states that the forward pass stores, without asking the rules, and finds
// every message, position and state that is missing or superfluous.
func TestStates(t *testing.T) {
	g := tiny(t, 4, 2, 3)
	const tier = 5 // has terminal positions, and others, of which some lead to terminal positions
	var in []layers.Row
	for p := range gametest.Search(g) {
		for _, m := range g.Moves(nil, p) {
			if g.Tier(m.To) == tier {
				in = append(in, layers.Row{Key: m.To, Word: p})
			}
		}
	}
	slices.SortFunc(in, layers.CompareRows)
	discard := func(*streamfmt.Packer) error { return nil }
	forward := layers.Rows{Predecessors: in}
	must.OK(t, layers.NewKernel(step.Possible, g, step.At(tier, 0), outboxOf(g, layers.Predecessors, 100, discard)).Do(&forward))
	var messages []layers.Row
	for _, a := range forward.States {
		if n := layers.Outer(layers.State(a.Word)); layers.State(a.Word).Value() == 0 && n > 1 {
			messages = append(messages, layers.Row{Key: a.Key, Word: layers.Message(6, 1)}, layers.Row{Key: a.Key, Word: layers.Message(10, n-1)})
		} else if layers.State(a.Word).Value() == 0 && n == 1 {
			messages = append(messages, layers.Row{Key: a.Key, Word: layers.Message(6, 1)})
		}
	}
	solve := func(change func(r *layers.Rows)) ([]layers.Row, error) {
		r := layers.Rows{Predecessors: slices.Clone(forward.Predecessors), Messages: slices.Clone(messages), Known: slices.Clone(forward.States)}
		change(&r)
		err := layers.NewKernel(step.Solve, unasked{g}, step.At(tier, 0), outboxOf(g, layers.Messages, 100, discard)).Do(&r)
		return r.Values, err
	}
	values := must.Get(solve(func(*layers.Rows) {}))(t)
	asked := layers.Rows{Predecessors: forward.Predecessors, Messages: messages}
	must.OK(t, layers.NewKernel(step.Solve, g, step.At(tier, 0), outboxOf(g, layers.Messages, 100, discard)).Do(&asked))
	if !slices.Equal(values, asked.Values) {
		t.Errorf("found %v, asked %v", values, asked.Values)
	}
	finds := func(want string, change func(r *layers.Rows)) {
		t.Helper()
		var wrong *layers.PositionError
		if _, err := solve(change); !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for i := range messages {
		finds("messages are missing", func(r *layers.Rows) { r.Messages = slices.Delete(r.Messages, i, i+1) })
		finds("duplicate messages", func(r *layers.Rows) { r.Messages = slices.Insert(r.Messages, i, messages[i]) })
	}
	for i, a := range forward.States {
		finds("no state is stored for this position", func(r *layers.Rows) { r.Known = slices.Delete(r.Known, i, i+1) })
		finds("", func(r *layers.Rows) { r.Known = slices.Insert(r.Known, i, a) })
		finds("", func(r *layers.Rows) {
			r.Predecessors = slices.DeleteFunc(r.Predecessors, func(row layers.Row) bool { return row.Key == a.Key })
		})
	}
}

// files returns the contents of all files with a prefix in the directories of a run.
func (r *run) files(prefix string) map[string]string {
	r.t.Helper()
	content := make(map[string]string)
	names := must.Get(filepath.Glob(filepath.Join(r.dir, "*", prefix+"*")))(r.t)
	for _, name := range names {
		b := must.Get(os.ReadFile(name))(r.t)
		short, _ := filepath.Rel(r.dir, name)
		content[short] = string(b)
	}
	return content
}

// TestRandom solves random games with several settings, compares the values with those of a
// plain search, and checks that the shards have the same bytes.
func TestRandom(t *testing.T) {
	for seed := range uint64(3) {
		testRandom(t, seed, 150)
	}
}

func TestLongRandom(t *testing.T) {
	longtest.Skip(t)
	for seed := range uint64(15) {
		testRandom(t, 100+seed, 1000)
	}
	testRandom(t, 99, 50000) // has full cells
}

func testRandom(t *testing.T, seed uint64, most int) {
	rnd := rand.New(rand.NewPCG(seed, 11))
	g := testgames.RandomAcyclic(rnd, 1+rnd.IntN(most))
	want := gametest.Search(g)
	moves := 0
	for p := range want {
		var to []game.Position
		for _, m := range g.Moves(nil, p) {
			to = append(to, m.To)
		}
		slices.Sort(to)
		moves += len(slices.Compact(to))
	}
	var first map[string]string
	for _, r := range []run{
		{interval: 1 << 20, box: 1 << 20},
		{interval: 1 + rnd.IntN(most/3), box: 1 + rnd.IntN(most/3)},
		{interval: 1 + rnd.IntN(most/3), box: 1 + rnd.IntN(most/3), parts: 3},
	} {
		what := fmt.Sprintf("seed %d, intervals of %d, outboxes of %d, %d parts", seed, r.interval, r.box, r.parts)
		r.t, r.g, r.dir = t, g, t.TempDir()
		got := r.all()
		if !maps.Equal(got, want) {
			t.Errorf("%s: %d values, want %d, or others", what, len(got), len(want))
		}
		if r.counts.Positions != int64(len(want)) || r.counts.Messages != int64(moves) {
			t.Errorf("%s: counted %+v, want %d positions, %d moves", what, r.counts, len(want), moves)
		}
		if r.parts > 1 {
			continue
		}
		parts := r.files("_part-")
		if first == nil {
			first = parts
		} else if !maps.Equal(parts, first) {
			t.Errorf("%s: other bytes in the parts", what)
		}
	}
}

// TestDrawMessage checks that a position of a game in which play always ends accepts no message of a draw.
func TestDrawMessage(t *testing.T) {
	g := must.Get(mnk.New(2, 2, 2))(t)
	start := layers.Start(g)
	out := outboxOf(g, layers.Messages, 1, func(*streamfmt.Packer) error { return nil })
	kernel := layers.NewKernel(step.Solve, g, step.At(0, 0), out)
	err := kernel.Do(&layers.Rows{Predecessors: start, Messages: []layers.Row{{Key: start[0].Key, Word: layers.Message(0, 1)}}})
	if want := "a message has the value 0, expected that of a successor"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestMostTimes checks that messages with the same value are merged, up to the number of
// moves that one row can express, and that every row can be written and read again.
func TestMostTimes(t *testing.T) {
	const most = streamfmt.MaxRowTimes
	for _, tt := range []struct{ times, want []int }{
		{[]int{1, 2}, []int{3}},
		{[]int{most - 1, 1}, []int{most}},
		{[]int{most, 1}, []int{most, 1}},
		{[]int{1, most}, []int{1, most}},
		{[]int{most, most, 1}, []int{most, most, 1}},
	} {
		var rows []layers.Row
		for _, n := range tt.times {
			rows = append(rows, layers.Row{Key: 5, Word: layers.Message(6, n)})
		}
		var got []int
		for _, row := range layers.Merge(rows, layers.Messages) {
			got = append(got, layers.TimesOf(row.Word))
			line := streamfmt.AppendRow(nil, row, layers.Messages, 2)
			if again, _, want := streamfmt.ParseRow(line[:len(line)-1], 2); want != "" || again != row {
				t.Errorf("%q is read as %v, expected %s", line, again, want)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d moves become %d, want %d", tt.times, got, tt.want)
		}
	}
}
