package play

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cli/driver"
)

// TestGameEnds checks that the end of the input, quit and no end a game without an error, and
// that a player who resigns loses.
func TestGameEnds(t *testing.T) {
	for typed, ends := range map[string]string{
		"":                   "Who moves first, human or random?\n",
		"h\nquit\n":          "X to move\n",
		"Human\nExit\n":      "X to move\n",
		"H\n?\nq\n":          "quit    exit the program\nX to move\n",
		"q\n":                "Who moves first, human or random?\n",
		"?\nexit\n":          "answer human or random, their first letter, or quit\nWho moves first, human or random?\n",
		"h\n":                "X to move\n",
		"h\nresign\nn\n":     "X to move\nyou have lost after 0 moves: X (you) resigned\nPlay again, yes, no, review or practise?\n",
		"h\nresign\n":        "\nPlay again, yes, no, review or practise?\n",
		"h\nresign\nno\nx\n": "\nPlay again, yes, no, review or practise?\n",
	} {
		if output := runs(t, "connectn human random", typed); !strings.HasSuffix(output, ends) {
			t.Errorf("%q: %s, want %s", typed, output, ends)
		}
	}
	output := runs(t, "connectn --width 2 --height 2 --connect 2 human human", "0\n0\n1\nyes\n1\n")
	if !strings.Contains(output, "\nX has won after 3 moves\n") || strings.Contains(output, "Who moves first") || !strings.HasSuffix(output, " . X\n 0 1\nO to move\n") {
		t.Error(output)
	}
}

// TestGameOfTable checks that a table plays the game that it contains, by default on its board, and that a table of
// another game is refused.
func TestGameOfTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cross")
	const game = "quickcross --width 3 --height 2 --connect 2"
	if status := driver.Run(some(), strings.Fields("driver solve "+game+" --data "+dir), strings.NewReader(""), new(strings.Builder), new(strings.Builder)); status != 0 {
		t.Fatal("not solved")
	}
	output := runs(t, game+" --data "+dir+" table table", "")
	if !regexp.MustCompile(`\ntable( \(2\))? wins after \d+ moves\n$`).MatchString(output) {
		t.Error(output)
	}
	if again := runs(t, "quickcross --data "+dir+" table table", ""); again != output {
		t.Errorf("without a board: %s", again)
	}
	for line, want := range map[string]string{
		"quickcross --width 4 --data " + dir + " table random": "play: table: table: " + dir + "/table: of another game: ",
		"connectn --data " + dir + "/nothing table random":     "play: table: ",
	} {
		if status, stdout, stderr := runLine(some(), line, ""); status != 1 || stdout != "" || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %s%s", line, status, stdout, stderr)
		}
	}
}

func TestGameRefuses(t *testing.T) {
	refused(t, map[string]string{
		"connectn human":                          "expected two players, found 1; a player is one word: " + entrantForms + "; put quotes around a program with blanks",
		"connectn human machine random":           "expected two players, found 3; a player is one word: " + entrantForms + "; put quotes around a program with blanks",
		"mancala 4 3 1 GreedyPlayer":              "expected two players or M N TIMEOUT PLAYER PLAYER, found 4; a player is one word: " + entrantForms + "; put quotes around a program with blanks",
		"mancala 4 3 1 GreedyPlayer RandomPlayer": `player "GreedyPlayer": expected HumanPlayer, RandomPlayer, MinimaxPlayer, AlphaBetaPlayer, EvaluationPlayer, CustomPlayer or program:COMMAND; for a class of yours: play engine mancala --template cse150 >assignment2.py, and then 'program:python3 assignment2.py FILE GreedyPlayer'`,
		"connectn human chess":                    `player "chess": expected ` + entrantForms,
		"connectn human machine --widht 4":        "unknown flag --widht: did you mean --width?",
		"connectn --width 0 human machine":        "connectn: width, height and connect must be at least 1, found 0, 3 and 3",
		"connectn --time -1s human machine":       "--time -1s: expected more than 0",
		"connectn human machine:depth=0":          `player "machine:depth=0": option "depth=0": expected an integer of 1 or more, found "0"`,
	})
}
