package board

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
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
