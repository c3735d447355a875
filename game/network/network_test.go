package network

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestContract(t *testing.T) { gametest.Contract(t, New()) }

// mustParse parses a board; groups of three are allowed.
func mustParse(t testing.TB, text string) Board {
	t.Helper()
	return must.Get(ParseBoard(text))(t)
}

// perft returns the number of move sequences of length depth; it only counts the last moves.
func perft(b Board, depth int) (n int) {
	if _, over := b.over(); over {
		return 0
	}
	if depth == 1 {
		return b.countMoves()
	}
	for _, after := range b.children() {
		n += perft(after, depth-1)
	}
	return n
}

// countMoves and children require a board whose game is not over.
func (b *Board) countMoves() (n int) {
	if b.Adding() {
		return bits.OnesCount64(b.Adds())
	}
	for rest := b.Chips[b.Mover]; rest != 0; rest &= rest - 1 {
		n += bits.OnesCount64(b.Steps(bits.TrailingZeros64(rest)))
	}
	return n
}

func (b *Board) children() (all []Board) {
	each := func(from, to uint64) {
		for ; to != 0; to &= to - 1 {
			all = append(all, b.after(from, to&-to))
		}
	}
	if b.Adding() {
		each(0, b.Adds())
		return all
	}
	for rest := b.Chips[b.Mover]; rest != 0; rest &= rest - 1 {
		each(rest&-rest, b.Steps(bits.TrailingZeros64(rest)))
	}
	return all
}

func TestPerft(t *testing.T) {
	for depth, want := range []int{48, 2268, 104904} {
		if got := perft(Board{}, depth+1); got != want {
			t.Errorf("%d plays of %d moves, want %d", got, depth+1, want)
		}
	}
}

func TestLongPerft(t *testing.T) {
	longtest.Skip(t)
	for depth, want := range []int{4773960, 205209696} {
		if got := perft(Board{}, depth+4); got != want {
			t.Errorf("%d plays of %d moves, want %d", got, depth+4, want)
		}
	}
}

// addPhase and stepPhase are positions with the number of their legal moves, the results of
// these (the mover wins, loses, both have a network), and the number of sequences of 1, 2, 3
// moves.
var addPhase = []struct {
	text  string
	legal int
	wins  int
	plays []int
}{
	{"........B..........W................BB....................W...W. W", 43, 0, []int{43, 1439, 53530}},
	{".W.W...........B.........W.WB................B.......B...W...... B", 35, 0, []int{35, 1205, 37760}},
	{"...W.W...W...W........B.....B.....W...B.B..W.....B...B.......... W", 17, 0, []int{17, 420, 6360}},
	{".W.W.....B...B.....B.....W......B........W.WW.B..W.B...B........ W", 22, 0, []int{22, 540, 10454}},
	{"............BW....B.W....W......B.....B...WW...BBB..BWW...WW.... B", 20, 1, []int{20, 167, 2617}},
	{"..........W.BW..B.W..W.B........B...B..B..W..W..B.W..W.B........ W", 0, 0, nil},
}

var stepPhase = []struct {
	text              string
	legal             int
	wins, loses, both int
	plays             []int
}{
	{"....W.W...BW......B.BWWB.W..B....BB..W......B..B.W....B...W..W.. W", 169, 7, 0, 0, []int{169, 21521}},
	{"...W........BWBB.WBWBW..B..........BW.B.BW.........W..WB.....W.. W", 143, 18, 12, 0, []int{143, 22425}},
	{"...W....B...W.W...WB...BB..B.W............B.WB.B.BW.W.WB.W...... B", 139, 21, 0, 0, []int{139, 17724}},
	{".....W............B.WBW.BW..B..BBWB.W..B....B...B.W......W...WW. W", 177, 0, 14, 1, []int{177, 24963}},
}

func TestAddPhase(t *testing.T) {
	for _, tt := range addPhase {
		b := mustParse(t, tt.text)
		checkPlays(t, tt.text, b, tt.legal, tt.plays)
		wins := 0
		for _, after := range b.children() {
			if after.Network(b.Mover) {
				wins++
			}
			if after.Network(after.Mover) {
				t.Errorf("%s: a chip that was put on the board made a network of the other's", tt.text)
			}
		}
		if wins != tt.wins {
			t.Errorf("%s: %d moves win, want %d", tt.text, wins, tt.wins)
		}
	}
}

