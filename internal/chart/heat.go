package chart

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/internal/numfmt"
)

// Heat shows numbers by two coordinates: a panel for each kind of result, in which the decade of
// a number gives the strength of the colour.
type Heat struct {
	Title, Subtitle string
	XAxis, YAxis    string
	XName, YName    string // of a coordinate, in the text under the pointer
	Panels          []HeatPanel
}

// A HeatPanel shows the numbers of a kind of result.
type HeatPanel struct {
	Name  string
	Style Style
	Cells []Cell
}

// A Cell is a number at its coordinates, which are at least 0.
type Cell struct {
	X, Y int
	N    uint64
}

// The layout of Heat, in pixels.
const (
	heatTop    = 150
	heatHeight = 320
	heatGap    = 56 // between two panels
)

// draw implements Picture. Panels without cells are left out.
func (h Heat) draw(d *drawing) {
	d.id = "heat"
	d.heading(h.Title, h.Subtitle)
	panels := slices.DeleteFunc(slices.Clone(h.Panels), func(p HeatPanel) bool { return len(p.Cells) == 0 })
	shown := float64(max(1, len(panels)))
	columns, rows, most := 1, 1, uint64(1)
	for _, p := range panels {
		for _, c := range p.Cells {
			columns, rows, most = max(columns, c.X+1), max(rows, c.Y+1), max(most, c.N)
		}
	}
	decades := len(strconv.FormatUint(most, 10))
	strength := func(digits int) float64 { return 0.2 + 0.8*float64(digits)/float64(decades) }
	keys := []key{}
	for i := range decades {
		keys = append(keys, key{Plain, "from " + powerOfTen(i), strength(i + 1)})
		if decades > 6 {
			keys[i].name = powerOfTen(i)
		}
	}
	d.legend(92, keys)
	wide := (plotWidth - heatGap*(shown-1)) / shown
	dx, dy, x := wide/float64(columns), heatHeight/float64(rows), float64(left)
	bottom := float64(heatTop + heatHeight)
	d.text(8, heatTop-28, "start", 13, plotWidth, h.YAxis)
	for _, p := range panels {
		d.text(x, heatTop-8, "start", 14, wide, p.Name)
		for _, c := range p.Cells {
			fmt.Fprintf(d, `<rect class="chart-%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill-opacity="%.2f"><title>%s</title></rect>`+"\n",
				names[p.Style], x+dx*float64(c.X), bottom-dy*float64(c.Y+1), dx, dy, strength(len(strconv.FormatUint(c.N, 10))),
				escape(fmt.Sprintf("%s %d, %s %d\n%s: %s", h.XName, c.X, h.YName, c.Y, p.Name, numfmt.Number(c.N))))
		}
		labels(numbers(columns), dx, func(text string) float64 { return extent(text, 12) }, func(at float64, text string) {
			d.text(x+at, bottom+16, "middle", 12, wide, text)
		})
		labels(numbers(rows), dy, func(string) float64 { return 10 }, func(at float64, text string) {
			d.text(x-6, bottom-at+4, "end", 12, heatGap-6, text)
		})
		d.line("axis", x, bottom, wide)
		x += wide + heatGap
	}
	d.text(left+plotWidth/2, bottom+40, "middle", 13, plotWidth, h.XAxis)
	d.height = bottom + 56
}

// numbers returns the numbers below n as texts.
func numbers(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return texts
}
