package table_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/table"
)

// TestBars checks that a picture of bars is XML, with a column for each tier of each panel,
// and a bar in each column whose number is at least 1.
func TestBars(t *testing.T) {
	b := table.Bars{
		Title: "A <game>", Subtitle: "below", Tiers: []int{0, 1, 2}, Unit: "tier",
		Panels: []table.Panel{
			{Heading: "Positions", Name: "positions", Values: []float64{1, 7e12, 0}},
			{Heading: "Seconds", Name: "seconds", Values: []float64{0.2, 3600, 5}},
		},
	}
	var out bytes.Buffer
	if err := b.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if n := strings.Count(text, `<g class="tier">`); n != 6 {
		t.Errorf("%d columns, want 6", n)
	}
	if n := strings.Count(text, `fill="#5a5a5a"`); n != 4 {
		t.Errorf("%d bars, want 4", n)
	}
	for _, want := range []string{"A &lt;game&gt;", "tier 1&#xA;positions: 7,000,000,000,000", "tier 1&#xA;seconds: 3,600"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
