package dodgem

import (
	"fmt"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
)

func mustNew(t testing.TB, size int) *rules {
	t.Helper()
	g := must.Get(New(size))(t)
	return g.(*rules)
}

func TestContract(t *testing.T) {
	for size := minSize; size <= maxSize; size++ {
		gametest.Contract(t, mustNew(t, size))
	}
}

// Every number is a different position, whose text is parsed to it.
func TestEveryKey(t *testing.T) {
	g := mustNew(t, 3)
	texts := map[string]bool{}
	for p := range g.hashes() {
		text := string(g.AppendText(nil, p))
		if again, err := g.Parse(text); again != p || err != nil || texts[text] {
			t.Fatalf("%d is %q, which is %d, %v (another's: %v)", p, text, again, err, texts[text])
		}
		texts[text] = true
	}
	// The terms are the boards with two cars of each player, two and one, …, none.
	if want := 2 * (36*21 + 36*7 + 36 + 9*28 + 9*8 + 9 + 36 + 9 + 1); len(texts) != want {
		t.Errorf("%d positions, want %d", len(texts), want)
	}
}

// Every move and every value agrees with the oracle. According to Winning Ways, the first
// player wins on 3×3. That 4×4 is a draw was shown by des Jardins (1996); the numbers of
// positions are from the authors of the package dodgem-game.
func TestOracle(t *testing.T) {
	againstOracle(t, 2, naive.Worth{Result: naive.Win, Remoteness: 3}, 15)
	againstOracle(t, 3, naive.Worth{Result: naive.Win, Remoteness: 19}, 1963)
}

func TestLongOracle(t *testing.T) {
	longtest.Skip(t)
	againstOracle(t, 4, naive.Worth{Result: naive.Draw}, 393900)
}

func againstOracle(t *testing.T, size int, start naive.Worth, positions int) {
	t.Helper()
	g, d := mustNew(t, size), naiveDodgem(size)
	want := d.Solve()
	values := gametest.Search(g)
	if got := want[string(g.AppendText(nil, g.Start()))]; got != start || len(want) != positions {
		t.Errorf("%s: the start is %v, of %d positions, want %v, %d", g.Spec(), got, len(want), start, positions)
	}
	for p := range g.hashes() {
		text := string(g.AppendText(nil, p))
		v, ok := values[p]
		w, reached := want[text]
		if ok != reached || ok && w != (naive.Worth{Result: game.Result(v.Outcome()).String(), Remoteness: v.Remoteness()}) {
			t.Fatalf("%s: %q is %s, reached: %v; want %v, %v", g.Spec(), text, g.Values().Text(v), ok, w, reached)
		}
		if !ok || d.Finished(text) != "" {
			continue
		}
		gametest.SameMoves(t, g, p, d.Moves(text))
	}
}

func TestErrors(t *testing.T) {
	g := mustNew(t, 3)
	const turn = ": expected a board and, after a blank, the player to move, > or ^"
	_, small := New(1)
	_, large := New(6)
	_, none := g.Parse("")
	_, noTurn := g.Parse(">../>../.^^")
	_, wrongTurn := g.Parse(">../>../.^^ x")
	_, rows := g.Parse(">../>.. >")
	_, piece := g.Parse(">../>../.^x >")
	_, cars := g.Parse(">../>../^^^ >")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{small, "dodgem: size must be 2 to 5, found 1"},
		{large, "dodgem: size must be 2 to 5, found 6"},
		{none, `position ""` + turn},
		{noTurn, `position ">../>../.^^"` + turn},
		{wrongTurn, `position ">../>../.^^ x"` + turn},
		{rows, `board ">../>..": expected 3 rows with / between them, found 2`},
		{piece, `board ">../>../.^x" has 'x' on square c3, expected >, ^ or a blank ('.', ' ', '_')`},
		{cars, `position ">../>../^^^ >" has 3 cars ^, expected 2 at most`},
		{g.Check(g.hashes()), fmt.Sprintf("%d is not a position of 3×3: the largest is %d", g.hashes(), g.hashes()-1)},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", tt.err, tt.want)
		}
	}
	if g, err := Kind.New([]int{6}); g != nil || err == nil {
		t.Errorf("Kind.New(6) = %v, %v", g, err)
	}
}

// The example of the package comment.
func TestPicture(t *testing.T) {
	g := mustNew(t, 3)
	if got, want := g.Picture(g.Start()).String(), "   a b c\n1  > . .\n2  > . .\n3  . ^ ^\n"; got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 3), "", ">../>../.^^ >", "   /   /    ^", "'>__/___/__^' ^", ">>>/>../... >", " >")
}
