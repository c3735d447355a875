package notation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A numbered is Connect N with boards that begin with a number, as its moves do, or with what begins
// columns counted from 1.
type numbered struct{ *connectn.Rules }

func (g numbered) Parse(text string) (game.Position, error) {
	board, ok := strings.CutPrefix(text, "0 0 ")
	if !ok {
		board, ok = strings.CutPrefix(text, "1:|")
	}
	if !ok {
		return 0, errors.New("no board")
	}
	return g.Rules.Parse(board)
}

// TestParsePosition checks that words are moves if each is a legal move after the previous
// ones, and otherwise a board, whatever they begin with.
func TestParsePosition(t *testing.T) {
	rules := must.Get(connectn.New(2, 2, 2))(t)
	g := numbered{rules}
	for text, want := range map[string]string{
		"":         "    ",
		"0":        "X   ",
		"0,1\t0":   "XXO ",
		"010":      "XXO ",
		"01x":      `move 3: expected one of 0 1, found "x"`,
		"0 0 X O ": "X O ",
		"0 0 ____": "    ",
		"0 7":      `move 2: expected one of 0 1, found "7"`,
		"0 0 zz":   `move 3: expected one of 1, found "zz"`,
		"0 1 0 1":  "move 4 (1): the game is over before it",
		"9":        `neither a board nor moves: no board; move 1: expected one of 0 1, found "9"`,
		"1:121":    "XXO ",
		" 1:":      "    ",
		"1:102":    `columns "102": expected digits from 1 to 9`,
		"1:|X O ":  "X O ",
		"1:9":      `columns "9", here counted from 0: move 1: expected one of 0 1, found "8"`,
		"    ":     "no board",

		"https://connect4.gamesolver.org/?pos=12":    "X O ",
		"https://connect4.gamesolver.org/en/?pos=1#": "X   ",
		"X O  0 0 1": `neither a board nor moves: no board; move 1: expected one of 0 1, found "X"`,
	} {
		a, err := notation.Parse(g, text, notation.AnyForm)
		got := string(g.AppendText(nil, a.Position))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"010": "0,1,0", "0,1\t0": "0,1,0", "1:121": "0,1,0", "": "", "0 0 X O ": "", "0 0 ____": ""} {
		if a := must.Get(notation.Parse(g, text, notation.AnyForm))(t); strings.Join(a.Moves, ",") != want {
			t.Errorf("%q: moves %q, want %s", text, a.Moves, want)
		}
	}
}

// TestInputCut checks that the error for a long input that is not a position, such as a
// file, is short.
func TestInputCut(t *testing.T) {
	g := must.Get(connectn.New(2, 2, 2))(t)
	for _, form := range []notation.Form{notation.AnyForm, notation.FromMoves, notation.FromBoard, notation.FromKey, notation.FromHash, notation.FromFinal} {
		_, err := notation.Parse(g, strings.Repeat("\x7f·", 5000), form)
		if err == nil || len(err.Error()) > 1100 || !utf8.ValidString(err.Error()) {
			t.Errorf("%s: %.2000v", form, err)
		}
	}
}

// FuzzParsePosition checks that every result is a position of the game.
func FuzzParsePosition(f *testing.F) {
	g := must.Get(connectn.New(4, 5, 3))(f)
	for _, text := range []string{"", "1 1 2", "0,3", "     XO   X         ", "'     XO   X         '", "9", "X"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := notation.Parse(g, text, notation.AnyForm)
		if err == nil {
			err = g.Check(a.Position)
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// TestMeaning checks that value 0 is a draw in games with cycles only.
func TestMeaning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		g := testgames.RandomTiered(r, testgames.RandomOptions(r))
		want := "draw: play never ends"
		switch {
		case game.IsAcyclic(g):
			want = "not known yet"
		case g.Values().OfMover:
			want = "DRAW: play never ends"
		}
		if got := notation.Meaning(g, 0); got != want {
			t.Errorf("%+v: %q, want %q", g.Values(), got, want)
		}
	}
}

// A puzzle is a game for one player.
type puzzle struct{ game.Game }

func (puzzle) Values() game.Values { return game.Values{Puzzle: true} }

// TestNoValue checks what is said of numbers that no position of a game has as its value.
func TestNoValue(t *testing.T) {
	byBlocks := must.Get(connectn.New(2, 2, 2))(t)
	byLayers := struct{ game.Tiered }{byBlocks}
	for _, test := range []struct {
		g    game.Game
		v    game.Value
		want string
	}{
		{byBlocks, game.NewValue(game.Tie, 63), "tie in 63 moves"},
		{byBlocks, game.NewValue(game.Tie, 64), "no value: expected at most 63 moves to the end, found 64"},
		{byLayers, game.NewValue(game.Tie, 64), "tie in 64 moves"},
		{byLayers, game.NewValue(game.Undecided, 1), "no value: its outcome is missing"},
		{puzzle{byLayers}, game.NewValue(game.Tie, 64), "solved in 64 moves"},
		{puzzle{byLayers}, game.NewValue(game.FirstWins, 1), "no value: a puzzle has no winner"},
	} {
		if got := notation.Meaning(test.g, test.v); got != test.want {
			t.Errorf("%T, %d: %q, want %q", test.g, test.v, got, test.want)
		}
	}
}

// TestValue checks how values are written for people and programs.
func TestValue(t *testing.T) {
	for w, want := range map[notation.Value]string{
		{Result: game.Wins, Remoteness: 7}:  "you win in 7, win 7",
		{Result: game.Loses, Remoteness: 0}: "you lose in 0, lose 0",
		{Result: game.Ties, Remoteness: 2}:  "you tie in 2, tie 2",
		{Result: game.Draws}:                "draw: play never ends, draw ",
	} {
		if got := fmt.Sprintf("%s, %s %s", w, w.Word(), w.Number()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if w.Does() != w.Word()+"s" {
			t.Errorf("%q", w.Does())
		}
		if j := w.JSON(); j.Value != w.Word() || (j.Remoteness == nil) != (w.Result == game.Draws) {
			t.Errorf("%s: %+v", w, j)
		}
	}
	solitaire := puzzle{must.Get(connectn.New(2, 2, 2))(t)}
	for v, want := range map[game.Value]string{game.NewValue(game.Tie, 3): "is solved", 0: "is unsolvable"} {
		if got := notation.ValueOf(solitaire, solitaire.Start(), v).Does(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	values := game.Values{Players: [2]string{"X", "O"}}
	if got := notation.Summary(values, game.NewValue(game.FirstWins, 1)); got != "X wins in 1 move" {
		t.Errorf("%q", got)
	}
	for _, values := range []game.Values{{OfMover: true}, values} {
		if got := notation.Summary(values, 0); got != "a draw, play never ends" {
			t.Errorf("%+v: %q", values, got)
		}
	}
}
