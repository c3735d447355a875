//go:build linux

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/creack/pty"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// solvedHere returns a folder with a solved board in all_data.
func solvedHere(t *testing.T, words string) string {
	t.Helper()
	dir := t.TempDir()
	if status, _, stderr := process.Run(command(dir, "driver solve "+words)); status != 0 {
		t.Fatal(stderr)
	}
	return dir
}

const board45 = "connectn --width 4 --height 5 --connect 3"

// TestTUILost plays a game against a table, as in the README, and loses it: the screen shows the loss from
// the first move on.
func TestTUILost(t *testing.T) {
	const words = "play tui"
	if page := readPage(t, "README.md"); !strings.Contains(page, "    $ bin/"+words+"\n") {
		t.Errorf("the README does not show %s", words)
	}
	term := inTerminal(t, solvedHere(t, board45), words, 80, 24)
	term.shows(`1  you move first\n`)
	term.types("2")
	screen := term.shows(`O \(you\) to move\n(.|\n)*you lose in \d+`)
	lost := regexp.MustCompile(`you lose in (\d+)`)
	for {
		if !strings.Contains(screen, "O (you) to move") || !strings.Contains(screen, "from the table all_data") {
			t.Fatal(screen)
		}
		// With the best moves, the loss comes as predicted.
		best := regexp.MustCompile(`best: (\S+)`).FindStringSubmatch(screen)[1]
		left := must.Get(strconv.Atoi(lost.FindStringSubmatch(screen)[1]))(t)
		term.types(best)
		screen = term.shows(fmt.Sprintf(`you have lost|O \(you\) to move\n(.|\n)*you lose in %d\b`, left-2))
		if strings.Contains(screen, "you have lost") {
			if !strings.Contains(screen, "after 11 moves") {
				t.Errorf("it should last 11 moves:\n%s", screen)
			}
			break
		}
	}
	term.types("qq")
	term.ends(0)
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
		{large + "--you both", "not proven, [1-9]", "", "", nil, 130},
		{large + "--you none --time 1h", "is thinking", "", "", nil, 130},
		{large + "--you none --time 1h", "is thinking", "", "", syscall.SIGTERM, 143},
		{large + "--you both", "to move", "s", "save in: games.txt", nil, 130},
		{large + "--you both", "to move", "?", "Esc closes", syscall.SIGINT, 130},
		{"mnk --you both", "to move", "b", "> b", nil, 130},
		{"mnk --you both", "to move", "Q", "-", nil, 0},
	} {
		t.Run(tt.words+" "+tt.keys, func(t *testing.T) {
			term := inTerminal(t, t.TempDir(), "play tui "+tt.words, 80, 24)
			term.shows(tt.shows)
			term.types(tt.keys)
			switch {
			case tt.after == "-":
			case tt.after != "":
				term.shows(regexp.QuoteMeta(tt.after))
				fallthrough
			default:
				if tt.signal != nil {
					term.cmd.Process.Signal(tt.signal)
				} else {
					term.types("\x03")
				}
			}
			term.ends(tt.status)
			if tt.status != 0 {
				term.shows("play: stopped")
			}
		})
	}
}

