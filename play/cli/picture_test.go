//go:build linux && !race

package play_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/terminal"
)

var update = flag.Bool("update", false, "write the picture of the README again")

// TestTUIPicture plays to the position shown in the README, docs/play/tui.svg, and compares the
// screen with that picture.
func TestTUIPicture(t *testing.T) {
	term := terminal.Start(t, solvedHere(t, board45), "play tui "+board45+" --you first --pace 0s", 70, 16)
	term.Shows("to move")
	term.Types("A")
	term.Shows("X: win in 11")
	term.Types("0 ")
	term.Shows("X: win in 15")
	term.Shows(`best: \S+ \S+`)
	name := filepath.Join("..", "..", "docs", "play", "tui.svg")
	got := term.SVG()
	term.Types("Q")
	term.Ends(0)
	if *update {
		must.OK(t, os.WriteFile(name, []byte(got), 0o666))
	}
	if want, err := os.ReadFile(name); err != nil || string(want) != got {
		t.Errorf("%s is not the screen (go test ./play/cli -run TestTUIPicture -update writes it again): %v\n%s", name, err, term.Text())
	}
}
