package tui

import (
	"fmt"
	"strings"
	"unicode"
)

// A tone is what a character means; a palette has a colour for it.
type tone uint8

const (
	normal tone = iota
	quiet       // what is of no importance just now
	first       // of the player who moves first
	second      // of the other
	winning
	losing
	tying
	drawing
	warning
	tones // how many there are
)

// A style is how a character looks. Without colours, the rest of it still tells.
type style struct {
	tone
	bold, reverse, underline bool
}

// A palette is a colour of the 256 for each tone; 0: that of the terminal.
type palette [tones]uint8

// The colours are chosen to be read on a dark or a light ground; without are none.
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

// A zone is a part of a line of the screen where a click does something.
type zone struct {
	y, from, to int // columns from up to, without to
	press       any // a key, the place of a square, or a pick
}

// A pick is a move by its number, as something to click at.
type pick int

// A screen is what is drawn: characters in lines, all of them one column wide, and the
// zones of the mouse.
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

// put writes a text, of which what does not fit is left out, and returns the column after
// it.
func (s *screen) put(x, y int, text string, how style) int {
	for _, r := range text {
		if !unicode.IsGraphic(r) {
			r = unicode.ReplacementChar // a control character would reach the terminal
		}
		if x >= 0 && x < s.width && y >= 0 && y < s.height {
			s.cells[y][x] = cell{r, how}
		}
		x++
	}
	return x
}

// zone makes a part of a line do something.
func (s *screen) zone(y, from, to int, press any) {
	s.zones = append(s.zones, zone{y, from, to, press})
}

// at is what a click does there; nil: nothing. What was drawn last lies above.
func (s *screen) at(x, y int) any {
	for i := len(s.zones) - 1; i >= 0; i-- {
		if z := s.zones[i]; z.y == y && z.from <= x && x < z.to {
			return z.press
		}
	}
	return nil
}

// plain is the screen as text, without blanks at the ends of lines.
func (s *screen) plain() string {
	var b strings.Builder
	for _, row := range s.cells {
		var l strings.Builder
		for _, c := range row {
			l.WriteRune(max(c.char, ' '))
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// render is the screen with the sequences of a terminal.
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

// sgr is the sequence that has a terminal write in a style.
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
