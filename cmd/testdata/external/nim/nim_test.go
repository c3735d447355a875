package nim

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
)

func TestContract(t *testing.T) {
	for _, args := range [][]int{{1, 0}, {10, 0}, {10, 1}, {1000, 1}} {
		g, err := Kind.New(args)
		if err != nil {
			t.Fatal(err)
		}
		gametest.Contract(t, g)
	}
}
