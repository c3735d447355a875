package connectn

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

// made caches rules between tests, because their tables take time to build.
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

// naiveKey computes the hash as defined in the package comment: the sum over the pieces of
// 1<<j for an O and 2<<j for an X, with columns of height+1 bits from the left.
func naiveKey(text string, width, height int) (key uint64) {
	for c := range width {
		var column uint64
		for j := range height {
			switch text[c*height+j] {
			case 'O':
				column += 1 << j
			case 'X':
				column += 2 << j
			}
		}
		key = key<<(height+1) | column
	}
	return key
}

// boards have various shapes: with and without ranges, with and without low columns, and of up
// to 64 bits.
var boards = [][3]int{
	{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 3, 3}, {3, 4, 3}, {5, 2, 3}, {1, 8, 4}, {8, 1, 3}, {5, 5, 4},
	{7, 6, 4}, {8, 7, 4}, {3, 20, 4}, {2, 31, 4}, {32, 1, 3}, {1, 63, 4}, {4, 15, 8}, {16, 3, 5},
}

// On a small board, all texts and keys are tried. Texts of legal boards with alternating turns
// are parsed to different keys, which Check accepts; all other texts and keys are rejected.
func TestEveryTextAndKey(t *testing.T) {
	const width, height = 3, 2
	r := mustNew(t, width, height, 2)
	texts := map[game.Position]string{}
	for n := range 729 { // 3^6
		text := ""
		for i, m := 0, n; i < width*height; i, m = i+1, m/3 {
			text += string(" OX"[m%3])
		}
		good := true
		for c := range width {
			good = good && (text[2*c] != ' ' || text[2*c+1] == ' ')
		}
		x, o := strings.Count(text, "X"), strings.Count(text, "O")
		good = good && (x == o || x == o+1)
		p, err := r.Parse(text)
		if (err == nil) != good {
			t.Errorf("Parse(%q): error %v, want one: %v", text, err, !good)
		}
		if !good {
			continue
		}
		if p != naiveKey(text, width, height) {
			t.Errorf("Parse(%q) = %d, want %d", text, p, naiveKey(text, width, height))
		}
		if other, ok := texts[p]; ok {
			t.Errorf("%q and %q have the same key", text, other)
		}
		texts[p] = text
		if r.Tier(p) != x+o {
			t.Errorf("%q is of tier %d, want %d", text, r.Tier(p), x+o)
		}
		if want := game.Player(uint8((x + o) % 2)); r.ToMove(p) != want || r.TierToMove(x+o) != want {
			t.Errorf("%q: player %d is to move, want %d", text, r.ToMove(p), want)
		}
	}
	for key := range game.Position(1 << 10) {
		text, good := texts[key]
		if err := r.Check(key); (err == nil) != good {
			t.Errorf("Check(%#x): %v, want an error: %v", key, err, !good)
		}
		if good && string(r.AppendText(nil, key)) != text {
			t.Errorf("the text of %#x is %q, want %q", key, r.AppendText(nil, key), text)
		}
	}
}

func TestCheckErrors(t *testing.T) {
	for _, tt := range []struct {
		width, height int
		key           game.Position
		want          string
	}{
		{2, 2, 64, "0x40 is not a board of 2×2: it has more than 6 bits"},
		{2, 2, 1 << 63, "0x8000000000000000 is not a board of 2×2: it has more than 6 bits"},
		{2, 2, 7 << 3, "0x38 is not a board of 2×2: column 0 holds more than 2 pieces"},
		{2, 2, 7, "0x7 is not a board of 2×2: column 1 holds more than 2 pieces"},
		{2, 2, 1, "0x1 is not a board: 0 X and 1 O, but X moves first and the turns alternate"},
		{2, 2, 6, "0x6 is not a board: 2 X and 0 O, but X moves first and the turns alternate"},
		{8, 7, ^uint64(0), "0xffffffffffffffff is not a board of 8×7: column 0 holds more than 7 pieces"},
	} {
		err := mustNew(t, tt.width, tt.height, 2).Check(tt.key)
		if err == nil || err.Error() != tt.want {
			t.Errorf("Check(%#x): error\n%v, want\n%s", tt.key, err, tt.want)
		}
	}
	if mustNew(t, 1, 63, 4).Check(^uint64(0)) == nil { // its column uses all 64 bits
		t.Error("1×63: Check lets a column of ones pass")
	}
}

