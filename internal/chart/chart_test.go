package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// A shape is the part of an SVG element that the tests check.
type shape struct {
	Class  string  `xml:"class,attr"`
	Fill   string  `xml:"fill,attr"`
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"`
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Anchor string  `xml:"text-anchor,attr"`
	Size   float64 `xml:"font-size,attr"`
	Text   string  `xml:",chardata"`
	Path   string  `xml:"d,attr"`
	Title  string  `xml:"title"`
}

// A picture is an SVG that was parsed.
type picture struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	ViewBox string   `xml:"viewBox,attr"`
	Title   string   `xml:"title"`
	Style   string   `xml:"style"`
	Texts   []shape  `xml:"text"`
	Rects   []shape  `xml:"rect"`
	Groups  []struct {
		shape
		Rects []shape `xml:"rect"`
		Paths []shape `xml:"path"`
		Texts []shape `xml:"text"`
	} `xml:"g"`
}

// words returns the texts.
func (p picture) words() string {
	var all []string
	for _, t := range p.Texts {
		all = append(all, t.Text)
	}
	return strings.Join(all, "\n") + "\n"
}

// drawn writes a picture twice and parses it. It checks that all texts and rectangles are within
// the view box, and that every pattern is defined.
func drawn(t *testing.T, p Picture) picture {
	t.Helper()
	var text, again bytes.Buffer
	if err := errors.Join(Write(&text, p), Write(&again, p)); err != nil || again.String() != text.String() {
		t.Fatalf("written again it differs, error %v", err)
	}
	whole := text.String()
	for _, s := range strings.Split(whole, `"url(#`)[1:] {
		id, _, _ := strings.Cut(s, ")")
		if strings.Count(whole, `<pattern id="`+id+`"`) != 1 {
			t.Errorf("pattern %s is not defined once", id)
		}
	}
	var got picture
	d := xml.NewDecoder(&text)
	d.Strict = true
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v\n%s", err, whole)
	}
	var x, y, w, h float64
	must.Get(fmt.Sscan(got.ViewBox, &x, &y, &w, &h))(t)
	texts, rects := got.Texts, got.Rects
	for _, g := range got.Groups {
		texts, rects = append(texts, g.Texts...), append(rects, g.Rects...)
	}
	for _, s := range texts {
		wide := extent(s.Text, s.Size)
		from := s.X
		switch s.Anchor {
		case "middle":
			from -= wide / 2
		case "end":
			from -= wide
		}
		if from < 0 || from+wide > w || s.Y-s.Size < 0 || s.Y+0.3*s.Size > h {
			t.Errorf("%q from %g to %g at height %g is not within %g × %g", s.Text, from, from+wide, s.Y, w, h)
		}
	}
	for _, s := range rects {
		if s.X < 0 || s.Y < 0 || s.X+s.Width > w+.01 || s.Y+s.Height > h+.01 || s.Width <= 0 || s.Height <= 0 {
			t.Errorf("%+v is not within %g × %g", s, w, h)
		}
	}
	return got
}

// columns returns a picture like that of a solved game.
func columns(counts ...float64) Columns {
	c := Columns{Title: `<game> & "spec": X wins in 11`, Subtitle: "below", Axis: "tier = stones", Class: "tier"}
	share := []Series{{"X wins", First, nil}, {"O wins", Second, nil}, {"tie", Tie, nil}, {"draw", Draw, nil}}
	for i, n := range counts {
		c.Names, c.Texts = append(c.Names, strconv.Itoa(i)), append(c.Texts, fmt.Sprintf("tier <%d>\npositions: %.0f", i, n))
		for j, part := range []float64{n / 4, n / 4, n / 2, 0} {
			share[j].Values = append(share[j].Values, part)
		}
	}
	c.Panels = []Panel{{Heading: "Share", Share: true, Series: share}, {Heading: "Positions", Series: []Series{{"", Plain, counts}}}}
	return c
}

