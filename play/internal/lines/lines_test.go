package lines_test

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/lines"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/search"
)

const spec = "connectn width=4 height=4 connect=3"

// A script plays the second side: these moves, and then it resigns.
type script []string

func (s script) Move(_ context.Context, h *player.History, _ time.Duration) (string, error) {
	if at := len(h.Names()) / 2; at < len(s) {
		return s[at], nil
	}
	return "", player.ErrResigned
}

func (script) Close() error { return nil }

// series plays g, and returns what is printed except boards and moves. A human types; the second player is
// another one, or a script.
func series(t testing.TB, g game.Game, z *analysis.Analyzer, second script, typed string) (string, error) {
	var out strings.Builder
	console := player.NewConsole(strings.NewReader(typed), &out)
	human := referee.Entrant{Name: "ann", New: func(context.Context) (player.Player, error) { return player.NewHuman(console), nil }}
	s := lines.Series{Entrants: [2]referee.Entrant{human, human}, Humans: [2]bool{true, true}, Settled: true, Console: console, Out: &out,
		Analyzer: func() (*analysis.Analyzer, error) { return z, nil }}
	if second != nil {
		s.Humans[1], s.Entrants[1] = false, referee.Entrant{Name: "script", New: func(context.Context) (player.Player, error) { return second, nil }}
	}
	err := s.Play(t.Context(), g)
	return regexp.MustCompile(`(?m)^( [.XO0].*|looking for mistakes in [15] moves?|[XO] \(.*|[XO] to move)\n`).ReplaceAllString(out.String(), ""), err
}

// TestAfter reviews a game with three mistakes, and practises them: with a table and by a search, which knows not all better moves. It
// practises only the mistakes of a person who plays alone.
func TestAfter(t *testing.T) {
	const again = "Play again, yes, no, review or practise?\n"
	const begun, two, one = "help lists moves and other words\n", "0\n0\n3\n1\n2\nresign\n", "0\n3\n2\n"
	const third = "Mistake 3 of 3. Find a move with which X still wins.\n"
	g := solved.Game(t, spec)
	byTable, bySearch := analysis.New(g, solved.Table(t, g), nil, search.Options{}), analysis.New(g, nil, nil, search.Options{Memory: 1 << 20})
	for _, tt := range []struct {
		second       script
		typed, after string
		err          error
	}{
		{nil, two + "n\n", "", nil},
		{nil, two, "", io.EOF},
		{nil, two + "?\nquit\n", "answer yes, no, review or practise, their first letter, or quit\n" + again, player.ErrLeft},
		{nil, two + "review\nno\n", "X: 3 moves, 2 mistakes. O: 2 moves, 1 mistake. The turning point was move 5, X 2, the last of 3 mistakes: it loses in 4, then 1 threatens 1 and 2; 1 was best and wins in 11 (1 0 0 1 1 3 …).\n" +
			"move 3: X played 3: win in 9 → lose in 12, then 0 0 2 2 2 3 … (0 threatens 0); better: 2 (win in 9), 0 (win in 11), 1 (win in 11)\n" +
			"move 4: O played 1: win in 11 → lose in 12, then 1 0 0 1 1 3 …; better: 0 (win in 11), 2 (win in 11)\n" +
			"move 5: X played 2: win in 11 → lose in 4, then 1 threatens 1 and 2; better: 1 (win in 11)\n" + again, nil},
		{nil, two + "p\n3\n9\n0\nskip\nSTOP\nyes\n0\nquit\n", "Mistake 1 of 3. Find a move with which X still wins.\n3 is wrong: lose in 12. Try another move.\n" +
			"expected one of 0 1 2 3, found \"9\"; or skip, stop, quit\n0 is right: win in 11.\nMistake 2 of 3. Find a move with which O still wins.\n" + third + again, player.ErrLeft},
		{nil, two + "p\nskip\nskip\n1\nn\n", "Mistake 1 of 3. Find a move with which X still wins.\nMistake 2 of 3. Find a move with which O still wins.\n" + third +
			"1 is right: win in 11.\n1 of 3 found at the first try.\n" + again, nil},
		{nil, two + "p\nquit\n", "Mistake 1 of 3. Find a move with which X still wins.\n", player.ErrLeft},
		{nil, two + "p\n", "Mistake 1 of 3. Find a move with which X still wins.\n", io.EOF},
		{script{"0", "1"}, one + "p\nskip\nskip\nn\n", "Mistake 1 of 2. Find a move with which X still wins.\nMistake 2 of 2. Find a move with which X still wins.\n0 of 2 found at the first try.\n" + again, nil},
		{script{}, "1\npractise\nn\n", "practise: no mistake of yours is known\n" + again, nil},
	} {
		for _, z := range []*analysis.Analyzer{byTable, bySearch} {
			end := "X has won after 5 moves: O resigned"
			if tt.second != nil {
				end = "you have won after 5 moves: O (machine) resigned"
			}
			if len(tt.second) == 0 && tt.second != nil {
				end = "you have won after 1 move: O (machine) resigned"
			}
			want := begun + end + "\n" + again + tt.after
			got, err := series(t, g, z, tt.second, tt.typed)
			if z == bySearch { // it may not know all better moves, nor the same ones
				better := regexp.MustCompile(`; better: .*|; 1 was best.*| \(1 0.*`)
				got, want = better.ReplaceAllString(got, ""), better.ReplaceAllString(want, "")
			}
			if got != want || err != tt.err {
				t.Errorf("%q, by search %v: %v, %q, want %v, %q", tt.typed, z == bySearch, err, got, tt.err, want)
			}
		}
	}
}

// FuzzAfter checks that any words after a game end the series, or the input does.
func FuzzAfter(f *testing.F) {
	f.Add("review\npractise\n3\nskip\nx\nstop\ny\n0\n")
	g := solved.Game(f, spec)
	z := analysis.New(g, solved.Table(f, g), nil, search.Options{})
	f.Fuzz(func(t *testing.T, typed string) {
		if _, err := series(t, g, z, script{"0"}, "0\n3\n"+typed); err != nil && err != io.EOF && err != player.ErrLeft {
			t.Errorf("%q: %v", typed, err)
		}
	})
}
