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
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/play/internal/board"
)

// A command is the action of keys. During a play they are a capital letter, or another key, and the small letter, if no
// move of the game begins with it.
type command struct {
	key.Binding
	when string // what session.Can names if the help has the command only then
	do   func(m *model) tea.Cmd
}

// bind returns a binding of keys, of which the help has the first, as a link. A letter also has a key for games in which moves
// begin with it.
func bind(help string, keys ...string) key.Binding {
	link := lipgloss.NewStyle().Hyperlink("key " + keys[0])
	if len(keys) > 1 && strings.ToLower(keys[0]) == keys[1] {
		keys = append(keys, "alt+"+keys[1])
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(link.Render(keys[0]), link.Render(help)))
}

// commands returns the commands of each mode, in the order of the last line of the screen.
func commands() [4][]command {
	do := func(action string) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.do(action) } }
	towards := func(dx, dy int) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.selectNext(dx, dy) } }
	begin := func(people ...bool) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.begin([2]bool(people)) }
	}
	quit := command{bind("quit", "Q", "q"), "", func(*model) tea.Cmd { return tea.Quit }}
	stronger := command{bind("stronger", "+", "="), "", func(m *model) tea.Cmd { return m.grade(1) }}
	weaker := command{bind("weaker", "-"), "", func(m *model) tea.Cmd { return m.grade(-1) }}
	open := command{bind("open", "O", "o"), "", func(m *model) tea.Cmd { return m.ask("open: ", m.open) }}
	return [...][]command{
		playing: {
			{bind("help", "?"), "", (*model).explain},
			quit,
			{bind("undo", "U", "u"), "", do("undo")},
			{bind("redo", "R", "r"), "", do("redo")},
			{bind("hint", "H", "h"), "", (*model).hint},
			{bind("analyse", "A", "a"), "", func(m *model) tea.Cmd { return m.do(map[bool]string{true: "play", false: "analyse"}[m.Analysing]) }},
			{bind("sides", "C", "c"), "swap", do("swap")},
			{bind("resign", "G", "g"), "resign", do("resign")},
			{bind("practise", "P", "p"), "practise", (*model).practise},
			{bind("new", "N", "n"), "", (*model).choose},
			stronger, weaker,
			{bind("save", "S", "s"), "", func(m *model) tea.Cmd { return m.ask("save in: ", m.save) }},
			open,
			{bind("pause", "space"), "pause", func(m *model) tea.Cmd { return m.do(map[bool]string{true: "resume", false: "pause"}[m.Waits()]) }},
			{bind("select a move to the left", "left"), "", towards(-1, 0)},
			{bind("to the right", "right"), "", towards(1, 0)},
			{bind("above", "up"), "", towards(0, -1)},
			{bind("below", "down"), "", towards(0, 1)},
			{bind("select the next move", "tab"), "", towards(1, 1)},
			{bind("the one before", "shift+tab"), "", towards(-1, -1)},
			{bind("play the move", "enter", "ctrl+j"), "", (*model).enter}, // a terminal may paste the end of a line as the latter
			{bind("clear it; end a practice", "esc"), "", (*model).escape},
		},
		choosing: {
			{bind("you move first", "1"), "", begin(true, false)},
			{bind("the machine moves first", "2"), "", begin(false, true)},
			{bind("two humans", "3"), "", begin(true, true)},
			{bind("watch the machine play itself", "4"), "", begin(false, false)},
			{bind("sides as before", "enter"), "", func(m *model) tea.Cmd { return m.begin(m.People) }},
			{bind("back", "esc"), "", (*model).back},
			stronger, weaker, open, quit,
		},
		naming:  {{bind("ok", "enter"), "", (*model).name}, {bind("back", "esc"), "", (*model).back}},
		helping: {{bind("back", "esc", "?", "Q", "q"), "", func(m *model) tea.Cmd { m.mode = playing; return nil }}},
	}
}

// explain shows the help.
func (m *model) explain() tea.Cmd {
	m.mode = helping
	m.fill()
	m.page.GotoTop()
	return nil
}

