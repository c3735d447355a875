package mills

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

func mustNew(t testing.TB, men int) *rules {
	t.Helper()
	g := must.Get(New(men))(t)
	return g.(*rules)
}

func TestContract(t *testing.T) {
	for men := range variants {
		gametest.Contract(t, mustNew(t, men))
	}
}

// Every position, move and value of Three Men's Morris agrees with the oracle.
func TestOracle(t *testing.T) {
	g, n := mustNew(t, 3), naiveMills(3)
	want, values := n.Solve(), gametest.Search(gametest.RulesOnly(g))
	canonical := map[game.Position]bool{}
	for p, v := range values {
		canonical[g.Canonical(p)] = true
		text := string(g.AppendText(nil, p))
		w, reached := want[text]
		if !reached || w != (naive.Worth{Result: game.Result(v.Outcome()).String(), Remoteness: v.Remoteness()}) {
			t.Fatalf("%q is %s, want %v, %v", text, g.Values().Text(v), w, reached)
		}
		sameMoves(t, g, n, p)
	}
	if len(values) != len(want) || len(want) != 5262 || len(canonical) != 731 {
		t.Errorf("%d positions, %d canonical, want %d, and 5262 and 731", len(values), len(canonical), len(want))
	}
	if w := want[n.start()]; w != (naive.Worth{Result: naive.Win, Remoteness: 9}) {
		t.Errorf("the start is %v, want a win in 9", w)
	}
}

// sameMoves requires the moves of the oracle.
func sameMoves(t *testing.T, g *rules, n naiveMills, p game.Position) {
	t.Helper()
	text := string(g.AppendText(nil, p))
	gametest.SameMoves(t, g, p, n.Moves(text))
	if over := n.Finished(text) != ""; over != (g.Primitive(p) != 0) {
		t.Fatalf("%s: %q is over: %v, want %v", g.Spec(), text, !over, over)
	}
}

// The moves of the other variants agree with the oracle in random games. In some, a
// player has three pieces on the board, and none in hand.
func TestMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for men := range drawings {
		g, few, over := mustNew(t, int(men)), 0, 0
		for range 6 {
			for _, p := range gametest.Walk(r, g, 120) {
				sameMoves(t, g, men, p)
				if s := g.state(p); g.Primitive(p) != 0 {
					over++
				} else if s.phase >= g.all && g.left(s, s.mover()) == fewest {
					few++
				}
			}
		}
		if few == 0 || over == 0 {
			t.Errorf("%d men: %d positions with three pieces, %d finished: take longer games", men, few, over)
		}
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 5), "", naiveMills(5).start(), "W-.-B/-...-/..-../-...-/.-.-. W 4 4", "B-.-./-BB.-/..-.W/-...-/W-W-. W 0 0")
}

func TestErrors(t *testing.T) {
	g := mustNew(t, 3)
	form := fmt.Sprintf(": expected the board, whose points are ., W or B, the player to move, and the pieces in hand of W and B, as in %q", naiveMills(3).start())
	const unfit = " is not a position of Three Men's Morris: no play leads to such pieces on the board and in hand"
	for _, text := range []string{
		"", ".../.../...", ".../.../... W 3 4", ".../.../... x 3 3", ".../.../.... W 3 3", ".../.../.. W 3 3", "../..../... W 3 3", ".x./.../... W 3 3",
	} {
		if _, err := g.Parse(text); err == nil || err.Error() != fmt.Sprintf("position %q", text)+form {
			t.Errorf("error\n%v, want\nposition %q%s", err, text, form)
		}
	}
	for text, want := range map[string]string{
		"W../.../... W 3 3": "0x800" + unfit,    // W has four pieces
		"WW./.../.BB W 0 0": "0x184848" + unfit, // B has lost already
		"W../.../BBB W 0 0": "0x180849" + unfit, // W has lost two pieces
	} {
		if _, err := g.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: error\n%v, want\n%s", text, err, want)
		}
	}
	for p, want := range map[game.Position]string{8 << 18: "0x200000" + unfit, 2<<18 | 1<<9 | 1: "0x80201" + unfit} {
		if err := g.Check(p); err == nil || err.Error() != want {
			t.Errorf("error\n%v, want\n%s", err, want)
		}
	}
	_, four := New(4)
	if four == nil || four.Error() != "mills: men must be 3, 5, 6, 7 or 9, found 4" {
		t.Errorf("4 men: %v", four)
	}
	if g, err := Kind.New([]int{4}); g != nil || err == nil {
		t.Errorf("Kind.New(4) = %v, %v", g, err)
	}
}

