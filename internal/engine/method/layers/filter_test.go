package layers_test

import (
	"bytes"
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
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
)

// outbox is files in memory.
type outbox map[string]*bytes.Buffer

func (o outbox) create(name string) (io.WriteCloser, error) {
	if o[name] != nil {
		return nil, fmt.Errorf("%s is made twice", name)
	}
	o[name] = new(bytes.Buffer)
	return nopCloser{o[name]}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// sorted sorts lines as LC_ALL=C sort does.
func sorted(text string) string {
	list := strings.SplitAfter(text, "\n")
	slices.Sort(list)
	return strings.Join(list, "")
}

// sortedByKey sorts lines only by their keys, and reverses the lines of each key.
func sortedByKey(text string, width int) string {
	list := slices.Collect(strings.Lines(text))
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(a[:width], b[:width]) })
	return strings.Join(list, "")
}

// job runs the map, sort and reduce of a job by hand, and returns the shard. The reducer writes into dir.
func job(t *testing.T, name string, g game.Tiered, tier, rows int, combine bool, in, dir string) (string, step.Counters) {
	t.Helper()
	o := step.Options{Source: name, Tier: tier, Combine: combine, Memory: rows * layers.RowMemory, FS: store.Local{}, Output: dir, ByHand: true,
		Create: func(name string) (io.WriteCloser, error) { return store.Local{}.Create(filepath.Join(dir, name)) }}
	var mid, out strings.Builder
	if tier >= 0 && rows%2 == 0 {
		o.Tier = -1 // a map does not need the tier
	}
	must.Get(layers.New(g).Map(name, strings.NewReader(in), &mid, o))(t)
	o.Tier = tier
	reducer := sorted(mid.String())
	if rows%3 == 0 {
		reducer = sortedByKey(reducer, streamfmt.KeyWidth(g.KeyBits()))
	}
	n := must.Get(layers.New(g).Reduce(name, strings.NewReader(reducer), &out, o))(t)
	return out.String(), n
}

// TestSteps runs all jobs as steps on lines, and compares the bytes with those of the jobs
// on files.
func TestSteps(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		g := testgames.RandomAcyclic(rnd, 1+rnd.IntN(200))
		dir := solved.Dir(t, g, func(o *solve.Options) { o.KeepAll, o.Lines = true, true })
		values, parts := valuesIn(t, g, dir), filesIn(t, dir, "part-")

		rows, combine := 1+rnd.IntN(60), seed%2 == 0
		sent := make(map[int]string) // by tier
		send := func(dir string) {
			for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "to-*")))(t) {
				var tier, part int
				if _, err := fmt.Sscanf(filepath.Base(name), "to-%05d-%05d", &tier, &part); err != nil || part != 0 {
					t.Fatalf("sent in %s: %v", name, err)
				}
				sent[tier] += string(must.Get(os.ReadFile(name))(t))
			}
		}
		var done, positions int64
		first := make(map[int]string)
		for tier := range g.Tiers() + 1 {
			name, in, box := step.Possible, sent[tier], t.TempDir()
			if tier == 0 {
				name, in = step.Init, "start\n"
			}
			in = strings.Repeat(in, 1+int(seed)%3) // duplicate lines change nothing
			var n step.Counters
			first[tier], n = job(t, name, g, tier, rows, combine, in, box)
			send(box)
			if want := parts[fmt.Sprintf("data_first%d/part-00000", tier)]; first[tier] != want {
				t.Fatalf("seed %d: %s of tier %d:\n%s\nwant\n%s", seed, name, tier, first[tier], want)
			}
			positions += n.Positions
		}
		clear(sent)
		var all string
		for tier := g.Tiers(); tier >= 0; tier-- {
			box := t.TempDir()
			part, n := job(t, step.Solve, g, tier, rows, combine, strings.Repeat(first[tier], 1+int(seed)%3)+sent[tier], box)
			send(box)
			if want := parts[fmt.Sprintf("data_second%d/part-00000", tier)]; part != want {
				t.Fatalf("seed %d: solve of tier %d:\n%s\nwant\n%s", seed, tier, part, want)
			}
			done += n.Finished
			all += part
		}
		if positions != int64(len(values)) || done != positions {
			t.Errorf("seed %d: %d positions, %d with a value, want %d", seed, positions, done, len(values))
		}
		final, n := job(t, step.Final, g, -1, rows, combine, strings.Repeat(all, 1+int(seed)%3), "")
		var want []byte
		for _, p := range slices.Sorted(maps.Keys(values)) {
			want = step.AppendFinal(want, g, p, values[p])
		}
		if final != string(want) || n.Records != int64(bytes.Count(want, []byte{'\n'})) {
			t.Errorf("seed %d: final, %d lines:\n%s\nwant\n%s", seed, n.Records, final, want)
		}
	}
}