// escape clears what is selected or typed, or ends a practice.
func (m *model) escape() tea.Cmd {
	if m.Practice != nil && m.selected < 0 {
		return m.do("stop")
	}
	m.selectMove(-1)
	m.show("", nil)
	return nil
}

// ask starts the input of a file name, for which do is called. It offers the one before.
func (m *model) ask(label string, do func(name string) tea.Cmd) tea.Cmd {
	m.selectMove(-1)
	m.mode, m.input.Prompt, m.named = naming, label, do
	m.show("", nil)
	return nil
}

// name ends the input of a file name.
func (m *model) name() tea.Cmd {
	m.input.Placeholder = cmp.Or(strings.TrimSpace(m.input.Value()), m.input.Placeholder)
	m.mode = playing
	m.selectMove(-1)
	return m.named(m.input.Placeholder)
}

// back goes back to the game, which goes on.
func (m *model) back() tea.Cmd {
	m.mode = playing
	return m.arrive()
}

// key handles a key: what may be the beginning of a move's name, a command, or input.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "ctrl+c":
		return tea.Interrupt
	case "ctrl+z":
		if system.CanSuspend() {
			return tea.Suspend
		}
		return nil
	case "ctrl+l":
		return tea.ClearScreen
	}
	if m.mode == playing && m.types(msg) {
		return m.typed(msg)
	}
	r, _ := utf8.DecodeRuneInString(msg.Text)
	if do := m.command(msg); do != nil && !(m.mode == playing && m.initials[r] && unicode.IsLower(r)) {
		return do(m)
	}
	switch {
	case m.mode == playing && msg.Text != "":
		m.show("", m.check(msg.Text))
	case m.mode == naming:
		m.edit(msg)
	case m.mode == helping:
		m.page, _ = m.page.Update(msg)
	}
	return nil
}

// command returns the action of a key; nil: it has none.
func (m *model) command(msg tea.KeyPressMsg) func(*model) tea.Cmd {
	for _, c := range commands()[m.mode] {
		if key.Matches(msg, c.Binding) {
			return c.do
		}
	}
	return nil
}

// types reports whether a key during a play changes what is typed. Text that no move starts with is kept if it may have been
// meant for one, so that the keys after it are not taken for a move or a command.
func (m *model) types(msg tea.KeyPressMsg) bool {
	typed, keys := m.input.Value(), m.input.KeyMap
	r, n := utf8.DecodeRuneInString(msg.Text)
	long := func(mv game.Move) bool { return utf8.RuneCountInString(mv.Name) > 1 }
	switch {
	case n == 0 || !unicode.IsPrint(r):
		return typed != "" && key.Matches(msg, keys.DeleteCharacterBackward, keys.DeleteBeforeCursor)
	case len(m.starting(typed+msg.Text)) > 0:
		return true
	case typed != "":
		return !unicode.IsUpper(r)
	}
	return m.initials[r] && m.MayMove() && slices.ContainsFunc(m.moves, long)
}

// typed changes what is typed, and selects the first move that starts with it. A name of one character is played at once, if
// no other name begins with it; a longer one needs Enter.
func (m *model) typed(msg tea.KeyPressMsg) tea.Cmd {
	if r, _ := utf8.DecodeRuneInString(msg.Text); separates(r) {
		return m.enter()
	}
	m.edit(msg)
	m.clicked, m.selected = nil, -1
	m.show("", nil)
	typed := m.input.Value()
	switch which := m.starting(typed); {
	case len(which) == 1 && m.moves[which[0]].Name == msg.Text:
		return m.play(typed)
	case len(which) > 0:
		m.selected = which[0]
	case typed != "":
		m.show("", m.check(typed))
	}
	return nil
}

// starting returns the moves whose names start with a text that is not empty, if a person is to move.
func (m *model) starting(text string) (which []int) {
	for i, mv := range m.moves {
		if text != "" && m.MayMove() && strings.HasPrefix(mv.Name, text) {
			which = append(which, i)
		}
	}
	return which
}

