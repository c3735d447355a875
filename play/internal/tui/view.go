package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
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
	text := links.ReplaceAllString(m.draw().Render(), "")
	if m.o.ASCII {
		text = strings.Map(func(r rune) rune {
			if r > unicode.MaxASCII {
				return '?'
			}
			return r
		}, inASCII.Replace(text))
	}
	v := tea.NewView(text)
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

// inASCII replaces characters that are not ASCII; others become question marks.
var inASCII = strings.NewReplacer(strings.Split("… . · . × x – - █ # ▉ # ▊ # ▋ # ▌ # ▍ . ▎ . ▏ . ─ - │ | ╱ / ╲ \\", " ")...)

// The position of the panel: to the right of the board, with a gap, if there is enough
// space; otherwise below it.
const (
	margin   = 1
	gap      = 3
	panelMin = 34
)

// roomy is the number of lines from which there is space for all keys and for blank lines.
const roomy = 16

// draw draws the model.
func (m *model) draw() *lipgloss.Canvas {
	screen := lipgloss.NewCompositor()
	put := func(x, y int, lines ...string) {
		screen.AddLayers(lipgloss.NewLayer(strings.Join(lines, "\n")).X(x).Y(y))
	}
	if m.mode == helping {
		put(margin, 0, m.page().View())
		put(margin, m.height-1, m.in(quiet).Render("Esc closes; arrows scroll"))
		return lipgloss.NewCanvas(m.width, m.height).Compose(screen)
	}
	b, width, blank := m.board(), m.width-2*margin, 0
	if m.height >= roomy {
		blank = 1
	}
	keys := flow(m.keys(), width)
	keys = keys[:min(1+2*blank, len(keys))]
	top, bottom := 1+blank, m.height-len(keys)
	// Below the board there is at least one line of text, or the choices of a new game. If there
	// are not enough lines, the marks below columns are left out, then the title, then the keys,
	// then a part of the board.
	left, below := margin, blank+1
	if m.mode == choosing {
		below += len(choices)
	}
	if beside := margin + b.width() + gap; m.width-beside >= panelMin {
		left, below = beside, 0
	}
	lacks := func() bool { return len(b.ys)+below > bottom-top }
	if lacks() {
		b = b.unmarked()
	}
	if lacks() {
		top = 0
	}
	if lacks() && below > 0 {
		bottom = m.height
	}
	if lacks() && below > 0 && m.mode == choosing {
		b.ys = nil
	}
	b = b.window(m.focus(), bottom-top-below, width)
	y := top
	if below > 0 {
		y += len(b.ys) + blank
	}
	// What is typed, and the message, come last in the panel, but have precedence.
	height := max(0, bottom-blank-y)
	foot := &panel{m: m, width: m.width - margin - left}
	foot.input()
	p := &panel{m: m, width: foot.width, height: max(0, height-len(foot.lines))}
	if m.mode == choosing {
		p.choices()
	} else {
		p.state(below == 0)
	}
	lines := append(p.lines[:min(p.height, len(p.lines))], foot.lines...)
	put(margin, top, m.text(b))
	put(left, y, lines[:min(height, len(lines))]...)
	if top > 0 {
		put(margin, 0, m.in(plain).Bold(true).Render(game.TitleOf(m.g)))
	}
	if bottom < m.height {
		put(margin, bottom, keys...)
	}
	return lipgloss.NewCanvas(m.width, m.height).Compose(screen)
}

// keys returns the keys and what they do.
func (m *model) keys() (keys []string) {
	for _, c := range commands {
		if c.label != "" && (c.when == "" || m.Can(c.when)) {
			link := "key:" + c.key
			keys = append(keys, m.in(plain).Bold(true).Hyperlink(link).Render(c.key+" ")+m.in(quiet).Hyperlink(link).Render(c.label))
		}
	}
	return keys
}

// flow joins texts, with two blanks between them, to lines of a width.
func flow(texts []string, width int) (lines []string) {
	for _, text := range texts {
		last := len(lines) - 1
		if last < 0 || lipgloss.Width(lines[last])+2+lipgloss.Width(text) > width {
			lines = append(lines, text)
			continue
		}
		lines[last] += "  " + text
	}
	return lines
}

// A panel is the text beside or below the board.
type panel struct {
	m             *model
	width, height int
	lines         []string
}

// add adds a text, which may have styles, and wraps it.
func (p *panel) add(text string) {
	p.lines = append(p.lines, strings.Split(lipgloss.Wrap(text, p.width, ""), "\n")...)
}

