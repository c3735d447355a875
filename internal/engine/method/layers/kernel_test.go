package layers_test

import (
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
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// outboxOf returns an empty outbox.
func outboxOf(g game.Game, kind layers.Kind, most int, emit func(*streamfmt.Packer) error) *layers.Outbox {
	o := new(layers.Outbox)
	o.Reset(g, kind, most, emit)
	return o
}

// unasked is a game whose moves and values may not be asked for.
type unasked struct{ game.Tiered }

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
	layers.SortRows(in)
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
		if _, err := solve(change); err == nil || !strings.HasPrefix(err.Error(), "position ") || !strings.Contains(err.Error(), want) {
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

// filesIn returns the contents of the files with a prefix in the directories of all jobs.
func filesIn(t *testing.T, dir, prefix string) map[string]string {
	t.Helper()
	content := make(map[string]string)
	for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "data_*", prefix+"*")))(t) {
		short := must.Get(filepath.Rel(dir, name))(t)
		content[short] = string(must.Get(os.ReadFile(name))(t))
	}
	return content
}

// valuesIn returns the values in the table of a data directory.
func valuesIn(t *testing.T, g game.Game, dir string) map[game.Position]game.Value {
	t.Helper()
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	values := make(map[game.Position]game.Value)
	for b, err := range tab.All() {
		must.OK(t, err)
		for i, p := range b.Positions {
			values[p] = b.Values[i]
		}
	}
	return values
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
	for i, small := range []layers.Small{{Rows: 1 << 20, Box: 1 << 20}, {Rows: 1 + rnd.IntN(most/3), Box: 1 + rnd.IntN(most/3)}, {Rows: 1 + rnd.IntN(most/3), Box: 1 + rnd.IntN(most/3)}} {
		var n step.Counters
		dir := solved.Dir(t, g, func(o *solve.Options) {
			o.Runner, o.Reducers, o.KeepAll = small, 1+i/2*2, true
			o.Report = func(e solve.Event) {
				if e.Done && step.IsForward(e.Step) {
					n.Positions, n.Messages = n.Positions+e.Stats.Positions, n.Messages+e.Stats.Messages
				}
			}
		})
		if got := valuesIn(t, g, dir); !maps.Equal(got, want) {
			t.Errorf("seed %d, %+v: %d values, want %d, or others", seed, small, len(got), len(want))
		}
		if n.Positions != int64(len(want)) || n.Messages != int64(moves) {
			t.Errorf("seed %d, %+v: counted %+v, want %d positions, %d moves", seed, small, n, len(want), moves)
		}
		parts := filesIn(t, dir, "_part-")
		if first == nil {
			first = parts
		} else if i == 1 && !maps.Equal(parts, first) {
			t.Errorf("seed %d, %+v: other bytes in the parts", seed, small)
		}
	}
}

// TestRandomLoops solves random games with inner moves and images in small intervals.
func TestRandomLoops(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		o := testgames.RandomOptions(rnd)
		o.Positions, o.Long = 600, false
		graph := testgames.RandomTiered(rnd, o)
		for _, g := range []game.Game{graph, graph.Backward()} {
			small := layers.Small{Rows: 1 + rnd.IntN(200), Box: 1 + rnd.IntN(200)}
			dir := solved.Dir(t, g, func(o *solve.Options) { o.Runner, o.Reducers, o.KeepAll = small, 1+rnd.IntN(3), true })
			if err := testgames.Compare(g, valuesIn(t, g, dir)); err != nil {
				t.Errorf("seed %d, %+v: %v", seed, small, err)
			}
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
