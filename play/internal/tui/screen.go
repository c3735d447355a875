package tui

import (
	"fmt"
	"strings"
	"unicode"
)

// A tone is the meaning of a character; a palette has a colour for it.
type tone uint8

const (
	normal tone = iota
	quiet       // not important at the moment
	first       // of the player First
	second      // of the player Second
	winning
	losing
	tying
	drawing
	warning
	tones // the number of tones
)

// A style is the appearance of a character. Without colours, the other attributes remain.
type style struct {
	tone
	bold, reverse, underline bool
}

// A palette has one of 256 colours for each tone; 0: the default of the terminal.
type palette [tones]uint8

// Colours for a dark and for a light background; without has no colours.
var (
	onDark  = palette{quiet: 245, first: 75, second: 215, winning: 114, losing: 210, tying: 221, drawing: 117, warning: 203}
	onLight = palette{quiet: 242, first: 25, second: 130, winning: 28, losing: 160, tying: 94, drawing: 31, warning: 124}
	without = palette{}
)

// A cell is a character on the screen; 0 is a blank.
type cell struct {
	char rune
	style
}

// A zone is a part of a line of the screen that reacts to clicks.
type zone struct {
	y, from, to int // columns from to to-1
	press       any // a key, the place of a square, or a pick
}

// A pick is the index of a move, as the result of a click.
type pick int

// A screen is what is drawn: lines of characters, each one column wide, and the zones of
// the mouse.
type screen struct {
	width, height int
	cells         [][]cell
	zones         []zone
}

func newScreen(width, height int) *screen {
	s := &screen{width: width, height: height}
	for range height {
		s.cells = append(s.cells, make([]cell, width))
	}
	return s
}

// put writes a text and returns the column after it. Text that does not fit is left out.
func (s *screen) put(x, y int, text string, how style) int {
	for _, r := range text {
		if !unicode.IsGraphic(r) {
			r = unicode.ReplacementChar // a control character must not reach the terminal
		}
		if x >= 0 && x < s.width && y >= 0 && y < s.height {
			s.cells[y][x] = cell{r, how}
		}
		x++
	}
	return x
}

// zone makes a part of a line react to clicks.
func (s *screen) zone(y, from, to int, press any) {
	s.zones = append(s.zones, zone{y, from, to, press})
}

// at returns the meaning of a click; nil: none. A zone drawn later hides earlier ones.
func (s *screen) at(x, y int) any {
	for i := len(s.zones) - 1; i >= 0; i-- {
		if z := s.zones[i]; z.y == y && z.from <= x && x < z.to {
			return z.press
		}
	}
	return nil
}

// inASCII are replacements for characters that are not ASCII; others become question marks.
var inASCII = map[rune]rune{
	'…': '.', '·': '.', '×': 'x', '–': '-', '█': '#', '▉': '#', '▊': '#', '▋': '#', '▌': '#', '▍': '.', '▎': '.', '▏': '.',
	'─': '-', '│': '|', '╱': '/', '╲': '\\',
}

// ascii replaces all characters that are not ASCII.
func (s *screen) ascii() {
	for _, row := range s.cells {
		for x, c := range row {
			if c.char <= unicode.MaxASCII {
				continue
			}
			row[x].char = '?'
			if like, ok := inASCII[c.char]; ok {
				row[x].char = like
			}
		}
	}
}

// render returns the screen with the escape sequences of a terminal.
func (s *screen) render(colours palette) string {
	var b strings.Builder
	var now style
	for y, row := range s.cells {
		if y > 0 {
			b.WriteByte('\n')
		}
		end := len(row)
		for end > 0 && row[end-1] == (cell{}) {
			end--
		}
		for _, c := range row[:end] {
			if c.style != now {
				b.WriteString(c.sgr(colours))
				now = c.style
			}
			b.WriteRune(max(c.char, ' '))
		}
		if now != (style{}) {
			now = style{}
			b.WriteString(now.sgr(colours))
		}
	}
	return b.String()
}

// sgr returns the escape sequence for a style.
func (st style) sgr(colours palette) string {
	text := "\x1b[0"
	if st.bold {
		text += ";1"
	}
	if st.underline {
		text += ";4"
	}
	if st.reverse {
		text += ";7"
	}
	if colour := colours[st.tone]; colour != 0 {
		text += fmt.Sprintf(";38;5;%d", colour)
	}
	return text + "m"
}
