package table

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
)

// cyclicTable writes a table of a game with the given values, remoteness<<2 | result.
// Positions without a value are not reached.
func cyclicTable(t *testing.T, g game.Cyclic, values map[game.Position]byte) memory {
	t.Helper()
	m := newMemory()
	var out bytes.Buffer
	w := must.Get(streamfmt.NewRangeWriter(&out, g.Spec()))(t)
	one := make(block.Set, block.Words(g.RangeSize()))
	for rng := range game.Ranges(g) {
		var s block.State
		n := game.RangeLen(g, rng)
		s.Reset(n)
		for slot := range n {
			value, ok := values[rng*uint64(g.RangeSize())+uint64(slot)]
			if !ok {
				continue
			}
			s.Reached.Add(slot)
			one := one[:len(s.Reached)]
			clear(one)
			one.Add(slot)
			s.Decide(value&3, int(value>>2), one)
		}
		var p streamfmt.Packer
		p.AddState(rng, n, &s)
		s.Count((*[256]uint64)(&p.Counts))
		must.OK(t, w.Append(&p))
	}
	must.OK(t, w.Close())
	m.write(t, CyclicFile, out.Bytes())
	index := &jobdir.Index{Game: g.Spec(), Passes: []jobdir.Found{{Pass: "create"}}, Runs: []jobdir.Run{{Dir: Dir}}}
	must.OK(t, index.Write(m, Dir))
	m.seal(t, g.Spec())
	return m
}

// valuesOf returns the values of the reachable positions of a game.
func valuesOf(g game.Cyclic) map[game.Position]byte {
	values := make(map[game.Position]byte)
	for p, v := range gametest.Search(g) {
		values[p] = byte(v)
	}
	return values
}

// TestVerifyCyclic checks that a correct table passes, whatever the size of the bands, and
// that each wrong value, extra position and missing position is found.
func TestVerifyCyclic(t *testing.T) {
	quick := must.Get(quickcross.New(3, 2, 2))(t)
	for name, g := range map[string]game.Cyclic{
		"ties":       game.WithRanges(testgames.TieGame(), 4),
		"rules only": game.WithRanges(gametest.RulesOnly(testgames.TieGame()), 4),
		"quickcross": quick,
	} {
		t.Run(name, func(t *testing.T) {
			right := valuesOf(g)
			verify := func(values map[game.Position]byte, band int) error {
				tab := must.Get(OpenOf(cyclicTable(t, g, values), ".", g))(t)
				defer tab.Close()
				return tab.contents.(*states).verifyBands(context.Background(), band, nil)
			}
			for _, band := range []int{1, 1000, 1 << 20} {
				if err := verify(right, band); err != nil {
					t.Fatalf("band of %d bytes: %v", band, err)
				}
			}
			r := rand.New(rand.NewPCG(1, 1))
			for range 300 {
				p := r.Uint64N(g.Positions())
				was, reached := right[p]
				wrong := byte(r.IntN(256))
				if wrong&3 == 0 {
					wrong = 0
				}
				reason := "" // the fault that verify must name at p; "": any fault
				switch remove := r.IntN(4) == 0; {
				case remove && reached:
					delete(right, p)
					reason = "is missing"
				case remove || reached && wrong == was:
					continue
				default:
					right[p] = wrong
					if !reached {
						reason = "cannot be reached"
					}
				}
				err := verify(right, 1000)
				var fault *Fault
				if !errors.As(err, &fault) || reason != "" && (fault.Position != p || fault.Reason != reason) {
					t.Fatalf("position %d: value %d, reached %v, became %d: %v", p, was, reached, wrong, err)
				}
				delete(right, p)
				if reached {
					right[p] = was
				}
			}
		})
	}
}

// follows returns the value of a position, in a game without ties, that the values of its successors imply.
func follows(g game.Game, values map[game.Position]byte, p game.Position) game.Value {
	if end := g.Primitive(p); end != 0 {
		return end
	}
	best, lost, farthest := game.Value(0), true, 0
	for _, m := range g.Moves(nil, p) {
		v := game.Value(values[m.To])
		result := game.Result(v.Outcome())
		if result == game.Loses && (best == 0 || v.Remoteness()+1 < best.Remoteness()) {
			best = game.Wins.In(v.Remoteness() + 1)
		}
		lost = lost && result == game.Wins
		farthest = max(farthest, v.Remoteness())
	}
	if lost {
		return game.Loses.In(farthest + 1)
	}
	return best
}

// TestVerifyCyclicLowest changes values of several positions, and checks that the lowest position whose value does
// not follow from those of its successors is named.
func TestVerifyCyclicLowest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		graph := testgames.RandomGraph(r, 20+r.IntN(60))
		for p, end := range graph.End {
			if end == game.Ties {
				graph.End[p] = game.Loses
			}
		}
		g := game.WithRanges(graph, 7)
		values := valuesOf(g)
		positions := slices.Sorted(maps.Keys(values))
		for range r.IntN(4) {
			values[positions[r.IntN(len(positions))]] = byte([]game.Result{game.Wins, game.Loses}[r.IntN(2)].In(r.IntN(12)))
		}
		lowest := slices.IndexFunc(positions, func(p game.Position) bool { return byte(follows(g, values, p)) != values[p] })
		tab := must.Get(OpenOf(cyclicTable(t, g, values), ".", g))(t)
		_, err := tab.Verify(t.Context())
		must.OK(t, tab.Close())
		var fault *Fault
		if lowest >= 0 && (!errors.As(err, &fault) || fault.Position != positions[lowest]) || lowest < 0 && err != nil {
			t.Fatalf("%v, want the fault at place %d of %d", err, lowest, positions)
		}
	}
}