// say adds a text in a colour.
func (p *panel) say(c colour, text string) { p.add(p.m.in(c).Render(text)) }

// state adds all information on the play.
func (p *panel) state(beside bool) {
	m := p.m
	text, c := m.state()
	p.add(m.in(c).Bold(true).Render(text))
	if m.Practice != nil {
		task, verdict := m.Asked(m.advice)
		p.say(plain, task)
		p.say(plain, verdict)
		p.say(quiet, "P: the next one; Esc: the end")
	}
	if m.values() && !m.over {
		p.advice()
	}
	if names := m.History().Names(); len(names) > 0 {
		p.say(quiet, "last: "+names[len(names)-1]+" by "+m.Who(m.History().Mover(len(names)-1)))
	}
	if m.Persons() < 2 {
		p.say(quiet, "machine: "+m.levels[m.level].Words())
	}
	if beside {
		p.add("")
	}
	if m.over {
		p.mistakes()
	} else {
		p.moves()
	}
}

// mistakes adds the number of mistakes of a play that is over, and as many of them as there is space for.
func (p *panel) mistakes() {
	m := p.m
	if m.judged == nil {
		p.say(quiet, "looking for mistakes …")
		return
	}
	p.say(quiet, session.Judged(m.History(), m.judged))
	for i, j := range m.judged {
		if j.Mistake {
			p.say(losing, fmt.Sprintf("move %d: %s", i+1, session.Mistake(m.History(), i, j)))
		}
	}
}

// input adds what is being typed, and the message. The name of a file that is only offered is reversed.
func (p *panel) input() {
	m, bold := p.m, p.m.in(plain).Bold(true)
	switch {
	case m.mode == naming && m.offered:
		p.add(bold.Render(m.prompt.Prompt) + m.in(plain).Reverse(true).Render(m.prompt.Value()))
	case m.mode == naming:
		p.add(m.prompt.View())
	case m.typed != "":
		p.add(bold.Render("> " + m.typed))
	}
	if c := plain; m.message != "" {
		if m.bad {
			c = warning
		}
		p.say(c, m.message)
	}
}

// advice adds what is known of the position.
func (p *panel) advice() {
	m, a := p.m, p.m.advice
	switch {
	case a.Known:
		p.say(colourOf(analysis.ResultOf(m.g, a.Position, a.Value)), player.Who(m.g, m.History().Turn())+": "+a.Text(m.g, a.Position))
	case m.thinking:
	default:
		text := fmt.Sprintf("not proven, %s ahead", numfmt.Count(a.Depth, "move"))
		if a.Depth > 0 {
			text += ": " + scoreText(a.Score)
		}
		if !a.Done {
			text += " …"
		}
		p.say(quiet, text)
	}
	if a.Best >= 0 {
		text := m.in(plain).Render("best: ") + m.in(plain).Bold(true).Render(a.Moves[a.Best].Name)
		if len(a.Line) > 1 {
			text += m.in(quiet).Render(" " + strings.Join(a.Line[1:], " "))
		}
		p.add(text)
	}
	if why := a.Why(m.g); why != "" {
		p.say(quiet, why)
	}
	switch {
	case a.Table:
		p.say(quiet, "from the table "+m.o.TableName)
	case a.Book:
		p.say(quiet, "from the opening book")
	case a.Trouble != "":
		p.say(warning, "by search: "+a.Trouble)
	case !a.Done && a.Time > 0:
		p.say(quiet, fmt.Sprintf("by search, %s positions, %s/s", numfmt.Short(float64(a.Nodes)), numfmt.Short(float64(a.Nodes)/a.Time.Seconds())))
	default:
		p.say(quiet, "by search")
	}
}

// moves adds the moves. If there is not enough space for all, it adds those around the selected one.
func (p *panel) moves() {
	m, list, at := p.m, p.m.list(), -1
	lines := flow(list, p.width)
	if m.selected >= 0 {
		at = slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, list[m.selected]) })
	}
	p.lines = append(p.lines, window(lines, p.height-len(p.lines), at)...)
	if m.values() && slices.ContainsFunc(m.advice.Moves, func(o analysis.Move) bool { return o.Known }) {
		p.say(quiet, "W7: win in 7 moves; L loss, T tie")
	}
}

