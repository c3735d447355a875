package play

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/search"
)

// TestFindWinner checks that all searches find the same value and a best move. The input also
// contains a terminal position and wrong lines.
func TestFindWinner(t *testing.T) {
	const lines = "\n1\n1 1 2\n     X   \n0 1 0 1 0\nzz\n'XO       '\n"
	heads := []string{
		`"         ", X to move: you tie in 9`, `"   X     ", O to move: you tie in 8`, `"   XO X  ", O to move: you tie in 6`,
	}
	for _, by := range []string{"--by plain", "--by memo", "--by memo --chains 1", "--by search", "--by search --threads 1 --memory 1M", ""} {
		status, stdout, stderr := runLine(some(), "find-winner connectn "+by, lines)
		if status != 1 || strings.Count(stderr, "\n") != 2 || !strings.HasPrefix(stderr, "play: stdin:4: expected a position (") || !strings.Contains(stderr, "\nplay: stdin:6: expected a position (") {
			t.Errorf("%s: status %d, %s", by, status, stderr)
		}
		for _, want := range append(heads, `"XXXOO    " is finished: X wins`, `"XO       ", X to move: you win in 7`) {
			if !strings.Contains(stdout, "\n"+want+"\n") {
				t.Errorf("%s: no %s in %s", by, want, stdout)
			}
		}
		if n := strings.Count(stdout, "best move: "); n != 4 {
			t.Errorf("%s: %d best moves", by, n)
		}
	}
}

// TestFindWinnerLengthUnproven checks that a proven win is printed even if its remoteness is
// not proven.
func TestFindWinnerLengthUnproven(t *testing.T) {
	g := must.Get(connectn.New(7, 6, 4))(t)
	f := findingOf(search.Result{Value: game.NewValue(game.FirstWins, 0), Weak: true, Depth: 9, Line: g.Moves(nil, g.Start())[3:4], Nodes: 5})
	var text, line strings.Builder
	f.print(&text, g, g.Start())
	must.OK(t, f.printJSON(&line, g, g.Start()))
	if !strings.Contains(text.String(), `", X to move: you win`+"\nbest move: 3\n5 positions in ") {
		t.Error(text.String())
	}
	if output := line.String(); !strings.Contains(output, `"value":"win"`) || !strings.Contains(output, `"depth":9`) || strings.Contains(output, "remoteness") {
		t.Error(output)
	}
}

func TestFindWinnerRefuses(t *testing.T) {
	refused(t, map[string]string{
		"find-winner":                                   "expected a game: connectn, quickcross, mnk, mancala, connect4, fourinarow, tictactoe, noughts",
		"find-winner chess":                             `unknown game "chess", expected connectn, quickcross, mnk, mancala, connect4, fourinarow, tictactoe, noughts`,
		"find-winner connectn --by luck 1":              `--by "luck": expected plain, memo or search`,
		"find-winner connectn --chains 10 1":            "--chains: --by search does not use it",
		"find-winner connectn --by plain --memory 1M 1": "--memory: --by plain does not use it",
		"find-winner connectn --by memo --threads 2 1":  "--threads: --by memo does not use it",
		"find-winner connectn --by memo --chains 0 1":   "--chains 0: expected 1 or more",
		"find-winner connectn --by memo --memory 4K 1":  "memo: 100000 chains in 4096 bytes: no memory is left for positions",
		"find-winner connectn --by memo --memory 0 1":   "--memory: expected more than 0",
		"find-winner connectn --memory lots 1":          `--memory: size "lots": expected a number of bytes, optionally with suffix K, M, G or T`,
		"find-winner connectn --threads 0 1":            "--threads 0: expected 1 to 256",
		"find-winner connectn --threads 1000000 1":      "--threads 1000000: expected 1 to 256",
		"match connectn --threads 257 random random":    "--threads 257: expected 1 to 256",
		"find-winner connectn --depth 0 1":              "--depth 0: expected 1 or more",
		"find-winner connectn --time 0 1":               "--time 0s: expected more than 0",
		"find-winner connectn 1 --by meo":               `--by "meo": expected plain, memo or search`,
		"find-winner connectn --width 0 1":              "connectn: width, height and connect must be at least 1, found 0, 3 and 3",
		"find-winner quickcross --by memo a1-":          "--by memo: quickcross width=3 height=3 connect=3 has cycles, so the search would not terminate",
	})
}
