package compare

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestFind compares lines of text that differ in a value, and by a position on each side.
func TestFind(t *testing.T) {
	g := must.Get(game.Kinds{mnk.Kind}.Parse("mnk width=2 height=2 connect=2"))(t)
	start := g.Start()
	next := g.Moves(nil, start)
	win, tie := game.Value(3<<2|2), game.Value(4<<2|3) // in three and four moves
	lines := func(values map[game.Position]game.Value) *Source {
		var text strings.Builder
		for p, v := range values {
			fmt.Fprintf(&text, "%x\t%d\n", p, v)
		}
		return OpenStdin(strings.NewReader(text.String()))
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
		test.want.Game = g
		for range 20 { // a map has no order
			if d, err := Between(g, [2]*Source{lines(test.a), lines(test.b)}); err != nil || !reflect.DeepEqual(*d, test.want) {
				t.Fatalf("%v, %v: %+v, %v, want %+v", test.a, test.b, d, err, test.want)
			}
		}
	}
}

// TestFinal compares tables with the lines of final: those of all images, and of games with draws with named values, too.
func TestFinal(t *testing.T) {
	for _, spec := range []string{"mnk width=2 height=2 connect=2", "quickcross width=2 height=2 connect=2", "mills men=3", "dodgem size=2", "mancala pits=2 stones=1"} {
		g := solved.Game(t, spec)
		dir := solved.Dir(t, g, func(o *solve.Options) { o.Final = solve.FinalYes })
		var sources [2]*Source
		for i, name := range []string{dir, filepath.Join(dir, solve.FinalDir)} {
			place := must.Get(filesys.Open(name))(t)
			sources[i] = must.Get(Open(place, name, all.Kinds()))(t)
			defer sources[i].Close()
		}
		d, err := Between(g, sources)
		if err != nil || d.Any || d.All[0] == 0 || d.All[0] != d.All[1] {
			t.Errorf("%s: %+v, %v", spec, d, err)
		}
		if d, err = Between(g, [2]*Source{sources[0], sources[0]}); err != nil || d.Any || d.All[0] != must.Get(sources[0].table.Positions())(t) {
			t.Errorf("%s: %+v, %v", spec, d, err)
		}
	}
}

// TestOmitted compares a table with a line of the initial position, which final does not have.
func TestOmitted(t *testing.T) {
	g := solved.Game(t, "connectn width=2 height=2 connect=2")
	tab := solved.Table(t, g)
	value, _, err := tab.Lookup(g.Start())
	must.OK(t, err)
	line := fmt.Sprintf("'%s'\t%d\n", g.AppendText(nil, g.Start()), value)
	d := must.Get(Between(g, [2]*Source{{Game: g, table: tab}, OpenStdin(strings.NewReader(line))}))(t)
	if want := must.Get(tab.Positions())(t) - 1; d.All != [2]uint64{want, 1} || d.Alone != d.All || d.First.Position != g.Start() {
		t.Errorf("%+v, want %d positions of the table", d, want)
	}
}

// TestNamedLine parses lines of a game with draws whose values name the winner.
func TestNamedLine(t *testing.T) {
	g := must.Get(game.Kinds{mnk.Kind}.Parse("mnk width=2 height=2 connect=2"))(t)
	for word, want := range map[string]game.Value{"X wins\t3": game.NewValue(game.FirstWins, 3), "O wins\t2": game.NewValue(game.SecondWins, 2), "tie\t1": game.NewValue(game.Tie, 1), "draw\t": 0} {
		if _, v, err := ParseLine(g, "0\t"+word); err != nil || v != want {
			t.Errorf("%q: %v, %v; want %v", word, v, err, want)
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
			p, v, err := ParseLine(g, line)
			if err != nil {
				continue
			}
			if err := g.Check(p); err != nil {
				t.Errorf("%s, %q: %v", g.Spec(), line, err)
			}
			q, w, err := ParseLine(g, fmt.Sprintf("'%s'\t%d", g.AppendText(nil, p), v))
			if err != nil || q != p || w != v {
				t.Errorf("%s, %q: %d, %v, then %d, %v, %v", g.Spec(), line, p, v, q, w, err)
			}
		}
	})
}
