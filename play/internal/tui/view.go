package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/session"
)

// A colour is one of 256 for a dark background, and one for a light background.
type colour struct{ dark, light string }

// The colours of texts; plain is the default of the terminal.
var (
	plain   = colour{}
	quiet   = colour{"245", "242"} // not important at the moment
	first   = colour{"75", "25"}   // of the player First
	second  = colour{"215", "130"} // of the player Second
	winning = colour{"114", "28"}
	losing  = colour{"210", "160"}
	tying   = colour{"221", "94"}
	drawing = colour{"117", "31"}
	warning = colour{"203", "124"}
)

// in returns the style of texts in a colour.
func (m *model) in(c colour) lipgloss.Style {
	s := lipgloss.NewStyle().Transform(visible)
	if m.o.Colourless || c == plain {
		return s
	}
	return s.Foreground(lipgloss.LightDark(m.dark)(lipgloss.Color(c.light), lipgloss.Color(c.dark)))
}

// visible replaces control characters, which must not reach the terminal. It keeps the ends of lines.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || r == '\n' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// links are the escape sequences of hyperlinks.
var links = regexp.MustCompile(`\x1b]8;[^\x07]*\x07`)

// View returns the screen. What a click means is written as the hyperlinks of texts, which are not sent to the
// terminal.
func (m *model) View() tea.View {
	v := tea.NewView(links.ReplaceAllString(m.draw().Render(), ""))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

// The layout of the screen. The panel is to the right of the board, with a gap, if there is enough
// space; otherwise below it.
const (
	margin   = 1
	gap      = 4
	panelMin = 34
	roomy    = 16 // lines, from which there is space for a title, keys and blank lines
	blank    = " "
)

// draw draws the model.
func (m *model) draw() *lipgloss.Canvas {
	return lipgloss.NewCanvas(m.width, m.height).Compose(lipgloss.NewCompositor(lipgloss.NewLayer(m.screen()).X(margin)))
}

// stack joins parts of the screen that are not empty.
func stack(parts ...string) string {
	return lipgloss.JoinVertical(lipgloss.Left, slices.DeleteFunc(parts, func(part string) bool { return part == "" })...)
}

// screen returns the screen without its left margin: the title and the state of the game, the board and the panel, what is
// typed, the message, and the keys. A small window has no title and blank lines, and keys only if all else fits.
func (m *model) screen() string {
	width, bold := max(0, m.width-2*margin), m.in(plain).Bold(true)
	title, keys := bold.Render(game.TitleOf(m.g)), m.help(width).ShortHelpView(m.bindings(m.mode))
	var state, body, input, message string
	var bottom, right int // of what must be visible of the body
	switch m.mode {
	case helping:
		return stack(m.page.View(), keys)
	case choosing:
		body, keys = stack(bold.Render("New game"), m.help(0).FullHelpView([][]key.Binding{m.bindings(choosing)}), blank, m.in(quiet).Render("machine: "+m.levels[m.level].Name)), ""
	default:
		c := plain
		if r, ok := m.Result(); ok {
			c = colourOf(r)
		}
		if state = m.State(); !m.Over() && !m.Thinking() && !m.MayMove() {
			state += ": Space resumes"
		}
		state = m.in(c).Bold(true).Width(width).Render(state)
		body, bottom, right = m.board(width)
		if rest := width - lipgloss.Width(body) - gap; rest >= panelMin {
			body = lipgloss.JoinHorizontal(lipgloss.Top, body, strings.Repeat(blank, gap), m.panel(rest))
		} else {
			body = stack(body, blank, m.panel(width))
		}
	}
	if m.mode == naming || m.input.Value() != "" {
		input = m.input.View()
	}
	if m.message != "" {
		message = m.in(map[bool]colour{true: warning, false: plain}[m.bad]).Width(width).Render(m.message)
	}
	head, foot := stack(title, state, blank), stack(blank, input, message, keys)
	if m.height < roomy {
		if head, foot = state, stack(input, message); lipgloss.Height(stack(head, body, foot)) < m.height {
			foot = stack(foot, keys)
		}
	}
	v := viewport.New(viewport.WithWidth(width), viewport.WithHeight(max(0, m.height-strings.Count(stack(head, ".", foot), "\n"))))
	v.SetContent(body)
	v.SetYOffset(max(m.scroll, bottom-v.Height()))
	v.SetXOffset(right - width)
	m.body = v
	return stack(head, v.View(), foot)
}

// help returns the help of a width; 0: any.
func (m *model) help(width int) help.Model {
	h, bold, text := help.New(), lipgloss.NewStyle().Bold(true), m.in(quiet).UnsetTransform()
	h.Styles = help.Styles{Ellipsis: text, ShortKey: bold, ShortDesc: text, FullKey: bold, FullDesc: text}
	h.ShortSeparator = "  "
	h.SetWidth(width)
	return h
}

// bindings returns the keys of a mode, disabled if they make no sense.
func (m *model) bindings(of mode) (keys []key.Binding) {
	for _, c := range commands()[of] {
		c.SetEnabled(c.when == "" || m.Can(c.when))
		if first := c.Keys()[0]; of == playing && m.initials[rune(first[0])] && len(first) == 1 {
			c.SetHelp("alt+"+strings.ToLower(first), c.Help().Desc)
		}
		keys = append(keys, c.Binding)
	}
	return keys
}

// panel returns the text beside or below the board.
func (m *model) panel(width int) string {
	var parts []string
	say := func(c colour, text string) {
		if text != "" {
			parts = append(parts, m.in(c).Width(width).Render(text))
		}
	}
	if m.Practice != nil {
		task, verdict := m.Asked(m.advice)
		say(plain, task)
		say(plain, verdict)
		say(quiet, "P: the next one; Esc: the end")
	}
	if a := m.advice; m.Shows(m.advice) && !m.Over() {
		say(m.colour(a.Worth), m.Said(a))
		if a.Best >= 0 {
			say(plain, "best: "+strings.Join(append([]string{a.Moves[a.Best].Name}, a.Line[min(1, len(a.Line)):]...), " "))
		}
		say(quiet, session.Capital(a.Why(m.g)))
		say(quiet, session.Source(a))
	}
	if names := m.History().Names(); len(names) > 0 {
		say(quiet, "last: "+names[len(names)-1]+" by "+m.Who(m.History().Mover(len(names)-1)))
	}
	if m.Persons() < 2 {
		say(quiet, "machine: "+m.levels[m.level].Name)
	}
	if m.height >= roomy {
		say(plain, blank)
	}
	switch {
	case !m.Over():
		if parts = append(parts, m.list(width)); m.Shows(m.advice) && slices.ContainsFunc(m.advice.Moves, func(o analysis.Move) bool { return o.Known }) {
			say(quiet, "W7: win in 7 moves; L loss, T tie")
		}
	case m.judged == nil:
		say(quiet, "looking for mistakes …")
	default:
		say(quiet, session.Judged(m.History(), m.judged))
		for _, mistake := range session.Mistakes(m.History(), m.judged) {
			say(losing, mistake)
		}
	}
	return stack(parts...)
}

// Blanks and hyphens in whole texts do not end a line.
var (
	whole  = strings.NewReplacer(" ", "\u00a0", "-", "\u2011")
	broken = strings.NewReplacer("\u00a0", " ", "\u2011", "-")
)

// list returns the list of moves: a star for the best move and the name; its value or score.
func (m *model) list(width int) string {
	var list []string
	for i, mv := range m.moves {
		text, c := " "+mv.Name, plain
		if m.Shows(m.advice) {
			w := m.advice.Moves[i].Worth
			text, c = text+" "+w.Short(m.g, m.advice.Position), m.colour(w)
			if i == m.advice.Best {
				text = "*" + text[1:]
			}
		}
		list = append(list, m.in(c).Hyperlink(fmt.Sprintf("move %d", i)).Reverse(i == m.selected).Render(whole.Replace(text)))
	}
	return broken.Replace(lipgloss.Wrap(strings.Join(list, "  "), width, ""))
}

// colourOf returns the colour of a result.
func colourOf(r game.Result) colour {
	return [...]colour{game.Draws: drawing, game.Loses: losing, game.Wins: winning, game.Ties: tying}[r]
}

// colour returns the colour of what is known of the position, or of a move.
func (m *model) colour(w analysis.Worth) colour {
	if !w.Known {
		return plain
	}
	return colourOf(analysis.ResultOf(m.g, m.advice.Position, w.Value))
}

// marks explains what the keys and the marks of moves mean.
const marks = `A name of one character is played at once, a longer one with Enter. Several moves can be pasted. Small letters are commands, too, unless a move starts with them. Where a move starts with the capital letter, too, hold Alt.

In an analysis (A), W7 means that the player to move wins in 7 moves under best play; L, T and D are a loss, a tie and a draw (play never ends); +12 and -8 are evaluations for the player to move of what is not proven, ++ and -- large ones; * is the best move, and nothing is known yet of ?. After a game, P tries your mistakes again.`

// fill adapts the input and the page of the help to the size of the screen.
func (m *model) fill() {
	width, text, keys := max(1, m.width-2*margin), m.in(plain), m.bindings(playing)
	half := slices.IndexFunc(keys, func(k key.Binding) bool { return key.Matches(tea.KeyPressMsg{Text: "left"}, k) })
	m.input.SetWidth(max(1, width-len("save in: ")-1))
	parts := []string{m.help(0).FullHelpView([][]key.Binding{keys[:half], keys[half:]}), blank, text.Width(width).Render(marks)}
	for _, part := range game.Paragraphs(game.RulesOf(m.g)) {
		style := text
		if !part.Board {
			style = style.Width(width)
		}
		parts = append(parts, blank, style.Render(part.Text))
	}
	m.page.SetWidth(width)
	m.page.SetHeight(max(0, m.height-1))
	m.page.SetContent(stack(parts...))
}
