package train

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// find returns n puzzles of g with grades from lowest to highest.
func find(t *testing.T, g game.Game, tab *table.Table, seed uint64, n, lowest, highest int) (puzzles []*Puzzle) {
	f := must.Get(NewFinder(g, analysis.New(g, tab, nil, search.Options{Memory: 4 << 20}), time.Minute, seed))(t)
	for range n {
		puzzles = append(puzzles, must.Get(f.Next(t.Context(), lowest, highest))(t))
	}
	return puzzles
}

// TestPuzzles checks puzzles from a search against the table.
func TestPuzzles(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "mnk width=3 height=3 connect=3"} {
		t.Run(spec, func(t *testing.T) {
			g := solved.Game(t, spec)
			tab := solved.Table(t, g)
			for _, p := range find(t, g, nil, 1, 20, 1, Grades) {
				if at := p.History.Position(); p.Report.Position != at || !slices.Equal(keepers(t, tab, at), []string{p.Answer().Name}) {
					t.Errorf("%s\n%s: the answer %s is not the only one", p.Board(), p.Task(), p.Answer().Name)
				}
			}
		})
	}
}

// TestGrades checks that puzzles of higher grades are solved less often, by the levels with seeds and by
// searches of depths that do not determine the grades.
func TestGrades(t *testing.T) {
	g := solved.Game(t, "connectn width=5 height=4 connect=4")
	tab, n := solved.Table(t, g), longtest.Number(t, "TREEREDUCE_PUZZLES", 200)
	s := must.Get(search.New(g, search.Options{Memory: graderMemory}))(t)
	levels := player.Levels()
	levels = levels[:len(levels)-1] // the last one plays perfectly
	for _, depth := range []int{7, 9} {
		levels = append(levels, player.Level{Depth: depth})
	}
	seeds := rand.New(rand.NewPCG(7, 7))
	const bands = 4
	var solves, tries [bands]float64
	for band, grades := range [bands][2]int{{1, 1}, {2, 4}, {5, 7}, {8, Grades}} {
		for _, p := range find(t, g, tab, 2, n/bands, grades[0], grades[1]) {
			if p.Grade < grades[0] || p.Grade > grades[1] || !slices.Equal(keepers(t, tab, p.Report.Position), []string{p.Answer().Name}) {
				t.Fatalf("%s\ngrade %d, answer %s: expected another", p.Board(), p.Grade, p.Answer().Name)
			}
			for _, l := range levels {
				s.Forget()
				move := must.Get(player.NewLevel(l, nil, nil, s.Search, seeds.Uint64()).Move(t.Context(), p.History.Clone(), 0))(t)
				if tries[band]++; move == p.Answer().Name {
					solves[band]++
				}
			}
		}
	}
	for band := range bands - 1 {
		if a, b := solves[band]/tries[band], solves[band+1]/tries[band+1]; a <= b {
			t.Errorf("band %d of grades: solved %.3f, the next one: %.3f; expected less", band, a, b)
		}
	}
	t.Logf("solved: %.0f of %.0f", solves, tries)
}

// TestDifferent draws all puzzles of small games, and checks that none comes twice or as a symmetric image, and that
// most of those that the table has come.
func TestDifferent(t *testing.T) {
	for _, spec := range []string{"mnk width=3 height=3 connect=3", "connectn width=3 height=3 connect=3", "quickcross width=3 height=2 connect=3"} {
		t.Run(spec, func(t *testing.T) {
			g := solved.Game(t, spec)
			tab := solved.Table(t, g)
			all := make(map[game.Position]bool)
			for b, err := range tab.All() {
				must.OK(t, err)
				for _, p := range b.Positions {
					if len(keepers(t, tab, p)) == 1 {
						all[game.CanonicalOf(g, p)] = true
					}
				}
			}
			f := must.Get(NewFinder(g, analysis.New(g, tab, nil, search.Options{}), time.Minute, 1))(t)
			drawn := make(map[game.Position]bool)
			for {
				p, err := f.Next(t.Context(), 1, Grades)
				if err == ErrNone {
					break
				}
				must.OK(t, err)
				at := game.CanonicalOf(g, p.Report.Position)
				if drawn[at] || !all[at] {
					t.Fatalf("%s\nit is repeated: %v", p.Board(), drawn[at])
				}
				drawn[at] = true
			}
			if t.Logf("%d of %d", len(drawn), len(all)); 2*len(drawn) < len(all) {
				t.Errorf("%d puzzles of %d", len(drawn), len(all))
			}
		})
	}
}

