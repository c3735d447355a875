package table

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// The layout of the picture of a game with cycles, in pixels: one panel.
const (
	cyclicHeight = 460
	cyclicBottom = 390
	cyclicPanel  = 270
)

// drawColour is that of positions from which play need never end.
const drawColour = "#009e73"

// WriteSVG writes the statistics as a picture: for each number of moves to the end
// the number of positions on a log scale, a bar for each result; the last column
// is the draws. Each column is a group of class "remoteness" whose title is its
// exact numbers.
func (s CyclicStats) WriteSVG(w io.Writer) error {
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

	d := new(drawing)
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" fill="%s">`+"\n",
		picWidth, cyclicHeight, textColour)
	d.rect(0, 0, picWidth, cyclicHeight, "#ffffff")
	title := s.Game + ": " + s.Value
	fmt.Fprintf(d, "<title>%s</title>\n", escape(title))
	d.text(plotLeft, 36, "start", 20, title)
	d.text(plotLeft, 60, "start", 13, fmt.Sprintf("Positions that play can reach: %s", commas(s.Positions)))
	d.text(plotLeft, cyclicBottom-cyclicPanel-16, "start", 14, "Positions by moves to the end (log scale), for the player to move")
	d.text(plotLeft+plotWidth/2, cyclicBottom+40, "middle", 13, "moves to the end")
	const pitch = 84
	x := float64(plotLeft + plotWidth - 4*pitch + 30)
	for _, p := range parts(0, 0, 0, 0) {
		d.rect(x, cyclicBottom-cyclicPanel-27, 13, 13, p.colour)
		d.text(x+19, cyclicBottom-cyclicPanel-16, "start", 13, p.name)
		x += pitch
	}
	decades := len(strconv.FormatUint(max(most, 1)-1, 10))
	perDecade := cyclicPanel / (float64(decades) - logFloor)
	height := func(n float64) float64 { return perDecade * (math.Log10(n) - logFloor) }
	for i := range decades + 1 {
		d.gridLine(cyclicBottom-height(math.Pow10(i)), powerOfTen(i))
	}
	width := plotWidth / float64(len(columns))
	for i, c := range columns {
		x := plotLeft + width*float64(i)
		text, bars := c.name, 0
		for _, p := range c.parts {
			if p.positions > 0 {
				text += fmt.Sprintf("\n%s: %s", p.name, commas(p.positions))
				bars++
			}
		}
		fmt.Fprintf(d, `<g class="remoteness"><title>%s</title>`+"\n", escape(text))
		bar := min(0.8*width/float64(max(1, bars)), maxBarWidth)
		at := x + (width-bar*float64(bars))/2
		for _, p := range c.parts {
			if p.positions > 0 {
				d.rect(at, cyclicBottom-height(float64(p.positions)), bar, height(float64(p.positions)), p.colour)
				at += bar
			}
		}
		d.WriteString("</g>\n")
		d.text(x+width/2, cyclicBottom+18, "middle", 12, c.name)
	}
	d.line(cyclicBottom, textColour)
	d.WriteString("</svg>\n")
	_, err := w.Write(d.Bytes())
	return err
}
