package mills_test

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mills"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// Figures describe a solved game: canonical positions, these with their images, moves to different canonical
// positions, and the positions by their result.
type figures struct{ canonical, images, edges, win, lose, draw, longest int }

// TestPublished compares with GamesmanOne, which publishes the figures of Five and Six Men's Morris.
func TestPublished(t *testing.T) {
	published(t, 5, figures{1120745, 17844721, 7039410, 631982, 380089, 108674, 74})
}

func TestLongPublished(t *testing.T) {
	longtest.Skip(t)
	published(t, 6, figures{2660288, 42372745, 16335906, 1467733, 974903, 217652, 119})
}

func published(t *testing.T, men int, want figures) {
	t.Helper()
	g, got := must.Get(mills.New(men))(t), figures{}
	dir := solved.Dir(t, g, func(o *solve.Options) {
		o.Report = func(e solve.Event) {
			if e.Done && step.IsForward(e.Step) {
				got.edges += int(e.Stats.Messages)
			}
		}
	})
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	stats := must.Get(tab.Stats())(t)
	got.canonical, got.images = int(stats.Positions), int(must.Get(tab.StatsWithImages(t.Context()))(t).Positions)
	for _, row := range stats.Rows {
		*map[game.Result]*int{game.Wins: &got.win, game.Loses: &got.lose, game.Draws: &got.draw}[game.Result(row.Outcome)] += int(row.Positions)
		got.longest = max(got.longest, row.Remoteness)
	}
	if got != want {
		t.Errorf("%d men: %+v, want %+v", men, got, want)
	}
}
