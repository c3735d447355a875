package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/play/internal/testing/testbook"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// The seats for values of --you.
var (
	youFirst  = &[2]bool{true, false}
	youSecond = &[2]bool{false, true}
	twoPeople = &[2]bool{true, true}
	watching  = &[2]bool{false, false}
)

// start returns the started model of a game without a table.
func start(t testing.TB, spec string, change func(o *Options)) *model {
	t.Helper()
	o := Options{Game: solved.Game(t, spec), Parse: all.Kinds().Parse, Search: search.Options{Memory: 4 << 20}, Seats: twoPeople}
	if change != nil {
		change(&o)
	}
	m := newModel(o)
	m.Analysing = o.Seats == twoPeople
	if o.Level == "" && o.Table == nil {
		m.levels[m.level] = player.Level{Name: "tested", Depth: 8} // makes no moves at random
	}
	t.Cleanup(m.close)
	perform(t, m, m.Init())
	return m
}

// perform executes a command and all commands that follow from it.
func perform(t testing.TB, m *model, cmd tea.Cmd) {
	t.Helper()
	for todo := []tea.Cmd{cmd}; len(todo) > 0; {
		cmd, todo = todo[0], todo[1:]
		if cmd == nil {
			continue
		}
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			todo = append(todo, batch...)
			continue
		}
		_, next := m.Update(msg)
		todo = append(todo, next)
	}
}

// keys types keys: characters, or names in angle brackets.
func keys(t testing.TB, m *model, text string) {
	t.Helper()
	for _, key := range regexp.MustCompile(`<[a-z+]+>|.`).FindAllString(text, -1) {
		perform(t, m, m.key(press(key)))
	}
}

// press returns the message of a key: a character, or a name in angle brackets.
func press(key string) tea.KeyPressMsg {
	named := map[string]tea.Key{
		"<enter>": {Code: tea.KeyEnter}, "<esc>": {Code: tea.KeyEsc}, "<backspace>": {Code: tea.KeyBackspace},
		"<left>": {Code: tea.KeyLeft}, "<right>": {Code: tea.KeyRight}, "<up>": {Code: tea.KeyUp}, "<down>": {Code: tea.KeyDown},
		"<tab>": {Code: tea.KeyTab}, "<shift+tab>": {Code: tea.KeyTab, Mod: tea.ModShift}, "<space>": {Code: tea.KeySpace, Text: " "},
		"<alt+g>": {Code: 'g', Mod: tea.ModAlt}, "<ctrl+j>": {Code: 'j', Mod: tea.ModCtrl}, "<ctrl+l>": {Code: 'l', Mod: tea.ModCtrl}, "<ctrl+u>": {Code: 'u', Mod: tea.ModCtrl},
	}
	if k, ok := named[key]; ok {
		return tea.KeyPressMsg(k)
	}
	return tea.KeyPressMsg{Text: key}
}