// TestTUIAtOnce stops the program before it has drawn the screen.
func TestTUIAtOnce(t *testing.T) {
	term := inTerminal(t, t.TempDir(), "play tui mnk", 80, 24)
	for range 1000 {
		if term.wrote("\x1b") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	term.types("\x03")
	term.ends(130)
}

// TestTUIResize checks that the text is beside the board or below it, depending on the window.
func TestTUIResize(t *testing.T) {
	term := inTerminal(t, t.TempDir(), "play tui mnk --you both", 80, 24)
	term.shows(`(?m)^ 1  T9  T9  T9    tie in 9$`)
	for _, tt := range []struct {
		columns, lines int
		shows          string
	}{
		{40, 20, `(?m)^ 1  T9  T9  T9$(.|\n)*^ tie in 9$(.|\n)*^ L line  V values  C sides  N new$`},
		{100, 30, `(?m)^ 1  T9  T9  T9    tie in 9$(.|\n)*- weaker$`},
		{20, 8, `(?m)^ 1  T9  T9  T9\n(.|\n)*^ \? help  Q quit$`},
	} {
		term.mu.Lock()
		term.screen.Resize(tt.columns, tt.lines)
		term.mu.Unlock()
		must.OK(t, pty.Setsize(term.pty, size(tt.columns, tt.lines)))
		term.shows(tt.shows)
	}
	term.types("b2\r")
	term.shows(`(?m)^ 2 +\S+ +X +\S+$`)
	term.types("QQ")
	term.ends(0)
}

// TestTUIMouse clicks on a column and on a key.
func TestTUIMouse(t *testing.T) {
	term := inTerminal(t, t.TempDir(), "play tui connectn --you both", 80, 24)
	screen := term.shows(`(?m)^    0   1   2 `)
	row := strings.Count(screen[:strings.Index(screen, "    0   1   2")], "\n") + 1
	term.clicks(9, row-2) // any square of column 1
	term.shows(`last: 1 by X`)
	for y, line := range strings.Split(term.text(), "\n") {
		if x := strings.Index(line, "U undo"); x >= 0 {
			term.clicks(x+3, y+1)
		}
	}
	term.shows(`X to move\n(.|\n)*\*0 T9`)
	term.types("Q")
	term.ends(0)
}

// TestTUINoColour checks that no colours are set if NO_COLOR has any value, and that there are
// colours otherwise.
func TestTUINoColour(t *testing.T) {
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-8]|9[0-7])[;m]`)
	for value, want := range map[string]bool{"": true, "1": false, "please": false} {
		term := inTerminal(t, t.TempDir(), "play tui connectn --you both", 80, 24, "NO_COLOR="+value)
		term.shows("tie in 9")
		term.types("01")
		term.shows("last: 1 by O")
		term.types("QQ")
		term.ends(0)
		term.mu.Lock()
		if got := coloured.MatchString(term.output.String()); got != want {
			t.Errorf("NO_COLOR=%s: colours are %t, want %t", value, got, want)
		}
		term.mu.Unlock()
	}
}

// TestTUIGround answers the query for the terminal's background, and checks that a light
// background gets other colours.
func TestTUIGround(t *testing.T) {
	for ground, colour := range map[string]string{"0000/0000/0000": "38;5;75;", "ffff/ffff/ffff": "38;5;25;"} {
		term := inTerminal(t, t.TempDir(), "play tui connectn --you both", 80, 24)
		term.shows("tie in 9")
		term.types("\x1b]11;rgb:" + ground + "\x1b\\")
		term.types("0")
		term.shows("last: 0 by X")
		term.types("QQ")
		term.ends(0)
		term.mu.Lock()
		if !strings.Contains(term.output.String(), "\x1b]11;?") || !strings.Contains(term.output.String(), colour) {
			t.Errorf("%s: no %s in %q", ground, colour, term.output.String())
		}
		term.mu.Unlock()
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
	term := inTerminal(t, dir, shell+" script", 80, 24)
	term.shows("tie in 9")
	term.types("\x1a")
	for range 500 {
		if term.wrote("asleep") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !term.wrote("asleep") {
		t.Error("it does not go to sleep")
	}
	term.shows("tie in 9")
	term.types("0")
	term.shows("last: 0 by X")
	term.types("QQ")
	term.ends(0)
}

// TestTUIFiles saves a game, which replay reads, and loads it again.
func TestTUIFiles(t *testing.T) {
	dir := t.TempDir()
	term := inTerminal(t, dir, "play tui connectn --you both", 80, 24)
	term.shows("to move")
	term.types("01")
	term.shows("last: 1 by O")
	term.types("s\r")
	term.shows("saved in games.txt")
	term.types("Q")
	term.ends(0)
	if status, stdout, _ := process.Run(command(dir, "play replay games.txt")); status != 0 || !strings.Contains(stdout, "adjourned after 2 moves") {
		t.Errorf("%d, %s", status, stdout)
	}
	term = inTerminal(t, dir, "play tui connectn --load games.txt", 80, 24)
	term.shows("last: 1 by O(.|\n)*human against human, from games.txt")
	term.types("Q")
	term.ends(0)
	if _, err := os.Stat(filepath.Join(dir, "games.txt")); err != nil {
		t.Error(err)
	}
}

// TestTUIThinks checks that while the machine is to move, the screen shows whose best move and
// whose values it shows.
func TestTUIThinks(t *testing.T) {
	term := inTerminal(t, solvedHere(t, board45), "play tui "+board45+" --you first --pace 1h", 80, 24)
	screen := term.shows(`you win in 11(.|\n)*best: `)
	term.types(regexp.MustCompile(`best: (\S+)`).FindStringSubmatch(screen)[1])
	term.shows(`O \(machine\) is thinking …\n(.|\n)*you win in 10\n(.|\n)*best for O \(machine\): \d(.|\n)*values of moves: for O \(machine\)(.|\n)*\*\d L10`)
	term.types("\x03")
	term.ends(130)
}

// TestTUIAsks checks that Q asks once in a game that is not saved, and not in one that is.
func TestTUIAsks(t *testing.T) {
	for _, tt := range []struct{ keys, shows, more string }{
		{"0", "this game is not saved: Q quits, S saves it", "Q"},
		{"0Q0", "this game is not saved", "Q"}, // another move
		{"0S\r", "", ""},
		{"0U", "", ""},
		{"0N", "this game is not saved", "Q"},
	} {
		t.Run(tt.keys, func(t *testing.T) {
			term := inTerminal(t, t.TempDir(), "play tui connectn --you both", 80, 24)
			term.shows("X to move")
			term.types(tt.keys)
			if strings.HasPrefix(tt.keys, "0S") {
				term.shows("saved in games.txt")
			}
			term.types("Q")
			if tt.shows != "" {
				term.shows(tt.shows)
			}
			term.types(tt.more)
			term.ends(0)
		})
	}
}

// TestTUIKept checks that settings and an unfinished game are kept for the next start, unless
// it is --fresh, and however the program ends.
func TestTUIKept(t *testing.T) {
	kept := t.TempDir()
	env := []string{"XDG_CONFIG_HOME=" + kept + "/config", "XDG_STATE_HOME=" + kept + "/state"}
	start := func(words string) *terminal { return inTerminal(t, t.TempDir(), "play tui "+words, 80, 24, env...) }
	term := start("connectn --level club")
	term.shows("New game")
	term.types("3")
	term.shows("X to move")
	term.types("01V+")
	term.shows("the machine plays strong")
	term.types("\x03")
	term.ends(130)

	term = start("connectn")
	screen := term.shows(`O +X|X +O`)
	if !strings.Contains(screen, "last: 1 by O") || !strings.Contains(screen, "your unfinished game; N starts a new one") || strings.Contains(screen, "best: ") {
		t.Error(screen)
	}
	term.types("0N")
	term.shows("machine: strong")
	term.types("\x1b") // Esc, back to the game
	term.shows("last: 0 by X")
	term.types("QQ")
	term.ends(0)

	for _, tt := range []struct{ words, shows string }{
		{"connectn --width 4", `New game(.|\n)*machine: strong`}, // another game
		{"connectn --you second", `last: 0 by X \(machine\)`},
		{"connectn --fresh", `New game(.|\n)*machine: 1s a move`}, // its settings replace the ones before
	} {
		term = start(tt.words)
		term.shows(tt.shows)
		term.cmd.Process.Signal(syscall.SIGTERM)
		term.ends(143)
	}
	term = start("connectn --fresh --you both")
	term.shows("X to move")
	term.types("2")
	term.shows("last: 2 by X")
	term.types("QQ")
	term.ends(0)
	term = start("connectn")
	term.shows("last: 2 by X")
	term.types("0202")
	term.shows("X has won")
	term.types("Q")
	term.shows("not saved")
	term.types("Q")
	term.ends(0)
	term = start("connectn") // the game is over
	term.shows("New game")
	term.types("Q")
	term.ends(0)
}

// TestTUIDamaged checks that damaged files of settings and of an unfinished game are ignored,
// with a line that names the file and the fault.
func TestTUIDamaged(t *testing.T) {
	for _, tt := range []struct{ name, text, shows string }{
		{"treereduce/play.json", "{\"level\": ", `play.json: expected settings as JSON: unexpected end of JSON input: it is ignored`},
		{"treereduce/play.json", "{\"level\": \"wizard\"}", `play.json: there is no level "wizard": it is ignored`},
		{"treereduce/play.json", "\x00\x1b[2J", `play.json: expected settings as JSON: invalid character '\x00' looking for beginning of value: it is ignored`},
		{"treereduce/connectn-width3-height3-connect3.games", "treereduce games 1\n\ngame connectn wid", `.games:3: expected a game `},
		{"treereduce/connectn-width3-height3-connect3.games", "\x00\xff", `.games:1: expected "treereduce games 1"`},
	} {
		kept := t.TempDir()
		name := filepath.Join(kept, tt.name)
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must.OK(t, os.WriteFile(name, []byte(tt.text), 0o666))
		term := inTerminal(t, kept, "play tui connectn", 200, 24, "XDG_CONFIG_HOME="+kept, "XDG_STATE_HOME="+kept)
		term.shows(regexp.QuoteMeta(tt.shows))
		term.types("30")
		term.shows("last: 0 by X")
		term.types("QQ")
		term.ends(0)
		term = inTerminal(t, kept, "play tui connectn", 200, 24, "XDG_CONFIG_HOME="+kept, "XDG_STATE_HOME="+kept)
		if screen := term.shows("last: 0 by X"); strings.Contains(screen, "ignored") {
			t.Error(screen)
		}
		term.types("Q")
		term.ends(0)
	}
}

// TestTUISmall checks the complete screen of 20 columns and 8 lines: the parts do not overlap,
// and what is typed has precedence.
func TestTUISmall(t *testing.T) {
	for _, tt := range []struct{ words, keys, screen string }{
		{"connectn --width 7 --height 6 --connect 4 --you both", "3", `
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . X . . .
  0 1 2 3 4 5 6
 O to move
