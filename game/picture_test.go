package game_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
)

// A picture marks the winning line: all of it, in any direction, and nothing else.
func TestPictureWon(t *testing.T) {
	for _, tt := range []struct{ spec, board, want string }{
		{"connectn width=3 height=3 connect=3", "XOXOXOX  ", "#.. .#. ..#"},
		{"connectn width=3 height=3 connect=2", "XX O     ", "... #.. #.."},
		{"connectn width=3 height=3 connect=3", "XO XO    ", "... ... ..."},
		{"mnk width=3 height=3 connect=3", "XXX/OO./...", "### ... ..."},
		{"mnk width=4 height=2 connect=3", "XXXX/OOO.", "#### ###."},
		{"quickcross width=3 height=2 connect=2", "-.|/-..", "#.. #.."},
		{"dodgem size=3", "", "... ... ..."},
	} {
		g, err := all.Kinds().Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		p := g.Start()
		if tt.board != "" {
			if p, err = g.Parse(tt.board); err != nil {
				t.Errorf("%s: %v", tt.spec, err)
				continue
			}
		}
		pic := g.Picture(p)
		rows := make([]string, len(pic.Rows))
		for y, row := range pic.Rows {
			for x := range row {
				if slices.Contains(pic.Won, [2]int{x, y}) {
					rows[y] += "#"
				} else {
					rows[y] += "."
				}
			}
		}
		if got := strings.Join(rows, " "); got != tt.want {
			t.Errorf("%s, %q: %s, want %s", tt.spec, tt.board, got, tt.want)
		}
	}
}
