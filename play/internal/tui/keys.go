package tui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/play/internal/board"
)

// A command is the action of a key during a play. The small letter has the same action, if
// no move of the game begins with it.
type command struct {
	key   string // a capital letter, or another character
	label string // in the last lines of the screen; "": only in the help
	when  string // what session.Can names if the label is shown only then
	help  string
	do    func(m *model) tea.Cmd
}

// commands are listed in the order of the last lines of the screen.
var commands = []command{
	{"?", "help", "", "this list, and the rules", func(m *model) tea.Cmd { m.mode, m.scroll = helping, 0; return nil }},
	{"Q", "quit", "", "quit; so does Ctrl-C", (*model).quit},
	{"U", "undo", "", "undo the last move", func(m *model) tea.Cmd { return m.do("undo") }},
	{"R", "redo", "", "redo", func(m *model) tea.Cmd { return m.do("redo") }},
	{"H", "hint", "", "select the best move", (*model).hint},
	{"A", "analyse", "", "show the values of moves; again: play without them", (*model).analyse},
	{"C", "sides", "swap", "swap sides with the machine", func(m *model) tea.Cmd { return m.do("swap") }},
	{"G", "resign", "resign", "give up the game", func(m *model) tea.Cmd { return m.do("resign") }},
	{"P", "practise", "practise", "after a game: try the mistakes again; then: the next one", (*model).practise},
	{"N", "new", "", "start a new game", func(m *model) tea.Cmd {
		m.mode = choosing
		m.choice = choiceOf(m.People)
		return m.arrive()
	}},
	{"+", "stronger", "", "stronger machine", func(m *model) tea.Cmd { return m.grade(1) }},
	{"-", "weaker", "", "weaker machine", func(m *model) tea.Cmd { return m.grade(-1) }},
	{"S", "save", "", "save the game to a file", func(m *model) tea.Cmd { return m.ask("save in: ", m.save) }},
	{"O", "open", "", "continue the last game of a file", (*model).open},
	{" ", "", "", "pause or resume the machine", (*model).pause},
}

// ask starts the input of a file name, for which do is called. It offers the one before.
func (m *model) ask(label string, do func(name string) tea.Cmd) tea.Cmd {
	name, bold := cmp.Or(m.prompt.Value(), "games.txt"), m.in(plain).Bold(true)
	m.mode, m.named, m.offered, m.prompt = naming, do, true, textinput.New()
	m.prompt.Prompt, m.prompt.CharLimit = label, 1000
	m.prompt.KeyMap.Paste.SetEnabled(false) // the terminal pastes
	m.prompt.SetStyles(textinput.Styles{Focused: textinput.StyleState{Text: bold, Prompt: bold}})
	m.prompt.SetValue(name)
	m.show("", nil)
	return m.prompt.Focus()
}

// open asks for a file, and continues its last game.
func (m *model) open() tea.Cmd {
	return m.ask("open: ", func(name string) tea.Cmd { return tea.Batch(m.arrive(), m.load(name)) })
}

// key handles a key.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "ctrl+c":
		m.interrupted = true
		return tea.Quit
	case "ctrl+z":
		if system.CanSuspend() {
			return tea.Suspend
		}
		return nil
	case "ctrl+l":
		return tea.ClearScreen
	}
	switch m.mode {
	case choosing:
		return m.choosingKey(msg.String())
	case naming:
		return m.namingKey(msg)
	case helping:
		page := m.page()
		if k := page.KeyMap; !key.Matches(msg, k.Up, k.Down, k.PageUp, k.PageDown, k.HalfPageUp, k.HalfPageDown) {
			m.mode = playing
		}
		return m.turnPage(msg)
	}
	return m.playingKey(msg.String(), msg.Text)
}

// choosingKey handles a key while a new game is chosen.
func (m *model) choosingKey(name string) tea.Cmd {
	switch name {
	case "up", "shift+tab", "left":
		m.choice = (m.choice + len(choices) - 1) % len(choices)
	case "down", "tab", "right":
		m.choice = (m.choice + 1) % len(choices)
	case "enter":
		return m.begin(choices[m.choice].seats)
	case "esc":
		m.mode = playing
		return m.arrive()
	case "q", "Q":
		return m.quit()
	case "o", "O":
		return m.open()
	default:
		if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= len(choices) {
			return m.begin(choices[i-1].seats)
		}
	}
	return nil
}