// want checks the screen, ignoring blank lines.
func want(t testing.TB, m *model, screen string) {
	t.Helper()
	squeeze := func(text string) string {
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, " \n"); line != "" {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	if got := squeeze(text(m)); got != squeeze(screen) {
		t.Errorf("the screen is\n%s\nwant\n%s", got, squeeze(screen))
	}
}

// expect checks that the screen contains a text.
func expect(t testing.TB, m *model, part string) {
	t.Helper()
	if got := text(m); !strings.Contains(got, part) {
		t.Errorf("the screen does not say %q:\n%s", part, got)
	}
}

const three = "connectn width=3 height=3 connect=3"

// text returns the screen as text, without trailing blanks.
func text(m *model) string {
	var b strings.Builder
	for _, line := range cells(m) {
		var l strings.Builder
		for _, c := range line {
			l.WriteString(c.Content)
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// cells returns the characters of the screen, line by line.
func cells(m *model) [][]*uv.Cell {
	screen := m.draw()
	lines := make([][]*uv.Cell, screen.Height())
	for y := range lines {
		for x := range screen.Width() {
			lines[y] = append(lines[y], screen.CellAt(x, y))
		}
	}
	return lines
}

// TestDraw checks that each game is drawn from its picture, with marks at the places of its
// moves (labels of columns, empty squares, the list) and with all information, in 40
// columns.
func TestDraw(t *testing.T) {
	const footer = `
 ? help  Q quit  U undo  R redo  H hint
`
	for _, tt := range []struct{ spec, keys, screen string }{
		{three, "01", `
 Connect 3 on 3×3
 X to move
    .   .   .
    .   .   .
    X   O   .
    0   1   2
   W7  W7  T7
 X: win in 7
 best: 0 0 1 1 2 2 2
 Search: 0 moves ahead, 99 positions
 last: 1 by O
 *0 W7   1 W7   2 T7
 W7: win in 7 moves; L loss, T tie
`},
		{three, "01a", `
 Connect 3 on 3×3
 X to move
    .   .   .
    .   .   .
    X   O   .
    0   1   2
 last: 1 by O
  0   1   2
`},
		{"mnk width=3 height=3 connect=3", "b2<enter>b1<enter>", `
 Tic-tac-toe of 3 on 3×3
 X to move
     a   b   c
 1  W5   O  W5
 2  W5   X  W5
 3  W5  T7  W5
 X: win in 5
 best: a1 c3 a2 a3 c2
 After a1 c3 a2, X threatens a3 and c2
 Search: 0 moves ahead, 99 positions
 last: b1 by O
 *a1 W5   a2 W5   a3 W5   b3 T7   c1 W5
  c2 W5   c3 W5
 W7: win in 7 moves; L loss, T tie
`},
		{"mancala pits=2 stones=1", "0", `
 Mancala, 2 pits of 1 stone
 row 1 to move
        W   L
        4   3
        1   1
    0           0
        0   2
        0   1
 Row 1: win
 best: 4
 Search: 0 moves ahead, 99 positions
 last: 0 by row 0
  3 L  *4 W
 W7: win in 7 moves; L loss, T tie
`},
		{"quickcross width=2 height=2 connect=2", "a1-<enter>", `
 Quick Cross of 2 on 2×2
 second to move
     a   b
 1   -  W1
 2  W1  W1
 Second: win in 1
 best: a2-
 Search: 0 moves ahead, 99 positions
 last: a1- by first
  a1| L2  *a2- W1   a2| L2   b1- W1
  b1| L2   b2- W1   b2| L2
 W7: win in 7 moves; L loss, T tie
`},
		{"dodgem size=2", "", `
 Dodgem on 2×2
 > to move
     a   b
 1   >  W3
 2  L4   ^
 >: win in 3
 best: a1r b2l b1r
 After a1r, > threatens b1r
 Search: 0 moves ahead, 99 positions
  a1d L4  *a1r W3
 W7: win in 7 moves; L loss, T tie
`},
	} {
		m := start(t, tt.spec, nil)
		m.Update(tea.WindowSizeMsg{Width: 40, Height: 22})
		keys(t, m, tt.keys)
		m.advice.Nodes, m.advice.Time, m.advice.Depth = 99, 0, 0
		want(t, m, tt.screen+footer)
	}
}

// TestBook checks that the values of an opening book are shown at once.
func TestBook(t *testing.T) {
	g := solved.Game(t, three)
	m := newModel(Options{Game: g, Book: testbook.New(t, g.(game.Tiered), 2), Seats: twoPeople})
	defer m.close()
	m.Analysing = true
	m.arrive()
	want(t, m, `
 Connect 3 on 3×3
 X to move
    .   .   .    X: tie in 9
    .   .   .    best: 0 2
    .   .   .    From the opening book.
    0   1   2
   T9  T9  T9    *0 T9   1 T9   2 T9
                 W7: win in 7 moves; L loss, T tie
 ? help  Q quit  U undo  R redo  H hint  A analyse  N new  + stronger  - weaker
`)
}

// TestDrawWidths checks that a wide screen has the panel to the right of the board, and
// that a narrow one leaves out the marks before squares.
func TestDrawWidths(t *testing.T) {
	m := start(t, "connectn width=12 height=2 connect=2", nil)
	keys(t, m, "0")
	m.advice.Nodes, m.advice.Time, m.advice.Depth = 99, 0, 0
	m.Update(tea.WindowSizeMsg{Width: 90, Height: 9})
	want(t, m, `
 O to move
    .   .   .   .   .   .   .   .   .   .   .   .    O: lose in 2
    X   .   .   .   .   .   .   .   .   .   .   .    best: 0 1
    0   1   2   3   4   5   6   7   8   9  10  11    X threatens 0 and 1
   L2  L2  L2  L2  L2  L2  L2  L2  L2  L2  L2  L2    Search: 0 moves ahead, 99 positions
                                                     last: 0 by X
                                                     *0 L2   1 L2   2 L2   3 L2   4 L2
                                                      5 L2   6 L2   7 L2   8 L2   9 L2
                                                      10 L2   11 L2
`)
	m.Update(tea.WindowSizeMsg{Width: 40, Height: 9})
	expect(t, m, "\n   .  .  .  .  .  .  .  .  .  .  .  .\n   X  .")
}

// TestDrawList checks that no line ends within a move and its value, also at a hyphen.
func TestDrawList(t *testing.T) {
	m := newModel(Options{Game: solved.Game(t, "quickcross width=4 height=4 connect=4"), Seats: twoPeople})
	defer m.close()
	m.Analysing = true
	m.arrive()
	for i := range m.advice.Moves {
		m.advice.Moves[i].Worth = analysis.Worth{Score: -i, Depth: 1}
	}
	for width := 12; width < 80; width++ {
		for line := range strings.Lines(m.list(width)) {
			line = regexp.MustCompile(`\x1b(\[[0-9;]*m|\]8;[^\x07]*\x07)`).ReplaceAllString(line, "")
			if !regexp.MustCompile(`^([ *][a-d][1-4][-|] -?[0-9]+( *\n|  |$))+$`).MatchString(line) {
				t.Fatalf("width %d: %q", width, line)
			}
		}
	}
}

// TestDrawUnproven checks that values that are not proven are not shown, except the best
// move so far.
func TestDrawUnproven(t *testing.T) {
	for spec, part := range map[string]string{
		"quickcross width=3 height=3 connect=3": " 1   .   *   .\n 2   .   .   .\n",
		"connectn width=4 height=4 connect=4":   "\n    0   1   2   3\n    ?   ?   ?   *\n",
		"mancala pits=3 stones=1":               "    0   1   2\n        ?   ?   *\n",
	} {
		m := newModel(Options{Game: solved.Game(t, spec), Seats: twoPeople})
		defer m.close()
		m.Analysing = true
		m.arrive()
		m.Update(tea.WindowSizeMsg{Width: 40, Height: 30})
		m.advice.Best = min(3, len(m.moves)-1)
		if strings.HasPrefix(spec, "quick") {
			m.advice.Best = 6
		}
		expect(t, m, part)
		expect(t, m, "not known yet")
		expect(t, m, "Search: 0 moves ahead, 0 positions …")
	}
}

// TestDrawSearch checks that a search at work is shown: depth, speed, the evaluation of each move, and exact values instead as
// soon as they are proven.
func TestDrawSearch(t *testing.T) {
	m := newModel(Options{Game: solved.Game(t, "connectn width=5 height=4 connect=4"), Seats: twoPeople})
	defer m.close()
	m.Analysing = true
	m.arrive()
	m.advice.Worth = analysis.Worth{Score: 21, Depth: 12}
	m.advice.Best, m.advice.Nodes, m.advice.Time = 1, 3e6, 2*time.Second
	for i, w := range []analysis.Worth{
		{Score: -120, Depth: 11}, {Score: 21, Depth: 11}, {Value: game.NewValue(game.Tie, 20), Known: true}, {}, {Value: game.NewValue(game.SecondWins, 4), Known: true},
	} {
		m.advice.Moves[i].Worth = w
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 16})
	want(t, m, `
 Connect 4 on 5×4
 X to move
    .   .   .   .   .    Estimate: 21 points for X
    .   .   .   .   .    best: 1
    .   .   .   .   .    Search: 12 moves ahead, 3,000,000 positions, 1.5M a
    .   .   .   .   .    second …
    0   1   2   3   4
   -- +21 T20   ?  L4     0 -120  *1 +21   2 T20   3 ?   4 L4
                         W7: win in 7 moves; L loss, T tie
 ? help  Q quit  U undo  R redo  H hint  A analyse  N new  + stronger  - weaker
`)
}

// TestDrawSizes checks that at any size nothing is drawn outside the screen, and nothing
// fails.
func TestDrawSizes(t *testing.T) {
	for _, spec := range []string{three, "mancala pits=3 stones=1", "quickcross width=3 height=2 connect=2", "dodgem size=3"} {
		for _, mode := range []mode{playing, choosing, naming, helping} {
			m := start(t, spec, nil)
			m.mode = mode
			for width := -1; width < 60; width += 8 {
				for height := -1; height < 30; height += 5 {
					m.Update(tea.WindowSizeMsg{Width: width, Height: height})
					lines := strings.Split(strings.TrimSuffix(text(m), "\n"), "\n")
					if len(lines) > max(height, 1) {
						t.Fatalf("%s, %d×%d: %d lines", spec, width, height, len(lines))
					}
					m.View()
					m.click(width/2, height/2)
					m.mode = mode
				}
			}
		}
	}
}

// TestColours checks that without colours there are no colour sequences, and that the best
// move, the last move and the winning line still differ from the rest.
func TestColours(t *testing.T) {
	m := start(t, three, nil)
	keys(t, m, "01010")
	m.o.Colourless = true
	without := m.View()
	if strings.Contains(without.Content, "38;") || !strings.Contains(without.Content, "\x1b[1;7mX") || !strings.Contains(without.Content, "\x1b[1;4;7mX") || !without.AltScreen {
		t.Errorf("%+v", without)
	}
	m.o.Colourless = false
	dark := m.View().Content
	m.Update(tea.BackgroundColorMsg{Color: color.White})
	light := m.View().Content
	if !strings.Contains(dark, "38;5;75") || strings.Contains(dark, "38;5;25m") || !strings.Contains(light, "38;5;25") || strings.Contains(light, "38;5;75") {
		t.Errorf("%q\n%q", dark, light)
	}
	if strings.Contains(dark, "\x1b]") {
		t.Errorf("links are sent to the terminal: %q", dark)
	}
}

// TestEnd checks that exactly the winning line is marked, and that the result is shown from
// the user's point of view.
func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		seats     *[2]bool
		keys, end string
	}{
		{twoPeople, "01010", "X has won after 5 moves"},
		{youFirst, "01010", "you have won after 5 moves"},
		{youSecond, "01010", "you have lost after 5 moves"},
	} {
		m := start(t, three, nil)
		keys(t, m, tt.keys)
		m.People, m.Analysing = *tt.seats, false
		expect(t, m, tt.end)
		m.Update(tea.WindowSizeMsg{Width: 110, Height: 30})
		expect(t, m, "O played 1: tie in 8 → lose in 8, then 0 0 1 1 2 2 …; better: ")
		reversed := 0
		for y, line := range cells(m) {
			for x, c := range line {
				if c.Style.Attrs&uv.AttrReverse != 0 {
					if reversed++; c.Content != "X" || x != 4 {
						t.Errorf("%q at %d, %d is reversed", c.Content, x, y)
					}
				}
			}
		}
		if reversed != 3 {
			t.Errorf("%d squares are reversed", reversed)
		}
		keys(t, m, "2<enter>h")
		expect(t, m, "the game is over")
	}
	m := start(t, "quickcross width=1 height=2 connect=2", nil)
	keys(t, m, "a1-<enter>a1|<enter>a1-<enter>a1|<enter>a1-<enter>")
	expect(t, m, "a draw (repetition) after 5 moves")
	m = start(t, "mnk width=1 height=2 connect=2", nil)
	keys(t, m, "a1<enter>a2<enter>")
	expect(t, m, "a tie after 2 moves")
}

// TestTyping checks that a name of one letter or digit is played at once, if no other name
// begins with it, and a longer one by Enter; and that text with which no move begins is
// refused, and stays until it is cleared.
func TestTyping(t *testing.T) {
	m := start(t, "connectn width=12 height=2 connect=2", nil)
	keys(t, m, "1")
	expect(t, m, "> 1")
	if m.selected != 1 || len(m.Moves()) != 0 {
		t.Error(m.selected, m.Moves())
	}
	keys(t, m, "2")
	expect(t, m, `"12" is not a move`)
	keys(t, m, "<enter>")
	expect(t, m, `"12" is not a move`)
	keys(t, m, "<backspace>1")
	expect(t, m, "> 11")
	if m.selected != 11 || len(m.Moves()) != 0 || m.message != "" {
		t.Error(m.selected, m.Moves())
	}
	keys(t, m, "<enter>1<backspace><esc>1<enter>3x")
	if got := strings.Join(m.Moves(), " "); got != "11 1 3" {
		t.Error(got)
	}
	m = start(t, "quickcross width=8 height=2 connect=2", nil)
	keys(t, m, "h")
	expect(t, m, "> h") // h is the name of a column in this game
	keys(t, m, "<enter>")
	expect(t, m, `"h" is not a move`)
	keys(t, m, "1-<enter>H") // H is still the hint
	if len(m.Moves()) != 1 || m.selected < 0 {
		t.Error(m.Moves(), m.selected)
	}
	keys(t, m, "h3")
	expect(t, m, `"h3" is not a move`)
	keys(t, m, "N") // a capital letter is a command, also while a name is typed
	if m.mode != choosing {
		t.Error(m.mode)
	}
	keys(t, m, "<esc>!")
	expect(t, m, `"!" is not a move; ? lists the keys`)
}

// TestTypingEarly checks that if the beginning of a name is refused, its end is not played.
func TestTypingEarly(t *testing.T) {
	m := start(t, "mnk width=3 height=2 connect=3", nil)
	keys(t, m, "a1<enter>a2<enter>")
	keys(t, m, "a1b1<enter>")
	expect(t, m, `"a1b1" is not a move`)
	if got := strings.Join(m.Moves(), " "); got != "a1 a2" {
		t.Error(got)
	}
	keys(t, m, "<esc>b1")
	if len(m.Moves()) != 2 {
		t.Error("a name of two letters is played without Enter")
	}
	keys(t, m, "<enter>b2<enter>a")
	expect(t, m, `"a" is not a move`)
	keys(t, m, "c1<enter>")
	expect(t, m, `"ac1" is not a move`)
	keys(t, m, "<backspace><backspace><backspace>c1<enter>")
	if got := strings.Join(m.Moves(), " "); got != "a1 a2 b1 b2 c1" {
		t.Error(got)
	}
	// If all names have one digit, nothing needs to be cleared.
	m = start(t, three, nil)
	keys(t, m, "0000")
	expect(t, m, `"0" is not a move`)
	keys(t, m, "1")
	if got := strings.Join(m.Moves(), " "); got != "0 0 0 1" {
		t.Error(got)
	}
}

// TestSmallLetters checks that small letters with which moves of the game begin are never
// commands, in every turn.
func TestSmallLetters(t *testing.T) {
	m := start(t, "mnk width=3 height=3 connect=3", nil)
	m.People, m.Paused, m.Analysing = *youSecond, true, false
	keys(t, m, "c")
	if m.People != *youSecond {
		t.Error("c has changed sides")
	}
	expect(t, m, "X (machine) is to move")
	m = start(t, three, func(o *Options) { o.Seats = youFirst })
	keys(t, m, "c")
	if m.People != *youSecond {
		t.Error("c has not changed sides")
	}
}

// TestSelecting checks that the arrows select the nearest move in a direction, and Tab the
// next.
func TestSelecting(t *testing.T) {
	m := start(t, "mnk width=3 height=3 connect=3", nil)
	for _, tt := range []struct{ key, move string }{
		{"<right>", "a1"}, {"<right>", "b1"}, {"<down>", "b2"}, {"<left>", "a2"}, {"<up>", "a1"},
		{"<tab>", "a2"}, {"<shift+tab>", "a1"}, {"<shift+tab>", "c3"}, {"<tab>", "a1"},
	} {
		keys(t, m, tt.key)
		if got := m.moves[m.selected].Name; got != tt.move {
			t.Errorf("%s: %s, want %s", tt.key, got, tt.move)
		}
	}
	m.Update(tea.WindowSizeMsg{Width: 40, Height: 20})
	reversed := ""
	for _, line := range cells(m) {
		for _, c := range line {
			if c.Style.Attrs&uv.AttrReverse != 0 {
				reversed += c.Content
			}
		}
	}
	if reversed != "T9*a1 T9" { // on the board, and in the list
		t.Errorf("%q is reversed", reversed)
	}
	keys(t, m, "<down><enter>")
	if m.Moves()[0] != "a2" {
		t.Error(m.Moves())
	}
	keys(t, m, "<enter>")
	expect(t, m, "type a move")
}

// TestUndo checks that, against the machine, undo goes back to the user's own previous
// move, redo repeats the moves, and a new move discards those taken back.
func TestUndo(t *testing.T) {
	m := start(t, "connectn width=4 height=4 connect=4", func(o *Options) { o.Seats = youFirst })
	keys(t, m, "00")
	if len(m.Moves()) != 4 {
		t.Fatal(m.Moves())
	}
	all := strings.Join(m.Moves(), " ")
	for _, tt := range []struct {
		keys string
		at   int
	}{{"u", 2}, {"u", 0}, {"u", 0}, {"r", 2}, {"r", 4}, {"r", 4}, {"uu", 0}} {
		keys(t, m, tt.keys)
		if got := len(m.History().Names()); got != tt.at || strings.Join(m.Moves(), " ") != all {
			t.Errorf("%s: at %d of %v, want %d", tt.keys, got, m.Moves(), tt.at)
		}
	}
	for _, first := range []string{"3", "0"} { // the machine answers also the move that was made before
		keys(t, m, "uu"+first)
		if len(m.Moves()) != 2 || m.Moves()[0] != first {
			t.Error(m.Moves())
		}
	}
}

// TestSecond checks that the machine begins if the user plays second, and that it waits
// after an undo to the initial position.
func TestSecond(t *testing.T) {
	m := start(t, "connectn width=4 height=4 connect=4", func(o *Options) { o.Seats = youSecond })
	if len(m.Moves()) != 1 {
		t.Fatal(m.Moves())
	}
	keys(t, m, "u")
	expect(t, m, "X (machine) is paused: Space resumes")
	keys(t, m, "<space>")
	if len(m.Moves()) != 1 || m.History().Turn() != game.Second {
		t.Error(m.Moves())
	}
	keys(t, m, "c") // now the machine is O
	if len(m.Moves()) != 2 || m.People != *youFirst {
		t.Error(m.Moves(), m.People)
	}
	keys(t, m, "n3c")
	expect(t, m, "there is no machine to swap sides with")
}

// TestWatch checks that the machine plays itself to the end, and that an undo stops it.
func TestWatch(t *testing.T) {
	m := start(t, three, func(o *Options) { o.Seats = watching })
	expect(t, m, "a tie after 9 moves")
	keys(t, m, "u")
	expect(t, m, "X (machine) is paused")
	// An undo takes back one move, because no person plays.
	for _, tt := range []struct {
		key string
		at  int
	}{{"u", 7}, {"u", 6}, {"r", 7}, {"u", 6}} {
		keys(t, m, tt.key)
		if got := len(m.History().Names()); got != tt.at || len(m.Moves()) != 9 {
			t.Fatalf("%s: after %d of %d moves, want %d", tt.key, got, len(m.Moves()), tt.at)
		}
	}
	keys(t, m, "<space>")
	expect(t, m, "a tie after 9 moves")
}

// TestWatchUndo checks that an undo while the machine is thinking stops it, and that its
// move is ignored, whenever it comes.
func TestWatchUndo(t *testing.T) {
	m := start(t, three, func(o *Options) { o.Seats = watching })
	keys(t, m, "uu")
	thinking := m.key(press("<space>"))
	if !m.Thinking() || thinking == nil {
		t.Fatal("no machine thinks")
	}
	keys(t, m, "u")
	perform(t, m, thinking)
	if got := len(m.History().Names()); got != 6 || m.Thinking() || !m.Waits() {
		t.Errorf("after %d moves, thinking: %v, waiting: %v, want 6, and nothing to go on", got, m.Thinking(), m.Waits())
	}
	expect(t, m, "X (machine) is paused: Space resumes")
	keys(t, m, "<space>")
	expect(t, m, "a tie after 9 moves")
}

// TestNewGame checks the choices of a new game.
func TestNewGame(t *testing.T) {
	for _, tt := range []struct {
		keys  string
		seats [2]bool
		moves int
	}{
		{"1", *youFirst, 0}, {"<enter>", *youFirst, 0}, {"2", *youSecond, 1}, {"3", *twoPeople, 0}, {"4", *watching, 9}, {"9<esc>", *youFirst, 0},
		{"30n<enter>", *twoPeople, 0}, {"30n2", *youSecond, 1}, {"30n<esc>", *twoPeople, 1},
	} {
		m := start(t, three, func(o *Options) { o.Seats = nil })
		expect(t, m, " 1     you move first\n")
		keys(t, m, tt.keys)
		if m.People != tt.seats || len(m.Moves()) != tt.moves || m.mode != playing {
			t.Errorf("%s: %v, %v, mode %d", tt.keys, m.People, m.Moves(), m.mode)
		}
	}
}

// TestLevels checks that the level of the machine can be raised and lowered within its
// range.
func TestLevels(t *testing.T) {
	m := start(t, three, func(o *Options) { o.Seats, o.Level = youFirst, "grandmaster" })
	expect(t, m, "machine: grandmaster")
	for _, tt := range []struct{ keys, words string }{
		{"+", "perfect"}, {"-", "grandmaster"}, {"-----------", "random"}, {"+", "beginner"}, {"=", "novice"}, {"+++++++++++", "perfect"},
	} {
		keys(t, m, tt.keys)
		expect(t, m, "machine: "+tt.words)
	}
	for name, tab := range map[string]*table.Table{"club": nil, "perfect": solved.Table(t, solved.Game(t, three))} {
		m := newModel(Options{Game: solved.Game(t, three), Table: tab, Seats: youFirst})
		m.arrive()
		expect(t, m, "machine: "+name)
		m.close()
	}
}

// TestHint checks that a hint selects the best move, and that a game has no values until it is analysed.
func TestHint(t *testing.T) {
	m := start(t, three, func(o *Options) { o.Seats = youFirst })
	m.Paused = true
	keys(t, m, "0h") // it is the turn of the machine
	expect(t, m, "O (machine) is to move")
	m.People = *twoPeople
	keys(t, m, "102h")
	expect(t, m, "X to move. Hint: 0")
	if got := text(m); strings.Contains(got, "win") || strings.Contains(got, "W1") {
		t.Errorf("a game has values:\n%s", got)
	}
	keys(t, m, "a")
	expect(t, m, "X: win in 1")
	expect(t, m, "*0 W1")
	keys(t, m, "ah<enter>")
	expect(t, m, "X has won after 5 moves")
}

// TestResign checks that the end of a game by resignation is judged, and can be analysed.
func TestResign(t *testing.T) {
	m := start(t, three, func(o *Options) { o.Seats = youFirst })
	keys(t, m, "g")
	expect(t, m, "resign: only a person who is to move can resign, after the")
	keys(t, m, "0g")
	expect(t, m, "you have lost after 2 moves: X (you) resigned")
	expect(t, m, "X: 1 move, 0 mistakes.")
	keys(t, m, "0a")
	expect(t, m, "X to move")
	expect(t, m, "X: ")
	keys(t, m, "2u")
	if len(m.History().Names()) != 2 {
		t.Error(m.History().Names())
	}
}

// TestKeysOfMoves checks that a letter with which moves begin has another key, which the help names.
func TestKeysOfMoves(t *testing.T) {
	m := start(t, "dobutsu", func(o *Options) { o.Seats, o.Level = youFirst, "beginner" })
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 40})
	perform(t, m, m.play(m.moves[0].Name))
	keys(t, m, "G")
	if m.input.Value() != "G" {
		t.Errorf("%q is typed", m.input.Value())
	}
	keys(t, m, "<esc>")
	expect(t, m, "alt+g resign")
	keys(t, m, "<alt+g>")
	expect(t, m, "you have lost after 2 moves")
}

