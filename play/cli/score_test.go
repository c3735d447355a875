package play

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestScore checks, for every line of a small board, that the score follows from the value,
// exact and weak.
func TestScore(t *testing.T) {
	const width, height, connect = 3, 4, 3
	g := must.Get(connectn.New(width, height, connect))(t)
	values := gametest.Search(g)
	var lines, exact, weak strings.Builder
	var walk func(p game.Position, line string)
	walk = func(p game.Position, line string) {
		stones := len(line)
		sign, value := 0, values[p]
		switch value.Outcome() {
		case game.WinFor(game.Player(stones % 2)):
			sign = 1
		case game.WinFor(game.Player((stones + 1) % 2)):
			sign = -1
		}
		fmt.Fprintln(&lines, line)
		fmt.Fprintln(&exact, line, sign*((width*height+2-stones-value.Remoteness())/2))
		fmt.Fprintln(&weak, line, sign)
		if stones < 6 {
			for _, m := range g.Moves(nil, p) {
				column, _ := strconv.Atoi(m.Name)
				walk(m.To, line+strconv.Itoa(column+1))
			}
		}
	}
	walk(g.Start(), "")
	for flags, want := range map[string]string{"": exact.String(), "--weak": weak.String(), "--threads 1": exact.String()} {
		status, stdout, stderr := runLine(some(), "score connectn --width 3 --height 4 --connect 3 "+flags, lines.String())
		if status != 0 || stdout != want {
			t.Errorf("%s: status %d\n%.200s\nwant\n%.200s", flags, status, stdout, want)
		}
		if n := strings.Count(want, "\n"); !strings.HasPrefix(stderr, fmt.Sprintf("play: %d positions, ", n)) {
			t.Errorf("%s: %s", flags, stderr)
		}
	}
}

func TestScoreRefuses(t *testing.T) {
	refused(t, map[string]string{
		"score mnk":                  `unknown game "mnk", expected connectn, connect4, fourinarow`,
		"score connectn 12":          `unexpected argument "12": positions are read from stdin`,
		"score connectn --width 10":  "connectn width=10 height=3 connect=3: a column is one digit, so 9 columns are the maximum",
		"score connectn --threads 0": "--threads 0: expected 1 to 256",
	})
}

// FuzzParseColumns checks that a line of columns leads to the position that its moves, made one
// by one, lead to.
func FuzzParseColumns(f *testing.F) {
	g := must.Get(connectn.New(7, 6, 4))(f)
	for _, line := range []string{"", "44455", "1111111", "8", "4 4", "1212121", "x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := parseColumns(g, line)
		want, ok := g.Start(), true
		for i := 0; i < len(line) && ok; i++ {
			moves := g.Moves(nil, want)
			ok = false
			for _, m := range moves {
				if int(line[i])-'1' >= 0 && m.Name == strconv.Itoa(int(line[i])-'1') {
					want, ok = m.To, true
				}
			}
		}
		if (err == nil) != ok || ok && got != want {
			t.Errorf("%q: %#x, %v, want %#x, %v", line, got, err, want, ok)
		}
	})
}