// namingKey handles a key while a file name is typed.
func (m *model) namingKey(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		m.mode = playing
		if name := strings.TrimSpace(m.prompt.Value()); name != "" {
			return m.named(name)
		}
		m.show("", errors.New("expected the name of a file"))
		return nil
	case "esc":
		m.mode = playing
		return m.arrive()
	}
	return m.edit(msg, msg.Text != "")
}

// edit changes the file name by a message. Text replaces a name that is only offered.
func (m *model) edit(msg tea.Msg, text bool) (cmd tea.Cmd) {
	if m.offered && text {
		m.prompt.Reset()
	}
	m.offered = false
	m.prompt, cmd = m.prompt.Update(msg)
	m.prompt.SetValue(visible(m.prompt.Value()))
	return cmd
}

// paste handles pasted text.
func (m *model) paste(text string) tea.Cmd {
	switch m.mode {
	case naming:
		return m.edit(tea.PasteMsg{Content: text}, true)
	case playing:
		m.typed, m.clicked = "", nil
		var cmds []tea.Cmd
		for name := range strings.FieldsFuncSeq(text, separates) {
			if !m.MayMove() {
				m.show("", m.cannot(""))
				break
			}
			if !slices.ContainsFunc(m.moves, func(mv game.Move) bool { return mv.Name == name }) {
				m.show("", fmt.Errorf("%q is not a move", name))
				break
			}
			cmds = append(cmds, m.play(name))
		}
		return tea.Batch(cmds...)
	}
	return nil
}

// separates reports whether a character separates pasted moves.
func separates(r rune) bool { return r == ',' || unicode.IsSpace(r) }

// turnPage scrolls the help.
func (m *model) turnPage(msg tea.Msg) tea.Cmd {
	page, cmd := m.page().Update(msg)
	m.scroll = page.YOffset()
	return cmd
}

// arrows are the directions of keys.
var arrows = map[string][2]int{"left": {-1, 0}, "right": {1, 0}, "up": {0, -1}, "down": {0, 1}}

// playingKey handles a key during a play.
func (m *model) playingKey(name, text string) tea.Cmd {
	if d, ok := arrows[name]; ok {
		m.selectTowards(d[0], d[1])
		return nil
	}
	switch name {
	case "tab":
		m.selectNext(1)
	case "shift+tab":
		m.selectNext(-1)
	case "enter", "ctrl+j": // a terminal may paste the end of a line as the latter
		return m.enter()
	case "esc":
		if m.Practice != nil && m.selected < 0 {
			return m.do("stop")
		}
		m.selectMove(-1)
		m.show("", nil)
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.typed)
		m.typed = m.typed[:len(m.typed)-n]
		m.match()
	default:
		return m.typedKey(text)
	}
	return nil
}

// typedKey handles the text that a key types during a play: it belongs to the name of a move, or is
// a command.
func (m *model) typedKey(text string) tea.Cmd {
	r, n := utf8.DecodeRuneInString(text)
	long := func(mv game.Move) bool { return utf8.RuneCountInString(mv.Name) > 1 }
	switch {
	case n < len(text): // several characters at once
		return m.paste(text)
	case separates(r) && m.typed != "":
		return m.enter()
	case n == 0 || r == ',' || !unicode.IsPrint(r):
		return nil
	case len(m.starting(m.typed+text)) > 0, m.typed != "" && !unicode.IsUpper(r):
		return m.typeOn(text)
	case m.initials[r] && m.MayMove() && slices.ContainsFunc(m.moves, long):
		return m.typeOn(text) // refused, but kept, so that the following keys are not taken for the beginning of a name
	}
	name := strings.Replace(string(unicode.ToUpper(r)), "=", "+", 1)
	i := slices.IndexFunc(commands, func(c command) bool { return c.key == name })
	if i < 0 || m.initials[r] && unicode.IsLower(r) {
		m.show("", m.cannot(text))
		return nil
	}
	return commands[i].do(m)
}

// starting returns the moves whose names start with text, if a person is to move.
func (m *model) starting(text string) (which []int) {
	for i, mv := range m.moves {
		if m.MayMove() && strings.HasPrefix(mv.Name, text) {
			which = append(which, i)
		}
	}
	return which
}

// cannot returns an error with the reason why text is not a move.
func (m *model) cannot(text string) error {
	switch {
	case m.over:
		return errors.New("the game is over: N starts a new one, U undoes a move")
	case !m.MayMove():
		return fmt.Errorf("%s is to move", m.Who(m.History().Turn()))
	}
	return fmt.Errorf("no move starts with %q", text)
}

// maxTyped is the maximum length of the typed name of a move in bytes.
const maxTyped = 60

