package table

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/treereduce/treereduce/internal/numfmt"
)

// The layout of the picture, in pixels: two panels of the same width, one above the other,
// each with a heading above and tier numbers below.
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
	minLabelGap = 24 // between the centers of two tier numbers

	// A game with cycles has one panel.
	cyclicHeight = 460
	cyclicBottom = 390
	cyclicPanel  = 270
)

// Colours that differ in hue and lightness, after Okabe and Ito.
const (
	xColour     = "#0072b2"
	oColour     = "#e69f00"
	tieColour   = "#c4c4c4"
	drawColour  = "#009e73" // play need not end
	countColour = "#5a5a5a"
	gridColour  = "#dddddd"
	textColour  = "#222222"
)

// logFloor is where the logarithmic axis begins. It is below the logarithm of 1, so that a
// single position has a bar; a tier without positions has none.
var logFloor = math.Log10(0.5)

// WriteSVG writes the statistics as an SVG picture. For a game with tiers, it has two panels
// over the tiers: the share of each outcome, and the number of positions on a log scale. Each
// tier is a group of class "tier", whose title contains its exact numbers. For a game with
// cycles, it has one panel: for each number of moves to the end, the number of positions on a
// log scale, with a bar for each result; the last column shows the draws. Each column is a
// group of class "remoteness", whose title contains its exact numbers.
func (s Stats) WriteSVG(w io.Writer) error {
	d := new(drawing)
	if s.CyclicStats != nil {
		d.results(s)
	} else {
		d.outcomes(s)
	}
	d.WriteString("</svg>\n")
	_, err := w.Write(d.Bytes())
	return err
}

// outcomes draws the two panels for a game with tiers.
func (d *drawing) outcomes(s Stats) {
	tier, most := s.largest()
	d.heading(s.Game+": "+s.Value, picHeight, fmt.Sprintf("Positions that play can reach: %s in all, %s in the largest tier (%d)",
		numfmt.Number(s.Positions), numfmt.Number(most), tier))
	d.text(plotLeft, shareBottom-panelHeight-16, "start", 14, "Who wins under best play: share of the tier's positions")
	d.text(plotLeft, countBottom-panelHeight-16, "start", 14, "Positions in the tier (log scale)")
	name := "tier"
	if s.unit != "" {
		name += " = " + s.unit
	}
	d.text(plotLeft+plotWidth/2, countBottom+40, "middle", 13, name)
	d.legend(s.parts(TierStats{}), shareBottom-panelHeight-16)
	for i := range 5 {
		d.gridLine(shareBottom-panelHeight*float64(i)/4, fmt.Sprintf("%d%%", 25*i))
	}
	height := d.logScale(most, panelHeight, countBottom)
	width := plotWidth / float64(max(1, len(s.Tiers)))
	every := int(math.Ceil(minLabelGap / width))
	for i, t := range s.Tiers {
		x := plotLeft + width*float64(i)
		d.tier(s, t, x, width, height(t.Positions))
		if i%every == 0 {
			d.text(x+width/2, shareBottom+18, "middle", 12, strconv.Itoa(t.Tier))
			d.text(x+width/2, countBottom+18, "middle", 12, strconv.Itoa(t.Tier))
		}
	}
	d.line(shareBottom, textColour)
	d.line(countBottom, textColour)
}

// results draws the panel for a game with cycles.
func (d *drawing) results(s Stats) {
	type column struct {
		name  string
		parts []part
	}
	parts := func(lose, win, tie, draw uint64) []part {
		return []part{{"LOSE", oColour, lose}, {"WIN", xColour, win}, {"TIE", tieColour, tie}, {"DRAW", drawColour, draw}}
	}
	var columns []column
	most := s.Draw
	for _, r := range s.Remoteness {
		columns = append(columns, column{strconv.Itoa(r.Remoteness), parts(r.Lose, r.Win, r.Tie, 0)})
		most = max(most, r.Lose, r.Win, r.Tie)
	}
	columns = append(columns, column{"no end", parts(0, 0, 0, s.Draw)})

	d.heading(s.Game+": "+s.Value, cyclicHeight, fmt.Sprintf("Positions that play can reach: %s", numfmt.Number(s.Positions)))
	d.text(plotLeft, cyclicBottom-cyclicPanel-16, "start", 14, "Positions by moves to the end (log scale), for the player to move")
	d.text(plotLeft+plotWidth/2, cyclicBottom+40, "middle", 13, "moves to the end")
	d.legend(parts(0, 0, 0, 0), cyclicBottom-cyclicPanel-16)
	height := d.logScale(most, cyclicPanel, cyclicBottom)
	width := plotWidth / float64(len(columns))
	for i, c := range columns {
		x := plotLeft + width*float64(i)
		text, bars := c.name, 0
		for _, p := range c.parts {
			if p.positions > 0 {
				text += fmt.Sprintf("\n%s: %s", p.name, numfmt.Number(p.positions))
				bars++
			}
		}
		fmt.Fprintf(d, `<g class="remoteness"><title>%s</title>`+"\n", escape(text))
		bar := min(0.8*width/float64(max(1, bars)), maxBarWidth)
		at := x + (width-bar*float64(bars))/2
		for _, p := range c.parts {
			if p.positions > 0 {
				d.rect(at, cyclicBottom-height(p.positions), bar, height(p.positions), p.colour)
				at += bar
			}
		}
		d.WriteString("</g>\n")
		d.text(x+width/2, cyclicBottom+18, "middle", 12, c.name)
	}
	d.line(cyclicBottom, textColour)
}

