package all

import (
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
)

// draws are the games whose pictures show everything in a position.
var draws = []string{"connectn width=3 height=2 connect=2", "connectn width=4 height=5 connect=3", "quickcross width=3 height=2 connect=3", "mnk width=2 height=3 connect=2", "mnk width=4 height=1 connect=2"}

// asCommandsDo returns a position as the commands print it, with the line below the board.
func asCommandsDo(g game.Game, p game.Position) string {
	return g.Picture(p).String() + `"` + string(g.AppendText(nil, p)) + "\", X to move: you win in 5\n* 0: you win in 5\n"
}

// TestReadPicture reads pictures of several hundred positions of each game: with marks, with
// or without labels, alone or with the line below.
func TestReadPicture(t *testing.T) {
	for _, spec := range append(draws, "mancala pits=2 stones=2", "dodgem size=3") {
		g, err := Kinds().Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		seen, queue := map[game.Position]bool{g.Start(): true}, []game.Position{g.Start()}
		for i := 0; i < len(queue) && i < 300; i++ {
			p := queue[i]
			for _, m := range g.Moves(nil, p) {
				if !seen[m.To] {
					seen[m.To], queue = true, append(queue, m.To)
				}
			}
			pic := g.Picture(p)
			texts := []string{asCommandsDo(g, p)}
			for _, row := range pic.Rows {
				row[0].Marked = row[0].Kind != game.Gap
			}
			if strings.HasPrefix(spec, "mancala") || strings.HasPrefix(spec, "dodgem") {
				if _, err := game.ReadPicture(g, pic.String()); err == nil || !strings.Contains(err.Error(), "the player to move is unknown") {
					t.Fatalf("%s: whose turn it is in\n%s%v", spec, pic, err)
				}
			} else {
				bare := pic
				bare.Above, bare.Below = nil, nil
				texts = append(texts, pic.String(), strings.TrimSuffix(pic.String(), "\n"), bare.String(), strings.ReplaceAll(pic.String(), "\n", "\r\n"))
			}
			for _, text := range texts {
				if q, err := game.ReadPicture(g, text); err != nil || q != p {
					t.Fatalf("%s: %#x, drawn as\n%sis read as %#x, %v", spec, p, text, q, err)
				}
			}
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

// TestReadPictureMirrored checks that a text is rejected if the position is drawn differently.
func TestReadPictureMirrored(t *testing.T) {
	g, err := Kinds().Parse("connectn width=2 height=2 connect=2")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := game.ReadPicture(mirrored{g}, " . .\n X .\n"); err == nil {
		t.Errorf("it is read as %q", g.AppendText(nil, p))
	}
}

// TestReadPictureErrors checks texts that are not pictures.
func TestReadPictureErrors(t *testing.T) {
	g, err := Kinds().Parse("connectn width=2 height=2 connect=2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{" . .\n X .\n . .\n 0 1\n", "expected a board of 2 lines, found 3"},
		{" . .\n", "expected a board of 2 lines, found 1"},
		{" . .\n X . .\n", "line 2 of the board: expected 2 squares, found 3"},
		{" X .\n . .\n", "board \".X..\""},
		{" . .\n Y .\n", "board \"Y...\""},
		{" . .\n X .\n\"X", "line 3 of the board: expected its text in double quotes, found \"\\\"X\""},
		{" . .\n . X\n\"X   \", O to move", "the board is not \"X   \", which stands below it"},
	} {
		if p, err := game.ReadPicture(g, tt.text); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("ReadPicture(%q) = %d, %v; want %s", tt.text, p, err, tt.want)
		}
	}
}

// FuzzReadPicture checks that a position that was read can be drawn and read again.
func FuzzReadPicture(f *testing.F) {
	for i := range draws {
		g, err := Kinds().Parse(draws[i])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, g.Picture(g.Start()).String())
		f.Add(i, asCommandsDo(g, g.Moves(nil, g.Start())[0].To))
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		g, err := Kinds().Parse(draws[max(0, i)%len(draws)])
		if err != nil {
			t.Fatal(err)
		}
		p, err := game.ReadPicture(g, text)
		if err != nil {
			return
		}
		if q, err := game.ReadPicture(g, g.Picture(p).String()); err != nil || q != p {
			t.Errorf("%q is read as %#x, and its picture as %#x, %v", text, p, q, err)
		}
	})
}
