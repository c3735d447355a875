package driver

import (
	"errors"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
)

// A look-up is the same command for every game.
func TestLookup(t *testing.T) {
	for name, dir := range solved(t) {
		said := runs(t, "lookup --start --data "+dir)
		want := map[string]string{
			"connectn":   `"    ", X to move: X wins in 3`,
			"quickcross": `"../..", hash 0: LOSE in 2`,
			"mnk":        `"../..", X to move: X wins in 3`,
		}[name]
		if !strings.Contains(said, "\n"+want) {
			t.Errorf("%s: %s, want %s", name, said, want)
		}
	}
}

// Lines are looked up one by one; one that is wrong does not stop the others.
func TestLookupLines(t *testing.T) {
	status, stdout, stderr := told(some(), "lookup --data "+solved(t)["mnk"], "a1\nz9\na1 b1\n")
	if status != 1 || !strings.Contains(stdout, `"X./..", O to move: X wins in 2`) || !strings.Contains(stdout, `"XO/..", X to move: X wins in 1`) ||
		!strings.HasPrefix(stderr, "driver: stdin:2: expected a position") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// A numbered is Connect N with boards that begin with a number, as its moves do.
type numbered struct{ *connectn.Rules }

func (g numbered) Parse(text string) (game.Position, error) {
	board, ok := strings.CutPrefix(text, "0 0 ")
	if !ok {
		return 0, errors.New("no board")
	}
	return g.Rules.Parse(board)
}

// Words are moves if each is one in its turn, otherwise a board, whatever it begins with.
func TestParsePosition(t *testing.T) {
	rules, err := connectn.New(2, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	g := numbered{rules}
	for text, want := range map[string]string{
		"":           "    ",
		"0":          "X   ",
		"0,1\t0":     "XXO ",
		"0 0 X O ":   "X O ",
		"0 0 ____":   "    ",
		"0 7":        `move 2: expected one of 0 1, found "7"`,
		"0 0 zz":     `move 3: expected one of 1, found "zz"`,
		"0 1 0 1":    "move 4 (1): the game is finished before it",
		"9":          `neither a board nor moves: no board; move 1: expected one of 0 1, found "9"`,
		"    ":       "no board",
		"X O  0 0 1": `neither a board nor moves: no board; move 1: expected one of 0 1, found "X"`,
	} {
		p, err := parsePosition(g, text)
		got := string(g.AppendText(nil, p))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzParsePosition wants every answer to be a position of the game.
func FuzzParsePosition(f *testing.F) {
	g, err := connectn.New(4, 5, 3)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "1 1 2", "0,3", "     XO   X         ", "'     XO   X         '", "9", "X"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePosition(g, text)
		if err == nil {
			err = g.Check(p)
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
