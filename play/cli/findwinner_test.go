package play

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
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

// A pile is a random game, in which ties may occur before the last tier.
type pile struct {
	game.Layered
	spec string
}

func (p pile) Spec() string { return p.spec }

// TestFindWinnerTies checks that --by search and --by memo agree, except that the former omits
// the remoteness of a tie if it has not proven it.
func TestFindWinnerTies(t *testing.T) {
	kind := game.Kind{Name: "pile", Usage: "a random game", Params: []game.Param{{Name: "number", Usage: "which one", Default: 1}}}
	kind.New = func(args []int) (game.Game, error) {
		return pile{testgames.RandomAcyclic(rand.New(rand.NewPCG(1, uint64(args[0]))), 40), fmt.Sprintf("pile number=%d", args[0])}, nil
	}
	output := regexp.MustCompile(`: (you \w+)( in \d+)?\n`)
	ties := map[bool]int{}
	for seed := 1; seed <= 40; seed++ {
		g := must.Get(kind.New([]int{seed}))(t)
		var lines strings.Builder
		for _, p := range slices.Sorted(maps.Keys(gametest.Search(g))) {
			if g.Primitive(p) == 0 {
				fmt.Fprintf(&lines, "%s\n", g.AppendText(nil, p))
			}
		}
		var found [2][][]string
		for i, by := range []string{"memo", "search"} {
			status, stdout, stderr := runLine(game.Kinds{kind}, fmt.Sprintf("find-winner pile --number %d --memory 1M --by %s", seed, by), lines.String())
			if status != 0 {
				t.Fatal(stderr)
			}
			found[i] = output.FindAllStringSubmatch(stdout, -1)
		}
		if len(found[0]) != strings.Count(lines.String(), "\n") || len(found[1]) != len(found[0]) {
			t.Fatalf("seed %d: %d and %d answers to %q", seed, len(found[0]), len(found[1]), lines.String())
		}
		for i, want := range found[0] {
			got := found[1][i]
			if want[1] == "you tie" && got[2] == "" {
				ties[g.Values().TiesSoon]++
				got = want
			}
			if got[0] != want[0] {
				t.Errorf("seed %d, position %d: search says %q, memo %q", seed, i, got[0], want[0])
			}
		}
	}
	if ties[false] == 0 || ties[true] == 0 {
		t.Errorf("ties without a length, by TiesSoon: %v", ties)
	}
}

// TestFindWinnerCounts checks the counts that are printed with the result.
func TestFindWinnerCounts(t *testing.T) {
	if output := runs(t, "find-winner connectn --by memo", "\n1\n1\n"); !regexp.MustCompile(`(?s)\n694 positions, 967 look-ups.*\n0 positions, 1 look-up,.*\n0 positions, 1 look-up,`).MatchString(output) {
		t.Error(output)
	}
	for by, want := range map[string]string{
		"plain":              `277,167 positions in [\d.]+ (µs|ms|s)`,
		"memo --chains 1000": `7,157 positions, 11,819 look-ups, 7.16 positions a chain, in [\d.]+ (µs|ms|s)`,
		"memo":               `7,157 positions, 11,819 look-ups, 0.0716 positions a chain, in [\d.]+ (µs|ms|s)`,
		"search":             `[\d,]+ positions, [\d,]+ look-ups in [\d.]+ (µs|ms|s)`,
	} {
		output := runs(t, "find-winner connectn --width 4 --start --by "+by, "")
		if !regexp.MustCompile(`"            ", X to move: you win in 9\nbest move: [12]\n` + want + `\n$`).MatchString(output) {
			t.Errorf("%s: %s, want %s", by, output, want)
		}
	}
}

// TestFindWinnerJSON checks that the JSON output contains the same as the text, one line for
// each position, without value and remoteness if they are not proven.
func TestFindWinnerJSON(t *testing.T) {
	for flags, want := range map[string]string{
		"connectn --width 4 --by memo --start":   "4×3: win, 9, 1, 7157, 11819, 4662, 0",
		"connectn --width 4 --by plain --start":  "4×3: win, 9, 1, 277167, 0, 0, 0",
		"connectn --width 4 --depth 3 --start":   "4×3: <nil>, <nil>, ?, ?, ?, ?, 3",
		"connectn --width 4 --by memo 0 1 0 1 0": "4×3: lose, 0, <nil>, 1, 1, 0, 0",
	} {
		var m map[string]any
		must.OK(t, json.Unmarshal([]byte(runs(t, "find-winner "+strings.Replace(flags, "connectn", "connectn --json", 1), "")), &m))
		if m["game"] != "connectn width=4 height=3 connect=3" || len(m["position"].(string)) != 12 || m["seconds"].(float64) <= 0 {
			t.Errorf("%s: %v", flags, m)
		}
		depth := m["depth"]
		if depth == nil {
			depth = 0
		}
		got := fmt.Sprintf("4×3: %v, %v, %v, %v, %v, %v, %v", m["value"], m["remoteness"], m["best"], m["positions"], m["lookups"], m["hits"], depth)
		if want := strings.ReplaceAll(regexp.QuoteMeta(want), `\?`, `\d+`); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s: %s, want %s", flags, got, want)
		}
	}
}

// TestNotProven checks that a result that is not proven is marked as such. A game with cycles
// can be searched to any depth.
func TestNotProven(t *testing.T) {
	output := runs(t, "find-winner connectn --width 4 --height 4 --connect 4 --depth 5 --start", "")
	if !regexp.MustCompile(`"                ", X to move: not proven, 5 moves ahead\nbest move so far: [0-3]\n[\d,]+ positions`).MatchString(output) {
		t.Error(output)
	}
	output = runs(t, "find-winner quickcross --width 2 --height 2 --connect 2 --depth 4 --start", "")
	if !strings.Contains(output, `"../..", hash 0: you lose in 2`+"\nbest move: ") {
		t.Error(output)
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
		"engine connectn machine:threads=1000000":       `player "machine:threads=1000000": option "threads=1000000": expected 1 to 256`,
		"find-winner connectn --depth 0 1":              "--depth 0: expected 1 or more",
		"find-winner connectn --time 0 1":               "--time 0s: expected more than 0",
		"find-winner connectn 1 --by meo":               `--by "meo": expected plain, memo or search`,
		"find-winner connectn --width 0 1":              "connectn: width, height and connect must be at least 1, found 0, 3 and 3",
		"find-winner quickcross --by memo a1-":          "--by memo: quickcross width=3 height=3 connect=3 has cycles, so the search would not terminate",
	})
}
