package quickcross

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// made caches rules between tests.
var made = map[[3]int]*Rules{}

func mustNew(t testing.TB, width, height, connect int) *Rules {
	t.Helper()
	board := [3]int{width, height, connect}
	if made[board] == nil {
		r := must.Get(New(width, height, connect))(t)
		made[board] = r
	}
	return made[board]
}

// The examples of the package comment and of the reference.
func TestHashExamples(t *testing.T) {
	for _, tt := range []struct {
		width, height int
		text          string
		key           game.Position
	}{
		{3, 3, "-|./.../..-", 6568},
		{3, 3, ".../.../...", 0},
		{3, 3, "--./.../...", 4},
		{3, 3, "|-./.../...", 5},
		{3, 3, "---/.../...", 13},
		{3, 3, "|../.-./...", 83},
		{3, 3, "---/---/...", 364},
		{3, 3, "-|./|-./..-", 6703},
		{4, 3, "|.-|/-.../....", 146},
		{2, 1, "||", 8},
	} {
		r := mustNew(t, tt.width, tt.height, 2)
		if got := string(r.AppendText([]byte("x"), tt.key)); got != "x"+tt.text {
			t.Errorf("the text of %d is %q, want %q after x", tt.key, got, tt.text)
		}
		if got, err := r.Parse(tt.text); got != tt.key || err != nil {
			t.Errorf("Parse(%q) = %d, %v, want %d", tt.text, got, err, tt.key)
		}
	}
}

// Every hash of a small board has a unique text and picture; its moves and whether it is
// terminal agree with the text.
func TestEveryPosition(t *testing.T) {
	r := mustNew(t, 3, 2, 2)
	texts := map[string]bool{}
	for p := range r.Positions() {
		must.OK(t, r.Check(p))
		text := string(r.AppendText(nil, p))
		if q, err := r.Parse(text); q != p || err != nil || texts[text] {
			t.Fatalf("%d is %q, which is %d, %v (another's: %v)", p, text, q, err, texts[text])
		}
		texts[text] = true
		row := func(y int) string { return " " + strings.Join(strings.Split(strings.Split(text, "/")[y], ""), " ") }
		if got, want := r.Picture(p).String(), "   a b c\n1 "+row(0)+"\n2 "+row(1)+"\n"; got != want {
			t.Fatalf("the picture of %q is\n%swant\n%s", text, got, want)
		}
		lost := false
		for _, line := range [][2]int{{0, 1}, {1, 2}, {4, 5}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {0, 5}, {1, 6}, {1, 4}, {2, 5}} {
			lost = lost || text[line[0]] != '.' && text[line[0]] == text[line[1]]
		}
		want := game.Value(0)
		if lost {
			want = game.NewValue(game.SecondWins, 0)
		}
		if got := r.Primitive(p); got != want || got.Outcome().For(r.ToMove(p)) == game.Wins {
			t.Fatalf("%q has the value %v, want %v", text, got, want)
		}
		var moves []string
		for _, m := range r.Moves(nil, p) {
			// The name of a move determines the text after it.
			at := int(m.Name[1]-'1')*4 + int(m.Name[0]-'a')
			if after, got := text[:at]+m.Name[2:]+text[at+1:], string(r.AppendText(nil, m.To)); got != after || got == text {
				t.Fatalf("%q: move %s leads to %q, want %q", text, m.Name, got, after)
			}
			moves = append(moves, m.Name)
		}
		blanks := strings.Count(text, ".")
		if count := 2*blanks + 6 - blanks; !lost && len(moves) != count || lost && len(moves) != 0 {
			t.Fatalf("%q has the moves %v", text, moves)
		}
		if !slices.IsSorted(moves) || len(slices.Compact(moves)) != len(moves) {
			t.Fatalf("%q: moves %v are not in the order of their names", text, moves)
		}
	}
	if len(r.Moves(make([]game.Move, 1), 0)) != 13 {
		t.Error("Moves does not append")
	}
}