// tiny returns an mnk game with a small board, without images.
func tiny(t *testing.T, width, height, connect int) game.Tiered {
	t.Helper()
	g := must.Get(mnk.Kind.New([]int{width, height, connect}))(t)
	return struct{ game.Tiered }{g.(game.Tiered)}
}

// TestWrongLines checks that each invalid line is reported.
func TestWrongLines(t *testing.T) {
	g := tiny(t, 2, 2, 2)
	width := streamfmt.KeyWidth(g.KeyBits())
	key := func(board string) string {
		t.Helper()
		p := must.Get(g.Parse(board))(t)
		return string(streamfmt.AppendKey(nil, p, width))
	}
	named := func(key string) string { return "0x" + strings.TrimLeft(key, "0") }
	start, x, o, won := key("../.."), key("X./.."), key("XO/.."), key("XO/X.")
	other := key(".X/..")
	digits := fmt.Sprintf("of %d hexadecimal digits", width)
	none := strings.Repeat("f", width)
	for _, c := range []struct {
		what, side, step string
		tier             int
		in, want         string
	}{
		{"no row", "map", step.Possible, 1, x + "\tp" + start + "\nrubbish\n", "x:2: expected a key " + digits},
		{"no position", "map", step.Possible, 1, none + "\tp" + start + "\n", "x:1: expected a position ("},
		{"no position as predecessor", "map", step.Possible, 1, x + "\tp" + none + "\n", "x:1: expected after p a position ("},
		{"another tier", "map", step.Possible, 1, o + "\tp" + x + "\n", "x:1: expected a position of tier 1 (this one is of tier 2)"},
		{"two tiers", "map", step.Possible, -1, o + "\tp" + x + "\n" + x + "\tp" + start + "\n", "x:2: expected a position of tier 2 (this one is of tier 1)"},
		{"a predecessor after it", "map", step.Possible, 1, x + "\tp" + o + "\n", "x:1: expected after p a position of a tier before 1 (this one is of tier 2)"},
		{"no predecessor", "map", step.Possible, 1, x + "\n", "x:1: expected p and the key of a predecessor after a tab: only the initial position, and those that the rules decide, have none"},
		{"a message", "map", step.Possible, 1, x + "\tm5\n", "x:1: expected a position with a predecessor: after the tab p and its key, found "},
		{"a value", "map", step.Solve, 1, x + "\t5\n", "x:1: expected a position with a predecessor: after the tab p and its key, or a message: after the tab m and a value, found "},
		{"a message without outcome", "map", step.Solve, 1, x + "\tm4\n", "x:1: expected a message with the value of a successor: a value with an outcome"},
		{"a message from too far", "map", step.Solve, 1, x + "\tm65533\n", "x:1: expected a message with the value of a successor"},
		{"a wrong end", "map", step.Final, -1, won + "\t1\n", "x:1: expected the value 2, as this position is terminal"},
		{"no end", "map", step.Final, -1, o + "\t2\n", "x:1: expected a value with a move or more to the end"},
		{"an order", "reduce", step.Possible, 1, other + "\tp" + start + "\n" + x + "\tp" + start + "\n", "x:2: expected keys in ascending order (LC_ALL=C sort)"},
		{"another start", "reduce", step.Init, 0, x + "\tp" + start + "\n", "x:1: expected a position of tier 0 (this one is of tier 1)"},
		{"no tier", "reduce", step.Possible, -1, "", "possible: the tier of the job must be given"},
		{"successors missing", "reduce", step.Solve, 1, x + "\tm6\n" + x + "\tp" + start + "\n", "x: position " + named(x) + ": it has 3 successors, but received messages for 1: messages are missing"},
		{"successors twice", "reduce", step.Solve, 1, x + "\tm6x4\n" + x + "\tp" + start + "\n", "x: position " + named(x) + ": it has 3 successors, but received messages for 4: duplicate messages"},
		{"a message of a terminal position", "reduce", step.Solve, 2, o + "\tm2\n" + o + "\tp" + x + "\n", "x: position " + named(o) + ": it has 0 successors, but received messages for 1: duplicate messages"},
		{"unknown recipient", "reduce", step.Solve, 2, o + "\tm6x2\n", "x: position " + named(o) + ": received a message, but no list of predecessors contains the position"},
		{"unknown recipient before another", "reduce", step.Solve, 1, sorted(x + "\tm6\n" + other + "\tp" + start + "\n"), ": received a message, but no list of predecessors contains the position"},
		{"a message to a finished position", "reduce", step.Solve, 3, won + "\tm6\n" + won + "\tp" + o + "\n", "x: position " + named(won) + ": received a message, but the position is terminal"},
		{"two values", "reduce", step.Final, -1, o + "\t6\n" + o + "\t10\n", "x:2: expected the value 6 that another line gave this key"},
		{"final's order", "reduce", step.Final, -1, other + "\t14\n" + x + "\t14\n", "x:2: expected keys in ascending order"},
	} {
		do := layers.New(g).Map
		if c.side == "reduce" {
			do = layers.New(g).Reduce
		}
		if c.what == "an order" || c.what == "final's order" {
			if x > other { // the order of the keys depends on the hash
				c.in = strings.NewReplacer(x, other, other, x).Replace(c.in)
			}
		}
		_, err := do(c.step, strings.NewReader(c.in), io.Discard, step.Options{Source: "x", Tier: c.tier, Create: make(outbox).create, Combine: true})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// TestWrites checks that the error of a failed write is returned.
func TestWrites(t *testing.T) {
	g := tiny(t, 2, 2, 2)
	o := step.Options{Source: "x", Create: func(string) (io.WriteCloser, error) { return nil, io.ErrShortWrite }}
	if _, err := layers.New(g).Reduce(step.Init, strings.NewReader(initLine(g)), io.Discard, o); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a file that cannot be made: %v", err)
	}
	o.Create = make(outbox).create
	if _, err := layers.New(g).Reduce(step.Init, strings.NewReader(initLine(g)), broken{}, o); err == nil || err.Error() != "output: "+io.ErrClosedPipe.Error() {
		t.Errorf("a broken output: %v", err)
	}
	if _, err := layers.New(g).Map(step.Init, strings.NewReader("x\n"), broken{}, o); err == nil || err.Error() != "output: "+io.ErrClosedPipe.Error() {
		t.Errorf("a broken output: %v", err)
	}
	n, err := layers.New(g).Map(step.Init, strings.NewReader(""), io.Discard, o)
	if err != nil || n.In != 0 || n.Records != 0 {
		t.Errorf("no line: %+v, %v", n, err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func initLine(g game.Tiered) string {
	return string(streamfmt.AppendRow(nil, layers.Start(g)[0], layers.Predecessors, streamfmt.KeyWidth(g.KeyBits())))
}