// The example of rules.txt.
func TestPicture(t *testing.T) {
	g := mustNew(t, 5)
	p := must.Get(g.Parse("B-.-./-BB.-/..-.W/-...-/W-W-. W 0 0"))(t)
	board := ""
	for line := range strings.Lines(g.Picture(p).String()) {
		board += "    " + line
	}
	if !strings.HasSuffix(rulesText, "\n\n"+board) {
		t.Errorf("expected the board\n%s", board)
	}
}

// TestWon checks that the mill that wins a game of Three Men's is marked.
func TestWon(t *testing.T) {
	for _, tt := range []struct {
		men            int
		position, want string
	}{
		{3, "W.W/.../BB. W 1 1", "[]"},
		{3, "WWW/.../.B. B 0 1", "[[0 0] [2 0] [4 0]]"},
		{3, "B.W/.BW/..B W 0 0", "[[0 0] [2 2] [4 4]]"},
		{5, "B-.-./-B..-/..-../-...-/W-W-W B 0 0", "[]"},
	} {
		g := mustNew(t, tt.men)
		if got := fmt.Sprint(g.Picture(must.Get(g.Parse(tt.position))(t)).Won); got != tt.want {
			t.Errorf("%d men, %q: %s, want %s", tt.men, tt.position, got, tt.want)
		}
	}
}

// Evaluate counts a piece as 40, and an empty point beside a piece as 1.
func TestEvaluate(t *testing.T) {
	g := mustNew(t, 9)
	var _ game.Evaluator = g
	for text, want := range map[string]int{
		naiveMills(9).start(): 0,
		"W--W--W/-B-B-.-/--...--/...-.../--...--/-.-.-.-/.--.--. W 6 6": 40 + 2 - 3,
		"W--W--W/-B-B-.-/--...--/...-.../--...--/-.-.-.-/.--.--W B 5 6": 3 - 40 - 4,
	} {
		if got := g.Evaluate(must.Get(g.Parse(text))(t)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestPredecessors checks that the predecessors of a position are those that have a move there: of all positions
// of Three Men's, and of some of the others, their predecessors and successors.
func TestPredecessors(t *testing.T) {
	for men := range drawings {
		g := mustNew(t, int(men))
		r := rand.New(rand.NewPCG(3, 4))
		var positions []game.Position
		if men == 3 {
			positions = slices.Collect(maps.Keys(gametest.Search(gametest.RulesOnly(g))))
		} else {
			for range 4 {
				positions = append(positions, gametest.Walk(r, g, 100)...)
			}
		}
		leads := func(from, to game.Position) bool {
			return slices.ContainsFunc(g.Moves(nil, from), func(m game.Move) bool { return m.To == to })
		}
		taken := 0
		for _, p := range positions {
			before := g.Predecessors(nil, p)
			for i, q := range before {
				if g.Primitive(q) == 0 && (!leads(q, p) || slices.Contains(before[:i], q)) {
					t.Fatalf("%s: %q has no move, or two, to %q", g.Spec(), g.AppendText(nil, q), g.AppendText(nil, p))
				}
			}
			for _, m := range g.Moves(nil, p) {
				if !slices.Contains(g.Predecessors(nil, m.To), p) {
					t.Fatalf("%s: %q is no predecessor after %s", g.Spec(), g.AppendText(nil, p), m.Name)
				}
				if strings.Contains(m.Name, "x") {
					taken++
				}
			}
		}
		if taken == 0 {
			t.Errorf("%s: no move takes a piece", g.Spec())
		}
	}
}
