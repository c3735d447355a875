package connectn

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	r := must.Get(New(3, 3, 3))(f)
	gametest.FuzzParse(f, r, "", "         ", "X..O.....", "'XO_______'", "xo       ", " X       ", "XXX      ")
}
