package chart

import (
	"fmt"
	"math"
)

// Columns shows numbers by tier, or by another number: panels one above the other, each with
// bars above the names of the columns.
type Columns struct {
	Title, Subtitle string
	Axis            string   // what the names of the columns are
	Class           string   // the class of each column's group
	Names           []string // of the columns
	Texts           []string // the exact numbers of each column, shown under the pointer
	Panels          []Panel
}

// A Panel shows series of numbers.
type Panel struct {
	Heading string
	Share   bool // the bars of a column are stacked, as shares of their sum; otherwise side by side, on a log scale
	Series  []Series
}

// A Series is a number for each column. On a log scale, a number below 1 has no bar.
type Series struct {
	Name   string // "": not in the legend
	Style  Style
	Values []float64
}

// The layout of Columns, in pixels.
const (
	panelHeight = 210
	panelPitch  = panelHeight + 74 // with the heading and the names of columns
	maxBarWidth = 60
)

// logFloor is where the logarithmic axis begins. It is below the logarithm of 1, so that a
// single position has a bar.
var logFloor = math.Log10(0.5)

// draw implements Picture.
func (c Columns) draw(d *drawing) {
	d.id = "columns"
	d.heading(c.Title, c.Subtitle)
	keys := c.keys()
	top := 66.0
	if len(keys) > 0 {
		d.legend(86, keys)
		top = 92
	}
	pitch := plotWidth / float64(max(1, len(c.Names)))
	bottom := func(panel int) float64 { return top + panelPitch*float64(panel+1) - 24 }
	heights := make([]func(float64) float64, len(c.Panels))
	for i, p := range c.Panels {
		d.text(left, bottom(i)-panelHeight-16, "start", 14, plotWidth, p.Heading)
		heights[i] = d.scale(p, bottom(i))
		labels(c.Names, pitch, func(text string) float64 { return extent(text, 12) }, func(x float64, text string) {
			d.text(left+x, bottom(i)+18, "middle", 12, plotWidth, text)
		})
	}
	for i, text := range c.Texts {
		x := left + pitch*float64(i)
		fmt.Fprintf(d, `<g class="%s"><title>%s</title>`+"\n", c.Class, escape(text))
		fmt.Fprintf(d, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="none" pointer-events="all"/>`+"\n",
			x, bottom(0)-panelHeight, pitch, bottom(len(c.Panels)-1)-bottom(0)+panelHeight)
		for n, p := range c.Panels {
			d.bars(p, i, x, bottom(n), pitch, heights[n])
		}
		d.WriteString("</g>\n")
	}
	for i := range c.Panels {
		d.line("axis", left, bottom(i), plotWidth)
	}
	d.text(left+plotWidth/2, top+panelPitch*float64(len(c.Panels))+18, "middle", 13, plotWidth, c.Axis)
	d.height = top + panelPitch*float64(len(c.Panels)) + 30
}

// keys returns the legend: the named series with a number above 0.
func (c Columns) keys() (keys []key) {
	for _, p := range c.Panels {
		for _, s := range p.Series {
			if s.Name != "" && largest(s.Values) > 0 {
				keys = append(keys, key{s.Style, s.Name, 1})
			}
		}
	}
	return keys
}

// scale draws the grid of a panel and returns the height of a bar; of a share, if the panel
// shows shares.
func (d *drawing) scale(p Panel, bottom float64) func(n float64) float64 {
	grid := func(height float64, label string) {
		d.line("grid", left, bottom-height, plotWidth)
		d.text(left-8, bottom-height+4, "end", 12, left-8, label)
	}
	if p.Share {
		for i := range 5 {
			grid(panelHeight*float64(i)/4, fmt.Sprintf("%d%%", 25*i))
		}
		return func(share float64) float64 { return panelHeight * share }
	}
	most := 0.0
	for _, s := range p.Series {
		most = max(most, largest(s.Values))
	}
	decades := decadesOf(most)
	of := func(n float64) float64 {
		return panelHeight / (float64(decades) - logFloor) * (math.Log10(n) - logFloor)
	}
	for i := range decades + 1 {
		grid(of(math.Pow10(i)), powerOfTen(i))
	}
	return of
}

// bars draws the bars of the i-th column of a panel into the column that begins at x.
func (d *drawing) bars(p Panel, i int, x, bottom, pitch float64, height func(float64) float64) {
	count, all := 0, 0.0
	for _, s := range p.Series {
		if s.Values[i] >= 1 {
			count++
			all += s.Values[i]
		}
	}
	side := !p.Share
	if !side {
		count = min(count, 1)
	}
	bar := min(0.8*pitch/float64(max(1, count)), maxBarWidth)
	x += (pitch - bar*float64(count)) / 2
	for _, s := range p.Series {
		n := s.Values[i]
		if n < 1 {
			continue
		}
		if p.Share {
			n /= all
		}
		h := height(n)
		fmt.Fprintf(d, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" %s/>`+"\n", x, bottom-h, bar, h, d.paint(s.Style))
		if side {
			x += bar
		} else {
			bottom -= h
		}
	}
}