`},
		{"connectn --width 7 --height 6 --connect 4 --you both", "33Q", `
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . . . . .
  . . . O . . .
  . . . X . . .
  0 1 2 3 4 5 6
 this game is not
`},
		{"mancala --pits 6 --stones 4 --you both", "5", `
 Mancala, 6 pits of
  10  9  8  7
   4  5  5  5
               1
   4  4  4  0
   2  3  4  5
 row 1 to move
 ? help  Q quit
`},
		{"network --you both", "76", `
 _2  .  .  .  .  .
 _3  .  .  .  .  .
 _4  .  .  .  .  .
 _5  .  .  .  .  .
 _6  .  .  .  . [.]
 _7  .  .  .  .
    3_ 4_ 5_ 6_ 7_
 > 76
`},
		{"mnk", "", `
 New game
 1  you move first
 2  the machine
 moves first
 3  two humans
 4  watch the
 machine play
 itself
`},
		{"mnk --you both", "?", `
 a-z 0-9
   type a move: a
   one-character
   name is played
   at once, a
   longer one with
   Enter
 Esc closes; arrows
`},
	} {
		t.Run(tt.words+" "+tt.keys, func(t *testing.T) {
			term := inTerminal(t, t.TempDir(), "play tui "+tt.words, 20, 8)
			term.shows(`to move|New game`)
			term.types(tt.keys)
			term.shows("^" + regexp.QuoteMeta(tt.screen[1:]) + "\n*$")
			term.types("\x03")
			term.ends(130)
		})
	}
}

// TestTUILocale checks that only ASCII is written in a locale without UTF-8.
func TestTUILocale(t *testing.T) {
	for _, tt := range []struct {
		env   []string
		ascii bool
	}{
		{[]string{"LC_ALL=C"}, true},
		{[]string{"LC_ALL=", "LC_CTYPE=", "LANG=de_DE.ISO-8859-1"}, true},
		{[]string{"LC_ALL=", "LC_CTYPE=en_US.utf8", "LANG=C"}, false},
		{[]string{"LC_ALL=", "LC_CTYPE=", "LANG="}, false},
	} {
		t.Run(strings.Join(tt.env, " "), func(t *testing.T) {
			term := inTerminal(t, t.TempDir(), "play tui connectn --width 8 --height 7 --connect 4 --you both", 80, 24, tt.env...)
			term.shows(`not proven, \d+ moves ahead: \S+ [.…]`)
			term.types("s–ü\r") // the name of a file
			term.shows("saved in")
			term.types("Q")
			term.ends(0)
			term.mu.Lock()
			if ascii := !strings.ContainsFunc(term.output.String(), func(r rune) bool { return r > unicode.MaxASCII }); ascii != tt.ascii {
				t.Errorf("%v: only ASCII is %t, want %t", tt.env, ascii, tt.ascii)
			}
			term.mu.Unlock()
		})
	}
}
