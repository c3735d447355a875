package quixo

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

func mustNew(t testing.TB, size int) *rules {
	t.Helper()
	return must.Get(New(size))(t).(*rules)
}

func TestContract(t *testing.T) {
	for size := minSize; size <= maxSize; size++ {
		gametest.Contract(t, mustNew(t, size))
	}
}

// Every position, move and value of 3×3 agrees with the oracle. GamesmanOne of GamesCrafters has 4,433 positions
// that differ by more than a reflection or a rotation; with the players exchanged, about half.
func TestOracle(t *testing.T) {
	g, q := mustNew(t, 3), naiveQuixo(3)
	want := q.Solve()
	got := gametest.Search(gametest.RulesOnly(g))
	if len(got) != len(want) {
		t.Errorf("%d positions, want %d", len(got), len(want))
	}
	if got := g.Values().Text(got[g.Start()]); got != "WIN in 7" {
		t.Errorf("the start is %s, want WIN in 7", got)
	}
	different, exchanged := make(map[game.Position]bool), make(map[game.Position]bool)
	for text, w := range want {
		p := must.Get(g.Parse(text))(t)
		if v, ok := got[p]; !ok || w != (naive.Worth{Result: game.Result(v.Outcome()).String(), Remoteness: v.Remoteness()}) {
			t.Fatalf("%q is %s, reached: %v; want %v", text, g.Values().Text(v), ok, w)
		}
		if w.Remoteness > 0 {
			gametest.SameMoves(t, g, p, q.Moves(text))
		}
		exchanged[g.Canonical(p)] = true
		for _, image := range g.Images(nil, p) {
			if g.ToMove(image) == g.ToMove(p) {
				different[image] = true // the least
				break
			}
		}
	}
	if len(different) != 4433 || len(exchanged) != 2219 {
		t.Errorf("%d positions are different, %d with the players exchanged, want 4433 and 2219", len(different), len(exchanged))
	}
}

// Random games on larger boards have the moves and ends of the oracle.
func TestWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for size := 4; size <= maxSize; size++ {
		g := mustNew(t, size)
		for range 50 {
			for _, p := range gametest.Walk(r, g, 200) {
				text := string(g.AppendText(nil, p))
				want := naiveQuixo(size).Finished(text)
				if got := g.Primitive(p); got == 0 && want != "" || got != 0 && game.Result(g.Values().Ended(got, g.ToMove(p)).Outcome()).String() != want {
					t.Fatalf("%q has ended with %v, want %q", text, got, want)
				}
				if want == "" {
					gametest.SameMoves(t, g, p, naiveQuixo(size).Moves(text))
				}
			}
		}
	}
}

// A line of the player to move counts more than one of the other, who has just moved.
func TestTwoLines(t *testing.T) {
	g := mustNew(t, 3)
	for text, want := range map[string]game.Outcome{"XXX/OOO/... X": game.FirstWins, "XXX/OOO/... O": game.SecondWins, "X.O/.XO/..X O": game.FirstWins} {
		p := must.Get(g.Parse(text))(t)
		if got := g.Primitive(p); got != game.NewValue(want, 0) {
			t.Errorf("%s is %v, want %v", text, got, game.NewValue(want, 0))
		}
	}
}

// The example of rules.txt, and what the picture of its end shows.
func TestPicture(t *testing.T) {
	g := mustNew(t, 3)
	p := must.Get(g.Parse(".XX/O../.O. X"))(t)
	picture := "   a b c\n1  . X X\n2  O . .\n3  . O .\n"
	if got := g.Picture(p).String(); got != picture {
		t.Errorf("the picture is\n%swant\n%s", got, picture)
	}
	var names []string
	for _, m := range g.Moves(nil, p) {
		names = append(names, m.Name)
		if m.Name == "a1-c1" {
			if won := g.Picture(m.To).Won; g.Primitive(m.To) != game.NewValue(game.FirstWins, 0) || len(won) != 3 || won[2] != [2]int{2, 0} {
				t.Errorf("after a1-c1: %v, the line is %d", g.Primitive(m.To), won)
			}
		}
	}
	if got, want := strings.Join(names, " "), "a1-a3 a1-c1 a3-a1 a3-c3 b1-a1 b1-b3 b1-c1 c1-a1 c1-c3 c2-a2 c2-c1 c2-c3 c3-a3 c3-c1"; got != want {
		t.Errorf("the moves are %s, want %s", got, want)
	}
}

// A board is the better for a player, the more marks of his are in a line.
func TestEvaluate(t *testing.T) {
	g := mustNew(t, 5)
	for text, want := range map[string]int{
		"...../...../...../...../..... X": 0,
		"XX.../...../...../...../..... X": 1 + 1 + 2*2 + 1,
		"XX.../...../...../...../..... O": -(1 + 1 + 2*2 + 1),
		"X.O../...../...../...../..... O": 1 + 1 - (1 + 1 + 1),
	} {
		if got := g.Evaluate(must.Get(g.Parse(text))(t)); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

// The boards of all tiers are those with three kinds of cubes, for either player to move. Only 5×5 has too many.
func TestInfo(t *testing.T) {
	for size, want := range map[int]float64{3: 2 * 19683, 4: 2 * 43046721, 5: 2 * 847288609443} {
		info, sum := mustNew(t, size).Info(), 0.0
		for tier := range size*size + 1 {
			sum += info.Boards(tier)
		}
		if vast := info.Vast > 0; sum != want || vast != (size == 5) || vast && info.Vast != want {
			t.Errorf("%s: %v boards, vast: %v, want %v", info.Title, sum, info.Vast, want)
		}
	}
}

func TestErrors(t *testing.T) {
	g := mustNew(t, 3)
	const turn = ": expected a board and, after a blank, the player to move, X or O"
	_, small := New(2)
	_, large := New(6)
	_, none := g.Parse("")
	_, noTurn := g.Parse("X../.../...")
	_, wrongTurn := g.Parse("X../.../... x")
	_, rows := g.Parse("X../... O")
	_, piece := g.Parse("x../.../... O")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{small, "quixo: size must be 3 to 5, found 2"},
		{large, "quixo: size must be 3 to 5, found 6"},
		{none, `position ""` + turn},
		{noTurn, `position "X../.../..."` + turn},
		{wrongTurn, `position "X../.../... x"` + turn},
		{rows, `board "X../...": expected 3 rows with / between them, found 2`},
		{piece, `board "x../.../..." has 'x' on square a1, expected X, O or a blank ('.', ' ', '_')`},
		{g.Check(1 << 19), "0x80000 is not a board of 3×3 with a player to move"},
		{g.Check(1 | 1<<9), "0x201 is not a board of 3×3 with a player to move"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", tt.err, tt.want)
		}
	}
	if g, err := Kind.New([]int{6}); g != nil || err == nil {
		t.Errorf("Kind.New(6) = %v, %v", g, err)
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 3), "", "X.O/.X./... O", "   /   /    X", "'XXX/OOO/__.' O", " X")
}

// BenchmarkEdges measures positions of 4×4.
func BenchmarkEdges(b *testing.B) {
	gametest.BenchmarkEdges(b, mustNew(b, 4), 40, func(game.Position) bool { return true })
}