// TestScroll scrolls a review that does not fit, to its end and back.
func TestScroll(t *testing.T) {
	m := start(t, "connectn width=4 height=4 connect=3", nil)
	m.Update(tea.WindowSizeMsg{Width: 50, Height: 20})
	keys(t, m, "0031222100")
	if len(session.Mistakes(m.History(), m.judged)) < 3 {
		t.Fatal("too few mistakes")
	}
	first := text(m)
	mistakes := session.Mistakes(m.History(), m.judged)
	last := strings.Fields(mistakes[len(mistakes)-1])
	end := strings.Join(last[len(last)-2:], " ")
	if strings.Contains(first, end) {
		t.Errorf("the end of the review is visible:\n%s", first)
	}
	keys(t, m, strings.Repeat("<down>", 100))
	expect(t, m, end)
	keys(t, m, strings.Repeat("<up>", 100))
	if got := text(m); got != first {
		t.Errorf("%s\nwant\n%s", got, first)
	}
	m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if text(m) == first {
		t.Error("the wheel does not scroll")
	}
}

// TestPractise puts a mistake of a play right at the second try.
func TestPractise(t *testing.T) {
	m := start(t, three, nil)
	keys(t, m, "p")
	expect(t, m, "mistakes are found at the end of a game")
	keys(t, m, "01010")
	expect(t, m, "X: 3 moves, 0 mistakes. O: 2 moves, 1 mistake.")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 8}) // the list of mistakes gives way
	expect(t, m, "was best and ties in 8 (2 2 0 0 2 1 …).")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, step := range []struct{ keys, says string }{
		{"p", "Mistake 1 of 1. Find a move with which O"}, {"1", "1 is wrong: lose in 8. Try another"}, {"2", "2 is right: tie in 8."}, {"u", "2 is right"}, {"p", "0 of 1 found at the first try."},
		{"<esc>", "X has won after 5 moves"},
	} {
		keys(t, m, step.keys)
		expect(t, m, step.says)
		if values := strings.Contains(text(m), "T8"); values != strings.HasPrefix(step.says, "2 is right") {
			t.Errorf("%s: values: %v\n%s", step.keys, values, text(m))
		}
	}
}

