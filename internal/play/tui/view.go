package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/analysis"
	"github.com/treereduce/treereduce/internal/play/board"
	"github.com/treereduce/treereduce/internal/play/player"
)

// View returns the screen.
func (m *model) View() tea.View {
	colours := onDark
	switch {
	case m.o.Colourless:
		colours = without
	case !m.dark:
		colours = onLight
	}
	v := tea.NewView(m.draw().render(colours))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

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
func (m *model) draw() *screen {
	s := newScreen(m.width, m.height)
	if m.mode == helping {
		m.drawHelp(s)
		return s
	}
	s.put(margin, 0, m.g.Spec(), style{bold: true})
	blank := 0 // blank lines between the parts
	if m.height >= roomy {
		blank = 1
	}
	width, bottom := m.drawBoard(s, margin, 1+blank)
	keys := m.drawKeys(s)
	p := &panel{screen: s, left: margin, x: margin, y: bottom + blank, right: m.width - margin, bottom: keys - blank}
	if beside := margin + width + gap; m.width-beside >= panelMin {
		p.left, p.x, p.y = beside, beside, 1+blank
	}
	if m.mode == choosing {
		m.drawChoices(p)
	} else {
		m.drawState(p)
	}
	return s
}

// A panel is a part of the screen for text, which is wrapped at the right edge.
type panel struct {
	*screen
	left, right, bottom int // columns left to right-1; lines up to bottom-1
	x, y                int // where the next word is written
}

// word writes a word. If press is not nil, a click on the word means press.
func (p *panel) word(text string, how style, press any) {
	n := utf8.RuneCountInString(text)
	if p.x > p.left && p.x+n > p.right {
		p.end()
	}
	if p.y < p.bottom {
		p.put(p.x, p.y, text, how)
		if press != nil {
			p.zone(p.y, p.x, p.x+n, press)
		}
	}
	p.x += n + 1
}

// words writes the words of a text.
func (p *panel) words(text string, how style) {
	for _, w := range strings.Fields(text) {
		p.word(w, how, nil)
	}
}

// line writes words and ends the line.
func (p *panel) line(text string, how style) {
	if text != "" {
		p.words(text, how)
		p.end()
	}
}

// end ends the line.
func (p *panel) end() { p.x, p.y = p.left, p.y+1 }

// drawKeys writes the keys into the last lines, and returns the first of these lines.
func (m *model) drawKeys(s *screen) int {
	lines := 1
	if m.height >= roomy {
		lines = min(3, m.keysFrom(newScreen(m.width, 0), 0, 0))
	}
	m.keysFrom(s, m.height-lines, m.height)
	return m.height - lines
}

// keysFrom writes the keys into the lines from y to bottom-1, and returns the number of
// lines needed.
func (m *model) keysFrom(s *screen, y, bottom int) int {
	p := &panel{screen: s, left: margin, x: margin, y: y, right: m.width - margin, bottom: bottom}
	for _, c := range commands {
		if c.label == "" {
			continue
		}
		if p.x > p.left && p.x+len(c.key)+1+len(c.label) > p.right {
			p.end()
		}
		p.word(c.key, style{bold: true}, c.key)
		p.word(c.label, style{tone: quiet}, c.key)
		p.x++
	}
	return p.y + 1 - y
}

// toneOf returns the tone for a result.
func toneOf(r game.Result) tone {
	return [...]tone{game.Draws: drawing, game.Loses: losing, game.Wins: winning, game.Ties: tying}[r]
}

// mark returns the short form of a move's value: W, L, T or D, and the number of moves.
func (m *model) mark(w analysis.Worth) (string, tone) {
	if !w.Known {
		return "?", quiet
	}
	r := analysis.ResultOf(m.g, m.h.Position(), w.Value)
	text := r.String()[:1]
	if r != game.Draws && !w.Open {
		text += strconv.Itoa(w.Value.Remoteness())
	}
	return text, toneOf(r)
}

// worth describes the value of the position from the point of view of the user.
func (m *model) worth(w analysis.Worth) string {
	r, mover := analysis.ResultOf(m.g, m.h.Position(), w.Value), m.h.Turn()
	var text string
	switch {
	case r == game.Draws:
		return "a draw: play never ends"
	case r == game.Ties:
		text = "tie"
	case m.people() != 1:
		if r == game.Loses {
			mover = mover.Other()
		}
		text = player.Who(m.g, mover) + " wins"
	case m.seats[mover] == (r == game.Wins):
		text = "you win"
	default:
		text = "you lose"
	}
	if !w.Open {
		text += " in " + strconv.Itoa(w.Value.Remoteness())
	}
	return text
}

// state describes whose turn it is, or how play has ended.
func (m *model) state() (string, tone) {
	turn := m.h.Turn()
	switch {
	case m.over:
		return m.end()
	case m.thinking:
		return m.who(turn) + " is thinking …", normal
	case !m.seats[turn]:
		return m.who(turn) + " is paused: Space resumes", normal
	}
	return m.who(turn) + " to move", normal
}

// end describes how play has ended.
func (m *model) end() (text string, how tone) {
	after := fmt.Sprintf(" after %d moves", len(m.h.Names()))
	switch o := m.ended.Outcome; {
	case o == game.Undecided:
		return fmt.Sprintf("a draw (%s)", m.ended.Reason) + after, drawing
	case o == game.Tie:
		return "a tie" + after, tying
	default:
		winner := game.Player(game.FirstWins - o)
		switch {
		case m.people() != 1:
			return player.Who(m.g, winner) + " has won" + after, winning
		case m.seats[winner]:
			return "you have won" + after, winning
		}
		return "you have lost" + after, losing
	}
}

// drawState writes all information on the play.
func (m *model) drawState(p *panel) {
	text, how := m.state()
	p.line(text, style{tone: how, bold: true})
	if m.marks && !m.over {
		m.drawAdvice(p)
	}
	if names := m.h.Names(); len(names) > 0 {
		p.line("last: "+names[len(names)-1]+" by "+m.who(m.h.Mover(len(names)-1)), style{tone: quiet})
	}
	if m.people() < 2 {
		p.line("machine: "+m.levels[m.level].words, style{tone: quiet})
	}
	switch {
	case m.mode == saving:
		p.line("save in: "+m.prompt+"_", style{bold: true})
	case m.mode == loading:
		p.line("open: "+m.prompt+"_", style{bold: true})
	case m.typed != "":
		p.line("> "+m.typed, style{bold: true})
	}
	if how := (style{}); m.message != "" {
		if m.bad {
			how.tone = warning
		}
		p.line(m.message, how)
	}
	if p.left != margin {
		p.end()
	}
	m.drawMoves(p)
}

// drawAdvice writes what is known of the position.
func (m *model) drawAdvice(p *panel) {
	a := m.advice
	switch {
	case a.Known:
		p.line(m.worth(a.Worth), style{tone: toneOf(analysis.ResultOf(m.g, a.Position, a.Value))})
	case m.thinking:
	case a.Done:
		p.line(fmt.Sprintf("not proven, %d moves ahead", a.Depth), style{tone: quiet})
	default:
		p.line(fmt.Sprintf("not proven, %d moves ahead …", a.Depth), style{tone: quiet})
	}
	if a.Best >= 0 {
		p.words("best:", style{})
		p.words(a.Moves[a.Best].Name, style{bold: true})
		if m.line && len(a.Line) > 1 {
			p.words(strings.Join(a.Line[1:], " "), style{tone: quiet})
		}
		p.end()
	}
	switch {
	case a.Table:
		p.line("from the table "+m.o.TableName, style{tone: quiet})
	case a.Book:
		p.line("from the opening book", style{tone: quiet})
	case a.Trouble != "":
		p.line("by search, for "+a.Trouble, style{tone: warning})
	default:
		p.line("by search", style{tone: quiet})
	}
}

// drawMoves writes the moves. If there is not enough space for all, it writes those around
// the selected one.
func (m *model) drawMoves(p *panel) {
	if len(m.moves) == 0 || p.y >= p.bottom {
		return
	}
	lines := m.moveLines(p.right - p.left)
	space := p.bottom - p.y
	from := 0
	if len(lines) > space {
		at := slices.IndexFunc(lines, func(l []int) bool { return slices.Contains(l, m.selected) })
		from = max(0, min(at-space/2, len(lines)-space))
	}
	for _, l := range lines[from:min(from+space, len(lines))] {
		for _, i := range l {
			m.drawMove(p, i)
		}
		p.end()
	}
}

// chip returns the parts of a move in the list: a star for the best move and the name; the
// mark.
func (m *model) chip(i int) (name, mark string, how tone) {
	name = " " + m.moves[i].Name
	if m.marks {
		mark, how = m.mark(m.advice.Moves[i].Worth)
		mark = " " + mark
		if i == m.advice.Best {
			name = "*" + name[1:]
		}
	}
	return name, mark, how
}

// moveLines breaks the list of moves into lines.
func (m *model) moveLines(width int) (lines [][]int) {
	x := 0
	for i := range m.moves {
		name, mark, _ := m.chip(i)
		n := utf8.RuneCountInString(name+mark) + 2
		if len(lines) == 0 || x+n > width {
			lines, x = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], i)
		x += n
	}
	return lines
}

