package cmd_test

import "testing"

func TestTUITry(t *testing.T) {
	dir := t.TempDir()
	if status, _, stderr := ran(command(dir, "driver solve connectn --width 4 --height 5 --connect 3")); status != 0 {
		t.Fatal(stderr)
	}
	term := inTerminal(t, dir, "play tui connectn --width 4 --height 5 --connect 3", 80, 24)
	t.Log(term.shows("New game"))
	term.types("1")
	t.Log(term.shows("to move"))
	term.types("0")
	t.Log(term.shows("last: . by O"))
	term.types("\x1b[C")
	t.Log(term.shows("\\["))
	term.types("?")
	t.Log(term.shows("Esc goes"))
	term.types("Q")
	term.types("Q")
	term.ends(0)
	term = inTerminal(t, dir, "play tui mnk --you first", 40, 24)
	t.Log(term.shows("W|L|T\\d"))
	term.types("b2")
	t.Log(term.shows("last: .. by O"))
	term.types("\x03")
	term.ends(130)
	term = inTerminal(t, dir, "play tui mancala --you first", 60, 24)
	t.Log(term.shows("W|L|T\\d"))
	term.types("\x03")
	term.ends(130)
}
