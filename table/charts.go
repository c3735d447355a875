//go:build !js

package table

import (
	"fmt"
	"io"
	"strconv"

	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// WriteSVG writes the statistics as an SVG picture, the one of Columns.
func (s Stats) WriteSVG(w io.Writer) error { return chart.Write(w, s.Columns()) }

// heading returns the title of pictures: the title of the game, and the value of the initial
// position.
func (s Stats) heading() string {
	if s.title == "" {
		return s.Game + ": " + s.Value
	}
	return s.title + ": " + s.Value
}

// styles are the styles of outcomes, in the order of the statistics.
var styles = [...]chart.Style{chart.First, chart.Second, chart.Tie}

// Columns returns a picture of the positions by value. For a game with tiers, it has two panels
// over the tiers: the share of each outcome, and the number of positions on a log scale. For a
// game with cycles, it has one panel: for each number of moves to the end, the number of
// positions with each result on a log scale; the last column shows the draws.
func (s Stats) Columns() chart.Columns {
	if s.CyclicStats != nil {
		return s.results()
	}
	tier, most := s.largest()
	c := chart.Columns{
		Title: s.heading(),
		Subtitle: fmt.Sprintf("Positions that play can reach: %s in all, %s in the largest tier (%d)",
			numfmt.Number(s.Positions), numfmt.Number(most), tier),
		Axis: s.axis(), Class: "tier",
	}
	all := chart.Series{Style: chart.Plain}
	var parts [len(styles)]chart.Series
	for i := range parts {
		parts[i] = chart.Series{Name: s.words()[i], Style: styles[i]}
	}
	for _, t := range s.Tiers {
		c.Names = append(c.Names, strconv.Itoa(t.Tier))
		c.Texts = append(c.Texts, s.describe(t))
		all.Values = append(all.Values, float64(t.Positions))
		for i, n := range t.byOutcome() {
			parts[i].Values = append(parts[i].Values, float64(n))
		}
	}
	c.Panels = []chart.Panel{
		{Heading: "Outcome under best play: share of the tier's positions", Share: true, Series: parts[:]},
		{Heading: "Positions in the tier (log scale)", Series: []chart.Series{all}},
	}
	return c
}

// axis returns the name of the axis of tiers.
func (s Stats) axis() string {
	if s.unit != "" {
		return "tier = " + s.unit
	}
	return "tier"
}

// results returns the picture for a game with cycles.
func (s Stats) results() chart.Columns {
	c := chart.Columns{
		Title:    s.heading(),
		Subtitle: "Positions that play can reach: " + numfmt.Number(s.Positions),
		Axis:     "moves to the end", Class: "remoteness",
	}
	series := []chart.Series{{Name: "LOSE", Style: chart.Second}, {Name: "WIN", Style: chart.First}, {Name: "TIE", Style: chart.Tie}, {Name: "DRAW", Style: chart.Draw}}
	column := func(name string, counts ...uint64) {
		text := name
		for i, n := range counts {
			series[i].Values = append(series[i].Values, float64(n))
			if n > 0 {
				text += fmt.Sprintf("\n%s: %s", series[i].Name, numfmt.Number(n))
			}
		}
		c.Names, c.Texts = append(c.Names, name), append(c.Texts, text)
	}
	for _, r := range s.Remoteness {
		column(strconv.Itoa(r.Remoteness), r.Lose, r.Win, r.Tie, 0)
	}
	column("no end", 0, 0, 0, s.Draw)
	c.Panels = []chart.Panel{{Heading: "Positions by moves to the end (log scale), for the player to move", Series: series}}
	return c
}

// Heat returns a picture of the positions by tier and remoteness. A game with cycles has no
// tiers, and its picture is empty.
func (s Stats) Heat() chart.Heat {
	h := chart.Heat{
		Title: s.heading(), Subtitle: "Positions by tier and by moves to the end under best play; a stronger colour is a larger number (log scale)",
		XAxis: s.axis(), YAxis: "moves to the end", XName: "tier", YName: "remoteness",
	}
	for i, word := range s.words() {
		p := chart.HeatPanel{Name: word, Style: styles[i]}
		for _, t := range s.Tiers {
			for _, v := range t.Remoteness {
				if v.Outcome == word {
					p.Cells = append(p.Cells, chart.Cell{X: t.Tier, Y: v.Remoteness, N: v.Positions})
				}
			}
		}
		h.Panels = append(h.Panels, p)
	}
	return h
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

// byOutcome returns the numbers of positions in the order of the outcomes.
func (t TierStats) byOutcome() [3]uint64 { return [3]uint64{t.XWins, t.OWins, t.Ties} }

// describe returns the numbers of a tier, one per line.
func (s Stats) describe(t TierStats) string {
	text := fmt.Sprintf("tier %d\npositions: %s", t.Tier, numfmt.Number(t.Positions))
	line := func(name string, n uint64) {
		text += fmt.Sprintf("\n%s: %s (%s)", name, numfmt.Number(n), percent(n, t.Positions))
	}
	for i, n := range t.byOutcome() {
		line(s.words()[i], n)
	}
	line("finished", t.Finished)
	return text
}