func TestNewErrors(t *testing.T) {
	const least = "connectn: width, height and connect must be at least 1, found "
	const fit = " does not fit: width·(height+1) may be 64 at most"
	const long = " is longer than both sides of a board of "
	for _, tt := range []struct {
		width, height, connect int
		want                   string
	}{
		{0, 3, 3, least + "0, 3 and 3"},
		{3, 0, 3, least + "3, 0 and 3"},
		{3, 3, 0, least + "3, 3 and 0"},
		{-1, -2, -3, least + "-1, -2 and -3"},
		{8, 8, 4, "connectn: a board of 8×8" + fit},
		{9, 7, 4, "connectn: a board of 9×7" + fit},
		{65, 1, 4, "connectn: a board of 65×1" + fit},
		{1, 64, 4, "connectn: a board of 1×64" + fit},
		{33, 1, 4, "connectn: a board of 33×1" + fit},
		{1 << 62, 1 << 62, 4, "connectn: a board of 4611686018427387904×4611686018427387904" + fit},
		{3, 3, 4, "connectn: connect 4" + long + "3×3"},
		{4, 5, 6, "connectn: connect 6" + long + "4×5"},
	} {
		r, err := New(tt.width, tt.height, tt.connect)
		if r != nil || err == nil || err.Error() != tt.want {
			t.Errorf("New(%d, %d, %d): error\n%v, want\n%s", tt.width, tt.height, tt.connect, err, tt.want)
		}
	}
}

// All sizes that fit can be created, and their Spec is correct. (A loop over the 2^bits columns of a tall board would never end.)
func TestNewEverySize(t *testing.T) {
	for width := 1; width <= 64; width++ {
		for height := 1; width*(height+1) <= 64; height++ {
			if uint(width)*(uint(height)+1) < 40 && height > 2 {
				continue // small boards are covered by other tests; this saves time
			}
			r := must.Get(New(width, height, max(width, height)))(t)
			if got, want := r.Spec(), fmt.Sprintf("connectn width=%d height=%d connect=%d", width, height, max(width, height)); got != want {
				t.Errorf("Spec() = %q, want %q", got, want)
			}
			if r.KeyBits() != uint(width*(height+1)) || r.Tiers() != width*height || r.Start() != 0 {
				t.Errorf("%s: %d bits, %d tiers, starts at %d", r.Spec(), r.KeyBits(), r.Tiers(), r.Start())
			}
			if r.LowBits() > 31 || r.LowBits() > r.KeyBits() {
				t.Errorf("%s: %d low bits", r.Spec(), r.LowBits())
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	g := mustNew(t, 2, 2, 2)
	for _, tt := range []struct{ text, want string }{
		{"", `board "": expected 4 squares (2 columns of 2, from the bottom up), found 0`},
		{"XO ", `board "XO ": expected 4 squares (2 columns of 2, from the bottom up), found 3`},
		{"XO   ", `board "XO   ": expected 4 squares (2 columns of 2, from the bottom up), found 5`},
		{"'XO '", `board "'XO '": expected 4 squares (2 columns of 2, from the bottom up), found 3`},
		{"'", `board "'": expected 4 squares (2 columns of 2, from the bottom up), found 1`},
		{"XO Z", `board "XO Z" has 'Z' on square 3, expected X, O or a blank (' ', '.', '_')`},
		{"X0  ", `board "X0  " has '0' on square 1, expected X, O or a blank (' ', '.', '_')`},
		{" X  ", `board " X  " has a piece over an empty square in column 0`},
		{"XO X", `board "XO X" has a piece over an empty square in column 1`},
		{"O   ", `board "O   ": 0x8 is not a board: 0 X and 1 O, but X moves first and the turns alternate`},
		{"XX  ", `board "XX  ": 0x30 is not a board: 2 X and 0 O, but X moves first and the turns alternate`},
	} {
		p, err := g.Parse(tt.text)
		if p != 0 || err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%q) = %d, error\n%v, want\n%s", tt.text, p, err, tt.want)
		}
	}
}

func TestPicture(t *testing.T) {
	g := mustNew(t, 3, 2, 2)
	p := must.Get(g.Parse("XOX   "))(t)
	if got, want := g.Picture(p).String(), " O . .\n X X .\n 0 1 2\n"; got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
	wide := mustNew(t, 11, 1, 2)
	want := "  .  .  .  .  .  .  .  .  .  .  .\n  0  1  2  3  4  5  6  7  8  9 10\n"
	if got := wide.Picture(0).String(); got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
}

// The shifts find the same lines as a walk over the squares: on every board size, for every
// connect, with random pieces and with rows that are just long enough or one piece short.
func TestLinesAgainstWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for width := 1; width <= 32; width++ {
		for height := 1; width*(height+1) <= 64; height++ {
			for connect := 1; connect <= max(width, height); connect++ {
				checkLines(t, r, width, height, connect)
			}
		}
	}
}