// TestBands draws puzzles of each band of grades, and checks by look-ups alone that one move keeps the result. None comes twice
// or mirrored.
func TestBands(t *testing.T) {
	n := longtest.Number(t, "TREEREDUCE_PUZZLES", 50)
	for _, spec := range []string{"mnk width=3 height=3 connect=3", "connectn width=5 height=4 connect=4", "quickcross width=4 height=3 connect=3", "dodgem size=3",
		"mancala pits=3 stones=3", "mills men=3", "quixo size=3"} {
		t.Run(spec, func(t *testing.T) {
			g := solved.Game(t, spec)
			tab := solved.Table(t, g)
			drawn := make(map[game.Position]bool)
			for _, b := range Bands() {
				drawBand(t, tab, b, n, drawn)
			}
		})
	}
}

// TestLongPuzzles draws 1,000 puzzles, or all, of each board of a site, and checks them as TestBands does.
func TestLongPuzzles(t *testing.T) {
	longtest.SkipShare(t)
	option := regexp.MustCompile(` --(\w+) `)
	for line := range strings.Lines(string(must.Get(os.ReadFile("../../../scripts/site-boards.txt"))(t))) {
		spec := option.ReplaceAllString(strings.TrimSpace(line), " $1=")
		t.Run(spec, func(t *testing.T) {
			drawBand(t, solved.Table(t, solved.Game(t, spec)), Band{"all", 1, Grades}, 1000, make(map[game.Position]bool))
		})
	}
}

// drawBand draws n puzzles of a band, or all that a Finder finds, and checks by look-ups alone that one move keeps the result. None is
// among those that were drawn before.
func drawBand(t *testing.T, tab *table.Table, b Band, n int, drawn map[game.Position]bool) {
	g := tab.Game()
	f := must.Get(NewFinder(g, analysis.New(g, tab, nil, search.Options{}), time.Minute, 5))(t)
	found := 0
	for ; found < n; found++ {
		p, err := f.Next(t.Context(), b.Lowest, b.Highest)
		if err == ErrNone {
			break
		}
		must.OK(t, err)
		at := p.History.Position()
		least := game.CanonicalOf(g, at)
		if drawn[least] || p.Grade < b.Lowest || p.Grade > b.Highest {
			t.Errorf("%s\ngrade %d, repeated: %v", p.Board(), p.Grade, drawn[least])
		}
		drawn[least] = true
		if keep := keepers(t, tab, at); len(keep) != 1 || keep[0] != p.Answer().Name {
			t.Errorf("%s\n%s: the answer %s; by the table %q", p.Board(), p.Task(), p.Answer().Name, keep)
		}
	}
	t.Logf("%s: %d puzzles", b.Name, found)
}

// keepers returns the moves that keep the result of a position that is not lost and has several moves, by look-ups.
func keepers(t *testing.T, tab *table.Table, p game.Position) (names []string) {
	g := tab.Game()
	result := func(q game.Position) game.Result { // for the player to move at p
		v, ok, err := tab.Lookup(q)
		if must.OK(t, err); !ok {
			t.Fatalf("position %d is missing", q)
		}
		switch {
		case !g.Values().OfMover:
			return v.Outcome().For(g.ToMove(p))
		case p != q && game.Result(v.Outcome()) == game.Wins: // of the other player
			return game.Loses
		case p != q && game.Result(v.Outcome()) == game.Loses:
			return game.Wins
		}
		return game.Result(v.Outcome())
	}
	moves := g.Moves(nil, p)
	if len(moves) < 2 || result(p) == game.Loses {
		return nil
	}
	for _, m := range moves {
		if result(m.To) == result(p) {
			names = append(names, m.Name)
		}
	}
	return names
}

