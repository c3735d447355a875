package blocks_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
)

func rules(t testing.TB, w, h, connect int) *connectn.Rules {
	t.Helper()
	return must.Get(connectn.New(w, h, connect))(t)
}

// mapped runs the map of a step over text.
func mapped(t *testing.T, name string, g game.Blockwise, in string, o step.Options) string {
	t.Helper()
	var out bytes.Buffer
	must.Get(blocks.New(g).Map(name, strings.NewReader(in), &out, o))(t)
	return out.String()
}

// reduced sorts lines as the shuffle does, and runs the reduce of a step.
func reduced(t *testing.T, name string, g game.Blockwise, in string) string {
	t.Helper()
	lines := slices.Collect(strings.Lines(in))
	slices.SortStableFunc(lines, func(a, b string) int {
		width := streamfmt.KeyWidth(g.KeyBits())
		return strings.Compare(a[:width], b[:width])
	})
	var out bytes.Buffer
	must.Get(blocks.New(g).Reduce(name, strings.NewReader(strings.Join(lines, "")), &out, step.Options{}))(t)
	return out.String()
}

// plies returns tiers 0 to until of a game as text, computed with the plain rules, one
// position at a time.
func plies(g game.Blockwise, until int) []string {
	tier := []game.Position{g.Start()}
	var texts []string
	for range until + 1 {
		var text []byte
		next := make(map[game.Position]bool)
		for _, p := range tier {
			rec := streamfmt.Record{Key: p}
			if v := g.Primitive(p); v != 0 {
				rec.Kind, rec.Value = streamfmt.Done, byte(v)
			}
			text = streamfmt.AppendRecord(text, rec, streamfmt.KeyWidth(g.KeyBits()))
			for _, m := range g.Moves(nil, p) {
				next[m.To] = true
			}
		}
		texts = append(texts, string(text))
		tier = tier[:0]
		for p := range next {
			tier = append(tier, p)
		}
		slices.Sort(tier)
	}
	return texts
}

// TestPossible compares the successors that blocks compute with those of the plain rules:
// with and without merging, with hardly any memory, and with the input in reverse order.
func TestPossible(t *testing.T) {
	for _, g := range []*connectn.Rules{rules(t, 4, 5, 3), rules(t, 7, 6, 4), rules(t, 2, 9, 3), rules(t, 9, 1, 3), rules(t, 1, 40, 2)} {
		tiers := plies(g, 6)
		for i := 1; i < len(tiers); i++ {
			backwards := slices.Collect(strings.Lines(tiers[i-1]))
			slices.Reverse(backwards)
			for way, out := range map[string]string{
				"merged":    mapped(t, step.Possible, g, tiers[i-1], step.Options{Combine: true}),
				"not":       mapped(t, step.Possible, g, tiers[i-1], step.Options{}),
				"no memory": mapped(t, step.Possible, g, tiers[i-1], step.Options{Combine: true, Memory: 1}),
				"backwards": mapped(t, step.Possible, g, strings.Join(backwards, ""), step.Options{Combine: true}),
			} {
				if got := reduced(t, step.Possible, g, out); got != tiers[i] {
					t.Errorf("%s, tier %d, %s: not the successors of the plain rules", g.Spec(), i, way)
				}
			}
			if out := mapped(t, step.Possible, g, tiers[i-1], step.Options{Combine: true}); !slices.IsSorted(slices.Collect(strings.Lines(out))) {
				t.Errorf("%s, tier %d: sorted predecessors, but successors that are not", g.Spec(), i)
			}
		}
	}
}