// TestPractiseAfter begins a practice in Play: it changes only the mode of this game. The mistakes of a game are not asked in
// another one.
func TestPractiseAfter(t *testing.T) {
	m := start(t, three, nil)
	m.Analysing = false
	keys(t, m, "01010p<esc>")
	expect(t, m, "X has won after 5 moves")
	if !m.Analysing {
		t.Error("a practice does not begin an analysis")
	}
	keys(t, m, "up")
	expect(t, m, "Mistake 1 of 1.")
	keys(t, m, "<esc>uuuu1p")
	expect(t, m, "mistakes are found at the end of a game")
	keys(t, m, "n3p")
	expect(t, m, "mistakes are found at the end of a game")
	if m.Analysing {
		t.Error("the next game shows values")
	}
}

// clickOn clicks at what means this: a link, or a square.
func clickOn(t *testing.T, m *model, what any) tea.Cmd {
	t.Helper()
	if at, ok := what.(board.Place); ok {
		what = fmt.Sprintf("square %d %d", at[0], at[1])
	}
	for y, line := range cells(m) {
		for x, c := range line {
			if c.Link.URL == what {
				_, cmd := m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
				return cmd
			}
		}
	}
	t.Fatalf("nothing to click at for %v:\n%s", what, text(m))
	return nil
}

