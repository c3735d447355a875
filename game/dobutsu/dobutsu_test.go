package dobutsu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestContract(t *testing.T) { gametest.Contract(t, New()) }

// The number of boards with two lions is that of Tanaka's table 1.
func TestBoards(t *testing.T) {
	m := &New().(*rules).numberings[lion][squares]
	if both := m.boards - m.on[2].first; m.boards != boards || both != 1_567_925_964 {
		t.Errorf("%d boards, %d with two lions, want %d, 1567925964", m.boards, both, boards)
	}
}

// sameAsNaive compares a position with that of the second implementation.
func sameAsNaive(t *testing.T, g game.Symmetric, p game.Position) {
	t.Helper()
	text := string(g.AppendText(nil, p))
	q := naiveParse(text)
	finished, known := "", ""
	if v := g.Primitive(p); v != 0 {
		finished = v.Outcome().For(g.ToMove(p)).String()
	}
	if v := g.(*rules).Known(p); v != 0 {
		known = fmt.Sprint(v.Outcome().For(g.ToMove(p)), v.Remoteness())
	}
	if want := q.finished(); finished != want || q.String() != text {
		t.Fatalf("%q is finished: %q, want %q, %q", text, finished, want, q)
	}
	want := ""
	switch {
	case q.finished() != "":
		want = "LOSE 0"
	case q.catch() != "":
		want = "WIN 1"
	}
	if known != want {
		t.Fatalf("%q is known as %q, want %q", text, known, want)
	}
	var images []string
	for _, image := range g.Images(nil, p) {
		images = append(images, string(g.AppendText(nil, image)))
	}
	slices.Sort(images)
	wantImages := slices.Sorted(slices.Values(q.images()))
	if wantImages = slices.Compact(wantImages); !slices.Equal(images, wantImages) {
		t.Fatalf("%q has the images %q, want %q", text, images, wantImages)
	}
	if finished != "" {
		return
	}
	gametest.SameMoves(t, g, p, q.moves())
}

// The second implementation agrees on random positions and on random games.
func TestNaive(t *testing.T) {
	g := New()
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		if p := r.Uint64N(2 * boards); g.Check(p) == nil {
			sameAsNaive(t, g, p)
		}
	}
	for range 200 {
		for _, p := range gametest.Walk(r, g, 200) {
			sameAsNaive(t, g, p)
		}
	}
}

