package play

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
)

// some contains games of all kinds: with their own fast search, with cycles, and with rules
// only.
func some() game.Kinds {
	return game.Kinds{connectn.Kind, quickcross.Kind, mnk.Kind, mancala.Kind}
}

// runLine runs a command line and returns its status and output.
func runLine(games game.Kinds, line, stdin string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(games, append([]string{"play"}, strings.Fields(line)...), strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// runs runs a command line, which must succeed.
func runs(t *testing.T, line, stdin string) (stdout string) {
	t.Helper()
	status, stdout, stderr := runLine(some(), line, stdin)
	if status != 0 || stderr != "" {
		t.Fatalf("play %s: status %d, %s", line, status, stderr)
	}
	return stdout
}

// refused checks that command lines are usage errors: two lines, the given one and one that refers to the help.
func refused(t *testing.T, lines map[string]string) {
	t.Helper()
	for line, want := range lines {
		status, stdout, stderr := runLine(some(), line, "")
		hint, ok := strings.CutPrefix(stderr, "play: "+want+"\nplay: see play")
		if status != 2 || stdout != "" || !ok || strings.Count(hint, "\n") != 1 || !strings.HasSuffix(hint, " --help\n") {
			t.Errorf("play %s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}

// TestCommands checks that a program lists only the commands that its games support.
func TestCommands(t *testing.T) {
	for _, test := range []struct {
		games game.Kinds
		want  string
	}{
		{some()[:2], "tui, web, find-winner, match, tournament, engine, replay, review, accuracy, train, score, completion, connectn, quickcross, connect4, fourinarow"},
		{some()[1:2], "tui, web, find-winner, match, tournament, engine, replay, review, accuracy, train, completion, quickcross"},
		{game.Kinds{connectn.Kind, {Name: "connect4", Params: mnk.Kind.Params, New: mnk.Kind.New}}, "tui, web, find-winner, match, tournament, engine, replay, review, accuracy, train, score, completion, connectn, connect4, fourinarow"},
	} {
		if status, _, stderr := runLine(test.games, "", ""); status != 2 || !strings.HasPrefix(stderr, "play: expected a command or game: "+test.want+"\n") {
			t.Errorf("status %d, %s, want %s", status, stderr, test.want)
		}
	}
	for want, games := range map[string]game.Kinds{
		"play: no games are given\n":                        nil,
		"play: game score: the name is that of a command\n": append(some(), game.Kind{Name: "score", Params: mnk.Kind.Params, New: mnk.Kind.New}),
		"play: game nim, parameter chains: a common flag has this name\n": {{
			Name: "nim", New: mancala.Kind.New, Params: []game.Param{{Name: "chains"}, {Name: "b"}}}},
	} {
		if status, stdout, stderr := runLine(games, "help", ""); status != 1 || stdout != "" || stderr != want {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}