func checkLines(t *testing.T, r *rand.Rand, width, height, connect int) {
	l := newLines(uint(height)+1, connect)
	for sample := range 6 {
		var pieces uint64
		put := func(c, row int) {
			if c >= 0 && c < width && row >= 0 && row < height {
				pieces |= 1 << ((width-1-c)*(height+1) + row)
			}
		}
		for range r.IntN(width*height+1) * sample / 5 {
			put(r.IntN(width), r.IntN(height))
		}
		d := [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}}[r.IntN(4)]
		c, row := r.IntN(width), r.IntN(height)
		for n := range connect - sample%2 {
			put(c+n*d[0], row+n*d[1])
		}
		text := make([]byte, width*height)
		for i := range text {
			text[i] = ' '
			if pieces>>((width-1-i/height)*(height+1)+i%height)&1 != 0 {
				text[i] = 'X'
			}
		}
		if got, want := l.in(pieces) != 0, naive.Line(string(text), width, height, connect) == 'X'; got != want {
			t.Errorf("%d×%d connect %d: line in %q is %v, want %v", width, height, connect, text, got, want)
			return
		}
	}
}

// The key of a position, Primitive and Moves agree with its text, which is read in each form.
func TestPrimitiveAndMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, b := range boards {
		g := mustNew(t, b[0], b[1], b[2])
		for range 4 {
			positions := gametest.Walk(r, g, g.Tiers())
			for i, p := range positions {
				checkText(t, g, p, i)
				checkPosition(t, g, p)
				if finished := g.Primitive(p) != 0; finished != (i == len(positions)-1) {
					t.Fatalf("%s: %q: finished is %v after move %d of %d", g.Spec(), g.AppendText(nil, p), finished, i, len(positions)-1)
				}
			}
		}
	}
}

func checkText(t *testing.T, g *Rules, p game.Position, tier int) {
	t.Helper()
	text := string(g.AppendText([]byte("before"), p)[len("before"):])
	if err := g.Check(p); err != nil || g.Tier(p) != tier || naiveKey(text, g.width, g.height) != p {
		t.Fatalf("%s: %#x is %q of tier %d, want %d; %v", g.Spec(), p, text, g.Tier(p), tier, err)
	}
	for _, form := range []string{text, "'" + text + "'", strings.ToLower(text), strings.ReplaceAll(text, " ", "."), strings.ReplaceAll(text, " ", "_")} {
		if got, err := g.Parse(form); got != p || err != nil {
			t.Fatalf("%s: Parse(%q) = %#x, %v, want %#x", g.Spec(), form, got, err, p)
		}
	}
}

func checkPosition(t *testing.T, g *Rules, p game.Position) {
	t.Helper()
	text := string(g.AppendText(nil, p))
	var want game.Value
	switch line := naive.Line(text, g.width, g.height, g.connect); {
	case line == 'X':
		want = game.NewValue(game.FirstWins, 0)
	case line == 'O':
		want = game.NewValue(game.SecondWins, 0)
	case !strings.Contains(text, " "):
		want = game.NewValue(game.Tie, 0)
	}
	if got := g.Primitive(p); got != want {
		t.Fatalf("%s: Primitive(%q) = %v, want %v", g.Spec(), text, got, want)
	}
	piece := "X"
	if strings.Count(text, "X") > strings.Count(text, "O") {
		piece = "O"
	}
	var moves []game.Move
	for c := 0; want == 0 && c < g.width; c++ {
		if at := strings.IndexByte(text[c*g.height:(c+1)*g.height], ' '); at >= 0 {
			at += c * g.height
			successor := text[:at] + piece + text[at+1:]
			moves = append(moves, game.Move{Name: fmt.Sprint(c), To: naiveKey(successor, g.width, g.height)})
		}
	}
	before := game.Move{Name: "before"}
	if got := g.Moves([]game.Move{before}, p); fmt.Sprint(got) != fmt.Sprint(append([]game.Move{before}, moves...)) {
		t.Fatalf("%s: Moves(%q) = %v, want %v", g.Spec(), text, got, moves)
	}
}

// A position in which both players have a line cannot occur in play; it is a win for the
// player who moved last.
func TestPrimitiveOfTwoLines(t *testing.T) {
	g := mustNew(t, 4, 3, 3)
	for text, want := range map[string]game.Value{
		"XXXOOO      ": game.NewValue(game.SecondWins, 0), // X is to move
		"XXXOOOX     ": game.NewValue(game.FirstWins, 0),
	} {
		p := must.Get(g.Parse(text))(t)
		if got := g.Primitive(p); got != want {
			t.Errorf("Primitive(%q) = %v, want %v", text, got, want)
		}
	}
}
