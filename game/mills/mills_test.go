package mills

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestContract(t *testing.T) {
	for men := range variants {
		gametest.Contract(t, must.Get(New(men))(t))
	}
}
