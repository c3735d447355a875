package quickcross

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
)

func TestSampled(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {3, 3, 3}, {2, 3, 2}, {4, 2, 3}, {6, 1, 3}} {
		gametest.CheckSampled(t, mustNew(t, b[0], b[1], b[2]), 1000)
	}
}
