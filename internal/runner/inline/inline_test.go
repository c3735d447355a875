package inline

import (
	"context"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/runner"
)

// vast is a game that has too many positions to be solved.
type vast struct{ game.Game }

func (vast) Vast() float64 { return 1e30 }

// TestUnknownKind wants a job of a game that no job can be run of to fail.
func TestUnknownKind(t *testing.T) {
	_, err := new(Runner).Run(context.Background(), &runner.Job{Game: vast{gametest.TieGame()}, Reducers: 1})
	if err == nil || !strings.HasPrefix(err.Error(), "graph size=13: ") {
		t.Errorf("error %v", err)
	}
}