// drawMove writes a move of the list.
func (m *model) drawMove(p *panel, i int) {
	name, mark, how := m.chip(i)
	reverse := i == m.selected
	x := p.put(p.x, p.y, name, style{bold: true, reverse: reverse})
	x = p.put(x, p.y, mark, style{tone: how, reverse: reverse})
	p.zone(p.y, p.x, x, pick(i))
	p.x = x + 2
}

// drawChoices writes the choices of a new game.
func (m *model) drawChoices(p *panel) {
	p.line("New game", style{bold: true})
	for i, c := range choices {
		text := fmt.Sprintf("%d  %s", i+1, c.words)
		how := style{reverse: i == m.choice}
		if p.y < p.bottom {
			x := p.put(p.left, p.y, text, how)
			p.zone(p.y, p.left, x, pick(i))
		}
		p.end()
	}
	p.end()
	p.line("O continues a saved game", style{tone: quiet})
	p.line("machine: "+m.levels[m.level].words, style{tone: quiet})
	if m.message != "" {
		p.line(m.message, style{tone: warning})
	}
}

// help returns the entries of the help: keys, and what they do.
func help() (entries [][2]string) {
	entries = [][2]string{
		{"a-z 0-9", "type a move: a one-character name is played at once, a longer one with Enter"},
		{"arrows", "select a move; Tab selects the next one"},
		{"Enter", "play the typed or selected move"},
		{"click", "a move, a square or a key"},
		{"Esc", "clear the typed or selected move; Backspace deletes a letter"},
	}
	for _, c := range commands {
		key := c.key
		if key == " " {
			key = "Space"
		}
		entries = append(entries, [2]string{key, c.help})
	}
	return append(entries,
		[2]string{"", "Lower case works too, unless a move starts with that letter."},
		[2]string{"", "Letters that start no move are rejected."},
		[2]string{},
		[2]string{"W7", "the player to move wins in 7 moves under best play"},
		[2]string{"L T D", "loss, tie, draw (play never ends)"},
		[2]string{"* ?", "the best move; not proven"})
}

