package mancala

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

func mustNew(t testing.TB, pits, stones int) game.Tiered {
	t.Helper()
	return must.Get(New(pits, stones))(t)
}

// rulesOf returns the Rules of a game, without the support for searches.
func rulesOf(g game.Tiered) *Rules {
	if s, ok := g.(*Searched); ok {
		return s.Rules
	}
	return g.(*Rules)
}

func TestContract(t *testing.T) {
	for _, b := range [][2]int{{1, 1}, {1, 40}, {2, 1}, {2, 4}, {2, 9}, {3, 10}, {4, 4}, {4, 8}, {5, 4}, {6, 4}, {8, 2}, {16, 1}} {
		gametest.Contract(t, mustNew(t, b[0], b[1]))
	}
}

// On a small board, every number is a different board, in the order of the pits.
func TestEveryKey(t *testing.T) {
	r := rulesOf(mustNew(t, 2, 1))
	if r.boards() != 126 { // 9 choose 5: four stones in six places
		t.Fatalf("%d boards, want 126", r.boards())
	}
	var last board
	for p := range 2 * r.boards() {
		var b board
		r.read(&b, p)
		if got := r.key(&b, row(p)); got != p {
			t.Fatalf("the board of %d has the key %d", p, got)
		}
		if p%2 == 0 && p > 0 && slices.Compare(last[:], b[:]) >= 0 {
			t.Fatalf("%v stands before %v", last, b)
		}
		last = b
		want := game.Value(0)
		if b[0]+b[1]+b[2]+b[3] == 0 {
			switch {
			case b[4] > b[5]:
				want = game.NewValue(game.FirstWins, 0)
			case b[4] < b[5]:
				want = game.NewValue(game.SecondWins, 0)
			default:
				want = game.NewValue(game.Tie, 0)
			}
		}
		if got := r.Primitive(p); got != want {
			t.Fatalf("%s is %v, want %v", r.AppendText(nil, p), got, want)
		}
		if good := p == r.Start() || r.Tier(p) > 0; good != (r.Check(p) == nil) || r.Check(2*r.boards()+p) == nil {
			t.Fatalf("Check(%d): %v, or of %d: none", p, r.Check(p), 2*r.boards()+p)
		}
	}
}

// A known game contains published results: exact values, in stones, of the game and of its
// first moves; the number of tiers with positions; and the remoteness of the initial
// position and the largest remoteness, if known.
type known struct {
	pits, stones           int
	value                  int
	moves                  []int
	tiers, start, farthest int
}

func TestOracle(t *testing.T) {
	for _, k := range []known{
		{pits: 1, stones: 2, value: -2, moves: []int{-2}},
		{pits: 1, stones: 3, value: 6, moves: []int{6}},
		{pits: 2, stones: 1, value: 2, moves: []int{-2, 2}},
		{pits: 2, stones: 4, value: -8, moves: []int{-8, -8}},
		{pits: 2, stones: 5, value: 10, moves: []int{6, 10}},
		{pits: 2, stones: 9, value: 0, moves: []int{0, -2}},
		{pits: 3, stones: 1, value: 0, moves: []int{-2, 0, 0}},
		{pits: 3, stones: 3, value: 0, moves: []int{-2, -2, 0}},
	} {
		againstOracle(t, k)
	}
}

func TestLongOracle(t *testing.T) {
	longtest.Skip(t)
	for _, k := range []known{
		{pits: 3, stones: 4, value: 2, moves: []int{0, 2, -8}},
		{pits: 4, stones: 2, value: 2, moves: []int{-2, -2, 2, 0}},
		{pits: 4, stones: 3, value: 0, moves: []int{0, 0, 0, -2}, tiers: 551, start: 76},
		{pits: 6, stones: 1, value: 2, moves: []int{-2, 0, 0, -2, -2, 2}, farthest: 65},
	} {
		againstOracle(t, k)
	}
}

// againstOracle compares every position with the oracle, and the oracle with published
// results.
func againstOracle(t *testing.T, k known) {
	t.Helper()
	g, m := mustNew(t, k.pits, k.stones), naiveMancala{Pits: k.pits, Stones: k.stones}
	check := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s: %d, want %d", g.Spec(), what, got, want)
		}
	}
	want, futures := m.Solve(g.Values().TiesSoon), make(map[string]int)
	check("the oracle's value", m.value(m.Start(), futures), k.value)
	for pit, board := range m.Moves(m.Start()) {
		check(fmt.Sprintf("the oracle's value of pit %d", pit), -m.value(board, futures), k.moves[pit])
	}
	tiers, seen, farthest := map[int]bool{}, map[string]bool{}, 0
	for p, v := range gametest.Search(g) {
		tiers[g.Tier(p)] = true
		farthest = max(farthest, v.Remoteness())
		board := seenBy(g, p)
		seen[board] = true
		w, ok := want[board]
		if !ok {
			t.Fatalf("%s: the oracle does not reach %s", g.Spec(), g.AppendText(nil, p))
		}
		if result := v.Outcome().For(g.ToMove(p)); result.String() != w.Result || v.Remoteness() != w.Remoteness {
			t.Fatalf("%s: %s is %v in %d, want %v", g.Spec(), g.AppendText(nil, p), result, v.Remoteness(), w)
		}
	}
	check("boards seen from the mover", len(seen), len(want))
	if k.tiers > 0 {
		check("tiers", len(tiers), k.tiers)
	}
	if k.start > 0 {
		check("moves from the start", want[string(m.Start())].Remoteness, k.start)
	}
	if k.farthest > 0 {
		check("moves to the end at most", farthest, k.farthest)
	}
}

