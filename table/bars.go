package table

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/internal/numfmt"
)

// Bars is a picture of numbers by tier, for a game that need not be solved: panels one above
// the other, each with a bar for each tier on a log scale.
type Bars struct {
	Title, Subtitle string
	Tiers           []int  // tier numbers, ascending
	Unit            string // the axis label: "tier = pieces on the board"
	Panels          []Panel
}

// A Panel shows one number for each tier. A number below 1 has no bar.
type Panel struct {
	Heading string // above the panel
	Name    string // name of the number, shown under the pointer
	Values  []float64
}

// The layout of Bars, in pixels: the height of a panel with its heading and tier numbers, and
// the height of the title.
const (
	panelPitch = panelHeight + 74
	barsTop    = 70
)

// WriteSVG writes the picture. Each column is a group of class "tier", whose title contains
// its numbers.
func (b Bars) WriteSVG(w io.Writer) error {
	d := new(drawing)
	d.heading(b.Title, barsTop+panelPitch*len(b.Panels)+30, b.Subtitle)
	width := plotWidth / float64(max(1, len(b.Tiers)))
	every := int(math.Ceil(minLabelGap / width))
	bar := min(0.8*width, maxBarWidth)
	for n, p := range b.Panels {
		bottom := float64(barsTop + panelPitch*(n+1) - 24)
		d.text(plotLeft, bottom-panelHeight-16, "start", 14, p.Heading)
		most := 1.0
		if len(p.Values) > 0 {
			most = max(most, slices.Max(p.Values))
		}
		height := d.logScale(uint64(math.Ceil(most)), panelHeight, bottom)
		for i, value := range p.Values {
			x := plotLeft + width*float64(i)
			fmt.Fprintf(d, `<g class="tier"><title>%s</title>`+"\n", escape(fmt.Sprintf("tier %d\n%s: %s", b.Tiers[i], p.Name, numfmt.Number(value))))
			fmt.Fprintf(d, `<rect x="%.2f" y="%.2f" width="%.2f" height="%d" fill="none" pointer-events="all"/>`+"\n", x, bottom-panelHeight, width, panelHeight)
			if value >= 1 {
				h := height(uint64(value))
				d.rect(x+(width-bar)/2, bottom-h, bar, h, countColour)
			}
			d.WriteString("</g>\n")
			if i%every == 0 {
				d.text(x+width/2, bottom+18, "middle", 12, strconv.Itoa(b.Tiers[i]))
			}
		}
		d.line(bottom, textColour)
	}
	d.text(plotLeft+plotWidth/2, float64(barsTop+panelPitch*len(b.Panels)+18), "middle", 13, b.Unit)
	d.WriteString("</svg>\n")
	_, err := w.Write(d.Bytes())
	return err
}