// helpFrom writes the help, scrolled up by scroll lines, and returns the line after it.
func (m *model) helpFrom(s *screen, scroll int) int {
	const column = margin + 9
	p := &panel{screen: s, left: column, x: column, y: -scroll, right: m.width - margin, bottom: m.height - 1}
	for _, e := range help() {
		if p.y < p.bottom {
			s.put(margin, p.y, e[0], style{bold: true})
		}
		p.words(e[1], style{})
		p.end()
	}
	return p.y
}

// scrolled returns m.scroll, limited to the range in which the help can be scrolled.
func (m *model) scrolled() int {
	return max(0, min(m.scroll, m.helpFrom(newScreen(m.width, 0), 0)-(m.height-1)))
}

// drawHelp fills the screen with the help.
func (m *model) drawHelp(s *screen) {
	m.helpFrom(s, m.scrolled())
	s.put(margin, m.height-1, "Esc closes; arrows scroll", style{tone: quiet})
	for y := range m.height {
		s.zone(y, 0, m.width, "esc")
	}
}

// A square is a square of the board as it is drawn.
type square struct {
	text string
	style
	place    board.Place
	press    bool
	selected bool // drawn in brackets
}

// A row is a line of the board.
type row struct {
	left    string
	squares []square
}

// markWidth is the usual width of a mark.
const markWidth = 3

// drawBoard draws the board, and returns its width and the line after it.
func (m *model) drawBoard(s *screen, x, y int) (width, bottom int) {
	pic := m.g.Picture(m.h.Position())
	rows := m.rows(pic, m.marks)
	cell, left := sizes(rows)
	fits := func(cell int) bool { return left+len(rows[0].squares)*(cell+1)+1 <= m.width-2*margin }
	switch {
	case fits(max(cell, markWidth)): // so that the size is the same with and without marks
		cell = max(cell, markWidth)
	case !fits(cell):
		rows = m.rows(pic, false)
		cell, left = sizes(rows)
	}
	for i, r := range rows {
		at := y + i
		s.put(x, at, fmt.Sprintf("%*s", left, r.left), style{tone: quiet})
		for j, sq := range r.squares {
			from := x + left + j*(cell+1)
			text := fmt.Sprintf("%*s", cell, sq.text)
			lead := len(text) - len(strings.TrimLeft(text, " "))
			s.put(from+1+lead, at, text[lead:], sq.style)
			if sq.selected {
				s.put(from+lead, at, "[", style{bold: true})
				s.put(from+1+cell, at, "]", style{bold: true})
			}
			if sq.press {
				s.zone(at, from, from+1+cell, sq.place)
			}
		}
	}
	return left + len(rows[0].squares)*(cell+1) + 1, y + len(rows)
}