// TestNear checks that a Finder returns the puzzles of the nearest grade if there are none of those that are wanted, none that
// it has to skip, and then none.
func TestNear(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3")
	f := must.Get(NewFinder(g, analysis.New(g, solved.Table(t, g), nil, search.Options{}), time.Minute, 1))(t)
	drawn := make(map[game.Position]bool)
	f.Skip = func(canonical game.Position) bool { return drawn[canonical] }
	for {
		p, err := f.Near(t.Context(), Grades, Grades)
		if err == ErrNone {
			break
		}
		must.OK(t, err)
		least := game.CanonicalOf(g, p.Report.Position)
		if drawn[least] {
			t.Errorf("%s\nit is repeated", p.Board())
		}
		drawn[least] = true
		for _, q := range f.known {
			switch {
			case q == nil:
			case q.Grade > p.Grade:
				t.Errorf("grade %d before %d", p.Grade, q.Grade)
			case len(drawn) == 5: // it counts as drawn
				drawn[game.CanonicalOf(g, q.Report.Position)] = true
			}
		}
	}
	if t.Logf("%d puzzles", len(drawn)); len(drawn) < 20 {
		t.Errorf("%d puzzles", len(drawn))
	}
}

// TestTableFails checks that a Finder does not search what a table does not say.
func TestTableFails(t *testing.T) {
	g := solved.Game(t, "mnk width=3 height=3 connect=3")
	data := solved.Dir(t, g)
	tab := must.Get(table.OpenOf(store.Local{}, data, g))(t)
	defer tab.Close()
	for _, name := range must.Get(filepath.Glob(filepath.Join(data, table.Dir, "*")))(t) {
		must.OK(t, os.Truncate(name, 0))
	}
	f := must.Get(NewFinder(g, analysis.New(g, tab, nil, search.Options{}), time.Minute, 1))(t)
	if p, err := f.Near(t.Context(), 1, Grades); err == nil || err == ErrNone {
		t.Errorf("found %v, %v; expected an error of the table", p, err)
	}
}

// TestNone checks the error for a game without puzzles.
func TestNone(t *testing.T) {
	g := solved.Game(t, "connectn width=1 height=4 connect=4")
	f := must.Get(NewFinder(g, analysis.New(g, nil, nil, search.Options{Memory: 1 << 20}), time.Minute, 1))(t)
	if _, err := f.Next(t.Context(), 1, Grades); err != ErrNone {
		t.Errorf("found %v, expected %v", err, ErrNone)
	}
}

// TestWriteAnki checks that notes have a board, an answer and a tag, as Anki reads them.
func TestWriteAnki(t *testing.T) {
	g := solved.Game(t, "mnk width=3 height=3 connect=3")
	puzzles := find(t, g, solved.Table(t, g), 3, 5, 1, Grades)
	var out strings.Builder
	must.OK(t, WriteAnki(&out, puzzles))
	_, notes, ok := strings.Cut(out.String(), "#tags column:3\n")
	rows := must.Get(csv.NewReader(strings.NewReader(notes)).ReadAll())(t)
	if !ok || len(rows) != len(puzzles) {
		t.Fatalf("expected %d notes, found\n%s", len(puzzles), out.String())
	}
	for i, row := range rows {
		p := puzzles[i]
		if len(row) != 3 || !strings.Contains(row[0], "<pre>"+p.Board()+"</pre>") || !strings.HasPrefix(row[1], p.Answer().Name+": ") || !strings.Contains(row[2], "grade") {
			t.Errorf("note %d: %q", i, row)
		}
	}
}

// onePlayer is a puzzle.
type onePlayer struct{ game.Game }

func (onePlayer) Values() game.Values { return game.Values{OfMover: true, Puzzle: true} }

// TestGoal checks that one move alone reaches the goal of a puzzle.
func TestGoal(t *testing.T) {
	g := solved.Game(t, "quickcross width=2 height=2 connect=2")
	tie, draw := game.Ties.In(3), game.Value(0)
	for _, test := range []struct {
		g          game.Game
		one, other game.Value
		want       string
	}{
		{g, game.Wins.In(3), tie, "find the move that wins"},
		{g, tie, game.Loses.In(4), "find the move that does not lose"},
		{g, tie, draw, "find the move that ties"},
		{g, draw, game.Loses.In(4), "find the move that does not lose"},
		{onePlayer{g}, tie, draw, "find the move that keeps the puzzle solvable"},
	} {
		moves := []analysis.Move{{Worth: analysis.Worth{Value: test.other, Known: true}}, {Worth: analysis.Worth{Value: test.one, Known: true}}}
		p := Puzzle{History: player.NewHistory(test.g), Report: analysis.Report{Worth: moves[1].Worth, Moves: moves}}
		if move, known := only(test.g, p.Report); move != 1 || !known || p.Goal() != test.want {
			t.Errorf("move %d, %q, want 1, %q", move, p.Goal(), test.want)
		}
	}
}