// list returns the list of moves: a star for the best move and the name; its value or score.
func (m *model) list() (list []string) {
	for i, mv := range m.moves {
		styled := func(c colour) lipgloss.Style {
			return m.in(c).Hyperlink(fmt.Sprintf("move:%d", i)).Reverse(i == m.selected)
		}
		star, value := " ", ""
		if m.values() {
			text, c := m.mark(m.advice.Moves[i].Worth)
			if value = styled(c).Render(" " + text); i == m.advice.Best {
				star = "*"
			}
		}
		list = append(list, styled(plain).Bold(true).Render(star+mv.Name)+value)
	}
	return list
}

// colourOf returns the colour of a result.
func colourOf(r game.Result) colour {
	return [...]colour{game.Draws: drawing, game.Loses: losing, game.Wins: winning, game.Ties: tying}[r]
}

// scoreText returns a score with its sign.
func scoreText(score int) string {
	if score > 0 {
		return "+" + strconv.Itoa(score)
	}
	return strconv.Itoa(score)
}

// mark returns the short form of a move's value: W, L, T or D, and the number of moves; or its
// score.
func (m *model) mark(w analysis.Worth) (string, colour) {
	switch {
	case !w.Known && w.Depth == 0:
		return "?", quiet
	case !w.Known:
		return scoreText(w.Score), plain
	}
	r := analysis.ResultOf(m.g, m.History().Position(), w.Value)
	text := r.String()[:1]
	if r != game.Draws && !w.Open {
		text += strconv.Itoa(w.Value.Remoteness())
	}
	return text, colourOf(r)
}

// state returns the state of the session in words, and their colour.
func (m *model) state() (string, colour) {
	text, c := m.State(), plain
	switch {
	case m.over && m.end.Outcome == game.Undecided:
		c = drawing
	case m.over && m.end.Outcome == game.Tie && !m.g.Values().Puzzle:
		c = tying
	case m.over && m.Persons() == 1 && m.end.Outcome != game.Tie && !m.People[m.end.Outcome.Winner()]:
		c = losing
	case m.over:
		c = winning
	case !m.thinking && !m.MayMove(): // also while a new game or a file is chosen
		text = m.Who(m.History().Turn()) + " is paused: Space resumes"
	}
	return text, c
}

// choices adds the choices of a new game.
func (p *panel) choices() {
	m := p.m
	p.add(m.in(plain).Bold(true).Render("New game"))
	for i, c := range choices {
		key := strconv.Itoa(i + 1)
		p.add(m.in(plain).Reverse(i == m.choice).Hyperlink("key:" + key).Render(key + "  " + c.words))
	}
	p.add("")
	p.say(quiet, "O continues a saved game")
	p.say(quiet, "machine: "+m.levels[m.level].Words())
}

// helpKeys is the width of the keys in the help.
const helpKeys = 9

// page returns the help, scrolled to m.scroll: keys and what they do, and the rules.
func (m *model) page() viewport.Model {
	entries := [][2]string{
		{"a-z 0-9", "type a move: a one-character name is played at once, a longer one with Enter"},
		{"arrows", "select a move; Tab selects the next one"},
		{"Enter", "play the typed or selected move"},
		{"click", "a move, a square or a key"},
		{"Esc", "clear the typed or selected move; Backspace deletes a letter"},
	}
	for _, c := range commands {
		entries = append(entries, [2]string{strings.Replace(c.key, " ", "Space", 1), c.help})
	}
	entries = append(entries,
		[2]string{"", "Lower case works too, unless a move starts with that letter."},
		[2]string{"", "Letters that start no move are rejected."},
		[2]string{},
		[2]string{"W7", "the player to move wins in 7 moves under best play"},
		[2]string{"L T D", "loss, tie, draw (play never ends)"},
		[2]string{"+12 -8", "not proven: evaluation for the player to move; ++ and -- are large ones"},
		[2]string{"* ?", "the best move; nothing known yet"})
	width, text := max(1, m.width-2*margin), m.in(plain)
	var parts []string
	for _, e := range entries {
		parts = append(parts, lipgloss.JoinHorizontal(lipgloss.Top, text.Bold(true).Width(helpKeys).Render(e[0]), text.Width(max(1, width-helpKeys)).Render(e[1])))
	}
	for _, part := range game.Paragraphs(game.RulesOf(m.g)) {
		if parts = append(parts, ""); part.Board {
			parts = append(parts, text.Render(part.Text))
		} else {
			parts = append(parts, text.Width(width).Render(part.Text))
		}
	}
	page := viewport.New(viewport.WithWidth(width), viewport.WithHeight(max(0, m.height-1)))
	page.SetContent(strings.Join(parts, "\n"))
	page.SetYOffset(m.scroll)
	return page
}
