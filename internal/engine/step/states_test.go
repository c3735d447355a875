package step_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// memoryStates are the states of a game in memory.
type memoryStates struct {
	g      game.Cyclic
	states []block.State
	file   bytes.Buffer
}

func newStates(g game.Cyclic) *memoryStates {
	return &memoryStates{g: g, states: make([]block.State, game.Ranges(g))}
}

func (m *memoryStates) Load(rng uint64, s *block.State) error {
	copyState(s, &m.states[rng], game.RangeLen(m.g, rng))
	return nil
}

// create creates the file of states of a reducer.
func (m *memoryStates) create(string) (io.WriteCloser, error) {
	m.file.Reset()
	return m, nil
}

func (m *memoryStates) Write(b []byte) (int, error) { return m.file.Write(b) }

func (m *memoryStates) Close() error { return nil }

// update replaces the states with those in the file.
func (m *memoryStates) update(t *testing.T) {
	t.Helper()
	f := must.Get(streamfmt.OpenRangeFile(bytes.NewReader(m.file.Bytes()), int64(m.file.Len()), "states"))(t)
	entries := must.Get(f.Entries())(t)
	for _, e := range entries {
		must.OK(t, f.Cursor(0).ReadState(e, game.RangeLen(m.g, e.Range), &m.states[e.Range]))
	}
}

// copyState copies a state of n slots.
func copyState(to, from *block.State, n int) {
	to.Reset(n)
	planes, source := to.Planes(), from.Planes()
	for i := range planes {
		copy(planes[i], source[i])
	}
}

// passed runs a pass over lines as a shell pipe would, and returns the new positions.
func passed(t *testing.T, name string, number int, states *memoryStates, in string, o step.Options) string {
	t.Helper()
	o.Number, o.LoadState, o.Create = number, states.Load, states.create
	var messages, out bytes.Buffer
	must.Get(step.Map(name, game.MethodOf(states.g), strings.NewReader(in), &messages, o))(t)
	lines := slices.Sorted(strings.Lines(messages.String()))
	_, err := step.Reduce(name, game.MethodOf(states.g), strings.NewReader(strings.Join(lines, "")), &out, o)
	must.OK(t, err)
	states.update(t)
	return out.String()
}

// TestPassStreamErrors checks the errors for lines that are invalid in the input of a pass.
func TestPassStreamErrors(t *testing.T) {
	g := must.Get(quickcross.New(2, 3, 2))(t)
	for _, test := range []struct {
		name   string
		number int
		reduce bool
		in     string
		want   string
	}{
		{step.Mark, 1, false, "2d9\n", "in:1: expected a position below 729"},
		{step.Mark, 1, false, "000\tm5\n", "in:1: expected a position, no message"},
		{step.Mark, 1, false, "000\n000\n", "in:2: expected each position once"},
		{step.Mark, 1, false, "000\t4\n", "in:1: expected a value with an outcome"},
		{step.Solve, 2, false, "000\t5\n001\t1\n", "in:2: expected a position that is decided in 1 move"},
		{step.Final, 1, false, "000\tm5\n", "in:1: expected a position, no message"},
		{step.Create, 1, true, "001\n", "in:1: expected the initial position"},
		{step.Mark, 1, true, "001\n000\n", "expected keys in ascending order"},
		{step.Mark, 1, true, "001\t5\n", "in:1: expected a position without a value"},
		{step.Solve, 2, true, "001\tm1\n", "in:1: expected a message of value 5 or 6"},
		{step.Ties, 2, true, "001\tm6\n", "in:1: expected a message of value 7"},
		{step.Solve, 1, true, "001\tm2x63\n001\tm2\n", "in:2: expected at most 63 successors that are won"},
		{step.Solve, 1, true, "000\tm2x13\n", "more successors that are won than moves"},
		{step.Final, 1, true, "001\n001\t5\n", "in:2: expected the value 0 that another line gave this key"},
		{step.Final, 1, true, "001\n000\n", "in:2: expected keys in ascending order"},
	} {
		states := newStates(g)
		passed(t, step.Create, 1, states, "start\n", step.Options{Source: "in"})
		var out bytes.Buffer
		stream := step.Map
		if test.reduce {
			stream = step.Reduce
		}
		_, err := stream(test.name, game.MethodOf(g), strings.NewReader(test.in), &out, step.Options{Source: "in", Number: test.number, LoadState: states.Load, Create: states.create})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %d of %q: %v, want %q", test.name, test.number, test.in, err, test.want)
		}
	}
}

// TestPassStreamOutput checks that a failed write ends the stream.
func TestPassStreamOutput(t *testing.T) {
	g := must.Get(quickcross.New(2, 3, 2))(t)
	broken := errors.New("broken")
	if _, err := step.Map(step.Mark, game.MethodOf(g), strings.NewReader("000\n"), writeError{broken}, step.Options{Combine: true, Number: 1}); !errors.Is(err, broken) {
		t.Errorf("map: %v", err)
	}
	states := newStates(g)
	if _, err := step.Reduce(step.Create, game.MethodOf(g), strings.NewReader("000\n"), writeError{broken}, step.Options{Number: 1, LoadState: states.Load, Create: states.create}); !errors.Is(err, broken) {
		t.Errorf("reduce: %v", err)
	}
}

type writeError struct{ error }

func (w writeError) Write([]byte) (int, error) { return 0, w.error }