// TestPaths draws boards of points with their lines, and hands; a piece moves by clicks on what its name
// contains: its square or hand, the next one, and a piece that it takes.
func TestPaths(t *testing.T) {
	clicked := func(spec string, squares ...board.Place) *model { // without the search of the positions
		m := newModel(Options{Game: solved.Game(t, spec), Search: search.Options{Memory: 1 << 20}, Seats: twoPeople})
		t.Cleanup(m.close)
		m.Analysing = true
		m.Init()
		for _, square := range squares {
			clickOn(t, m, square)
		}
		return m
	}
	m := clicked("mills men=3", board.Place{0, 0}, board.Place{4, 4}, board.Place{0, 2}, board.Place{2, 4})
	for _, line := range []string{" a       b       c ", " 3   W───────.───────. ", " │   ╲   │   ╱   │ ", " 1               1"} {
		expect(t, m, line)
	}
	clickOn(t, m, board.Place{0, 4})
	clickOn(t, m, board.Place{4, 4})
	if got := strings.Join(m.Moves(), " "); got != "a3 c1 a2 b1 a1xc1" {
		t.Error(got)
	}
	m = clicked("dobutsu", board.Place{1, 3}, board.Place{1, 2}, board.Place{2, 1}, board.Place{1, 2}, board.Place{2, 5}, board.Place{0, 3})
	if got := strings.Join(m.Moves(), " "); got != "Cb3b2 Ec1b2 C*a3" {
		t.Error(got)
	}
}

