package board

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// boards is a game whose positions are only boards.
type boards struct {
	game.Game
	rows []string
}

func (b boards) Picture(p game.Position) (pic game.Picture) {
	pic.Rows = [][]game.Square{nil}
	for _, text := range strings.Split(b.rows[p], "") {
		pic.Rows[0] = append(pic.Rows[0], game.Square{Text: text})
	}
	return pic.WithCoordinates()
}

// TestSpots checks that the label of a column is a move only if the move changes the column.
func TestSpots(t *testing.T) {
	g := boards{rows: []string{"...", "..X", ".X."}}
	spots := Spots(g, 0, []game.Move{{Name: "b", To: 1}, {Name: "b", To: 2}})
	if s := spots[0]; s.Label || !s.Known || s.At != (Place{2, 0}) {
		t.Errorf("move b changes column c: %+v", s)
	}
	if s := spots[1]; !s.Label || s.At != (Place{1, -1}) {
		t.Errorf("move b changes column b: %+v", s)
	}
}

// TestMeant checks clicks on squares in games whose moves have paths: in Quixo, the first click is where the cube
// is taken, if it can be taken there.
func TestMeant(t *testing.T) {
	for _, tt := range []struct{ spec, position, clicks, want string }{
		{"quixo size=3", "", "a1", "a1-a3 a1-c1"},
		{"quixo size=3", "", "a1 a3", "a1-a3!"},
		{"quixo size=3", "", "a3 a1", "a3-a1!"},
		{"quixo size=3", "", "a1 b1", ""},
		{"quixo size=3", "X../.../... O", "a1", "a2-a1 a3-a1 b1-a1 c1-a1"},
		{"quixo size=3", "", "b2", ""},
		{"mills men=3", "W.W/.../BB. W 1 1", "b3", "b3xa1 b3xb1"},
		{"mills men=3", "W.W/.../BB. W 1 1", "b3 b1", "b3xb1!"},
		{"mills men=3", "W.W/.../BB. W 1 1", "b2", "b2!"},
		{"teeko variant=standard", "", "c3", "c3!"},
		{"dobutsu", "", "b3", "Cb3b2"},
		{"dobutsu", "", "b3 b2", "Cb3b2!"},
		{"dodgem size=3", "", "a1", "a1r!"},
	} {
		g := must.Get(all.Kinds().Parse(tt.spec))(t)
		p := g.Start()
		if tt.position != "" {
			p = must.Get(g.Parse(tt.position))(t)
		}
		pic, moves := g.Picture(p), g.Moves(nil, p)
		var clicks []Place
		for name := range strings.FieldsSeq(tt.clicks) {
			clicks = append(clicks, Place{slices.Index(pic.Above, name[:1]), slices.Index(pic.Left, name[1:])})
		}
		found, one := meant(Spots(g, p, moves), clicks)
		var names []string
		for _, i := range found {
			names = append(names, moves[i].Name)
		}
		got := strings.Join(names, " ")
		if one {
			got += "!"
		}
		if got != tt.want {
			t.Errorf("%s, %q: clicks on %s mean %s, want %s", tt.spec, g.AppendText(nil, p), tt.clicks, got, tt.want)
		}
	}
}

// TestClick checks what clicks mean, one after the other: the move that all of them can mean, or the last one alone; another
// click on a square is the next move there.
func TestClick(t *testing.T) {
	g := must.Get(all.Kinds().Parse("quickcross width=2 height=2 connect=2"))(t)
	p := g.Start()
	moves := g.Moves(nil, p)
	spots := Spots(g, p, moves)
	var clicks []Place
	selected := -1
	for _, test := range []struct {
		at    Place
		move  string
		count int
		all   int // the clicks that are kept
	}{{Place{1, 1}, "b2-", 2, 1}, {Place{1, 1}, "b2|", 2, 1}, {Place{1, 1}, "b2-", 2, 1}, {Place{0, 1}, "a2-", 2, 1}, {Place{0, 1}, "a2|", 2, 1}, {Place{9, 9}, "", 0, 1}} {
		var count int
		var play bool
		clicks, count, selected, play = Click(spots, clicks, test.at, selected)
		name := ""
		if selected >= 0 {
			name = moves[selected].Name
		}
		if name != test.move || count != test.count || len(clicks) != test.all || play {
			t.Errorf("%v: %s of %d, %v clicks, play %v; want %+v", test.at, name, count, clicks, play, test)
		}
	}
	for _, test := range []struct {
		spec string
		at   Place
		move int
	}{{"connectn width=3 height=3 connect=3", Place{2, 0}, 2}, {"connectn width=3 height=3 connect=3", Place{2, 3}, 2}, {"mancala pits=2 stones=2", Place{1, 2}, 0}, {"mancala pits=2 stones=2", Place{1, 1}, -1}} {
		g := must.Get(all.Kinds().Parse(test.spec))(t)
		if _, _, move, play := Click(Spots(g, g.Start(), g.Moves(nil, g.Start())), nil, test.at, -1); move != test.move || play != (move >= 0) {
			t.Errorf("%s, %v: move %d, play %v", test.spec, test.at, move, play)
		}
	}
}

// TestColours checks that players named after colours have these, and that the style sheet knows them.
func TestColours(t *testing.T) {
	names := map[string]string{"WB": "white-black", "BR": "black-red"}
	found := map[string]bool{}
	for _, kind := range all.Kinds() {
		g := must.Get(kind.Default())(t)
		players, got := g.Values().Players, g.Info().Look.Colours
		if want := names[fmt.Sprintf("%.1s%.1s", players[0], players[1])]; got != want {
			t.Errorf("%s: the colours of %q are %q, want %q", g.Spec(), players, got, want)
		}
		found[got] = true
		if got != "" && !strings.Contains(StyleSheet, ":is(."+got+",") {
			t.Errorf("%s: no style for %q", g.Spec(), got)
		}
	}
	if len(found) != 3 {
		t.Errorf("found %v", found)
	}
}