// TestSolve compares one pass of solve with the plain rules. The values of the successors
// are invented, and some of them are terminal.
func TestSolve(t *testing.T) {
	g := rules(t, 4, 5, 3)
	tiers := plies(g, 7)
	const successors = 7
	turn := blocks.Turn(g, successors-1)
	value := make(map[game.Position]game.Value)
	var solved []byte
	for i, line := range slices.Collect(strings.Lines(tiers[successors])) {
		r := streamfmt.NewReader(strings.NewReader(line), "test", 6)
		rec := must.Get(r.Next())(t)
		if rec.Kind == streamfmt.Open {
			rec.Kind, rec.Value = streamfmt.Done, byte(game.NewValue(game.Outcome(i%3+1), 1+i*7%13))
		}
		value[rec.Key] = game.Value(rec.Value)
		solved = streamfmt.AppendRecord(solved, rec, 6)
	}
	score := g.Values().Scores(g.TierToMove(successors - 1))
	var want []byte
	for line := range strings.Lines(tiers[successors-1]) {
		rec := must.Get(streamfmt.NewReader(strings.NewReader(line), "test", 6).Next())(t)
		best := game.Score(0)
		for _, m := range g.Moves(nil, rec.Key) {
			best = max(best, score.OfSuccessor[value[m.To]])
		}
		if best > 0 {
			rec.Kind, rec.Value = streamfmt.Done, byte(score.Value[best])
		}
		want = streamfmt.AppendRecord(want, rec, 6)
	}
	for _, in := range []string{
		tiers[successors-1] + string(solved),
		string(solved) + tiers[successors-1],
	} {
		for _, o := range []step.Options{{Turn: turn, Combine: true}, {Turn: turn}, {Turn: turn, Combine: true, Memory: 1}} {
			if got := reduced(t, step.Solve, g, mapped(t, step.Solve, g, in, o)); got != string(want) {
				t.Errorf("%+v: not the values of the plain rules", o)
			}
		}
	}
}

// TestSolveMessages has a position receive no message, one, two, and one with a value that no successor can have.
func TestSolveMessages(t *testing.T) {
	g := rules(t, 1, 2, 2)
	tiers := plies(g, 2)
	position := strings.TrimSpace(tiers[1])
	_, value, _ := strings.Cut(strings.TrimSpace(tiers[2]), "\t")
	message := position + "\tm" + value + "\n"
	for messages, want := range map[string]string{
		"":                          "in: position " + position + " is not terminal, but received no message from a successor",
		message:                     "",
		message + message:           "",
		position + "\tm255\n":       "in:2: expected a message with the value of a successor, found \"" + position + "\\tm255\"",
		message + position + "\t\n": "",
	} {
		_, err := blocks.New(g).Reduce(step.Solve, strings.NewReader(position+"\n"+messages), io.Discard, step.Options{Source: "in"})
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%q: error %v, want %q", messages, err, want)
		}
	}
}

