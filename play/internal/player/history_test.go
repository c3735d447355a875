package player_test

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/play/internal/player"
)

// doubled is a game whose second player moves in the positions 1 and 2.
type doubled struct{ testgames.Graph }

func (doubled) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{"A", "B"}}
}

func (doubled) ToMove(p game.Position) game.Player {
	if p == 1 || p == 2 {
		return game.Second
	}
	return game.First
}

// TestPlayTwice refuses a move after which the same player moves again, in a game without tiers.
func TestPlayTwice(t *testing.T) {
	h := player.NewHistory(doubled{testgames.Graph{Next: map[game.Position][]game.Position{0: {1}, 1: {2, 3}}, Size: 4}})
	must.OK(t, h.Play("1"))
	if err := h.Play("2"); err == nil || !strings.Contains(err.Error(), "after move 2 it is the same player's turn") {
		t.Error(err)
	}
	must.OK(t, h.Play("3"))
}
