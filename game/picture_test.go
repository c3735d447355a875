package game_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
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
		g := must.Get(all.Kinds().Parse(tt.spec))(t)
		p := g.Start()
		if tt.board != "" {
			p = must.Get(g.Parse(tt.board))(t)
		}
		pic := g.Picture(p)
		if tt.board != "" && !strings.HasSuffix(g.Spec(), fmt.Sprintf("connect=%d", pic.Line)) || tt.board == "" && pic.Line != 0 {
			t.Errorf("%s: lines of %d", g.Spec(), pic.Line)
		}
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

// TestPictureThreats checks the squares that complete a line: at its end and between its pieces, of both
// players, and none if pieces belong to no player.
func TestPictureThreats(t *testing.T) {
	for _, tt := range []struct{ spec, board, want string }{
		{"connectn width=4 height=3 connect=3", "XX OO XX OO ", "XOXO .... ...."},
		{"mnk width=3 height=3 connect=3", "XX./..O/..O", "..b ... ..."},
		{"mnk width=3 height=3 connect=3", "XX./OO./...", "..X ..O ..."},
		{"mnk width=3 height=3 connect=3", "X.X/.O./O..", ".X. ... ..."},
		{"mnk width=4 height=2 connect=3", "XX.X/O.O.", "..X. .O.."},
		{"quickcross width=3 height=2 connect=2", "-.|/...", "... ..."},
	} {
		g := must.Get(all.Kinds().Parse(tt.spec))(t)
		pic := g.Picture(must.Get(g.Parse(tt.board))(t))
		threats := pic.Threats()
		rows := make([]string, len(pic.Rows))
		for y, row := range pic.Rows {
			for x := range row {
				of := 0
				for side := range threats {
					if slices.Contains(threats[side], [2]int{x, y}) {
						of |= 1 << side
					}
				}
				rows[y] += string(".XOb"[of])
			}
		}
		if got := strings.Join(rows, " "); got != tt.want {
			t.Errorf("%s, %q: %s, want %s", tt.spec, tt.board, got, tt.want)
		}
	}
}

// A mirrored game draws its boards from right to left.
type mirrored struct{ game.Game }

func (m mirrored) Picture(p game.Position) game.Picture {
	pic := m.Game.Picture(p)
	for _, row := range pic.Rows {
		slices.Reverse(row)
	}
	return pic
}

// TestArrange checks squares that no position has. The contract of package gametest arranges the
// squares of positions.
func TestArrange(t *testing.T) {
	g := must.Get(all.Kinds().Parse("connectn width=2 height=2 connect=2"))(t)
	for _, tt := range []struct {
		g             game.Game
		squares, want string
	}{
		{g, ".,./X,./.,.", "expected a board of 2 rows, found 3"},
		{g, ".,./X,.,.", "row 2 of the board: expected 2 squares, found 3"},
		{g, ".,./X, ", `row 2 of the board: square 2 is " "`},
		{g, "X,./.,.", `board ".X.."`},
		{g, ".,./Y,.", `board "Y..."`},
		{g, ".,./XO,.", "no position looks like this"},
		{mirrored{g}, ".,./X,.", "no position looks like this"},
	} {
		var squares [][]string
		for row := range strings.SplitSeq(tt.squares, "/") {
			squares = append(squares, strings.Split(row, ","))
		}
		if p, err := game.Arrange(tt.g, squares, game.First); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %d, %v; want %s", tt.squares, p, err, tt.want)
		}
	}
}
