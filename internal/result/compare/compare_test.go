package compare

import (
	"fmt"
	"os"
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

// TestOmitted compares a table and texts with and without the initial position, which final leaves out: a text may have it, with
// its value.
func TestOmitted(t *testing.T) {
	g := solved.Game(t, "connectn width=2 height=2 connect=2")
	dir := solved.Dir(t, g, func(o *solve.Options) { o.Final = solve.FinalYes })
	place := must.Get(filesys.Open(dir))(t)
	tab := must.Get(Open(place, dir, all.Kinds()))(t)
	defer tab.Close()
	positions := must.Get(tab.table.Positions())(t)
	value, _, err := tab.table.Lookup(g.Start())
	must.OK(t, err)
	wrong := value + game.NewValue(0, 1)
	final := string(must.Get(os.ReadFile(filepath.Join(dir, solve.FinalDir, "part-r-00000")))(t))
	start := func(v game.Value) string { return fmt.Sprintf("'%s'\t%d\n", g.AppendText(nil, g.Start()), v) }
	results := map[string]func() *Source{"table": func() *Source { return tab }}
	for name, text := range map[string]string{"final": final, "right": final + start(value), "wrong": start(wrong) + final} {
		results[name] = func() *Source { return OpenStdin(strings.NewReader(text)) }
	}
	for a, first := range results {
		for b, second := range results {
			want := Difference{Game: g, All: [2]uint64{positions, positions}}
			if a == "final" || b == "final" {
				want.All = [2]uint64{positions - 1, positions - 1}
			} else if (a == "wrong") != (b == "wrong") {
				want.Any, want.Unequal, want.First = true, 1, Pair{g.Start(), [2]game.Value{value, wrong}, [2]bool{true, true}}
				if a == "wrong" {
					want.First.Values = [2]game.Value{wrong, value}
				}
			}
			if d := must.Get(Between(g, [2]*Source{first(), second()}))(t); *d != want {
				t.Errorf("%s, %s: %+v, want %+v", a, b, d, want)
			}
		}
	}
}

// TestRefusedLine checks the errors of lines that are not of final: without a position, and with what is no value of their game.
func TestRefusedLine(t *testing.T) {
	line := func(g game.Game, value string) string {
		return fmt.Sprintf("'%s'\t%s", g.AppendText(nil, g.Start()), value)
	}
	blocks, acyclic, cyclic := solved.Game(t, "connectn width=2 height=2 connect=2"), solved.Game(t, "mnk width=2 height=2 connect=2"), solved.Game(t, "quickcross width=2 height=2 connect=2")
	for _, test := range []struct {
		g          game.Game
		line, want string // "": it is read
	}{
		{blocks, "", "expected a position, its value, and its number of moves if it has one, separated by tabs"},
		{acyclic, "", "expected a position, its value, and its number of moves if it has one, separated by tabs"},
		{cyclic, "hello", "expected a position, its value, and its number of moves if it has one, separated by tabs"},
		{acyclic, line(acyclic, "999") + "\t3\t", "expected a position, its value, and its number of moves if it has one, separated by tabs"},
		{blocks, line(blocks, "255"), ""},
		{blocks, line(blocks, "40"), "40 is no value of the game: its outcome is missing"},
		{blocks, line(blocks, "0"), "0 is no value of the game: its outcome is missing"},
		{blocks, line(blocks, "999"), "999 is no value of the game: expected at most 63 moves to the end, found 249"},
		{acyclic, line(acyclic, "0"), "0 is no value of the game: its outcome is missing"},
		{acyclic, line(acyclic, "999"), ""},
		{cyclic, line(cyclic, "0"), ""},
		{cyclic, line(cyclic, "4"), "4 is no value of the game: its outcome is missing"},
	} {
		want := ""
		if test.want != "" {
			want = fmt.Sprintf("stdin:1: expected a line of final (%s), found %q", test.want, test.line)
		}
		got := ""
		if err := OpenStdin(strings.NewReader(test.line + "\n")).read(test.g); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s, %q: %s, want %s", test.g.Spec(), test.line, got, want)
		}
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
