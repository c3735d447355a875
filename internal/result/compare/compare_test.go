package compare

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestFind compares lines of text that differ in a value, and by a position on each side.
func TestFind(t *testing.T) {
	g := must.Get(game.Kinds{mnk.Kind}.Parse("mnk width=2 height=2 connect=2"))(t)
	start := g.Start()
	next := g.Moves(nil, start)
	win, tie := game.Value(3<<2|2), game.Value(4<<2|3) // in three and four moves
	lines := func(values map[game.Position]game.Value) (s Side) {
		for _, p := range []game.Position{start, next[0].To, next[1].To} {
			if v, ok := values[p]; ok {
				s.Lines = append(s.Lines, Valued{p, v})
			}
		}
		return s
	}
	for _, test := range []struct {
		a, b map[game.Position]game.Value
		want Difference
	}{
		{map[game.Position]game.Value{start: win}, map[game.Position]game.Value{start: win}, Difference{All: [2]uint64{1, 1}}},
		{map[game.Position]game.Value{start: win, next[0].To: tie}, map[game.Position]game.Value{start: tie, next[1].To: tie},
			Difference{All: [2]uint64{2, 2}, Alone: [2]uint64{1, 1}, Unequal: 1, Any: true, First: Pair{start, [2]game.Value{win, tie}, [2]bool{true, true}}}},
		{nil, map[game.Position]game.Value{start: win},
			Difference{All: [2]uint64{0, 1}, Alone: [2]uint64{0, 1}, Any: true, First: Pair{start, [2]game.Value{0, win}, [2]bool{false, true}}}},
	} {
		d := Difference{Game: g}
		test.want.Game = g
		if err := d.Find([2]Side{lines(test.a), lines(test.b)}); err != nil || !reflect.DeepEqual(d, test.want) {
			t.Errorf("%v, %v: %+v, %v, want %+v", test.a, test.b, d, err, test.want)
		}
	}
}

// FuzzParseLine checks that every line of text is parsed or refused. A parsed line is a
// position, and is the same after it has been formatted and parsed again.
func FuzzParseLine(f *testing.F) {
	for _, line := range []string{"'X O '\t6", "11\t6", "5\tDRAW\t", "5\tWIN\t3", "5\tLOSE\t-1", "\t", "'", "'X   '\t99999"} {
		f.Add(line)
	}
	var games []game.Game
	for _, spec := range []string{"connectn width=2 height=2 connect=2", "quickcross width=3 height=3 connect=3", "mnk width=2 height=2 connect=2"} {
		g := solved.Game(f, spec)
		games = append(games, g)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, g := range games {
			v, err := ParseLine(g, line)
			if err != nil {
				continue
			}
			if err := g.Check(v.Position); err != nil {
				t.Errorf("%s, %q: %v", g.Spec(), line, err)
			}
			again, err := ParseLine(g, fmt.Sprintf("'%s'\t%d", g.AppendText(nil, v.Position), v.Value))
			if err != nil || again != v {
				t.Errorf("%s, %q: %v, then %v, %v", g.Spec(), line, v, again, err)
			}
		}
	})
}
