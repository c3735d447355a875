package mills

import (
	"fmt"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// BenchmarkEdges measures the rules and the canonical form, for each move of positions of random games.
func BenchmarkEdges(b *testing.B) {
	for _, men := range []int{5, 7, 9} {
		b.Run(fmt.Sprint(men), func(b *testing.B) {
			gametest.BenchmarkEdges(b, must.Get(New(men))(b).(game.Symmetric), 100, func(game.Position) bool { return true })
		})
	}
}
