package connectn

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
)

// FuzzParse wants what is read to be a board, and to be written as it was read.
func FuzzParse(f *testing.F) {
	r, err := New(3, 3, 3)
	if err != nil {
		f.Fatal(err)
	}
	gametest.FuzzParse(f, r, "", "         ", "X..O.....", "'XO_______'", "xo       ", " X       ", "XXX      ")
}