func TestColumns(t *testing.T) {
	p := drawn(t, columns(1, 4, 1_234_567, 0))
	if want := `<game> & "spec": X wins in 11`; p.Title != want || p.Texts[0].Text != want {
		t.Errorf("titles %q and %q, want %q", p.Title, p.Texts[0].Text, want)
	}
	if !strings.Contains(p.Style, "prefers-color-scheme: dark") {
		t.Error("no dark colours")
	}
	for _, want := range []string{"X wins\nO wins\ntie\nShare\n0%\n25%\n50%\n75%\n100%\n0\n1\n2\n3\n", "Positions\n1\n10\n100\n1k\n10k\n100k\n1M\n10M\n0\n1\n2\n3\ntier = stones\n"} {
		if !strings.Contains(p.words(), want) {
			t.Errorf("the texts lack %q:\n%s", want, p.words())
		}
	}
	if len(p.Groups) != 4 || p.Groups[2].Title != "tier <2>\npositions: 1234567" || p.Groups[2].Class != "tier" {
		t.Fatalf("groups %+v", p.Groups)
	}
	var got []string // the first rectangle of a group is the column for the pointer
	for _, r := range p.Groups[1].Rects[1:4] {
		got = append(got, r.Class+r.Fill+" "+strconv.FormatFloat(r.Height/panelHeight, 'f', 4, 64))
	}
	if want := "chart-first 0.2500,url(#columns-second) 0.2500,url(#columns-tie) 0.5000"; strings.Join(got, ",") != want {
		t.Errorf("bar of tier 1: %q, want %q", got, want)
	}
	if n := len(p.Groups[3].Rects); n != 1 {
		t.Errorf("tier 3 has no position, but %d rectangles besides its column", n-1)
	}
	one, most := p.Groups[0].Rects, p.Groups[2].Rects
	if h := one[len(one)-1].Height; h < 2 {
		t.Errorf("a single position has a bar of height %g", h)
	}
	if h := most[len(most)-1].Height; h < panelHeight/2 || h > panelHeight {
		t.Errorf("the largest tier has a bar of height %g in a panel of %d", h, panelHeight)
	}
	if inline := Inline(columns(1)); strings.Contains(inline, "<style") || !strings.HasPrefix(inline, "<svg ") {
		t.Errorf("inline: %.300s", inline)
	}
}

// TestColumnsDecades checks that the logarithmic axis ends at the first power of ten that no
// number exceeds.
func TestColumnsDecades(t *testing.T) {
	for most, want := range map[float64]string{0: "10", 1: "10", 10: "10", 11: "100", 694: "1k", 1000: "1k", 1001: "10k", 69e9: "100G", 1<<64 - 1: "100E"} {
		words := drawn(t, columns(most)).words()
		if !strings.HasSuffix(words, "\n"+want+"\n0\ntier = stones\n") {
			t.Errorf("%g positions: the axis does not end at %s:\n%s", most, want, words)
		}
	}
}

// TestColumnsCounts checks that bars do not meet and grow with the numbers, and that columns
// with long texts stay within the picture.
func TestColumnsCounts(t *testing.T) {
	for _, n := range []int{0, 1, 2, 43, 64, 300} {
		var counts []float64
		for i := range n {
			counts = append(counts, 4*math.Pow(2, float64(i%62)))
		}
		c := columns(counts...)
		c.Title, c.Subtitle, c.Axis = strings.Repeat("long title ", 20), strings.Repeat("long subtitle ", 20), strings.Repeat("axis ", 60)
		if n > 0 {
			c.Names[n-1] = "no end"
		}
		p := drawn(t, c)
		for i := 1; i < n; i++ {
			a, b := p.Groups[i-1].Rects, p.Groups[i].Rects
			if a[1].X+a[1].Width >= b[1].X {
				t.Errorf("%d columns: the bars of %d and %d meet", n, i-1, i)
			}
			if i%62 > 0 && a[4].Height >= b[4].Height {
				t.Errorf("%d columns: %d has a larger number than %d, but no higher bar", n, i, i-1)
			}
		}
	}
}

