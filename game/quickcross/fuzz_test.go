package quickcross

import (
	"testing"

	"github.com/treereduce/treereduce/game/gametest"
)

// FuzzParse wants what is read to be a board, and to be written as it was read.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 3, 3, 3), "", ".../.../...", "-|./|-./..-", "'-__/_|_/   '", "---/---/---", ".../...", "x../.../...", "-|-|-|-|-")
}