// TestReceive checks that a piece of another step, or with a value that no successor can have, is
// refused.
func TestReceive(t *testing.T) {
	g := rules(t, 3, 3, 3)
	open, done := blocks.Start(g), blocks.Start(g)
	done.Done, done.Open = done.Open, done.Done
	for _, test := range []struct {
		name  string
		piece *block.Block
		want  string
	}{
		{step.Possible, done, "expected successors, found messages"},
		{step.Solve, open, "expected messages, found positions"},
		{step.Solve, done, "found a message of value 0"},
	} {
		if err := blocks.NewStep(test.name, g).Receive(test.piece, blocks.Start(g)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestSolveValues solves a game line by line with each kind of game.Values, and compares
// all values with a plain search.
func TestSolveValues(t *testing.T) {
	for _, values := range testgames.AllValues() {
		g := testgames.Reread{Blockwise: rules(t, 3, 4, 2), Reading: values}
		want := gametest.Search(g)
		tiers := []string{fmt.Sprintf("%0*x\n", streamfmt.KeyWidth(g.KeyBits()), g.Start())}
		for tier := 1; tier <= g.Tiers(); tier++ {
			tiers = append(tiers, reduced(t, step.Possible, g, mapped(t, step.Possible, g, tiers[tier-1], step.Options{Combine: true})))
		}
		for tier := g.Tiers() - 1; tier >= 0; tier-- {
			messages := mapped(t, step.Solve, g, tiers[tier]+tiers[tier+1], step.Options{Turn: blocks.Turn(g, tier), Combine: tier%2 == 0})
			tiers[tier] = reduced(t, step.Solve, g, messages)
		}
		n := 0
		for _, text := range tiers {
			for line := range strings.Lines(text) {
				rec, err := streamfmt.NewReader(strings.NewReader(line), "test", streamfmt.KeyWidth(g.KeyBits())).Next()
				must.OK(t, err)
				if got := game.Value(rec.Value); got != want[rec.Key] {
					t.Fatalf("%+v: %q is %s, want %s", values, g.AppendText(nil, rec.Key), values.Text(got), values.Text(want[rec.Key]))
				}
				n++
			}
		}
		if n != len(want) {
			t.Errorf("%+v: %d positions, want %d", values, n, len(want))
		}
	}
}

// TestNoRecords checks that no input gives no output.
func TestNoRecords(t *testing.T) {
	g := rules(t, 3, 3, 3)
	for _, name := range step.NamesOf(g) {
		if out := mapped(t, name, g, "", step.Options{Turn: "X", Combine: true}); out != "" {
			t.Errorf("%s map: %q", name, out)
		}
		if out := reduced(t, name, g, ""); out != "" {
			t.Errorf("%s reduce: %q", name, out)
		}
	}
}

// brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

// TestBrokenOutput checks that the error of a failed write is returned, early or late.
func TestBrokenOutput(t *testing.T) {
	g := rules(t, 4, 5, 3)
	tiers := plies(g, 9)
	for _, left := range []int{0, 70_000} {
		if _, err := blocks.New(g).Map(step.Possible, strings.NewReader(tiers[9]), &brokenWriter{left}, step.Options{}); !errors.Is(err, errBroken) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
}

// fuzz runs one side of every step on any input, and checks that it does not panic and that
// its output consists of records.
func fuzz(f *testing.F, run func(name string, g game.Blockwise, in string, out *bytes.Buffer) error) {
	g := rules(f, 4, 5, 3)
	for i, text := range plies(g, 4) {
		f.Add(i%4, text)
	}
	f.Add(2, "000000\n000000\tm14\n")
	f.Add(1, "zzz\n")
	f.Add(2, "000002\ngarbage\n")             // the second line is wrong, not the first
	f.Add(2, "000002\t6\n000080\n")           // a successor that has lost its value
	f.Add(2, "000002\n000002\tm14\n000080\n") // a message is missing
	f.Add(2, "000002\t254\n")                 // remoteness 63, and a predecessor would need 64
	f.Add(3, "000002\n000080\t6\n")           // no value at all
	f.Fuzz(func(t *testing.T, which int, in string) {
		name := step.NamesOf(g)[uint(which)%4]
		var out bytes.Buffer
		if err := run(name, g, in, &out); err != nil {
			return
		}
		r := streamfmt.NewReader(&out, "output", streamfmt.KeyWidth(g.KeyBits()))
		for name != step.Final {
			if _, err := r.Next(); err != nil {
				if fmt.Sprint(err) != "EOF" {
					t.Errorf("%s of %q: %v", name, in, err)
				}
				return
			}
		}
	})
}

func FuzzMap(f *testing.F) {
	fuzz(f, func(name string, g game.Blockwise, in string, out *bytes.Buffer) error {
		_, err := blocks.New(g).Map(name, strings.NewReader(in), out, step.Options{Turn: "X", Combine: true})
		return err
	})
}

func FuzzReduce(f *testing.F) {
	fuzz(f, func(name string, g game.Blockwise, in string, out *bytes.Buffer) error {
		_, err := blocks.New(g).Reduce(name, strings.NewReader(in), out, step.Options{})
		return err
	})
}