// TestMouse checks clicks on columns, squares, moves of the list and keys.
func TestMouse(t *testing.T) {
	at := func(m *model, what any) tea.Cmd { return clickOn(t, m, what) }
	m := start(t, three, nil)
	for _, what := range []any{board.Place{1, 0}, board.Place{2, 3}, "move 0", "key U"} {
		perform(t, m, at(m, what))
	}
	if got := strings.Join(m.Moves(), " "); got != "1 2 0" || len(m.History().Names()) != 2 {
		t.Error(got, m.History().Names())
	}
	m = start(t, "quickcross width=2 height=2 connect=2", nil)
	perform(t, m, at(m, board.Place{1, 1}))
	expect(t, m, "2 moves here")
	if m.moves[m.selected].Name != "b2-" {
		t.Error(m.selected)
	}
	perform(t, m, at(m, board.Place{1, 1}))
	perform(t, m, at(m, board.Place{0, 1})) // no move changes both squares
	if m.moves[m.selected].Name != "a2-" {
		t.Error(m.selected)
	}
	perform(t, m, at(m, board.Place{0, 1}))
	keys(t, m, "<enter>")
	if m.Moves()[0] != "a2|" {
		t.Error(m.Moves())
	}
	m = start(t, "dodgem size=3", nil)
	perform(t, m, at(m, board.Place{0, 0}))
	perform(t, m, at(m, board.Place{1, 0}))
	if len(m.Moves()) != 1 || m.Moves()[0] != "a1r" {
		t.Error(m.Moves())
	}
	m = start(t, "mancala pits=3 stones=1", nil)
	perform(t, m, at(m, board.Place{1, 2}))
	perform(t, m, at(m, board.Place{1, 2})) // the other row is to move
	expect(t, m, "there is no move")
	perform(t, m, at(m, board.Place{1, 0}))
	if got := strings.Join(m.Moves(), " "); got != "0 6" {
		t.Error(got)
	}
	perform(t, m, at(m, board.Place{2, 0}))
	expect(t, m, "there is no move")
	perform(t, m, at(m, "key N"))
	perform(t, m, at(m, "key 3"))
	if m.mode != playing || len(m.Moves()) != 0 {
		t.Error(m.mode, m.Moves())
	}
}