func TestStepPhase(t *testing.T) {
	for _, tt := range stepPhase {
		b := mustParse(t, tt.text)
		checkPlays(t, tt.text, b, tt.legal, tt.plays)
		var wins, loses, both int
		for _, after := range b.children() {
			switch own, his := after.Network(b.Mover), after.Network(after.Mover); {
			case own && his:
				both++
			case own:
				wins++
			case his:
				loses++
			}
		}
		if wins != tt.wins || loses != tt.loses || both != tt.both {
			t.Errorf("%s: %d win, %d lose, %d make both networks, want %d, %d, %d", tt.text, wins, loses, both, tt.wins, tt.loses, tt.both)
		}
	}
}

// checkPlays counts move sequences on boards, and on positions through the Game interface.
func checkPlays(t *testing.T, text string, b Board, legal int, plays []int) {
	t.Helper()
	if n := b.countMoves(); n != legal {
		t.Errorf("%s: %d legal moves, want %d", text, n, legal)
	}
	r := New()
	for i, want := range plays {
		if got := perft(b, i+1); got != want {
			t.Errorf("%s: %d plays of %d moves, want %d", text, got, i+1, want)
		}
		if i < 2 {
			if got := positions(r, r.Position(b), i+1); got != want {
				t.Errorf("%s: by positions %d plays of %d moves, want %d", text, got, i+1, want)
			}
		}
	}
}

func positions(r *Rules, p game.Position, depth int) int {
	moves := r.Moves(nil, p)
	if depth == 1 {
		return len(moves)
	}
	n := 0
	for _, m := range moves {
		n += positions(r, m.To, depth-1)
	}
	return n
}

// A player with chips in hand and no legal square has lost.
func TestNoMove(t *testing.T) {
	r := New()
	p := r.Position(mustParse(t, addPhase[5].text))
	if v := r.Primitive(p); v != game.NewValue(game.SecondWins, 0) || len(r.Moves(nil, p)) != 0 {
		t.Errorf("without a legal move White's position is %v", v)
	}
}

// The squares where Black may not add a chip, from a diagram in the course's hand-out.
func TestClusters(t *testing.T) {
	var b Board
	b.Mover = game.Second
	for _, name := range strings.Fields("30 21 52 53 24 65 16 47") {
		b.Chips[game.Second] |= 1 << slices.Index(names[:], name)
	}
	adds := b.Adds()
	forbidden := strings.Fields("10 20 40 11 31 41 51 61 12 22 32 42 62 43 63 44 54 64 15 25 56")
	for _, name := range forbidden {
		if adds>>slices.Index(names[:], name)&1 != 0 {
			t.Errorf("Black may put a chip on %s", name)
		}
	}
	if n := bits.OnesCount64(adds); n != 19 {
		t.Errorf("Black may put a chip on %d squares, want 19", n)
	}
}

// symmetries returns the symmetric boards: those that keep the colors, and those that swap
// them.
func symmetries(b Board) (all []Board) {
	for s := range 8 {
		var c Board
		for player, chips := range b.Chips {
			for ; chips != 0; chips &= chips - 1 {
				at := bits.TrailingZeros64(chips)
				x, y := at/8, at%8
				if s&1 != 0 {
					x = 7 - x
				}
				if s&2 != 0 {
					y = 7 - y
				}
				if s&4 != 0 {
					x, y = y, x
				}
				c.Chips[player^s>>2] |= 1 << (8*x + y)
			}
		}
		c.Mover = b.Mover ^ game.Player(s>>2)
		all = append(all, c)
	}
	return all
}

// Tests for networks. Each board also stands for its mirror images.
func TestNetworks(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
		what string
	}{
		{"...........B....B....B.....B.B....B..........B.BB....B.......... B", true, "the hand-out's diagram"},
		{"...........B....B....B.....B.B....B..........BWBB....B.......... B", true, "White on 56: the first of the two stays"},
		{"...........B....B....B.....B.B....B...W......BWBB....B.......... B", false, "White on 46 and 56"},
		{"................B..........B.B....B............BB............... B", false, "two chips of one goal"},
		{"................B....B.....B.B...............BWB................ B", false, "would need a chip twice"},
		{"................B....B.....B.B...............B.B................ B", true, "it needs no chip twice"},
		{"...........................B.B....B..........B.BB............... B", false, "straight through 42"},
		{"...........................B.B...............B.BB....B.......... B", true, "exactly six"},
		{".............................B...............B.BB....B.......... B", false, "five"},
		{"............B.....................B.B...........B...B..B........ B", false, "over an own chip"},
		{"...W.......................W.............W.......W....W....W.... W", true, "a search that marks chips as seen for good finds none"},
		{"...W..........W............B.......W......W...W.............W... W", false, "an enemy's chip in the line"},
		{"..W..W........W...............W...W..W.......................... W", false, "it ends in the goal in which it began"},
	} {
		for i, b := range symmetries(mustParse(t, tt.text)) {
			if got := b.Network(b.Mover); got != tt.want {
				t.Errorf("%s (%s, image %d): a network: %v, want %v", tt.text, tt.what, i, got, tt.want)
			}
			if b.Network(b.Mover.Other()) {
				t.Errorf("%s (image %d): the other has one", tt.text, i)
			}
		}
	}
}

