package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/streamfmt"
)

// gathered returns the texts of drawings, with their line numbers.
func gathered(t testing.TB, g game.Game, stdin string, all bool) (texts []string, at []int64) {
	t.Helper()
	d := newDrawings(g, linesOf(streamfmt.NewLineReader(strings.NewReader(stdin), "stdin")), all)
	for {
		text, line, err := d.next()
		if err != nil {
			return texts, at
		}
		texts, at = append(texts, text), append(at, line)
	}
}

// drawers contains games with labels above, below, on the left, and without labels.
var drawers = []string{"connectn width=3 height=2 connect=2", "connectn width=2 height=2 connect=2", "connectn width=4 height=1 connect=2",
	"quickcross width=3 height=2 connect=3", "mnk width=2 height=3 connect=2", "mancala pits=2 stones=2", "dodgem size=3", "network"}

// TestDrawings reads everything that lookup prints about some positions of each game, and their
// pictures with an empty line after each if that is sufficient. The result must be exactly
// these positions, with their line numbers.
func TestDrawings(t *testing.T) {
	for _, spec := range drawers {
		g, err := all.Kinds().Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		positions := []game.Position{g.Start()}
		for i := 0; i < len(positions) && len(positions) < 60; i++ {
			for _, m := range g.Moves(nil, positions[i]) {
				if !slices.Contains(positions, m.To) {
					positions = append(positions, m.To)
				}
			}
		}
		output, bare, read := "", "", true
		var lines []int64
		for _, p := range positions {
			pic := g.Picture(p)
			lines = append(lines, int64(strings.Count(output, "\n"))+1)
			output += pic.String() + notation.Heading(g, p) + ": you lose in 2\n* 0 1: you lose in 2\n  2: you tie in 4\nbest play: 0\nfrom \"X\", hash 2, by 1; there you win in 3\n"
			bare += pic.String() + "\n"
			if _, err := game.ReadPicture(g, pic.String()); err != nil {
				read = false // the picture does not show the player to move
			}
		}
		check := func(stdin string, all bool, lines []int64) {
			t.Helper()
			texts, at := gathered(t, g, stdin, all)
			if lines != nil && !slices.Equal(at, lines) {
				t.Fatalf("%s: lines %v, want %v", spec, at, lines)
			}
			if len(texts) != len(positions) {
				t.Fatalf("%s: %d texts of %d positions: %q", spec, len(texts), len(positions), texts)
			}
			for i, text := range texts {
				if a, err := notation.Parse(g, text, notation.FromPicture); err != nil || a.Position != positions[i] {
					t.Fatalf("%s: %q is %d, %v, want %d", spec, text, a.Position, err, positions[i])
				}
			}
		}
		check(output, false, lines)
		check(output, true, lines)
		if read {
			check(bare, true, nil)
			check(strings.ReplaceAll(bare, "\n", "\r\n"), true, nil)
		}
	}
}

// TestDrawingsAlone reads lines that are positions on their own, or do not belong to a board:
// each is a text, without waiting for the next line.
func TestDrawingsAlone(t *testing.T) {
	g, err := all.Kinds().Parse("connectn width=2 height=2 connect=2")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"", "0", "0 1", "    ", " 0 1", "X O ", "'X O '", "\"X O \"", "0x11", "#17", "'X O '\t6", "nonsense", " . . .", "X .", "* 0: you win in 3", "   X"} {
		if texts, at := gathered(t, g, line+"\n"+line+"\nX___\n", false); !slices.Equal(texts, []string{line, line, "X___"}) || !slices.Equal(at, []int64{1, 2, 3}) {
			t.Errorf("%q: %q at %v", line, texts, at)
		}
	}
	// A board whose player to move is on a line below it has only one base line.
	if g, err = all.Kinds().Parse("mancala pits=2 stones=2"); err != nil {
		t.Fatal(err)
	}
	if texts, _ := gathered(t, g, g.Picture(g.Start()).String()+"0 1\n", false); len(texts) != 2 || texts[1] != "0 1" {
		t.Errorf("%q", texts)
	}
}

// FuzzDrawings checks that every line is in exactly one text, in order, or is empty or part of
// the output below a board.
func FuzzDrawings(f *testing.F) {
	for i := range drawers {
		f.Add(i, false, " . .\n . X\n 0 1\n\"  X \", O to move: you lose in 2\n* 0: you lose in 2\n\n . .\n")
		f.Add(i, true, "  a b\n1 . .\n2 X .\n\n 0 1\n")
	}
	f.Fuzz(func(t *testing.T, i int, every bool, stdin string) {
		g, err := all.Kinds().Parse(drawers[max(0, i)%len(drawers)])
		if err != nil || len(stdin) > 5000 {
			return
		}
		var lines []string
		streamfmt.NewLineReader(strings.NewReader(stdin), "stdin").Each(func(line []byte) error {
			lines = append(lines, strings.TrimSuffix(string(line), "\r"))
			return nil
		})
		texts, at := gathered(t, g, stdin, every)
		before := 0
		for i, text := range texts {
			from := int(at[i]) - 1
			if from < before || fmt.Sprint(lines[from:from+1+strings.Count(text, "\n")]) != fmt.Sprint(strings.Split(text, "\n")) {
				t.Fatalf("%q at line %d of %q", text, at[i], lines)
			}
			for _, line := range lines[before:from] {
				if !blank(line) && !strings.HasPrefix(line, `"`) && !belowBoard.MatchString(line) {
					t.Fatalf("%q is in none of %q", line, texts)
				}
			}
			before = from + 1 + strings.Count(text, "\n")
		}
	})
}
