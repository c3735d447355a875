package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
)

// toys returns two games that have parameters with the same names and different meanings.
func toys() game.Kinds {
	none := func(name string) func([]int) (game.Game, error) {
		return func(args []int) (game.Game, error) { return nil, fmt.Errorf("%s is made of %d", name, args) }
	}
	return game.Kinds{
		{Name: "nim", Usage: "take from heaps", New: none("nim"), Params: []game.Param{
			{Name: "size", Usage: "heaps of the game", Default: 3},
			{Name: "play", Usage: "who takes the last one", Words: []string{"normal", "misere"}}}},
		{Name: "hex", Usage: "join the sides", New: none("hex"), Params: []game.Param{
			{Name: "size", Usage: "length of a side", Default: 11}}},
	}
}

// mapped runs mapper with these games.
func mapped(games game.Kinds, words ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = mapSide().run(context.Background(), games, words, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// TestFlagsOfTheGame checks that a step has only the flags of its own game, however the game is
// selected.
func TestFlagsOfTheGame(t *testing.T) {
	for _, test := range []struct {
		line, environment string
		want              string // on stderr
	}{
		{"mapper possible --size 2 --play misere", "", "nim is made of [2 1]"},
		{"mapper possible --game hex --size 2", "", "hex is made of [2]"},
		{"mapper possible --size 2 --game=hex", "", "hex is made of [2]"},
		{"mapper possible -size=2 -game hex", "", "hex is made of [2]"},
		{"mapper possible --combine --game hex --size 2", "", "hex is made of [2]"},
		{"mapper possible --combine=false --game hex --size 2", "", "hex is made of [2]"},
		{"mapper possible --game nim --game hex --size 2", "", "hex is made of [2]"},
		{"mapper possible --states --game --size 2 --play misere", "", `unknown game "--size"`},
		{"mapper possible --states --game=hex --size 2", "", "--game hex is the value of another flag, and the game is nim"},
		{"possible_map --game hex --size 2", "", "hex is made of [2]"},
		{"possible_map --size 2", "hex", "hex is made of [2]"},
		{"possible_map --game nim --size 2 --play normal", "hex", "nim is made of [2 0]"},
		{"mapper possible --game hex --size 2 --play misere", "", "unknown flag --play"},
		{"mapper possible --game hex", "", "hex: missing --size (or treereduce_size in the environment)"},
		{"mapper possible --size 2", "", "nim: missing --play (or treereduce_play in the environment)"},
		{"mapper possible --size 2 --play both", "", `--play: expected normal or misere, found "both"`},
		{"mapper possible --game chess --size 2", "", `unknown game "chess"`},
		{"mapper possible --size 2", "chess", `unknown game "chess"`},
		{"mapper possible --game=", "", `unknown game ""`},
		{"mapper possible -- --game hex", "", `unexpected argument "--game"`},
	} {
		t.Run(test.environment+" "+test.line, func(t *testing.T) {
			if test.environment != "" {
				t.Setenv("treereduce_game", test.environment)
			}
			words := strings.Fields(test.line)
			status, stdout, stderr := mapped(toys(), words...)
			if got, _, _ := strings.Cut(stderr, "\n"); status != 2 || stdout != "" || !strings.HasPrefix(got, words[0]+": "+test.want) {
				t.Errorf("status %d, %q, want %q", status, stderr, test.want)
			}
		})
	}
}

// TestHelpOfTheGame checks that the help describes the parameters of the selected game.
func TestHelpOfTheGame(t *testing.T) {
	for line, want := range map[string][2]string{
		"mapper possible --help":            {"heaps of the game", "length of a side"},
		"mapper possible --game hex --help": {"length of a side", "heaps of the game"},
	} {
		status, stdout, stderr := mapped(toys(), strings.Fields(line)...)
		if strings.Contains(stdout, "--width") {
			t.Errorf("%s: the example is of another game: %s", line, stdout)
		}
		if status != 0 || stderr != "" || !strings.Contains(stdout, want[0]) || strings.Contains(stdout, want[1]) || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "nim, hex") {
			t.Errorf("%s: status %d, %s%s", line, status, stdout, stderr)
		}
	}
}

// TestGamesInOrder checks that mapper reports an invalid list of games.
func TestGamesInOrder(t *testing.T) {
	twice := append(toys(), toys()...)
	property := toys()
	property[0].Params[0].Name = "predecessors"
	flag := toys()
	flag[1].Params[0].Name = "turn"
	for want, games := range map[string]game.Kinds{
		"mapper: no games are given":                                            nil,
		"mapper: game nim is given twice":                                       twice,
		"mapper: game nim, parameter predecessors: a common flag has this name": property,
		"mapper: game hex, parameter turn: a common flag has this name":         flag,
	} {
		if status, stdout, stderr := mapped(games, "mapper", "possible"); status != 1 || stdout != "" || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}

// FuzzGameNamed checks that the game that is found before the flags are parsed is the one that
// they select.
func FuzzGameNamed(f *testing.F) {
	for _, line := range []string{"--game hex", "-game=hex --size 2", "--states --game hex", "--combine --game hex", "--game", "-- --game hex", "--size --game hex", "- --game hex", "--=x --game hex", "--h --game hex"} {
		f.Add(line)
	}
	errSeen := errors.New("seen")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Fields(line)
		games := toys()
		for i := range games {
			games[i].New = func([]int) (game.Game, error) { return nil, fmt.Errorf("%w %s", errSeen, games[i].Name) }
		}
		args := append([]string{"mapper", "possible"}, words...)
		found := gameNamed(games, args)
		_, _, stderr := mapped(games, args...)
		if _, name, ok := strings.Cut(stderr, errSeen.Error()+" "); ok && !strings.HasPrefix(name, found+"\n") {
			t.Errorf("%q: found %s, but the flags name %s", line, found, name)
		}
	})
}