// TestHeat checks that each number has its cell, in the panel of its kind, and that panels
// without cells are left out.
func TestHeat(t *testing.T) {
	h := Heat{Title: "a", Subtitle: "b", XAxis: "tier", YAxis: "moves to the end", XName: "tier", YName: "remoteness"}
	h.Panels = []HeatPanel{{"X wins", First, nil}, {"O wins", Second, nil}, {"tie", Tie, nil}}
	for x := range 43 {
		for y := range 43 - x {
			h.Panels[0].Cells = append(h.Panels[0].Cells, Cell{x, y, uint64(x)*1_600_000_000 + 1})
			h.Panels[2].Cells = append(h.Panels[2].Cells, Cell{x, y, 1})
		}
	}
	p := drawn(t, h)
	cells := 0
	for _, r := range p.Rects {
		if r.Title != "" {
			cells++
		}
	}
	if want := 2 * len(h.Panels[0].Cells); cells != want {
		t.Errorf("%d cells, want %d", cells, want)
	}
	if words := p.words(); strings.Contains(words, "O wins") || !strings.Contains(words, "X wins\n") || !strings.Contains(words, "\n10G\n") {
		t.Errorf("texts:\n%s", words)
	}
	if !strings.Contains(Inline(h), "tier 1, remoteness 0&#xA;X wins: 1,600,000,001") {
		t.Error("the number of a cell is missing")
	}
	drawn(t, Heat{Panels: []HeatPanel{{Cells: []Cell{{0, 0, 1}}}}})
	drawn(t, Heat{})
}

// TestSunburst checks that children share the arc of their parent equally.
func TestSunburst(t *testing.T) {
	leaf := func(name string, s Style) *Node { return &Node{Name: name, Text: "move " + name, Style: s} }
	a, b := leaf("a", First), leaf("b", Tie)
	a.Children = []*Node{leaf("<c>", Draw), leaf("d", Second), leaf("a name that is so long that it does not fit", Second)}
	b.Children = []*Node{leaf("e", Tie)}
	s := Sunburst{Title: "t", Subtitle: "u", Root: &Node{Name: "X in 3", Text: "start", Style: First, Children: []*Node{a, b}},
		Legend: []Series{{Name: "first", Style: First}, {Name: "second", Style: Second}, {Name: "tie", Style: Tie}, {Name: "never", Style: Plain}}}
	a.Link = "/play?moves=a&x"
	p := drawn(t, s) // a file has no links, which need the server
	if len(p.Groups) != 7 || strings.Contains(p.words(), "never") {
		t.Fatalf("%d nodes, texts %s", len(p.Groups), p.words())
	}
	if inline := Inline(s); !strings.Contains(inline, `<a class="node chart-arc" href="/play?moves=a&amp;x" tabindex="-1"><title>move a</title>`) || strings.Count(inline, "</a>") != 1 || !strings.Contains(inline, `role="group"`) {
		t.Errorf("links in a page: %.1500s", inline)
	}
	// <c> begins at the top, d a sixth of the circle later; e is the whole of b's half.
	for title, angle := range map[string]float64{"move <c>": 0, "move d": math.Pi / 3, "move a name that is so long that it does not fit": 2 * math.Pi / 3, "move e": math.Pi} {
		x, y := point(sunRadius, angle)
		want, found := fmt.Sprintf("M%.2f %.2fA", x, y), false
		for _, g := range p.Groups {
			found = found || g.Title == title && strings.HasPrefix(g.Paths[0].Path, want)
		}
		if !found {
			t.Errorf("%s does not begin at %s", title, want)
		}
	}
	for _, g := range p.Groups {
		for _, word := range g.Texts {
			if strings.HasPrefix(word.Text, "a name") {
				t.Errorf("%q does not fit", word.Text)
			}
		}
	}
	s.Root.Children = s.Root.Children[1:] // rings of one node are whole
	drawn(t, s)
}

// TestWriteError checks that a full disk is reported.
func TestWriteError(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := Write(w, columns(1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}