// largest returns the tier with the most positions; the lowest one if several have as many.
func (s Stats) largest() (tier int, positions uint64) {
	for _, t := range s.Tiers {
		if t.Positions > positions {
			tier, positions = t.Tier, t.Positions
		}
	}
	return tier, positions
}

// A part is a segment or a bar of a column.
type part struct {
	name, colour string
	positions    uint64
}

// parts returns the segments of a tier's bar, from bottom to top.
func (s Stats) parts(t TierStats) []part {
	words := s.words()
	return []part{{words[0], xColour, t.XWins}, {words[1], oColour, t.OWins}, {words[2], tieColour, t.Ties}}
}

// describe returns the numbers of a tier, one per line.
func (s Stats) describe(t TierStats) string {
	text := fmt.Sprintf("tier %d\npositions: %s", t.Tier, numfmt.Number(t.Positions))
	for _, p := range append(s.parts(t), part{name: "finished", positions: t.Finished}) {
		text += fmt.Sprintf("\n%s: %s (%s)", p.name, numfmt.Number(p.positions), percent(p.positions, t.Positions))
	}
	return text
}

// powerOfTen returns the label of 10^exponent on the logarithmic axis: 1, 10, 100, 1k, 10k,
// ...
func powerOfTen(exponent int) string {
	digits := [...]string{"1", "10", "100"}
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	return digits[exponent%3] + units[exponent/3]
}

// A drawing is the text of an SVG picture.
type drawing struct{ bytes.Buffer }

// heading begins a picture of the given height, with its title and a line of text below.
func (d *drawing) heading(title string, height int, text string) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" fill="%s">`+"\n",
		picWidth, height, textColour)
	d.rect(0, 0, picWidth, float64(height), "#ffffff")
	fmt.Fprintf(d, "<title>%s</title>\n", escape(title))
	d.text(plotLeft, 36, "start", 20, title)
	d.text(plotLeft, 60, "start", 13, text)
}

// legend draws the colours and names of parts, at the right.
func (d *drawing) legend(parts []part, y float64) {
	pitch := 84.0
	for _, p := range parts {
		pitch = max(pitch, 27+8*float64(len(p.name)))
	}
	x := plotLeft + plotWidth - pitch*float64(len(parts)) + 30
	for _, p := range parts {
		d.rect(x, y-11, 13, 13, p.colour)
		d.text(x+19, y, "start", 13, p.name)
		x += pitch
	}
}

// logScale draws the grid lines of a panel whose lower edge is bottom, up to the first power
// of ten that is at least most. It returns a function for the height of a bar.
func (d *drawing) logScale(most uint64, panel, bottom float64) (height func(n uint64) float64) {
	decades := len(strconv.FormatUint(max(most, 1)-1, 10)) // the smallest number with 10^decades ≥ most
	perDecade := panel / (float64(decades) - logFloor)
	of := func(n float64) float64 { return perDecade * (math.Log10(n) - logFloor) }
	for i := range decades + 1 {
		d.gridLine(bottom-of(math.Pow10(i)), powerOfTen(i))
	}
	return func(n uint64) float64 { return of(float64(n)) }
}

// tier draws both bars of a tier into the column that begins at x. The complete column shows
// the exact numbers when the pointer is over it.
func (d *drawing) tier(s Stats, t TierStats, x, width, countHeight float64) {
	fmt.Fprintf(d, `<g class="tier"><title>%s</title>`+"\n", escape(s.describe(t)))
	fmt.Fprintf(d, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="none" pointer-events="all"/>`+"\n",
		x, shareBottom-panelHeight, width, countBottom-shareBottom+panelHeight)
	bar := min(0.8*width, maxBarWidth)
	x += (width - bar) / 2
	y := float64(shareBottom)
	for _, p := range s.parts(t) {
		if p.positions > 0 {
			h := panelHeight * float64(p.positions) / float64(t.Positions)
			y -= h
			d.rect(x, y, bar, h, p.colour)
		}
	}
	if t.Positions > 0 { // 0 has no logarithm
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

// line draws a line across the width of the panels.
func (d *drawing) line(y float64, colour string) {
	fmt.Fprintf(d, `<path d="M%d %.2fh%d" stroke="%s"/>`+"\n", plotLeft, y, plotWidth, colour)
}

// gridLine draws a line with a label at its left.
func (d *drawing) gridLine(y float64, label string) {
	d.line(y, gridColour)
	d.text(plotLeft-8, y+4, "end", 12, label)
}

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a Buffer never fails
	return b.String()
}
