package connectn

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
)

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	r, err := New(3, 3, 3)
	if err != nil {
		f.Fatal(err)
	}
	gametest.FuzzParse(f, r, "", "         ", "X..O.....", "'XO_______'", "xo       ", " X       ", "XXX      ")
}