// If a step completes networks of both players, the other player wins.
func TestBothNetworks(t *testing.T) {
	r := New()
	tt := stepPhase[3]
	b := mustParse(t, tt.text)
	for _, after := range b.children() {
		if !after.Network(after.Mover) {
			continue
		}
		if v := r.Primitive(r.Position(after)); v != game.NewValue(game.WinFor(b.Mover.Other()), 0) {
			t.Errorf("%s: after a step that makes a network of the other's the value is %v", r.AppendText(nil, r.Position(after)), v)
		}
	}
}

// Every legal set of chips has a unique number, and its board has the matching hash.
func TestHash(t *testing.T) {
	r := New()
	if r.numbers.sets != 1971619624 {
		t.Errorf("%d sets", r.numbers.sets)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range uint32(20000) {
		n := rng.Uint32N(r.numbers.sets)
		switch {
		case i < 1000:
			n = i
		case i < 2000:
			n = r.numbers.sets - 1 - (i - 1000)
		}
		chips := r.numbers.numbered(n)
		if again := r.numbers.number(chips); again != n || bits.OnesCount64(chips) > Chips || chips&^colors[0].may != 0 {
			t.Fatalf("number %d is the chips %#x, of number %d", n, chips, again)
		}
	}
	for _, b := range []Board{mustParse(t, addPhase[0].text), mustParse(t, stepPhase[2].text)} {
		for _, image := range symmetries(b) {
			if again := r.Board(r.Position(image)); again != image {
				t.Errorf("board %+v is read as %+v", image, again)
			}
		}
	}
	for _, p := range []game.Position{uint64(r.numbers.sets) << 32, uint64(r.numbers.sets) << 1, 1 << 63} {
		if r.Check(p) == nil {
			t.Errorf("%#x is let pass", p)
		}
	}
}

func TestLongAgainstNaive(t *testing.T) {
	longtest.Skip(t)
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			againstNaive(t, seed, 25000)
		})
	}
}

// Random games agree with a naive implementation: the same moves, networks and results.
func TestAgainstNaive(t *testing.T) { againstNaive(t, 4, 300) }

func againstNaive(t *testing.T, seed uint64, games int) {
	rng := rand.New(rand.NewPCG(3, seed))
	for range games {
		d := duel{TB: t, rng: rng, squares: naiveBoard([]byte(strings.Repeat(".", 64)))}
		for ply := 0; ply < 120 && d.play(); ply++ {
		}
	}
}

// A duel is a game played with both implementations.
type duel struct {
	testing.TB
	rng     *rand.Rand
	slow    naiveNetwork
	squares naiveBoard
	b       Board
}

// play makes a random move unless the game is over. Because there are many steps, it compares
// their list in one position of eight only, and the results of the move made and a few others.
func (d *duel) play() bool {
	color := letters[d.b.Mover]
	children := d.b.children()
	chosen := d.rng.IntN(max(len(children), 1))
	if d.b.Adding() || d.rng.IntN(8) == 0 {
		moves := d.slow.moves(d.squares, color)
		if len(moves) != len(children) {
			d.Fatalf("%s %c: %d moves, the slow rules have %d", d.squares, color, len(children), len(moves))
		}
		for i, m := range moves {
			to, from := 8*m.To[0]+m.To[1], 8*m.From[0]+m.From[1]
			if children[i].on(to) != color || m.Step && children[i].on(from) != '.' {
				d.Fatalf("%s %c: move %d leads to %s, the slow rules' is %+v", d.squares, color, i, children[i].squares(), m)
			}
			if i != chosen && d.rng.IntN(64) == 0 {
				d.compare(children[i])
			}
		}
	}
	if _, over := d.b.over(); over != (len(children) == 0) {
		d.Fatalf("%s %c: over: %v, but %d moves", d.squares, color, over, len(children))
	}
	if len(children) == 0 {
		return false
	}
	going := d.compare(children[chosen])
	d.b = children[chosen]
	d.squares = d.b.squares()
	return going
}

