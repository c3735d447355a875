package table

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
)

// The layout of the picture, in pixels: two panels of the same width, one above
// the other, each with its heading above and its tier numbers below.
//
//	title
//	subtitle
//	heading                legend
//	100% |####  share        ####
//	  0% |####################
//	      0  1  2  ...
//	heading
//	 10k |    ##  count  ##
//	   1 |####################
//	      0  1  2  ...
//	      tier
const (
	picWidth    = 960
	picHeight   = 660
	plotLeft    = 64
	plotWidth   = picWidth - plotLeft - 24
	panelHeight = 210
	shareBottom = 330
	countBottom = 610
	maxBarWidth = 60
	minLabelGap = 24 // between the middles of two tier numbers
)

// Colours that differ in hue and in lightness, after Okabe and Ito.
const (
	xColour     = "#0072b2"
	oColour     = "#e69f00"
	tieColour   = "#c4c4c4"
	countColour = "#5a5a5a"
	gridColour  = "#dddddd"
	textColour  = "#222222"
)

// logFloor is where the log axis begins: below 1, so that a single position has
// a bar; no position has none.
var logFloor = math.Log10(0.5)

// WriteSVG writes the statistics as a picture of two panels over the tiers: the
// share of each outcome, and the number of positions on a log scale. Each tier
// is a group of class "tier" whose title is its exact numbers.
func (s Stats) WriteSVG(w io.Writer) error {
	d := new(drawing)
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" fill="%s">`+"\n",
		picWidth, picHeight, textColour)
	d.rect(0, 0, picWidth, picHeight, "#ffffff")
	d.heading(s)
	d.legend()
	for i := range 5 {
		d.gridLine(shareBottom-panelHeight*float64(i)/4, fmt.Sprintf("%d%%", 25*i))
	}
	_, most := s.largest()
	decades := len(strconv.FormatUint(max(most, 1)-1, 10)) // the least with 10^decades ≥ most
	perDecade := panelHeight / (float64(decades) - logFloor)
	height := func(n float64) float64 { return perDecade * (math.Log10(n) - logFloor) }
	for i := range decades + 1 {
		d.gridLine(countBottom-height(math.Pow10(i)), powerOfTen(i))
	}
	width := plotWidth / float64(max(1, len(s.Tiers)))
	every := int(math.Ceil(minLabelGap / width))
	for i, t := range s.Tiers {
		x := plotLeft + width*float64(i)
		d.tier(t, x, width, height(float64(t.Positions)))
		if i%every == 0 {
			d.text(x+width/2, shareBottom+18, "middle", 12, strconv.Itoa(t.Tier))
			d.text(x+width/2, countBottom+18, "middle", 12, strconv.Itoa(t.Tier))
		}
	}
	d.line(shareBottom, textColour)
	d.line(countBottom, textColour)
	d.WriteString("</svg>\n")
	_, err := w.Write(d.Bytes())
	return err
}

// largest returns the tier with the most positions, the first of equals.
func (s Stats) largest() (tier int, positions uint64) {
	for _, t := range s.Tiers {
		if t.Positions > positions {
			tier, positions = t.Tier, t.Positions
		}
	}
	return tier, positions
}

// A part is what a tier's bar is made of.
type part struct {
	name, colour string
	positions    uint64
}

// parts returns the parts from below.
func (t TierStats) parts() []part {
	return []part{{"X wins", xColour, t.XWins}, {"O wins", oColour, t.OWins}, {"tie", tieColour, t.Ties}}
}

// describe gives the numbers of a tier in lines.
func (t TierStats) describe() string {
	text := fmt.Sprintf("tier %d\npositions: %s", t.Tier, commas(t.Positions))
	for _, p := range append(t.parts(), part{name: "finished", positions: t.Finished}) {
		text += fmt.Sprintf("\n%s: %s (%s)", p.name, commas(p.positions), percent(p.positions, t.Positions))
	}
	return text
}

// powerOfTen names a number of the log axis: 1, 10, 100, 1k, 10k, ...
func powerOfTen(exponent int) string {
	digits := [...]string{"1", "10", "100"}
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	return digits[exponent%3] + units[exponent/3]
}

// A drawing is the text of an SVG picture.
type drawing struct{ bytes.Buffer }

func (d *drawing) heading(s Stats) {
	tier, most := s.largest()
	title := s.Game + ": " + s.Value
	fmt.Fprintf(d, "<title>%s</title>\n", escape(title))
	d.text(plotLeft, 36, "start", 20, title)
	d.text(plotLeft, 60, "start", 13, fmt.Sprintf("Positions that play can reach: %s in all, %s in the largest tier (%d)",
		commas(s.Positions), commas(most), tier))
	d.text(plotLeft, shareBottom-panelHeight-16, "start", 14, "Who wins under best play: share of the tier's positions")
	d.text(plotLeft, countBottom-panelHeight-16, "start", 14, "Positions in the tier (log scale)")
	d.text(plotLeft+plotWidth/2, countBottom+40, "middle", 13, "tier = pieces on the board")
}

func (d *drawing) legend() {
	const pitch, y = 84, shareBottom - panelHeight - 16
	x := float64(plotLeft + plotWidth - 3*pitch + 30)
	for _, p := range (TierStats{}).parts() {
		d.rect(x, y-11, 13, 13, p.colour)
		d.text(x+19, y, "start", 13, p.name)
		x += pitch
	}
}

// tier draws both bars of a tier into the column that begins at x, all of which
// shows the exact numbers under the pointer.
func (d *drawing) tier(t TierStats, x, width, countHeight float64) {
	fmt.Fprintf(d, `<g class="tier"><title>%s</title>`+"\n", escape(t.describe()))
	fmt.Fprintf(d, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="none" pointer-events="all"/>`+"\n",
		x, shareBottom-panelHeight, width, countBottom-shareBottom+panelHeight)
	bar := min(0.8*width, maxBarWidth)
	x += (width - bar) / 2
	y := float64(shareBottom)
	for _, p := range t.parts() {
		if p.positions > 0 {
			h := panelHeight * float64(p.positions) / float64(t.Positions)
			y -= h
			d.rect(x, y, bar, h, p.colour)
		}
	}
	if t.Positions > 0 { // the logarithm of 0 has no place
		d.rect(x, countBottom-countHeight, bar, countHeight, countColour)
	}
	d.WriteString("</g>\n")
}

func (d *drawing) rect(x, y, width, height float64, colour string) {
	fmt.Fprintf(d, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", x, y, width, height, colour)
}

func (d *drawing) text(x, y float64, anchor string, size int, text string) {
	fmt.Fprintf(d, `<text x="%.2f" y="%.2f" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size, escape(text))
}

// line draws a line across the panels' width.
func (d *drawing) line(y float64, colour string) {
	fmt.Fprintf(d, `<path d="M%d %.2fh%d" stroke="%s"/>`+"\n", plotLeft, y, plotWidth, colour)
}

// gridLine draws a line with its label to the left.
func (d *drawing) gridLine(y float64, label string) {
	d.line(y, gridColour)
	d.text(plotLeft-8, y+4, "end", 12, label)
}

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a Buffer does not fail
	return b.String()
}
