package play

import (
	"encoding/json"
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

// TestScoreLines checks that a wrong line is reported with its number, and that the others are
// answered.
func TestScoreLines(t *testing.T) {
	status, stdout, stderr := runLine(some(), "score connectn --json", "1\n0\n4\n1111\r\n11 1\n121212\n12121\r\n12\n")
	var got strings.Builder
	for line := range strings.Lines(stdout) {
		var m struct {
			Line         string
			Score, Nodes *int
			Seconds      *float64
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Score == nil || m.Nodes == nil || m.Seconds == nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		fmt.Fprintf(&got, "%s %d, ", m.Line, *m.Score)
	}
	if want := "1 0, 12121 -3, 12 1, "; status != 1 || got.String() != want {
		t.Errorf("status %d, %s, want %s", status, got.String(), want)
	}
	for _, want := range []string{
		`play: stdin:2: expected columns (move 1: expected a column, 1 to 3, found '0'), found "0"`,
		`play: stdin:3: expected columns (move 1: expected a column, 1 to 3, found '4'), found "4"`,
		`play: stdin:4: expected columns (move 4: column 1 is full), found "1111"`,
		`play: stdin:5: expected columns (move 3: expected a column, 1 to 3, found ' '), found "11 1"`,
		`play: stdin:6: expected columns (move 6: the game is over before it), found "121212"`,
		`play: 3 positions, `,
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %s in %s", want, stderr)
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