// The largest board: hashes of 50 bits, 62 moves, and names with two digits.
func TestLargestBoard(t *testing.T) {
	r := mustNew(t, 1, 31, 31)
	if r.KeyBits() != 50 || r.Positions() != 617673396283947 {
		t.Errorf("%d bits, %d positions", r.KeyBits(), r.Positions())
	}
	moves := r.Moves(nil, 0)
	if len(moves) != 62 || moves[0].Name != "a1-" || moves[61].Name != "a31|" || moves[61].To != 2*(r.Positions()/3) {
		t.Errorf("%d moves, %+v to %+v", len(moves), moves[0], moves[len(moves)-1])
	}
	if r.Primitive(r.Positions()-1) == 0 || r.Primitive(r.Positions()-2) != 0 {
		t.Error("a line of 31 is not what is finished")
	}
	for text, last := range map[string]string{r.Picture(0).String(): "31  .", mustNew(t, 26, 1, 3).Picture(0).String(): "1  . . ."} {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if !strings.HasPrefix(lines[len(lines)-1], last) || len(lines[0]) != len(lines[1]) {
			t.Errorf("picture\n%s", text)
		}
	}
}

// reachable reports whether a board can be reached, without playing: it has no line, or all its lines share a square, that of the
// last move.
func reachable(r *Rules, p game.Position) bool {
	rows := strings.Split(string(r.AppendText(nil, p)), "/")
	lines, on := 0, make(map[[2]int]int) // the lines that have a square
	for y := range rows {
		for x, piece := range rows[y] {
			for _, d := range [4][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
				var line [][2]int
				for cx, cy := x, y; len(line) < r.connect && cx < r.width && cy >= 0 && cy < r.height && rune(rows[cy][cx]) == piece; cx, cy = cx+d[0], cy+d[1] {
					line = append(line, [2]int{cx, cy})
				}
				if len(line) == r.connect && piece != '.' {
					lines++
					for _, at := range line {
						on[at]++
					}
				}
			}
		}
	}
	return lines == 0 || slices.Contains(slices.Collect(maps.Values(on)), lines)
}

// Play reaches the boards that are reachable, and no others.
func TestReachable(t *testing.T) {
	for _, b := range [][3]int{{2, 3, 2}, {3, 3, 3}} {
		r := mustNew(t, b[0], b[1], b[2])
		values := gametest.Search(r)
		for p := range r.Positions() {
			if _, reached := values[p]; reached != reachable(r, p) {
				t.Fatalf("%s: %q is reached: %v", r.Spec(), r.AppendText(nil, p), reached)
			}
		}
	}
}

// On boards that are too large to solve, random play reaches no other boards: if Moves overlooked a line, another one would
// soon follow.
func TestRandomPlay(t *testing.T) {
	for _, b := range [][3]int{{5, 4, 3}, {6, 5, 4}, {26, 1, 2}, {5, 6, 5}, {3, 10, 3}} {
		r := mustNew(t, b[0], b[1], b[2])
		rnd := rand.New(rand.NewPCG(9, uint64(b[0])))
		for range 50 {
			for _, p := range gametest.Walk(rnd, r, 60) {
				if !reachable(r, p) {
					t.Fatalf("%s: %q was reached", r.Spec(), r.AppendText(nil, p))
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	r := mustNew(t, 3, 2, 3)
	_, narrow := New(27, 1, 3)
	_, large := New(4, 8, 3)
	_, none := New(0, 3, 1)
	_, long := New(3, 4, 5)
	_, rows := r.Parse("...")
	_, squares := r.Parse("-../....")
	_, piece := r.Parse(".../.x.")
	_, quote := r.Parse("'-../...")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{narrow, "quickcross: a board of 27×1 does not fit: it may have 31 squares and 26 columns at most"},
		{large, "quickcross: a board of 4×8 does not fit: it may have 31 squares and 26 columns at most"},
		{none, "quickcross: width, height and connect must be at least 1, found 0, 3 and 1"},
		{long, "quickcross: connect 5 is longer than both sides of a board of 3×4"},
		{r.Check(729), "729 is not a board of 3×2: the largest is 728"},
		{r.Check(^game.Position(0)), "18446744073709551615 is not a board of 3×2: the largest is 728"},
		{rows, `board "...": expected 2 rows with / between them, found 1`},
		{squares, `board "-../....": expected 3 squares in row 2, found 4`},
		{piece, `board ".../.x." has 'x' on square b2, expected -, | or a blank ('.', ' ', '_')`},
		{quote, `board "'-../...": expected 3 squares in row 1, found 4`},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", tt.err, tt.want)
		}
	}
}

func TestParseForms(t *testing.T) {
	r := mustNew(t, 3, 2, 3)
	for _, text := range []string{"-../.|.", "'-../.|.'", "-__/_|_", "-  / | ", "'-  / | '"} {
		if p, err := r.Parse(text); p != 1+2*81 || err != nil {
			t.Errorf("Parse(%q) = %d, %v, want 163", text, p, err)
		}
	}
}