// typeOn appends text to the typed name of a move. A name of one character is played at
// once, if no other name begins with it; a longer one needs Enter.
func (m *model) typeOn(text string) tea.Cmd {
	if len(m.typed)+len(text) <= maxTyped {
		m.typed += text
	}
	if m.match() == 1 && utf8.RuneCountInString(m.typed) == 1 && m.moves[m.selected].Name == m.typed {
		return m.play(m.typed)
	}
	return nil
}

// match selects the first move whose name starts with the typed text, and counts such
// moves. If there is none, it shows a message.
func (m *model) match() int {
	which := m.starting(m.typed)
	m.clicked, m.selected = nil, -1
	m.show("", nil)
	switch {
	case m.typed == "":
	case len(which) == 0:
		m.show("", m.cannot(m.typed))
	default:
		m.selected = which[0]
	}
	return len(which)
}

// enter plays the typed move or, if nothing is typed, the selected one.
func (m *model) enter() tea.Cmd {
	switch {
	case !m.MayMove():
		m.show("", m.cannot(""))
	case m.typed != "" && !slices.ContainsFunc(m.moves, func(mv game.Move) bool { return mv.Name == m.typed }):
		if m.match() > 0 {
			m.show("", fmt.Errorf("%q is not a complete move", m.typed))
		}
	case m.typed != "":
		return m.play(m.typed)
	case m.selected < 0:
		m.show("", errors.New("type a move, select one with the arrows, or click it"))
	default:
		return m.play(m.moves[m.selected].Name)
	}
	return nil
}

// selectMove selects a move, and clears what was typed or clicked; -1: none.
func (m *model) selectMove(move int) { m.selected, m.typed, m.clicked = move, "", nil }

// selectNext selects the next or the previous move.
func (m *model) selectNext(by int) {
	if n := len(m.moves); m.selected < 0 && by < 0 {
		m.selectMove(n - 1)
	} else if n > 0 {
		m.selectMove((m.selected + by + n) % n)
	}
}

// selectTowards selects the next move in a direction on the board.
func (m *model) selectTowards(dx, dy int) {
	if m.selected < 0 {
		m.selectNext(dx + dy)
		return
	}
	m.selectMove(board.Towards(m.spots, m.selected, dx, dy))
}

// click handles a mouse click, by the link at its place.
func (m *model) click(x, y int) tea.Cmd {
	if m.mode == helping {
		m.mode = playing
		return nil
	}
	cell := m.draw().CellAt(x, y)
	if cell == nil {
		return nil
	}
	var at board.Place
	var i int
	if name, ok := strings.CutPrefix(cell.Link.URL, "key:"); ok {
		m.typed = ""
		return m.key(tea.KeyPressMsg{Text: name})
	} else if _, err := fmt.Sscanf(cell.Link.URL, "square:%d,%d", &at.X, &at.Y); err == nil {
		return m.clickSquare(at)
	} else if _, err := fmt.Sscanf(cell.Link.URL, "move:%d", &i); err != nil {
		return nil
	}
	m.selectMove(i)
	return m.enter()
}

// clickSquare selects among the moves that the squares clicked so far can mean. If they mean
// one, it is played. Otherwise the first is selected, and another click on the same square selects
// the next, or plays the only one.
func (m *model) clickSquare(at board.Place) tea.Cmd {
	if !m.MayMove() {
		m.show("", m.cannot(""))
		return nil
	}
	pic := m.g.Picture(m.History().Position())
	again := slices.Contains(m.clicked, at)
	squares := m.clicked
	if !again {
		squares = append(slices.Clone(m.clicked), at)
	}
	which, one := board.Meant(m.spots, pic, squares)
	if len(which) == 0 { // start over with this square
		squares = []board.Place{at}
		which, one = board.Meant(m.spots, pic, squares)
	}
	m.typed, m.clicked = "", squares
	m.show("", nil)
	switch {
	case len(which) == 0:
		m.selectMove(-1)
		m.show("", errors.New("there is no move"))
	case one || again && len(which) == 1:
		m.selectMove(which[0])
		return m.enter()
	default:
		next := 0
		if i := slices.Index(which, m.selected); again && i >= 0 {
			next = (i + 1) % len(which)
		}
		m.selected = which[next]
		m.show(numfmt.Count(len(which), "move")+" here: click again for the next, Enter plays it", nil)
	}
	return nil
}

// wheel selects the next or the previous move, or scrolls the help.
func (m *model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
	switch {
	case m.mode == helping:
		return m.turnPage(msg)
	case m.mode == playing && by != 0:
		m.selectNext(by)
	}
	return nil
}
