//go:build linux && !race

package play_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/internal/testing/terminal"
)

// solvedHere returns a folder with a solved board in all_data.
func solvedHere(t *testing.T, words string) string {
	t.Helper()
	dir := t.TempDir()
	if status, _, stderr := process.Run(programs.Command(dir, "driver solve "+words)); status != 0 {
		t.Fatal(stderr)
	}
	return dir
}

const board45 = "connectn --width 4 --height 5 --connect 3"

// TestTUILost plays a game against a table, as in the README, by hints, and loses it as late as the analysis says.
func TestTUILost(t *testing.T) {
	const words = "play tui"
	if page := must.Get(os.ReadFile("../../README.md"))(t); !strings.Contains(string(page), "    $ bin/"+words+"\n") {
		t.Errorf("the README does not show %s", words)
	}
	term := terminal.Start(t, solvedHere(t, board45), words, 80, 24)
	term.Shows(`1     you move first\n`)
	term.Types("2")
	term.Shows(`O \(you\) to move\n`)
	term.Types("A")
	if screen := term.Shows(`O: lose in 10`); !strings.Contains(screen, "From the table.") {
		t.Error(screen)
	}
	term.Types("A")
	for made := 1; made < 11; made += 2 {
		term.Shows(`O \(you\) to move\n(.|\n)*last: .* by X`)
		term.Types("H")
		best := regexp.MustCompile(`Hint: (\S+)`).FindStringSubmatch(term.Shows(`Hint: \d`))[1]
		term.Types(best)
		term.Shows(`you have lost|O \(you\) to move\n`)
	}
	term.Shows("you have lost after 11 moves")
	term.Types("q")
	term.Ends(0)
}

// TestTUIStops stops the program in different situations, by a key or a signal, and checks that
// the terminal is restored.
func TestTUIStops(t *testing.T) {
	const large = "connectn --width 8 --height 7 --connect 4 "
	for _, tt := range []struct {
		words, shows, keys string
		after              string // the screen after the keys
		signal             os.Signal
		status             int
	}{
		{large, "New game", "", "", nil, 130},
		{large, "New game", "q", "-", nil, 0},
		{large + "--you both", "to move", "A", `Search: [1-9]`, nil, 130},
		{large + "--you none --level perfect", "is thinking", "", "", nil, 130},
		{large + "--you none --level perfect", "is thinking", "", "", syscall.SIGTERM, 143},
		{large + "--you both", "to move", "s", "save in: games.txt", nil, 130},
		{large + "--you both", "to move", "?", "esc back", syscall.SIGINT, 130},
		{"mnk --you both", "to move", "b", "> b", nil, 130},
		{"mnk --you both", "to move", "Q", "-", nil, 0},
	} {
		t.Run(tt.words+" "+tt.keys, func(t *testing.T) {
			term := terminal.Start(t, t.TempDir(), "play tui "+tt.words, 80, 24)
			term.Shows(tt.shows)
			term.Types(tt.keys)
			switch {
			case tt.after == "-":
			case tt.after != "":
				term.Shows(tt.after)
				fallthrough
			default:
				if tt.signal != nil {
					term.Cmd.Process.Signal(tt.signal)
				} else {
					term.Types("\x03")
				}
			}
			term.Ends(tt.status)
			if tt.status != 0 {
				term.Shows("play: stopped")
			}
		})
	}
}

// TestTUIAtOnce stops the program before it has drawn the screen.
func TestTUIAtOnce(t *testing.T) {
	term := terminal.Start(t, t.TempDir(), "play tui mnk", 80, 24)
	must.Until(t, func() bool { return term.Wrote("\x1b") }, func() string { return "it writes nothing" })
	term.Types("\x03")
	term.Ends(130)
}

// TestTUIResize checks that the text is beside the board or below it, depending on the window.
func TestTUIResize(t *testing.T) {
	term := terminal.Start(t, t.TempDir(), "play tui mnk --you both", 80, 24)
	term.Shows("X to move")
	term.Types("A")
	term.Shows(`(?m)^     a   b   c    X: tie in 9$\n 1  T9  T9  T9 `)
	for _, tt := range []struct {
		columns, lines int
		shows          string
	}{
		{40, 20, `(?m)^ 1  T9  T9  T9$(.|\n)*^ X: tie in 9$(.|\n)*^ \? help  Q quit  U undo  R redo  H hint$`},
		{100, 30, `(?m)^     a   b   c    X: tie in 9$(.|\n)*- weaker  S save  O open`},
		{20, 8, `(?m)^ X to move\n     a   b   c\n 1  T9  T9  T9\n`},
	} {
		term.Resize(tt.columns, tt.lines)
		term.Shows(tt.shows)
	}
	term.Types("b2\r")
	term.Shows(`(?m)^ 2 +\S+ +X +\S+$`)
	term.Types("Q")
	term.Ends(0)
}