// TestHelp checks that the help fits, with scrolling if necessary.
func TestHelp(t *testing.T) {
	m := start(t, three, nil)
	m.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	keys(t, m, "?")
	expect(t, m, " ? help        left      select a move\n Q quit        right     to the right\n")
	keys(t, m, strings.Repeat("<down>", 10))
	expect(t, m, " A name of one character is played at\n once, a longer one with Enter. Several\n")
	keys(t, m, strings.Repeat("<down>", 200))
	expect(t, m, "  0 1 2 3 4 5 6\n esc back") // the end of the rules
	keys(t, m, "<up><up>")
	if strings.Contains(text(m), "0 1 2 3") {
		t.Error("up does nothing")
	}
	end := m.page.YOffset()
	m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if m.page.YOffset() >= end || m.mode != helping {
		t.Error("the wheel does nothing", m.page.YOffset(), m.mode)
	}
	keys(t, m, "<esc>0")
	if m.mode != playing || len(m.Moves()) != 1 {
		t.Error(m.mode, m.Moves())
	}
	keys(t, m, "?")
	clickOn(t, m, "key esc")
	if m.mode != playing {
		t.Error("a click does not close the help")
	}
}

// TestFiles checks that games are saved one after the other and continued, with the names
// of the players.
func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "games")
	m := start(t, three, func(o *Options) { o.Seats = youFirst })
	keys(t, m, "0")
	keys(t, m, "s") // the name that is offered is replaced
	m.Update(tea.PasteMsg{Content: name + "\n"})
	expect(t, m, "save in: ")
	keys(t, m, "<enter>")
	expect(t, m, "saved in")
	keys(t, m, "0s<enter>n1o<enter>")
	if m.message != "the last game of "+name || len(m.Moves()) != 4 || m.People != *youFirst || m.History().Turn() != game.First {
		t.Error(m.message, m.Moves(), m.People)
	}
	text, err := os.ReadFile(name)
	if err != nil || strings.Count(string(text), `"result":"none","reason":"adjourned"`) != 2 {
		t.Errorf("%s, %v", text, err)
	}
	again := start(t, three, func(o *Options) { o.Kept, o.Seats = name, nil })
	if len(again.Moves()) != 4 || again.mode != playing {
		t.Error(again.Moves(), again.mode)
	}
	keys(t, again, "c")
	if len(again.Moves()) != 5 {
		t.Error("the machine does not go on", again.Moves())
	}
}

// TestFilesRefused checks that a file in another format, or of another game, is refused and
// left unchanged.
func TestFilesRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write("text", "hello\n")
	write("empty", "\n")
	write("other", `{"spec":"mnk width=3 height=3 connect=3","first":"A","second":"B","moves":["b2"],"result":"none","reason":"adjourned"}`)
	t.Chdir(dir)
	for _, tt := range []struct{ keys, message string }{
		{"stext<enter>", "text:1: expected a line of JSON: invalid character 'h' looking for beginning of value"},
		{"otext<enter>", "text:1: expected a line of JSON: invalid character 'h' looking for beginning of value"},
		{"oempty<enter>", "empty: the file has no games"},
		{"oother<enter>", "other: expected " + three + ", found mnk width=3 height=3 connect=3"},
		{"onone<enter>", "open none: no such file or directory"},
		{"snone/such<enter>", "open none/such: no such file or directory"},
		{"oempty<esc>", ""},
		{"sempty<enter>", "saved in empty"},
		{"sother<enter>", "saved in other"},
	} {
		m := start(t, three, nil)
		keys(t, m, tt.keys[:1]+tt.keys[1:])
		if m.message != tt.message || m.mode != playing {
			t.Errorf("%s: %q, want %q", tt.keys, m.message, tt.message)
		}
	}
	if text, _ := os.ReadFile("text"); string(text) != "hello\n" {
		t.Errorf("%q", text)
	}
}

// TestProgress checks that a search of half a second or more changes the screen before it ends.
func TestProgress(t *testing.T) {
	m := newModel(Options{Game: solved.Game(t, "connectn width=8 height=7 connect=4"), Seats: twoPeople})
	defer m.close()
	m.Analysing = true
	sent := make(chan tea.Msg, 1000)
	m.send = func(msg tea.Msg) { sent <- msg }
	for cmd := m.arrive(); len(sent) == 0; {
		if m.advice.Time > 10*time.Second {
			t.Fatal("no search reported its work")
		}
		_, cmd = m.Update(cmd())
	}
	m.advice.Nodes = 0
	m.Update(<-sent)
	if m.advice.Nodes == 0 {
		t.Error("no positions")
	}
	expect(t, m, " ahead, "+numfmt.Number(m.advice.Nodes))
}

// TestLate checks that background work for an earlier position is cancelled and its results
// are ignored, and that a search that would take an hour does not block anything.
func TestLate(t *testing.T) {
	o := Options{Game: solved.Game(t, "connectn width=7 height=6 connect=4"), Search: search.Options{Memory: 4 << 20}, Seats: youSecond}
	m := newModel(o)
	m.levels[m.level] = player.Level{Name: "slow", Time: time.Hour}
	defer m.close()
	cmd := m.arrive()
	ctx, turn := m.ctx, m.turn
	if !m.Thinking() {
		t.Fatal("the machine does not think")
	}
	done := make(chan tea.Msg)
	go func() { done <- cmd() }()
	expect(t, m, "X (machine) is thinking")
	m.key(press("n"))
	if ctx.Err() == nil {
		t.Error("it was not asked to stop")
	}
	m.Update(<-done)
	m.Update(result{turn, func() tea.Cmd { return m.play("3") }})
	if len(m.Moves()) != 0 {
		t.Error("its result is used", m.Moves())
	}
	m.search = func(context.Context, game.Position, search.Limit) (search.Result, error) {
		return search.Result{}, errors.New("tired")
	}
	perform(t, m, m.key(press("2")))
	expect(t, m, "machine: tired")
	expect(t, m, "X (machine) is paused")
}