// edit changes what is typed.
func (m *model) edit(msg tea.Msg) {
	m.input, _ = m.input.Update(msg)
	m.input.SetValue(visible(m.input.Value()))
}

// paste handles pasted text: a part of a file name, or moves.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	switch m.mode {
	case naming:
		m.edit(msg)
	case playing:
		m.selectMove(-1)
		m.edit(msg)
		return m.enter()
	}
	return nil
}

// separates reports whether a character separates moves.
func separates(r rune) bool { return r == ',' || unicode.IsSpace(r) }

// check returns an error if a person cannot make a move.
func (m *model) check(name string) error {
	switch {
	case m.Over():
		return errors.New("the game is over: N starts a new one, U undoes a move")
	case !m.MayMove():
		return fmt.Errorf("%s is to move", m.Who(m.History().Turn()))
	case name == "":
		return errors.New("type a move, select one with the arrows, or click it")
	case !slices.ContainsFunc(m.moves, func(mv game.Move) bool { return mv.Name == name }):
		return fmt.Errorf("%q is not a move; ? lists the keys", name)
	}
	return nil
}

// enter plays the typed moves or, if nothing is typed, the selected one.
func (m *model) enter() tea.Cmd {
	names := strings.FieldsFunc(m.input.Value(), separates)
	if len(names) == 0 && m.selected >= 0 {
		names = []string{m.moves[m.selected].Name}
	} else if len(names) == 0 {
		names = []string{""}
	}
	var cmds []tea.Cmd
	for _, name := range names {
		if m.show("", m.check(name)); m.bad {
			break
		}
		cmds = append(cmds, m.play(name))
	}
	return tea.Batch(cmds...)
}

// selectMove selects a move, and clears what was typed for one, or clicked; -1: none.
func (m *model) selectMove(move int) {
	if m.selected, m.clicked = move, nil; m.mode != naming {
		m.input.Prompt = "> "
		m.input.Reset()
	}
}

// selectNext selects the next move in a direction on the board, or scrolls if there is no move. With two directions it is the next or the previous one in
// the list.
func (m *model) selectNext(dx, dy int) tea.Cmd {
	n := len(m.moves)
	switch {
	case n == 0: // the game is over, and its review may be long
		m.body.SetYOffset(m.body.YOffset() + dy)
		m.scroll = m.body.YOffset()
	case m.selected < 0 && dx+dy < 0:
		m.selectMove(n - 1)
	case m.selected < 0:
		m.selectMove(0)
	case dx == dy:
		m.selectMove((m.selected + dx + n) % n)
	default:
		m.selectMove(board.Towards(m.spots, m.selected, dx, dy))
	}
	return nil
}

// click handles a mouse click, by the link at its place.
func (m *model) click(x, y int) tea.Cmd {
	cell := m.draw().CellAt(x, y)
	if cell == nil {
		return nil
	}
	words := append(strings.Fields(cell.Link.URL), "", "", "")
	i, _ := strconv.Atoi(words[1])
	j, _ := strconv.Atoi(words[2])
	switch words[0] {
	case "key":
		if do := m.command(tea.KeyPressMsg{Text: words[1]}); do != nil {
			return do(m)
		}
	case "move":
		m.selectMove(i)
		return m.enter()
	case "square":
		return m.clickSquare(board.Place{i, j})
	}
	return nil
}

// clickSquare selects one of the moves that the squares clicked so far can mean, or plays the only one.
func (m *model) clickSquare(at board.Place) tea.Cmd {
	squares, count, move, one := board.Click(m.spots, m.clicked, at, m.selected)
	m.selectMove(move)
	if one {
		return m.enter()
	} else if move < 0 {
		m.show("", errors.New("there is no move"))
		return nil
	}
	m.clicked = squares
	m.show(numfmt.Count(count, "move")+" here: click again for the next, Enter plays it", nil)
	return nil
}
