package chart

import (
	"fmt"
	"math"
)

// Sunburst shows a tree: the root in the middle, and around it a ring for each level. Children
// share the arc of their parent equally.
type Sunburst struct {
	Title, Subtitle string
	Root            *Node
	Legend          []Series // names of styles; those that occur are shown
}

// A Node is a node of a tree.
type Node struct {
	Name     string // shown where there is space
	Text     string // shown under the pointer
	Style    Style
	Link     string // to a page, where the picture is part of a page; "": none
	Children []*Node
}

// The layout of Sunburst, in pixels.
const (
	sunTop    = 110
	sunRadius = 330
)

// draw implements Picture.
func (s Sunburst) draw(d *drawing) {
	d.id = "sunburst"
	d.heading(s.Title, s.Subtitle)
	ring := sunRadius / float64(depth(s.Root))
	d.node(s.Root, 0, 0, 2*math.Pi, ring)
	var keys []key
	for _, k := range s.Legend {
		if d.used[k.Style] {
			keys = append(keys, key{k.Style, k.Name, 1})
		}
	}
	d.legend(86, keys)
	d.height = sunTop + 2*sunRadius + 20
}

// depth returns the number of levels of a tree.
func depth(n *Node) int {
	deepest := 0
	for _, c := range n.Children {
		deepest = max(deepest, depth(c))
	}
	return deepest + 1
}

// node draws a node of a level, from an angle on, and then its children.
func (d *drawing) node(n *Node, level int, from, angle, ring float64) {
	inner, outer := ring*float64(level), ring*float64(level+1)
	element, link := "g", ""
	if d.inline && n.Link != "" {
		element, link, d.linked = "a", fmt.Sprintf(` href="%s" tabindex="-1"`, escape(n.Link)), true
	}
	fmt.Fprintf(d, `<%s class="node chart-arc"%s><title>%s</title><path %s fill-rule="evenodd" d="%s"/>`, element, link, escape(n.Text), d.paint(n.Style), sector(inner, outer, from, angle))
	const size = 12
	middle := from + angle/2
	room, height := 1.6*ring, ring // of a horizontal text
	if level > 0 {
		arc := (inner + outer) / 2 * angle
		room = min(arc/math.Abs(math.Cos(middle)), ring/math.Abs(math.Sin(middle)), inner+outer)
		height = min(arc, ring)
	}
	if extent(n.Name, size)+6 <= room && size+4 <= height {
		r := (inner + outer) / 2
		if level == 0 {
			r = 0
		}
		x, y := point(r, middle)
		fmt.Fprintf(d, `<text class="chart-label" x="%.2f" y="%.2f" text-anchor="middle" font-size="%d">%s</text>`, x, y+4, size, escape(n.Name))
	}
	d.WriteString("</" + element + ">\n")
	share := angle / float64(max(1, len(n.Children)))
	for i, c := range n.Children {
		d.node(c, level+1, from+share*float64(i), share, ring)
	}
}

// point returns the point at a radius and an angle; angle 0 is at the top, and angles grow
// clockwise.
func point(radius, angle float64) (x, y float64) {
	return width/2 + radius*math.Sin(angle), sunTop + sunRadius - radius*math.Cos(angle)
}

// sector returns the outline of a part of a ring.
func sector(inner, outer, from, angle float64) string {
	if angle > 2*math.Pi-1e-6 {
		return circle(outer) + circle(inner)
	}
	large := 0
	if angle > math.Pi {
		large = 1
	}
	ax, ay := point(outer, from)
	bx, by := point(outer, from+angle)
	cx, cy := point(inner, from+angle)
	ex, ey := point(inner, from)
	return fmt.Sprintf("M%.2f %.2fA%.2f %.2f 0 %d 1 %.2f %.2fL%.2f %.2fA%.2f %.2f 0 %d 0 %.2f %.2fz",
		ax, ay, outer, outer, large, bx, by, cx, cy, inner, inner, large, ex, ey)
}

// circle returns the outline of a circle around the middle; "" if it has no radius.
func circle(radius float64) string {
	if radius == 0 {
		return ""
	}
	x, y := point(radius, 0)
	return fmt.Sprintf("M%.2f %.2fa%.2f %.2f 0 1 1 0 %.2fa%.2f %.2f 0 1 1 0 %.2fz", x, y, radius, radius, 2*radius, radius, radius, -2*radius)
}
