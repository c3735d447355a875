//go:build linux

package terminal

import (
	"fmt"
	"html"
	"strings"

	"github.com/hinshun/vt10x"
)

// Attributes of a character in the emulator's Mode.
const (
	underlined = 1 << 1
	bold       = 1 << 2
)

// The size of a character in a picture, the margin around the screen, and the default colours
// of the terminal.
const (
	charWidth, lineHeight, padding = 9, 19, 12
	ground, ink                    = "#1c1c1c", "#d8d8d8"
)

// SVG returns the screen as a picture.
func (term *Terminal) SVG() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	columns, lines := term.screen.Size()
	var b strings.Builder
	width, height := columns*charWidth+2*padding, lines*lineHeight+2*padding
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="15">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n", width, height, ground)
	for y := range lines {
		for x := 0; x < columns; {
			glyph, text := term.screen.Cell(x, y), ""
			from := x
			for ; x < columns; x++ {
				g := term.screen.Cell(x, y)
				if g.FG != glyph.FG || g.BG != glyph.BG || g.Mode != glyph.Mode {
					break
				}
				text += string(max(g.Char, ' '))
			}
			place := fmt.Sprintf(`x="%d" textLength="%d"`, padding+from*charWidth, (x-from)*charWidth)
			fill := colour(glyph.FG, ink)
			if back := colour(glyph.BG, ground); back != ground {
				fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", padding+from*charWidth, padding+y*lineHeight, (x-from)*charWidth, lineHeight, back)
			}
			if strings.TrimSpace(text) == "" {
				continue
			}
			if glyph.Mode&bold != 0 {
				place += ` font-weight="bold"`
			}
			if glyph.Mode&underlined != 0 {
				place += ` text-decoration="underline"`
			}
			fmt.Fprintf(&b, `<text %s y="%d" fill="%s" xml:space="preserve">%s</text>`+"\n", place, padding+y*lineHeight+14, fill, html.EscapeString(text))
		}
	}
	return b.String() + "</svg>\n"
}

// colour returns one of the 256 colours, or the default.
func colour(c vt10x.Color, byDefault string) string {
	switch c {
	case vt10x.DefaultFG:
		if byDefault == ground {
			return ink
		}
		return byDefault
	case vt10x.DefaultBG:
		if byDefault == ink {
			return ground
		}
		return byDefault
	}
	if c >= 232 {
		grey := 8 + 10*(c-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	level := func(n vt10x.Color) vt10x.Color {
		if n == 0 {
			return 0
		}
		return 55 + 40*n
	}
	c -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(c/36), level(c/6%6), level(c%6))
}
