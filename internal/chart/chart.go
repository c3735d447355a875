// Package chart draws numbers as SVG: columns, heat maps and sunbursts. A picture has light and
// dark colours, and each kind of result has a pattern besides its colour. The package knows no
// games, tables or files.
package chart

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// A Style is the colour and the pattern of a part of a picture.
type Style int

// The styles: of numbers without a result, and of results.
const (
	Plain Style = iota
	First       // a win of the first player, or of the player to move
	Second
	Tie
	Draw
)

// names are the classes of the styles in a picture.
var names = [...]string{"plain", "first", "second", "tie", "draw"}

// patterns are drawn over the colour of a style, in squares of six pixels.
var patterns = [...]string{
	Second: "M-1 1l2 -2M0 6l6 -6M5 7l2 -2",
	Tie:    "M2 3h2M3 2v2",
	Draw:   "M0 1.5h6M0 4.5h6",
}

// StyleSheet is the style sheet of pictures, which a page with inline pictures needs.
//
//go:embed chart.css
var StyleSheet string

// A Picture can be written as SVG.
type Picture interface {
	// draw draws the picture, and sets its title, its height and the prefix of its identifiers.
	draw(d *drawing)
}

// Write writes a picture as an SVG file.
func Write(w io.Writer, p Picture) error {
	_, err := io.WriteString(w, text(p, false))
	return err
}

// Inline returns a picture as an element of a page that has the StyleSheet. The tabulator key
// passes over its links: there may be hundreds.
func Inline(p Picture) string { return text(p, true) }

// text returns the picture as text.
func text(p Picture, inline bool) string {
	d := &drawing{inline: inline}
	p.draw(d)
	role, style := "img", ""
	if d.linked { // an image has no links
		role = "group"
	}
	if !inline {
		style = "<style>\n" + StyleSheet + "</style>\n"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="%s" viewBox="0 0 %d %.0f" font-family="sans-serif">`+"\n", role, width, d.height)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", escape(d.title), style)
	fmt.Fprintf(&b, `<rect class="chart-paper" width="%d" height="%.0f"/>`+"\n", width, d.height)
	for style, pattern := range patterns {
		if pattern != "" && d.used[style] {
			fmt.Fprintf(&b, `<pattern id="%s-%s" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="chart-%[2]s" width="6" height="6"/><path class="chart-pattern" d="%s"/></pattern>`+"\n",
				d.id, names[style], pattern)
		}
	}
	b.Write(d.Bytes())
	b.WriteString("</svg>\n")
	return b.String()
}

// The layout of all pictures, in pixels.
const (
	width     = 960
	left      = 64
	plotWidth = width - left - 24
)

// A drawing is the content of an SVG picture.
type drawing struct {
	bytes.Buffer
	id, title string
	height    float64
	used      [len(names)]bool
	inline    bool // in a page, where links lead somewhere
	linked    bool // there are links
}

// heading draws the title and the line below it.
func (d *drawing) heading(title, subtitle string) {
	d.title = title
	d.text(left, 36, "start", 20, plotWidth, title)
	d.text(left, 60, "start", 13, plotWidth, subtitle)
}

// paint returns the attribute that fills a shape.
func (d *drawing) paint(s Style) string {
	d.used[s] = true
	if s < Second {
		return fmt.Sprintf(`class="chart-%s"`, names[s])
	}
	return fmt.Sprintf(`fill="url(#%s-%s)"`, d.id, names[s])
}

// A key is an entry of a legend.
type key struct {
	style   Style
	name    string
	opacity float64
}

// legend draws the entries in a row. Without entries it draws nothing.
func (d *drawing) legend(y float64, keys []key) {
	x := float64(left)
	for _, k := range keys {
		fmt.Fprintf(d, `<rect x="%.2f" y="%.2f" width="13" height="13" %s fill-opacity="%.2f"/>`+"\n", x, y-11, d.paint(k.style), k.opacity)
		d.text(x+19, y, "start", 13, plotWidth, k.name)
		x += 19 + extent(k.name, 13) + 18
	}
}

// extent returns the approximate width of a text; it is rather too large.
func extent(text string, size float64) float64 {
	return 0.6 * size * float64(utf8.RuneCountInString(text))
}

// text draws text, smaller than size if it would be wider than room.
func (d *drawing) text(x, y float64, anchor string, size, room float64, text string) {
	if w := extent(text, size); w > room {
		size *= room / w
	}
	fmt.Fprintf(d, `<text x="%.2f" y="%.2f" text-anchor="%s" font-size="%.4g">%s</text>`+"\n", x, y, anchor, size, escape(text))
}

// line draws a horizontal line.
func (d *drawing) line(class string, x, y, length float64) {
	fmt.Fprintf(d, `<path class="chart-%s" d="M%.2f %.2fh%.2f"/>`+"\n", class, x, y, length)
}

// labels draws texts along an axis at equal distances from pitch/2 on: the last one, and as many
// others as fit. at draws the text at a distance from the beginning; size returns its extent.
func labels(texts []string, pitch float64, size func(string) float64, at func(distance float64, text string)) {
	if len(texts) == 0 {
		return
	}
	last := len(texts) - 1
	end := pitch*(float64(last)+0.5) - size(texts[last])/2
	most := 0.0
	for _, text := range texts[:last] {
		most = max(most, size(text))
	}
	every := max(1, int(math.Ceil((most+6)/pitch)))
	for i := 0; i < last; i += every {
		if x := pitch * (float64(i) + 0.5); x+size(texts[i])/2+6 <= end {
			at(x, texts[i])
		}
	}
	at(pitch*(float64(last)+0.5), texts[last])
}

// powerOfTen returns 10^exponent as text: 1, 10, 100, 1k, 10k, ...
func powerOfTen(exponent int) string {
	digits := [...]string{"1", "10", "100"}
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	return digits[exponent%3] + units[min(exponent/3, len(units)-1)]
}

// decadesOf returns the smallest number of decades, at least 1, that contain most.
func decadesOf(most float64) int {
	decades := 1
	for limit := 10.0; limit < most; limit *= 10 {
		decades++
	}
	return decades
}

// largest returns the largest of numbers, or 0.
func largest(numbers []float64) float64 { return slices.Max(append([]float64{0}, numbers...)) }

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a Buffer never fails
	return b.String()
}