// The second implementation finds the same numbers of positions, up to images, after each ply, and
// these positions and their moves agree.
func TestPlies(t *testing.T) {
	g := New()
	newest, seen := []game.Position{g.Canonical(g.Start())}, map[game.Position]bool{g.Canonical(g.Start()): true}
	start := slices.Min(naiveParse(string(g.AppendText(nil, g.Start()))).images())
	newestTexts, seenTexts := []string{start}, map[string]bool{start: true}
	for ply := range 6 {
		var next []game.Position
		for _, p := range newest {
			sameAsNaive(t, g, p)
			for _, m := range g.Moves(nil, p) {
				if to := g.Canonical(m.To); !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		var nextTexts []string
		for _, text := range newestTexts {
			if p := naiveParse(text); p.finished() == "" {
				for _, after := range p.moves() {
					if to := slices.Min(naiveParse(after).images()); !seenTexts[to] {
						seenTexts[to] = true
						nextTexts = append(nextTexts, to)
					}
				}
			}
		}
		newest, newestTexts = next, nextTexts
		if len(seen) != len(seenTexts) {
			t.Errorf("%d positions up to ply %d, want %d", len(seen), ply+1, len(seenTexts))
		}
	}
}

// A lion on the last row must be captured, or has won. A captured lion is missing.
func TestEnd(t *testing.T) {
	g := New()
	for text, want := range map[string]struct {
		outcome game.Outcome
		moves   string
	}{
		".../.../g.L/l../.c./E.G/.EC/... l": {game.FirstWins, "[]"}, // the example of the rules
		".../.../L../.l./.../.../GEC/GEC l": {0, "[Lb2a1]"},
		".../.../L../.../.l./.../GEC/GEC l": {game.FirstWins, "[]"},
		"gec/gec/.../.../..L/l../.../... L": {game.SecondWins, "[]"},
		"gec/gec/.../.../..L/.../.../... l": {game.FirstWins, "[]"},
	} {
		var moves []string
		p := must.Get(g.Parse(text))(t)
		for _, m := range g.Moves(nil, p) {
			moves = append(moves, m.Name)
		}
		if v := g.Primitive(p); v.Outcome() != want.outcome || fmt.Sprint(moves) != want.moves {
			t.Errorf("%q is %v, with the moves %v, want %v, %v", text, v.Outcome(), moves, want.outcome, want.moves)
		}
	}
}

func TestErrors(t *testing.T) {
	g := New()
	const pieces = ": expected two giraffes, elephants and chicks (hens only on the board), a lion of each player, or only that of the one who is not to move, and, after a blank, the player to move, L or l"
	for text, want := range map[string]string{
		"":                                  `board "": expected 8 rows with / between them, found 1`,
		".../.../gle/.c./.C./ELG/.../...":   `board ".../.../gle/.c./.C./ELG/.../.": expected 3 squares in row 8, found 1`,
		".../.../gle/.c./.C./ELG/.../... x": `position ".../.../gle/.c./.C./ELG/.../... x"` + pieces,
		"gle/.c./.C./ELG L":                 `board "gle/.c./.C./ELG": expected 8 rows with / between them, found 4`,
		".../.../gle/.c./.C./ELx/.../... L": `board ".../.../gle/.c./.C./ELx/.../..." has 'x' on square c6, expected L, G, E, C, H, l, g, e, c, h or a blank ('.', ' ', '_')`,
		".../.../gle/.c./.C./EL./.../... L": `position ".../.../gle/.c./.C./EL./.../... L"` + pieces,
		".../.../gle/.c./.C./ELG/..C/... L": `position ".../.../gle/.c./.C./ELG/..C/... L"` + pieces,
		".../.../gle/.c./.../ELG/..H/... L": `position ".../.../gle/.c./.../ELG/..H/... L"` + pieces,
		".../.../gLe/.c./.C./ELG/.../... L": `position ".../.../gLe/.c./.C./ELG/.../... L"` + pieces,
		".../.../gle/.c./.C./E.G/.../... l": `position ".../.../gle/.c./.C./E.G/.../... l"` + pieces,
		".../.../gle/.c./.C./ELG/L../... L": `position ".../.../gle/.c./.C./ELG/L../... L"` + pieces,
	} {
		if _, err := g.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: error\n%v, want\n%s", text, err, want)
		}
	}
	const ended = "%d is not a position of Dobutsu shogi: it must be below 3685380192, and the player to move has a move, and no lion on the last row"
	for _, text := range []string{"gec/gec/L../.../..l/.../.../... L", ".../.../GEl/LGE/CC./.../.../... L", ".../.../GE./LGE/CCl/.../.../... L"} {
		if p, err := g.Parse(text); err == nil || err.Error() != fmt.Sprintf(ended, p) {
			t.Errorf("%q: error\n%v, want\n"+ended, text, err, p)
		}
	}
	if err := g.Check(2 * boards); err == nil || err.Error() != fmt.Sprintf(ended, 2*boards) {
		t.Errorf("error\n%v, want\n"+ended, err, 2*boards)
	}
}

// The squares of the hands are goals of their players, two pieces of a kind share one, and the board has the coordinates of the moves.
func TestPicture(t *testing.T) {
	g := New()
	pic := g.Picture(must.Get(g.Parse("g.c/..c/.l./.../eE./.L./G../... L"))(t))
	if got, want := pic.String(), "    a  b  c\n    g  . cc\n1   .  l  .\n2   .  .  .\n3   e  E  .\n4   .  L  .\n    G  .  .\n"; got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
	for y, row := range pic.Rows {
		for x, s := range row {
			first, second := y > height, y == 0
			if (first || second) != (s.Kind == game.Goal) || first && s.Owner != game.OfFirst || second && s.Owner != game.OfSecond {
				t.Errorf("square %d of row %d is of kind %d and player %d", x, y, s.Kind, s.Owner)
			}
		}
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, New(), "", ".../.../gle/.c./.C./ELG/.../... L", "'gec/gec/   /___/..L/..././...' l", ".h./.../gle/.../.C./EL./G../... l", " L")
}