// sizes returns the width of a square, and that of the labels on the left.
func sizes(rows []row) (cell, left int) {
	for _, r := range rows {
		left = max(left, utf8.RuneCountInString(r.left))
		for _, sq := range r.squares {
			cell = max(cell, utf8.RuneCountInString(sq.text))
		}
	}
	return cell, left
}

// rows returns the lines of the board: labels, squares, and marks of moves.
func (m *model) rows(pic game.Picture, marks bool) (rows []row) {
	last := m.lastChanges(pic)
	squares := make([]row, len(pic.Rows))
	for y := range pic.Rows {
		if pic.Left != nil {
			squares[y].left = pic.Left[y]
		}
		for x, sq := range pic.Rows[y] {
			at := board.Place{X: x, Y: y}
			out := square{text: sq.Text, place: at, press: sq.Kind != game.Gap}
			if sq.Kind == game.Gap {
				out.text = ""
			}
			switch {
			case sq.Owner != game.Nobody:
				out.style = style{tone: first + tone(sq.Owner-game.OfFirst), bold: true}
			case sq.Text == game.Empty:
				out.style = style{tone: quiet}
			default:
				out.style = style{bold: true}
			}
			out.reverse = slices.Contains(pic.Won, [2]int{x, y})
			out.underline = slices.Contains(last, at) || slices.Contains(m.clicked, at)
			squares[y].squares = append(squares[y].squares, out)
		}
	}
	above, markAbove := labels(pic.Above, -1)
	below, markBelow := labels(pic.Below, len(pic.Rows))
	for i, s := range m.spots {
		if !s.Known {
			continue
		}
		text, how := "", style{}
		if marks {
			text, how.tone = m.mark(m.advice.Moves[i].Worth)
			if how.bold = i == m.advice.Best; how.bold && !m.advice.Moves[i].Known {
				text = "*"
			}
		}
		selected := i == m.selected
		switch {
		case s.At.Y < 0:
			markAbove.squares[s.At.X].text, markAbove.squares[s.At.X].style = text, how
			above.squares[s.At.X].selected = selected
		case s.At.Y == len(pic.Rows):
			markBelow.squares[s.At.X].text, markBelow.squares[s.At.X].style = text, how
			below.squares[s.At.X].selected = selected
		default:
			sq := &squares[s.At.Y].squares[s.At.X]
			sq.selected = sq.selected || selected
			if marks && m.shows(i, s.At) && pic.Rows[s.At.Y][s.At.X].Text == game.Empty {
				sq.text, sq.style = text, how
			}
		}
	}
	if pic.Above != nil {
		if hasLabelMark(m.spots, -1) {
			rows = append(rows, markAbove)
		}
		rows = append(rows, above)
	}
	rows = append(rows, squares...)
	if pic.Below != nil {
		rows = append(rows, below)
		if hasLabelMark(m.spots, len(pic.Rows)) {
			rows = append(rows, markBelow)
		}
	}
	return rows
}

// hasLabelMark reports whether a move has its place at the labels of row y.
func hasLabelMark(all []board.Spot, y int) bool {
	return slices.ContainsFunc(all, func(s board.Spot) bool { return s.Label && s.At.Y == y })
}

// labels returns the row of column labels, and a row for the marks of moves at them.
func labels(texts []string, y int) (named, marks row) {
	for x, text := range texts {
		named.squares = append(named.squares, square{text: text, style: style{tone: quiet}, place: board.Place{X: x, Y: y}, press: text != ""})
		marks.squares = append(marks.squares, square{place: board.Place{X: x, Y: y}, press: text != ""})
	}
	return named, marks
}

// shows reports whether the place at shows the mark of move i: of the selected move, or
// else of the best of the moves at that place. If no value is known for any of them, only
// the best move of all is shown.
func (m *model) shows(i int, at board.Place) bool {
	best := -1
	values, mover := m.g.Values(), m.h.Turn()
	if !values.OfMover {
		mover = m.g.ToMove(m.h.Position())
	}
	for j, s := range m.spots {
		o := m.advice.Moves[j]
		switch {
		case !s.Known || s.At != at || !o.Known:
		case j == m.selected:
			return i == j
		case best < 0 || values.Better(mover, o.Child, m.advice.Moves[best].Child):
			best = j
		}
	}
	if best < 0 {
		return i == m.advice.Best
	}
	return i == best
}

// lastChanges returns the squares that the last move has changed.
func (m *model) lastChanges(pic game.Picture) []board.Place {
	before := m.h.Clone()
	if !before.Undo() {
		return nil
	}
	return board.Changes(m.g.Picture(before.Position()), pic)
}
