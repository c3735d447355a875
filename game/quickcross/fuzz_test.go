package quickcross

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
)

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 3, 3, 3), "", ".../.../...", "-|./|-./..-", "'-__/_|_/   '", "---/---/---", ".../...", "x../.../...", "-|-|-|-|-")
}