// TestVerifyCyclicFile checks that a file with wrong counts, or a damaged one, is refused.
func TestVerifyCyclicFile(t *testing.T) {
	g, err := quickcross.New(3, 2, 2)
	must.OK(t, err)
	values := valuesOf(g)
	m := cyclicTable(t, g, values)
	verify := func() (uint64, error) {
		tab, err := OpenOf(m, ".", g)
		if err != nil {
			return 0, err
		}
		defer tab.Close()
		return tab.Verify(context.Background())
	}
	if n, err := verify(); err != nil || n != uint64(len(values)) {
		t.Fatalf("%d positions, %v", n, err)
	}
	name := CyclicFile
	data := m.read(t, name)
	data[len(data)/2] ^= 1
	m.write(t, name, data)
	if _, err := verify(); err == nil || !strings.Contains(err.Error(), name+": damaged") {
		t.Errorf("damaged: %v", err)
	}
	var out bytes.Buffer
	w := must.Get(streamfmt.NewRangeWriter(&out, g.Spec()))(t)
	if err := w.Close(); err != nil { // a file without positions, and with such counts
		t.Fatal(err)
	}
	m.write(t, name, out.Bytes())
	m.seal(t, g.Spec())
	if _, err := verify(); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("empty: %v", err)
	}
	out.Reset()
	w = must.Get(streamfmt.NewRangeWriter(&out, g.Spec()))(t)
	var s block.State
	s.Reset(g.RangeSize())
	s.Reached.Add(0)
	var p streamfmt.Packer
	p.AddState(0, g.RangeSize(), &s)
	must.OK(t, errors.Join(w.Append(&p), w.Close()))
	m.write(t, name, out.Bytes())
	m.seal(t, g.Spec())
	tab := must.Get(OpenOf(m, ".", g))(t)
	defer tab.Close()
	_, err = tab.Verify(t.Context())
	_, _, rulesErr := Rules{}.Verify(t.Context(), tab)
	for _, err := range []error{err, rulesErr} {
		if err == nil || !strings.Contains(err.Error(), "the recorded counts differ") {
			t.Errorf("not counted: %v", err)
		}
	}
}

// TestCyclicTable checks look-up, choices and statistics of the game of ties.
func TestCyclicTable(t *testing.T) {
	g := game.WithRanges(testgames.TieGame(), 4)
	m := cyclicTable(t, g, valuesOf(g))
	tab := must.Get(OpenOf(m, ".", g))(t)
	defer tab.Close()
	for p, want := range map[game.Position]string{0: "TIE in 2", 2: "WIN in 3", 5: "LOSE in 0", 11: "DRAW", 6: ""} {
		v, ok, err := tab.Lookup(p)
		if err != nil || ok != (want != "") || ok && g.Values().Text(v) != want {
			t.Errorf("%d: %v, %v, %v; want %q", p, v, ok, err, want)
		}
	}
	if _, _, err := tab.Lookup(13); err == nil {
		t.Error("13 is no position, but there is no error")
	}
	choices, err := tab.Choices(11)
	if err != nil || len(choices) != 2 || choices[0].To != 12 || choices[1].To != 2 {
		t.Errorf("choices of 11: %v, %v", choices, err)
	}
	if err := tab.Unreached(1, nil); err == nil || err.Error() != "table: '1' (1): is missing: the move 1 of '0' (0x0) leads to it" {
		t.Error(err)
	}
	s, err := tab.Stats()
	if _, all := s.lines(); err != nil || s.Positions != 11 || all.by[game.Ties] != 5 || all.by[game.Draws] != 2 || all.finished != 2 || s.Value != "TIE in 2" {
		t.Errorf("%+v, %v", s, err)
	}
	var text strings.Builder
	must.OK(t, s.WriteTable(&text))
	if !strings.Contains(text.String(), "no end") {
		t.Error(text.String())
	}
	if err := s.WriteJSON(io.Discard); err != nil {
		t.Error(err)
	}
	text.Reset()
	if err := s.WriteSVG(&text); err != nil {
		t.Error(err)
	}
	if n := strings.Count(text.String(), `class="remoteness"`); n != 5 {
		t.Errorf("a picture of %d columns, want 5", n)
	}
	must.OK(t, m.RemoveAll(path.Join(Dir, store.Success)))
	if _, err := OpenOf(m, ".", g); err == nil || !strings.Contains(err.Error(), "incomplete") {
		t.Errorf("without _SUCCESS: %v", err)
	}
}