// TestTUIMouse clicks on a column and on a key.
func TestTUIMouse(t *testing.T) {
	term := terminal.Start(t, t.TempDir(), "play tui connectn --you both", 80, 24)
	term.Types("A")
	screen := term.Shows(`(?m)^    0   1   2`)
	row := strings.Count(screen[:strings.Index(screen, "\n    0   1   2")], "\n") + 2
	term.Clicks(9, row-2) // any square of column 1
	term.Shows(`last: 1 by X`)
	for y, line := range strings.Split(term.Text(), "\n") {
		if x := strings.Index(line, "U undo"); x >= 0 {
			term.Clicks(x+3, y+1)
		}
	}
	term.Shows(`X to move\n(.|\n)*\*0 T9`)
	term.Types("Q")
	term.Ends(0)
}

// TestTUINoColour checks that no colours are set if NO_COLOR has any value, and that there are
// colours otherwise.
func TestTUINoColour(t *testing.T) {
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-8]|9[0-7])[;m]`)
	for value, want := range map[string]bool{"": true, "1": false, "please": false} {
		term := terminal.Start(t, t.TempDir(), "play tui connectn --you both", 80, 24, "NO_COLOR="+value)
		term.Shows("X to move")
		term.Types("01")
		term.Shows("last: 1 by O")
		term.Types("Q")
		term.Ends(0)
		if got := coloured.MatchString(term.Output()); got != want {
			t.Errorf("NO_COLOR=%s: colours are %t, want %t", value, got, want)
		}
	}
}

// TestTUIGround answers the query for the terminal's background, and checks that a light
// background gets other colours.
func TestTUIGround(t *testing.T) {
	for ground, colour := range map[string]string{"0000/0000/0000": "38;5;75;", "ffff/ffff/ffff": "38;5;25;"} {
		term := terminal.Start(t, t.TempDir(), "play tui connectn --you both", 80, 24)
		term.Shows("X to move")
		term.Types("\x1b]11;rgb:" + ground + "\x1b\\")
		term.Types("0")
		term.Shows("last: 0 by X")
		term.Types("Q")
		term.Ends(0)
		if !strings.Contains(term.Output(), "\x1b]11;?") || !strings.Contains(term.Output(), colour) {
			t.Errorf("%s: no %s in %q", ground, colour, term.Output())
		}
	}
}

// TestTUISleeps suspends the program by Ctrl-Z, in a shell, and resumes it.
func TestTUISleeps(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	must.OK(t, os.WriteFile(script, []byte("set -m; play tui connectn --you both; echo asleep; fg >/dev/null; echo $?\n"), 0o666))
	term := terminal.Start(t, dir, shell+" script", 80, 24)
	term.Shows("X to move")
	term.Types("\x1a")
	must.Until(t, func() bool { return term.Wrote("asleep") }, func() string { return "it does not go to sleep" })
	term.Shows("X to move")
	term.Types("0")
	term.Shows("last: 0 by X")
	term.Types("Q")
	term.Ends(0)
}

// TestTUIThinks checks that while the machine is to move, the screen shows whose best move and
// whose values it shows.
func TestTUIThinks(t *testing.T) {
	term := terminal.Start(t, solvedHere(t, board45), "play tui "+board45+" --you first --pace 1h", 80, 24)
	term.Shows("X \\(you\\) to move")
	term.Types("A")
	screen := term.Shows(`X: win in 11(.|\n)*best: `)
	term.Types(regexp.MustCompile(`best: (\S+)`).FindStringSubmatch(screen)[1])
	term.Shows("last: . by X") // the machine waits in an analysis
	term.Types(" ")
	term.Shows(`O: lose in 10\n(.|\n)*best: \d(.|\n)*\*\d L10`)
	term.Types("\x03")
	term.Ends(130)
}

// TestTUIKept checks that the last game of a board, its sides and its level are kept for the next start, unless
// it is --fresh, and however the program ends.
func TestTUIKept(t *testing.T) {
	kept := t.TempDir()
	start := func(words string) *terminal.Terminal {
		return terminal.Start(t, t.TempDir(), "play tui "+words, 80, 24, "XDG_STATE_HOME="+kept)
	}
	term := start("connectn --level club")
	term.Shows("New game")
	term.Types("1")
	term.Shows(`X \(you\) to move`)
	term.Types("0")
	term.Shows(`last: . by O \(machine\)`)
	term.Types("+")
	term.Shows("the machine plays strong")
	term.Types("\x03")
	term.Ends(130)

	term = start("connectn")
	screen := term.Shows(`last: . by O \(machine\)`)
	if !strings.Contains(screen, "machine: strong") || !strings.Contains(screen, "your unfinished game; N starts a new one") || strings.Contains(screen, "best: ") {
		t.Error(screen)
	}
	term.Types("N")
	term.Shows("New game(.|\n)*machine: strong")
	term.Types("\x1b") // Esc, back to the game
	term.Shows(`last: . by O \(machine\)`)
	term.Types("Q")
	term.Ends(0)

	for _, tt := range []struct{ words, shows string }{
		{"connectn --width 4", `New game(.|\n)*machine: club`}, // another game
		{"connectn --you second", `X \(machine\) is paused: Space resumes\n(.|\n)*last: . by O \(you\)(.|\n)*machine: strong`},
		{"connectn --level novice", `last: . by O \(you\)(.|\n)*machine: novice`},
		{"connectn --fresh", `New game(.|\n)*machine: club`},
	} {
		term = start(tt.words)
		term.Shows(tt.shows)
		term.Cmd.Process.Signal(syscall.SIGTERM)
		term.Ends(143)
	}
	term = start("connectn --fresh --you both")
	term.Shows("X to move")
	term.Types("2")
	term.Shows("last: 2 by X")
	term.Types("Q")
	term.Ends(0)
	term = start("connectn")
	term.Shows("last: 2 by X")
	term.Types("0202")
	term.Shows("X has won")
	term.Types("Q")
	term.Ends(0)
	term = start("connectn") // the game is over
	term.Shows("New game")
	term.Types("\x1b")
	term.Shows("X has won(.|\n)*1 mistake")
	term.Types("P")
	term.Shows("Mistake 1 of")
	term.Types("Q")
	term.Ends(0)
	term = start("connectn") // a practice has no game of its own
	term.Shows("New game")
	term.Types("Q")
	term.Ends(0)
}

// TestTUIDamaged checks that a damaged file of the kept game is ignored, with a line that names the file and the fault.
func TestTUIDamaged(t *testing.T) {
	for _, tt := range []struct{ text, shows string }{
		{`{"spec":"connectn wid`, `.games:1: expected a line of JSON`},
		{"\x00\xff", `.games:1: expected a line of JSON`},
	} {
		kept := t.TempDir()
		name := filepath.Join(kept, "treereduce/connectn-width3-height3-connect3.games")
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must.OK(t, os.WriteFile(name, []byte(tt.text), 0o666))
		term := terminal.Start(t, kept, "play tui connectn", 200, 24, "XDG_STATE_HOME="+kept)
		screen := term.Shows("New game(.|\n)*" + regexp.QuoteMeta(tt.shows))
		if !strings.Contains(strings.Join(strings.Fields(screen), " "), ": it is ignored") {
			t.Error(screen)
		}
		term.Types("3")
		term.Shows("X to move")
		term.Types("0")
		term.Shows("last: 0 by X")
		term.Types("Q")
		term.Ends(0)
		term = terminal.Start(t, kept, "play tui connectn", 200, 24, "XDG_STATE_HOME="+kept)
		if screen := term.Shows("last: 0 by X"); strings.Contains(screen, "ignored") {
			t.Error(screen)
		}
		term.Types("Q")
		term.Ends(0)
	}
}

// TestTUISmall checks the complete screen of 20 columns and 8 lines: the parts do not overlap,
// and what is typed has precedence.
func TestTUISmall(t *testing.T) {
	for _, tt := range []struct{ words, keys, screen string }{
		{"connectn --width 7 --height 6 --connect 4 --you both", "33S", `
 X to move
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . O . . .
  . . . X . . .
 save in: games.txt
`},
		{"mancala --pits 6 --stones 4 --you both", "5", `
 row 1 to move
     12 11 10  9  8
      4  4  4  5  5
   0
      4  4  4  4  4
      0  1  2  3  4

 last: 5 by row 0
`},
		{"mnk --you both", "?", `
 ? help        left
 Q quit        righ
 U undo        up
 R redo        down
 H hint        tab
 A analyse     shif
 N new         ente
 esc back
`},
	} {
		t.Run(tt.words+" "+tt.keys, func(t *testing.T) {
			term := terminal.Start(t, t.TempDir(), "play tui "+tt.words, 20, 8)
			term.Shows(`to move|New game`)
			term.Types(tt.keys)
			term.Shows("^" + regexp.QuoteMeta(tt.screen[1:]) + "\n*$")
			term.Types("\x03")
			term.Ends(130)
		})
	}
}
