package tui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/player"
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
	screen := m.draw()
	if m.o.ASCII {
		screen.ascii()
	}
	v := tea.NewView(screen.render(colours))
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
	b := m.board()
	blank, keys := 0, 1 // blank lines between the parts, and lines of keys
	if m.height >= roomy {
		blank, keys = 1, min(3, m.keysFrom(newScreen(m.width, 0), 0, 0))
	}
	top, bottom := 1+blank, m.height-keys
	left, beside := margin+b.width()+gap, 0 // beside is 1 if the panel is beside the board
	if m.width-left >= panelMin {
		beside = 1
	} else {
		left = margin
	}
	// Below the board there is at least one line of text, or the choices of a new game. If there
	// are not enough lines, the marks below columns are left out, then the title, then the keys,
	// then a part of the board.
	below := blank + 1
	if m.mode == choosing {
		below = blank + 1 + len(choices)
	}
	lacks := func() bool { return len(b.rows)+(1-beside)*below > bottom-top }
	if lacks() {
		b.rows = slices.DeleteFunc(b.rows, func(r row) bool { return r.marks })
	}
	if lacks() {
		top = 0
	}
	if lacks() && beside == 0 {
		bottom = m.height
	}
	if lacks() && m.mode == choosing && beside == 0 {
		b.rows = nil
	}
	b = b.window(m.focus(), bottom-top-(1-beside)*below, m.width-2*margin)
	if top > 0 {
		s.put(margin, 0, game.TitleOf(m.g), style{bold: true})
	}
	if bottom < m.height {
		m.keysFrom(s, bottom, m.height)
	}
	b.draw(s, margin, top)
	p := &panel{screen: s, left: left, x: left, y: top, right: m.width - margin, bottom: bottom - blank}
	if beside == 0 {
		p.y += len(b.rows) + blank
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
		if how.reverse && p.x > p.left {
			p.put(p.x-1, p.y, " ", how)
		}
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

// scoreText returns a score with its sign.
func scoreText(score int) string {
	if score > 0 {
		return "+" + strconv.Itoa(score)
	}
	return strconv.Itoa(score)
}

// mark returns the short form of a move's value: W, L, T or D, and the number of moves; or its
// score.
func (m *model) mark(w analysis.Worth) (string, tone) {
	switch {
	case !w.Known && w.Depth == 0:
		return "?", quiet
	case !w.Known:
		return scoreText(w.Score), normal
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
	case m.g.Values().Puzzle:
		return notation.ValueOf(m.g, m.h.Position(), w.Value).String()
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
	after := " after " + numfmt.Count(len(m.h.Names()), "move")
	switch o := m.ended.Outcome; {
	case o == game.Undecided:
		return fmt.Sprintf("a draw (%s)", m.ended.Reason) + after, drawing
	case o == game.Tie && m.g.Values().Puzzle:
		return m.g.Values().Word(o) + after, winning
	case o == game.Tie:
		return "a tie" + after, tying
	default:
		winner := o.Winner()
		switch {
		case m.people() != 1:
			return player.Who(m.g, winner) + " has won" + after, winning
		case m.seats[winner]:
			return "you have won" + after, winning
		}
		return "you have lost" + after, losing
	}
}

// fewLines is the number of lines of the panel up to which messages come first.
const fewLines = 4

// drawState writes all information on the play.
func (m *model) drawState(p *panel) {
	few := p.bottom-p.y <= fewLines
	if few {
		m.drawInput(p)
	}
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
	if !few {
		m.drawInput(p)
	}
	if p.left != margin {
		p.end()
	}
	if m.over {
		m.drawMistakes(p)
	}
	m.drawMoves(p)
}

// drawMistakes writes the mistakes of a play that is over.
func (m *model) drawMistakes(p *panel) {
	none := true
	for i, j := range m.judged {
		if j.Mistake {
			none = false
			p.line(fmt.Sprintf("move %d, %s: %s", i+1, m.who(m.h.Mover(i)), j.Text(m.g, m.h.At(i))), style{tone: losing})
		}
	}
	switch known := !slices.ContainsFunc(m.judged, func(j analysis.Judgment) bool { return !j.Known() }); {
	case m.judged == nil:
		p.line("looking for mistakes …", style{tone: quiet})
	case none && known:
		p.line("no mistakes", style{tone: quiet})
	case !known:
		p.line("not all moves were judged in time", style{tone: quiet})
	}
}

// drawInput writes what is being typed, and the message.
func (m *model) drawInput(p *panel) {
	switch {
	case m.mode == saving:
		m.drawPrompt(p, "save in: ")
	case m.mode == loading:
		m.drawPrompt(p, "open: ")
	case m.typed != "":
		p.line("> "+m.typed, style{bold: true})
	}
	if how := (style{}); m.message != "" {
		if m.bad {
			how.tone = warning
		}
		p.line(m.message, how)
	}
}

// drawPrompt writes the file name that is typed; one that is only offered is reversed.
func (m *model) drawPrompt(p *panel, label string) {
	p.words(label, style{bold: true})
	if m.offered {
		p.word(m.prompt, style{reverse: true}, nil)
		p.end()
		return
	}
	p.line(m.prompt+"_", style{bold: true})
}

// drawAdvice writes what is known of the position.
func (m *model) drawAdvice(p *panel) {
	a := m.advice
	switch {
	case a.Known:
		p.line(m.worth(a.Worth), style{tone: toneOf(analysis.ResultOf(m.g, a.Position, a.Value))})
	case m.thinking:
	default:
		text := fmt.Sprintf("not proven, %s ahead", numfmt.Count(a.Depth, "move"))
		if a.Depth > 0 {
			text += ": " + scoreText(a.Score)
		}
		if !a.Done {
			text += " …"
		}
		p.line(text, style{tone: quiet})
	}
	if a.Best >= 0 {
		of := ""
		if !m.mayMove() {
			of = " for " + m.who(m.h.Turn())
		}
		p.words("best"+of+":", style{})
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
		p.line("by search: "+a.Trouble, style{tone: warning})
	default:
		text := "by search"
		if !a.Done && a.Time > 0 {
			text += fmt.Sprintf(", %s positions, %s/s", numfmt.Short(float64(a.Nodes)), numfmt.Short(float64(a.Nodes)/a.Time.Seconds()))
		}
		p.line(text, style{tone: quiet})
	}
	if !m.mayMove() && slices.ContainsFunc(a.Moves, func(o analysis.Move) bool { return o.Known || o.Depth > 0 }) {
		p.line("values of moves: for "+m.who(m.h.Turn()), style{tone: quiet})
	}
}

// barWidths are the widths of the bars in the list of moves. The first with which the list fits
// is used.
var barWidths = []int{20, 12, 8, 4, 0}

// drawMoves writes the moves, with bars while a search is at work. If there is not enough space
// for all, it writes those around the selected one.
func (m *model) drawMoves(p *panel) {
	if len(m.moves) == 0 || p.y >= p.bottom {
		return
	}
	space, widths := p.bottom-p.y, barWidths
	if !m.marks || !slices.ContainsFunc(m.advice.Moves, func(o analysis.Move) bool { return !o.Known && o.Depth > 0 }) {
		widths = []int{0}
	}
	var chips []chip
	var lines [][]int
	for _, bar := range widths {
		chips = m.chips(bar)
		if lines = linesOf(chips, p.right-p.left); len(lines) <= space {
			break
		}
	}
	at := slices.IndexFunc(lines, func(l []int) bool { return slices.Contains(l, m.selected) })
	from, to := window(len(lines), space, at)
	for _, l := range lines[from:to] {
		for _, i := range l {
			chips[i].draw(p, i, i == m.selected)
		}
		p.end()
	}
	if m.marks && slices.ContainsFunc(m.advice.Moves, func(o analysis.Move) bool { return o.Known }) {
		p.line("W7: win in 7 moves; L loss, T tie", style{tone: quiet})
	}
}

// A chip is a move in the list: a star for the best move and the name; its value or score; a bar.
type chip struct {
	name, mark, bar string
	how             tone
}

// chips returns the list of moves. If bar is not 0, it has bars of that width, and columns.
func (m *model) chips(bar int) []chip {
	chips := make([]chip, len(m.moves))
	name, mark := 0, 0
	for i := range chips {
		c := &chips[i]
		c.name = " " + m.moves[i].Name
		if m.marks {
			c.mark, c.how = m.mark(m.advice.Moves[i].Worth)
			c.mark = " " + c.mark
			if i == m.advice.Best {
				c.name = "*" + c.name[1:]
			}
		}
		name, mark = max(name, utf8.RuneCountInString(c.name)), max(mark, utf8.RuneCountInString(c.mark))
	}
	for i := range chips {
		if c := &chips[i]; bar > 0 {
			c.name, c.mark = fmt.Sprintf("%-*s", name, c.name), fmt.Sprintf("%*s", mark, c.mark)
			c.bar = " " + m.bar(m.advice.Moves[i].Worth, bar)
		}
	}
	return chips
}

// linesOf breaks a list of moves into lines.
func linesOf(chips []chip, width int) (lines [][]int) {
	x := 0
	for i, c := range chips {
		n := utf8.RuneCountInString(c.name+c.mark+c.bar) + chipGap
		if len(lines) == 0 || x+n > width {
			lines, x = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], i)
		x += n
	}
	return lines
}

// chipGap is the number of blanks after a move in the list.
const chipGap = 2

// draw writes move i of the list.
func (c chip) draw(p *panel, i int, selected bool) {
	x := p.put(p.x, p.y, c.name, style{bold: true, reverse: selected})
	x = p.put(x, p.y, c.mark, style{tone: c.how, reverse: selected})
	x = p.put(x, p.y, c.bar, style{tone: c.how})
	p.zone(p.y, p.x, x, pick(i))
	p.x = x + chipGap
}

// clearScore is the score of a bar that is three quarters full.
const clearScore = 20

// bar draws what is known of a move as a bar: full for a win, half full for a tie, a draw or an
// even position.
func (m *model) bar(w analysis.Worth, width int) string {
	if !w.Known && w.Depth == 0 {
		return strings.Repeat(" ", width)
	}
	share := 0.5 + 0.5*float64(w.Score)/(math.Abs(float64(w.Score))+clearScore)
	if w.Known {
		share = [...]float64{game.Wins: 1, game.Ties: 0.5, game.Draws: 0.5, game.Loses: 0}[analysis.ResultOf(m.g, m.h.Position(), w.Value)]
	}
	full := int(math.Round(share * float64(width*len(eighths))))
	text := strings.Repeat("█", full/len(eighths)) + eighths[full%len(eighths)]
	return text + strings.Repeat("·", width-utf8.RuneCountInString(text))
}

// eighths are the beginnings of a character of a bar.
var eighths = [8]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// drawChoices writes the choices of a new game.
func (m *model) drawChoices(p *panel) {
	p.line("New game", style{bold: true})
	for i, c := range choices {
		for _, w := range append([]string{fmt.Sprintf("%d ", i+1)}, strings.Fields(c.words)...) {
			p.word(w, style{reverse: i == m.choice}, pick(i))
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
		[2]string{"+12 -8", "not proven: evaluation for the player to move; ++ and -- are large ones"},
		[2]string{"* ?", "the best move; nothing known yet"})
}

// helpNarrow is the width below which the help has a line for each key.
const helpNarrow = 30

// helpFrom writes the help, scrolled up by scroll lines, and returns the line after it.
func (m *model) helpFrom(s *screen, scroll int) int {
	column := margin + 9
	if m.width < helpNarrow {
		column = margin + 2
	}
	p := &panel{screen: s, left: column, x: column, y: -scroll, right: m.width - margin, bottom: m.height - 1}
	for _, e := range help() {
		if p.y < p.bottom {
			s.put(margin, p.y, e[0], style{bold: true})
		}
		if m.width < helpNarrow && e[0] != "" {
			p.end()
		}
		p.words(e[1], style{})
		p.end()
	}
	p.left, p.x = margin, margin
	for i, part := range game.Paragraphs(game.RulesOf(m.g)) {
		if i > 0 {
			p.end()
		}
		if !part.Board {
			p.line(part.Text, style{})
			continue
		}
		for line := range strings.SplitSeq(part.Text, "\n") {
			if p.y < p.bottom {
				p.put(p.x, p.y, line, style{})
			}
			p.end()
		}
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
	lead string // what is left of the text, up to the next square
	style
	place    board.Place
	press    bool
	selected bool // drawn in brackets
}

// A row is a line of the board.
type row struct {
	left    string
	squares []square
	marks   bool // only the marks of moves at labels
}

// markWidth is the usual width of a mark.
const markWidth = 3

// A grid is the board as it is drawn.
type grid struct {
	rows       []row
	cell, left int // the width of a square, and that of the labels on the left
}

// board returns the board. It has no marks if they are too wide.
func (m *model) board() grid {
	pic := m.g.Picture(m.h.Position())
	b := gridOf(m.rows(pic, m.marks))
	fits := func(cell int) bool { return b.left+len(b.rows[0].squares)*(cell+1)+1 <= m.width-2*margin }
	switch {
	case fits(max(b.cell, markWidth)): // so that the size is the same with and without marks
		b.cell = max(b.cell, markWidth)
	case !fits(b.cell):
		b = gridOf(slices.DeleteFunc(m.rows(pic, false), func(r row) bool { return r.marks }))
	}
	return b
}

// gridOf returns a grid of rows, with squares as wide as the widest.
func gridOf(rows []row) grid {
	b := grid{rows: rows}
	for _, r := range rows {
		b.left = max(b.left, utf8.RuneCountInString(r.left))
		for _, sq := range r.squares {
			b.cell = max(b.cell, utf8.RuneCountInString(sq.text))
		}
	}
	return b
}

// width returns the number of columns that a grid takes.
func (b grid) width() int {
	if len(b.rows) == 0 {
		return 0
	}
	return b.left + len(b.rows[0].squares)*(b.cell+1) + 1
}

// window returns the part of a grid around a place that fits into lines and columns.
func (b grid) window(at board.Place, lines, columns int) grid {
	y := slices.IndexFunc(b.rows, func(r row) bool {
		return slices.ContainsFunc(r.squares, func(sq square) bool { return sq.place.Y == at.Y })
	})
	from, to := window(len(b.rows), lines, y)
	b.rows = slices.Clone(b.rows[from:to])
	for i, r := range b.rows {
		from, to := window(len(r.squares), (columns-b.left-1)/(b.cell+1), at.X)
		b.rows[i].squares = r.squares[from:to]
	}
	return b
}

// window returns the part of n lines, around the one of index at, that fits into space lines.
func window(n, space, at int) (from, to int) {
	space = min(max(space, 0), n)
	from = max(0, min(at-space/2, n-space))
	return from, from + space
}

// draw draws the grid.
func (b grid) draw(s *screen, x, y int) {
	for i, r := range b.rows {
		at := y + i
		s.put(x, at, fmt.Sprintf("%*s", b.left, r.left), style{tone: quiet})
		for j, sq := range r.squares {
			from := x + b.left + j*(b.cell+1)
			lead := b.cell - utf8.RuneCountInString(sq.text)
			s.put(from, at, strings.Repeat(strings.TrimSpace(sq.lead), 1+lead), style{tone: quiet})
			s.put(from+1+lead, at, sq.text, sq.style)
			if sq.selected {
				s.put(from+lead, at, "[", style{bold: true})
				s.put(from+1+b.cell, at, "]", style{bold: true})
			}
			if sq.press {
				s.zone(at, from, from+1+b.cell, sq.place)
			}
		}
	}
}

// focus returns the place that must be visible: that of the selected move or of the first one.
func (m *model) focus() board.Place {
	if m.selected >= 0 {
		return m.spots[m.selected].At
	}
	if len(m.spots) > 0 {
		return m.spots[0].At
	}
	return board.Place{}
}

// rows returns the lines of the board: labels, squares, and marks of moves.
func (m *model) rows(pic game.Picture, marks bool) (rows []row) {
	last := m.lastChanges(pic)
	squares := make([]row, len(pic.Rows))
	for y, strokes := range pic.Strokes() {
		if pic.Left != nil {
			squares[y].left = pic.Left[y]
		}
		for x, sq := range pic.Rows[y] {
			out := squareOf(sq, strokes[x])
			out.place = board.Place{X: x, Y: y}
			out.reverse = slices.Contains(pic.Won, [2]int{x, y})
			out.underline = slices.Contains(last, out.place) || slices.Contains(m.clicked, out.place)
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
			text, how = m.boardMark(i)
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

// squareOf returns a square of a picture, as it is drawn.
func squareOf(sq game.Square, stroke game.Stroke) square {
	out := square{text: sq.Text, lead: stroke.Lead, press: true}
	switch {
	case sq.Kind == game.Gap:
		out.text, out.press, out.style = stroke.Text, false, style{tone: quiet}
	case sq.Owner != game.Nobody:
		out.style = style{tone: first + tone(sq.Owner-game.OfFirst), bold: true}
	case sq.Text == game.Empty:
		out.style = style{tone: quiet}
	default:
		out.style = style{bold: true}
	}
	return out
}

// boardMark returns the mark of move i on the board.
func (m *model) boardMark(i int) (text string, how style) {
	w := m.advice.Moves[i].Worth
	text, how.tone = m.mark(w)
	switch how.bold = i == m.advice.Best; {
	case how.bold && !w.Known && w.Depth == 0:
		text = "*"
	case !w.Known && len(text) > markWidth: // so that the board keeps its size
		text = map[bool]string{true: "++", false: "--"}[w.Score > 0]
	}
	return text, how
}

// hasLabelMark reports whether a move has its place at the labels of row y.
func hasLabelMark(all []board.Spot, y int) bool {
	return slices.ContainsFunc(all, func(s board.Spot) bool { return s.Label && s.At.Y == y })
}

// labels returns the row of column labels, and a row for the marks of moves at them.
func labels(texts []string, y int) (named, marks row) {
	marks.marks = true
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
