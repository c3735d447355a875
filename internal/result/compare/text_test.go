package compare

import (
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestInWords checks what --compare says of a line: only a line whose key is a position is one.
func TestInWords(t *testing.T) {
	g := must.Get(connectn.New(2, 2, 2))(t)
	for line, want := range map[string]string{
		"04":        "a position without a value",
		"04\t6":     "X wins in 1 move",
		"04\tm6":    "after one of its moves: X wins in 1 move",
		"04\tx":     "not a line of this step",
		"here":      "not a line of this step",
		"here\tm6":  "not a line of this step",
		"n = 3":     "not a line of this step",
		"":          "not a line of this step",
		"ffffffff":  "not a line of this step",
		"DEBUG\t04": "not a line of this step",
	} {
		if got := inWords(g, line); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