// TestTableFails checks that a table that cannot be read is reported, and that a search
// replaces it.
func TestTableFails(t *testing.T) {
	tab := solved.Table(t, solved.Game(t, three))
	tab.Close()
	m := start(t, three, func(o *Options) { o.Table, o.Seats = tab, youSecond })
	keys(t, m, "a")
	expect(t, m, "Search: ")
	expect(t, m, "already closed.")
	if len(m.Moves()) != 1 {
		t.Error(m.Moves())
	}
}

// FuzzKeys checks that any input leaves a play by the rules, and a valid screen.
func FuzzKeys(f *testing.F) {
	f.Add("0 1u\x03", uint8(0))
	f.Add("a1-+vnx2 <h", uint8(1))
	specs := []string{three, "quickcross width=2 height=2 connect=2", "mancala pits=2 stones=1", "dodgem size=2"}
	names := []string{"<enter>", "<esc>", "<left>", "<right>", "<up>", "<down>", "<tab>", "<shift+tab>", "<backspace>", "<space>", "", "<ctrl+l>", "<ctrl+u>"}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		m := newModel(Options{Game: solved.Game(t, specs[int(which)%len(specs)]), Search: search.Options{Memory: 1 << 16}, Parse: all.Kinds().Parse})
		defer m.close()
		m.arrive()
		for _, r := range text {
			if r < ' ' {
				m.key(press(names[int(r)%len(names)]))
			} else {
				m.key(press(string(r)))
			}
			m.click(int(r)%80, int(r)/80%24)
			m.draw()
		}
		h := player.NewHistory(m.g)
		for _, name := range m.Moves() {
			if err := h.Play(name); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestControlCharacters checks that the text of an error, and a file name, cannot send control sequences to the
// terminal.
func TestControlCharacters(t *testing.T) {
	styles := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	check := func(m *model, part string) {
		t.Helper()
		screen := styles.ReplaceAllString(m.View().Content, "")
		if strings.ContainsFunc(screen, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }) || !strings.Contains(screen, part) {
			t.Errorf("the screen is %q", screen)
		}
	}
	m := start(t, three, nil)
	m.show("", errors.New("open \x1b[2J\u009b2J\x1b]8;;x\x07\n: no such file"))
	check(m, "no such file")
	keys(t, m, "s")
	for _, where := range []string{"", "<left>", "<left>"} { // also below the cursor
		m.Update(tea.PasteMsg{Content: "a\x1b[2J\u009b\u202e\u200bb\x07"})
		keys(t, m, where)
		check(m, "save in: a")
	}
}

// TestFileNameStays checks that a move of the machine does not clear a file name that is being typed.
func TestFileNameStays(t *testing.T) {
	m := start(t, three, func(o *Options) { o.Seats = youFirst })
	move := m.key(press("0"))
	keys(t, m, "sab")
	perform(t, m, move)
	if m.input.Value() != "ab" || m.mode != naming || len(m.Moves()) != 2 {
		t.Error(m.input.Value(), m.mode, m.Moves())
	}
	keys(t, m, "<esc>1<backspace>")
	if m.input.Value() != "" || m.message != "" && m.bad {
		t.Error(m.input.Value(), m.message)
	}
}

// TestFileName checks that a file name can be edited, and that one is offered.
func TestFileName(t *testing.T) {
	m := start(t, three, nil)
	for _, tt := range []struct{ keys, name string }{
		{"s", ""}, {"sab<backspace>x", "ax"}, {"sab<left>c", "acb"}, {"sab<ctrl+u>d e", "d e"}, {"o", ""},
	} {
		keys(t, m, tt.keys)
		expect(t, m, cmp.Or(tt.name, "games.txt"))
		if got := m.input.Value(); got != tt.name || m.mode != naming {
			t.Errorf("%s: %q, want %q", tt.keys, got, tt.name)
		}
		keys(t, m, "<esc>")
		if m.mode != playing {
			t.Errorf("%s: mode %d after Esc", tt.keys, m.mode)
		}
	}
}

// TestPaste checks that pasted moves are played, in one piece and as fast input, and that those that
// are not legal, or not a person's, are refused.
func TestPaste(t *testing.T) {
	for _, test := range []struct {
		spec, text string
		seats      [2]bool
		want       string // the moves
		says       string
	}{
		{"connectn width=4 height=4 connect=4", "0,1, 2\n3", [2]bool{true, true}, "0 1 2 3", ""},
		{"connectn width=4 height=4 connect=4", "0 7 1", [2]bool{true, true}, "0", "7"},
		{"connectn width=4 height=4 connect=4", "0 1", [2]bool{true, false}, "0", "is to move"},
		{"network", "24 34,11\r\n", [2]bool{true, true}, "24 34 11", ""},
	} {
		for _, pasted := range []bool{true, false} {
			if !pasted && test.says != "" {
				continue // keys may be commands
			}
			m := newModel(Options{Game: solved.Game(t, test.spec), Search: search.Options{Memory: 1 << 20}, Seats: &test.seats})
			t.Cleanup(m.close)
			m.Init()
			if pasted {
				m.Update(tea.PasteMsg{Content: test.text})
			} else {
				for _, r := range test.text {
					switch r {
					case '\r':
						m.key(press("<enter>"))
					case '\n':
						m.key(press("<ctrl+j>"))
					default:
						m.key(press(string(r)))
					}
				}
			}
			if got := strings.Join(m.History().Names(), " "); got != test.want || !strings.Contains(m.message, test.says) {
				t.Errorf("%s, pasted %v: %q: moves %q, want %q; message %v", test.spec, pasted, test.text, got, test.want, m.message)
			}
		}
	}
}