// compare compares the result of a move, and reports whether the game goes on.
func (d *duel) compare(after Board) bool {
	mover := after.Mover.Other()
	want := d.slow.result(after.squares(), letters[mover])
	got := goesOn
	switch own, his := after.Network(mover), after.Network(after.Mover); {
	case own && his:
		got = winsBoth
	case own:
		got = winsOwn
	case his:
		got = winsHis
	}
	if got != want {
		d.Fatalf("%s: %c has moved: %q, the slow rules have %q", after.squares(), letters[mover], got, want)
	}
	if winner, over := after.over(); got != goesOn && (!over || (winner == mover) != (got == winsOwn)) {
		d.Fatalf("%s: %c has moved: over %v, winner %d, but %q", after.squares(), letters[mover], over, winner, got)
	}
	return got == goesOn
}

func (b Board) squares() (squares naiveBoard) {
	for at := range squares {
		squares[at] = b.on(at)
	}
	return squares
}

// Texts, pictures and names of moves are as documented.
func TestForms(t *testing.T) {
	r := New()
	p := must.Get(r.Parse(stepPhase[0].text))(t)
	if got := r.Picture(p).String(); got != picture {
		t.Errorf("the picture is\n%swant\n%s", got, picture)
	}
	if got := string(r.AppendText(nil, p)); got != stepPhase[0].text {
		t.Errorf("the text is %q", got)
	}
	for text, want := range map[string]string{
		"34": "34", " 3 4 ": "34", "add 3 4": "34", "add 34": "34", "24-34": "24-34", "24 34": "24-34",
		"step 3 4 2 4": "24-34", "2 4 3 4": "24-34", "step 34": "step 34", "add 3 4 2 4": "add 3 4 2 4",
		"38": "38", "": "", "quit": "quit", "add": "add",
	} {
		if got := moveName(text); got != want {
			t.Errorf("%q is the move %q, want %q", text, got, want)
		}
	}
}

const picture = `_0      .  .  .  .  .  .
_1   .  .  . WW BB  . WW  .
_2   . BB BB  . BB  .  . WW
_3   . WW  .  .  .  .  .  .
_4  WW  . BB BB  . BB  .  .
_5   .  . WW  . WW  .  . WW
_6  WW  . WW  .  .  . BB  .
_7      . BB  .  . BB  .
    0_ 1_ 2_ 3_ 4_ 5_ 6_ 7_
`

func TestErrors(t *testing.T) {
	r := New()
	empty := strings.Repeat(".", 64)
	for _, tt := range []struct{ text, want string }{
		{"", `board "": expected 64 squares, column by column, a blank, and the player to move, W or B`},
		{empty, `board "` + empty + `": expected 64 squares, column by column, a blank, and the player to move, W or B`},
		{empty + " X", `board "` + empty + ` X": expected 64 squares, column by column, a blank, and the player to move, W or B`},
		{"." + "x" + empty[2:] + " W", `board ".x` + empty[2:] + ` W" has 'x' on square 01, expected W, B or a point`},
		{".B" + empty[2:] + " W", `board ".B` + empty[2:] + ` W" has B on square 01, where it may not lie`},
		{"W" + empty[1:] + " W", `board "W` + empty[1:] + ` W" has W on square 00, where it may not lie`},
		{".WWW" + empty[4:] + " W", `board ".WWW` + empty[4:] + ` W": three chips of White make a group`},
		{".WWWWWW..WWWWWW" + empty[15:] + " W", `board ".WWWWWW..WWWWWW` + empty[15:] + ` W": White has 12 chips, expected 10 at most`},
	} {
		if _, err := r.Parse(tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%q: error\n%v, want\n%s", tt.text, err, tt.want)
		}
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	f.Add("")
	gametest.FuzzParse(f, New(), stepPhase[0].text, addPhase[0].text, strings.Repeat(".", 64)+" B", ".WWW")
}

// FuzzMoveName checks that moveName does not change the names that it returns.
func FuzzMoveName(f *testing.F) {
	for _, text := range []string{"34", "add 3 4", "step 3 4 2 4", "24-34", "step", "add  7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := moveName(text)
		if again := moveName(name); again != name {
			t.Errorf("%q is %q, and that is %q", text, name, again)
		}
	})
}
