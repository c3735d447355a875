//go:build !js

package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// WriteSVG writes the statistics as an SVG picture, the one of Columns.
func (s Stats) WriteSVG(w io.Writer) error { return chart.Write(w, s.Columns()) }

// heading returns the title of pictures: the title of the game, and the value of the initial
// position.
func (s Stats) heading() string { return cmp.Or(s.title, s.Game) + ": " + s.Value }

// styles are the styles of outcomes.
var styles = [...]chart.Style{game.Undecided: chart.Draw, game.SecondWins: chart.Second, game.FirstWins: chart.First, game.Tie: chart.Tie}

// Columns returns a picture of the positions by value. For a game with tiers, it has two panels
// over the tiers: the share of each outcome, and the number of positions on a log scale. For a
// game without tiers, it has one panel: for each number of moves to the end, the number of
// positions with each result on a log scale; the last column shows the draws.
func (s Stats) Columns() chart.Columns {
	lines, _ := s.lines()
	c := chart.Columns{
		Title: s.heading(), Subtitle: "Positions that play can reach: " + numfmt.Number(s.Positions),
		Axis: "moves to the end", Class: "remoteness",
	}
	if s.folded {
		c.Subtitle = "Positions that play can reach, one of each with its images: " + numfmt.Number(s.Positions)
	}
	all, parts := chart.Series{Style: chart.Plain}, make([]chart.Series, len(s.order()))
	for _, l := range lines {
		c.Names = append(c.Names, l.name)
		c.Texts = append(c.Texts, s.describe(l))
		all.Values = append(all.Values, float64(l.positions))
		for i, o := range s.order() {
			parts[i] = chart.Series{Name: s.word(o), Style: styles[o], Values: append(parts[i].Values, float64(l.by[o]))}
		}
	}
	if s.noTiers {
		heading := "Positions by moves to the end (log scale)"
		if s.values.OfMover {
			heading += ", for the player to move"
		}
		c.Panels = []chart.Panel{{Heading: heading, Series: parts}}
		return c
	}
	largest := slices.MaxFunc(append(lines, line{name: "0"}), func(a, b line) int { return cmp.Compare(a.positions, b.positions) })
	c.Subtitle += fmt.Sprintf(" in all, %s in the largest tier (%s)", numfmt.Number(largest.positions), largest.name)
	c.Axis, c.Class = s.axis(), "tier"
	c.Panels = []chart.Panel{
		{Heading: "Outcome under best play: share of the tier's positions", Share: true, Series: parts},
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

// describe returns the numbers of a line, one per line.
func (s Stats) describe(l line) string {
	text := l.name
	if !s.noTiers {
		text = fmt.Sprintf("tier %s\npositions: %s", l.name, numfmt.Number(l.positions))
	}
	for _, o := range s.order() {
		switch n := l.by[o]; {
		case !s.noTiers:
			text += fmt.Sprintf("\n%s: %s (%s)", s.word(o), numfmt.Number(n), percent(n, l.positions))
		case n > 0:
			text += fmt.Sprintf("\n%s: %s", s.word(o), numfmt.Number(n))
		}
	}
	if !s.noTiers {
		text += fmt.Sprintf("\nfinished: %s (%s)", numfmt.Number(l.finished), percent(l.finished, l.positions))
	}
	return text
}

// Heat returns a picture of the positions by tier and remoteness, without draws. Without
// tiers it is empty.
func (s Stats) Heat() chart.Heat {
	h := chart.Heat{
		Title: s.heading(), Subtitle: "Positions by tier and by moves to the end under best play; a stronger colour is a larger number (log scale)",
		XAxis: s.axis(), YAxis: "moves to the end", XName: "tier", YName: "remoteness",
	}
	for _, o := range s.order()[:3] {
		p := chart.HeatPanel{Name: s.word(o), Style: styles[o]}
		for _, r := range s.Rows {
			if r.Outcome == o && !s.noTiers {
				p.Cells = append(p.Cells, chart.Cell{X: r.Tier, Y: r.Remoteness, N: r.Positions})
			}
		}
		h.Panels = append(h.Panels, p)
	}
	return h
}