// seenBy returns a position in the form of the oracle, from the view of the player to move.
func seenBy(g game.Tiered, p game.Position) string {
	r := rulesOf(g)
	var b board
	r.read(&b, p)
	var s []byte
	for i := range r.places {
		s = append(s, byte(b[r.course[(i+row(p)*(r.pits+1))%r.places]]))
	}
	return string(s)
}

// On larger boards, the moves in random games agree with the oracle.
func TestMovesAgainstOracle(t *testing.T) {
	for _, b := range [][2]int{{1, 60}, {2, 9}, {4, 8}, {5, 4}, {6, 4}, {3, 10}, {7, 3}, {16, 1}} {
		g, m := mustNew(t, b[0], b[1]), naiveMancala{Pits: b[0], Stones: b[1]}
		r := rand.New(rand.NewPCG(1, uint64(b[0])))
		for range 20 {
			for _, p := range gametest.Walk(r, g, 1000) {
				board := []byte(seenBy(g, p))
				if got, want := string(g.AppendText(nil, p)), m.State(board, row(p)); got != want {
					t.Fatalf("the text is %s, want %s", got, want)
				}
				if m.Finished(board) != (g.Primitive(p) != 0) {
					t.Fatalf("%s is finished: %v", m.State(board, row(p)), !m.Finished(board))
				}
				want := m.Moves(board)
				for _, move := range g.Moves(nil, p) {
					pit := -1
					if move.Name != "pass" {
						fmt.Sscan(move.Name, &pit)
						pit -= row(p) * (b[0] + 1)
					}
					if after, ok := want[pit]; !ok || string(after) != seenBy(g, move.To) {
						t.Fatalf("%s: move %s leads to %s, want %s", m.State(board, row(p)), move.Name, g.AppendText(nil, move.To), m.State(after, 1-row(p)))
					}
					delete(want, pit)
				}
				if len(want) > 0 {
					t.Fatalf("%s: the moves %v are missing", m.State(board, row(p)), want)
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	g := mustNew(t, 2, 2)
	for _, text := range []string{"State([2, 2, 0, 2, 2, 0], 0)", "State([2,2,0,2,2,0],0)", " State( [ 2,2, 0,2 ,2,0 ] ,0 ) "} {
		if p, err := g.Parse(text); err != nil || p != g.Start() {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, p, err, g.Start())
		}
	}
	p := must.Get(g.Parse("State([0, 2, 1, 3, 2, 0], 1)"))(t)
	if got, want := g.Picture(p).String(), "   4 3\n   2 3\n 0     1\n   0 2\n   0 1\n"; got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
	const form = `expected State([…], ROW): the stones of all places, and the row to move, 0 or 1`
	for _, tt := range []struct{ text, want string }{
		{"", `state "": ` + form},
		{"[2, 2, 0, 2, 2, 0], 0", `state "[2, 2, 0, 2, 2, 0], 0": ` + form},
		{"State([2, 2, 0, 2, 2, 0], 2)", `state "State([2, 2, 0, 2, 2, 0], 2)": ` + form},
		{"State([2, 2, 0, 2, 2], 0)", `state "State([2, 2, 0, 2, 2], 0)": 5 places, expected 6: pits and goal of row 0, pits and goal of row 1`},
		{"State([2, 2, 0, 2, 1, 0], 0)", `state "State([2, 2, 0, 2, 1, 0], 0)": 7 stones, expected 8, as in the initial position`},
		{"State([9, 2, 0, 2, 2, 0], 0)", `state "State([9, 2, 0, 2, 2, 0], 0)": "9" in place 0, expected a number of stones up to 8`},
		{"State([4, 0, 0, 2, 2, 0], 0)", `state "State([4, 0, 0, 2, 2, 0], 0)": State([4, 0, 0, 2, 2, 0], 0) is farther from its end than the start: stones only go forward`},
		{"State([-1, 3, 0, 2, 2, 0], 0)", `state "State([-1, 3, 0, 2, 2, 0], 0)": "-1" in place 0, expected a number of stones up to 8`},
	} {
		if p, err := g.Parse(tt.text); err == nil || p != 0 || err.Error() != tt.want {
			t.Errorf("Parse(%q) = %d, error\n%v, want\n%s", tt.text, p, err, tt.want)
		}
	}
}

// Boards that are too large are rejected, and the largest allowed ones work.
func TestSizes(t *testing.T) {
	for pits := 1; pits <= maxPits; pits++ {
		_, err := New(pits, 1<<40)
		form := fmt.Sprintf("mancala: 1099511627776 stones in each of %d pits are too many: ", pits)
		var most int
		if text, ok := strings.CutPrefix(fmt.Sprint(err), form); !ok {
			t.Errorf("error\n%v, want\n%sN at most", err, form)
		} else if _, err := fmt.Sscanf(text, "%d at most", &most); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if g, err := New(pits, most+1); err == nil {
			t.Errorf("%s is made", g.Spec())
		}
		g := mustNew(t, pits, most)
		if g.KeyBits() > 64 || game.CheckLength(g) != nil {
			t.Errorf("%s: %d bits, %v", g.Spec(), g.KeyBits(), game.CheckLength(g))
		}
	}
	for _, tt := range []struct {
		pits, stones int
		want         string
	}{
		{0, 1, "mancala: pits and stones must be at least 1, found 0 and 1"},
		{4, -1, "mancala: pits and stones must be at least 1, found 4 and -1"},
		{17, 1, "mancala: a row may have 16 pits at most, found 17"},
	} {
		if g, err := Kind.New([]int{tt.pits, tt.stones}); g != nil || err == nil || err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", err, tt.want)
		}
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 2, 2), "", "State([2, 2, 0, 2, 2, 0], 0)", "State([2,2,0,2,2,0],1)", "State([], 0)", "State([8,0,0,0,0,0],0)", "State([,,,,,],0)", "State([+8,0,0,0,0,0],0)")
}
