package mnk

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

func mustNew(t testing.TB, width, height, connect int) game.Tiered {
	t.Helper()
	g, err := New(width, height, connect)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestContract(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {3, 3, 3}, {4, 4, 4}, {5, 3, 2}, {26, 1, 3}, {1, 32, 5}, {8, 4, 4}, {2, 16, 16}} {
		gametest.Contract(t, mustNew(t, b[0], b[1], b[2]))
	}
}

func TestSampled(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {3, 3, 3}, {3, 2, 2}, {4, 2, 3}, {6, 1, 3}} {
		gametest.CheckSampled(t, mustNew(t, b[0], b[1], b[2]).(game.Sampled), 1000)
	}
}

// The example of the package comment.
func TestHash(t *testing.T) {
	g := mustNew(t, 3, 3, 3)
	p, err := g.Parse("X.O/.X./...")
	if want := game.Position(1<<(9+6) | 1<<4 | 1<<0); err != nil || p != want {
		t.Errorf("Parse is %#x, %v, want %#x", p, err, want)
	}
	if got, want := g.Picture(p).String(), "   a b c\n1  X . O\n2  . X .\n3  . . .\n"; got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
	var names []string
	for _, m := range g.Moves(nil, p) {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "a2 a3 b1 b3 c2 c3" {
		t.Errorf("the moves are %s", got)
	}
}

// TestCanonical counts the positions of tic-tac-toe that are essentially different, and those of a board that is no
// square.
func TestCanonical(t *testing.T) {
	for board, want := range map[[3]int]int{{3, 3, 3}: 765, {2, 1, 2}: 3} { // ". ." "X ." "X O"
		g := mustNew(t, board[0], board[1], board[2])
		different := make(map[game.Position]bool)
		for p := range gametest.Search(g) {
			different[game.CanonicalOf(g, p)] = true
		}
		if len(different) != want {
			t.Errorf("%s: %d, want %d", g.Spec(), len(different), want)
		}
	}
}

// againstOracle checks that a solve finds the same positions and values as brute force.
func againstOracle(t *testing.T, width, height, connect int) {
	t.Helper()
	g := mustNew(t, width, height, connect)
	want := naive.MNK{W: width, H: height, Connect: connect}.Solve()
	got := gametest.Search(g)
	if len(got) != len(want) {
		t.Errorf("%s: %d positions, want %d", g.Spec(), len(got), len(want))
	}
	for board, value := range want {
		p := must.Get(g.Parse(naive.Rows(board, width, height)))(t)
		if got[p] != game.Value(value) {
			t.Fatalf("%s: %s is %v, want %v", g.Spec(), g.AppendText(nil, p), got[p], game.Value(value))
		}
	}
}

func TestOracle(t *testing.T) { everyBoard(t, 1, 9) }

func TestLongOracle(t *testing.T) {
	longtest.Skip(t)
	everyBoard(t, 10, 12)
}

// everyBoard checks all boards with least to most squares, with every connect.
func everyBoard(t *testing.T, least, most int) {
	for width := 1; width <= most; width++ {
		for height := 1; width*height <= most; height++ {
			for connect := 1; width*height >= least && connect <= max(width, height); connect++ {
				againstOracle(t, width, height, connect)
			}
		}
	}
}

// If there are two lines, which cannot occur in play, the line of the last player counts.
func TestTwoLines(t *testing.T) {
	g := mustNew(t, 4, 3, 3)
	for text, want := range map[string]game.Outcome{"XXX./OOO./....": game.SecondWins, "XXX./OOO./...X": game.FirstWins} {
		p := must.Get(g.Parse(text))(t)
		if got := g.Primitive(p); got != game.NewValue(want, 0) {
			t.Errorf("%s is %v, want %v", text, got, game.NewValue(want, 0))
		}
	}
}

func TestErrors(t *testing.T) {
	g := mustNew(t, 3, 2, 3)
	_, none := New(3, 0, 3)
	_, wide := New(27, 1, 3)
	_, large := New(6, 6, 4)
	_, long := New(3, 2, 4)
	_, rows := g.Parse("...")
	_, piece := g.Parse(".../.z.")
	_, turn := g.Parse("OO./...")
	_, twice := g.Parse("XX./...")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{none, "mnk: width, height and connect must be at least 1, found 3, 0 and 3"},
		{wide, "mnk: a board of 27×1 does not fit: it may have 32 squares and 26 columns at most"},
		{large, "mnk: a board of 6×6 does not fit: it may have 32 squares and 26 columns at most"},
		{long, "mnk: connect 4 is longer than both sides of a board of 3×2"},
		{rows, `board "...": expected 2 rows with / between them, found 1`},
		{piece, `board ".../.z." has 'z' on square b2, expected X, O or a blank ('.', ' ', '_')`},
		{turn, "0x140 is not a board: 0 X and 2 O, but X moves first and the turns alternate"},
		{twice, "0x5 is not a board: 2 X and 0 O, but X moves first and the turns alternate"},
		{g.Check(1 << 12), "0x1000 is not a board of 3×2"},
		{g.Check(1 | 1<<6), "0x41 is not a board of 3×2"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", tt.err, tt.want)
		}
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 3, 3, 3), "", "X.O/.X./...", "'___/XO_/   '", "XXX/.../...", "XXX/OOO/...", ".../...")
}
