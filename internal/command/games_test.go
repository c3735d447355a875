package command_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// named is a game with another spec.
type named struct {
	game.Game
	spec string
}

func (n named) Spec() string { return n.spec }

// nim has a parameter of each kind. With fewer than -1 heaps, its spec is that of another game.
var nim = game.Kind{Name: "nim", Params: []game.Param{
	{Name: "heaps", Usage: "heaps", Default: 3},
	{Name: "play", Usage: "who takes the last one", Default: 1, Words: []string{"normal", "misere"}},
}, New: func(args []int) (game.Game, error) {
	return named{testgames.TieGame(), fmt.Sprintf("nim heaps=%d play=%s", max(args[0], -1), []string{"normal", "misere"}[args[1]])}, nil
}}

// TestGameOf checks that flags set the arguments of a game, for both kinds of parameters, and
// that those from a job have no default.
func TestGameOf(t *testing.T) {
	for _, test := range []struct {
		line    string
		fromJob bool
		want    string
	}{
		{"", false, "nim heaps=3 play=misere"},
		{"--heaps 5", false, "nim heaps=5 play=misere"},
		{"--play normal --heaps -1", false, "nim heaps=-1 play=normal"},
		{"--heaps -2", false, `test: game nim: its Spec must be "nim heaps=-2 play=misere", found "nim heaps=-1 play=misere"`},
		{"--play often", false, `test: --play: expected normal or misere, found "often"`},
		{"--heaps many", false, `test: --heaps "many": expected a number`},
		{"--heaps 5 --play misere", true, "nim heaps=5 play=misere"},
		{"--heaps 5", true, `test: --play: expected normal or misere, found ""`},
	} {
		var made game.Game
		app := &cli.App{Commands: []*cli.Command{{
			Name:  "play",
			Flags: command.GameFlags(nim, test.fromJob),
			Action: func(c *cli.Context) (err error) {
				made, err = command.GameOf(c, nim)
				return err
			},
		}}}
		var stderr strings.Builder
		status := command.Run(t.Context(), app, append([]string{"test", "play"}, strings.Fields(test.line)...), strings.NewReader(""), io.Discard, &stderr)
		got, _, _ := strings.Cut(stderr.String(), "\n")
		if made != nil {
			got = made.Spec()
		}
		if got != test.want || (made == nil) != (status == command.ExitUsage) {
			t.Errorf("%q: status %d, %s, want %s", test.line, status, got, test.want)
		}
	}
}

// TestCheckGames checks that a parameter cannot have the name of a flag that all games have,
// nor of a property that the driver sets for tasks: one of them would be lost.
func TestCheckGames(t *testing.T) {
	flags := []cli.Flag{&cli.StringFlag{Name: "data", Aliases: []string{"d"}}}
	if err := command.CheckGames(game.Kinds{nim}, flags, "tier"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"data", "d", "tier", "game", "help", "h", "sandbox"} {
		kind := nim
		kind.Params = []game.Param{{Name: name, Usage: name}}
		err := command.CheckGames(game.Kinds{kind}, flags, "tier")
		if err == nil || err.Error() != "game nim, parameter "+name+": a common flag has this name" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := command.CheckGames(nil, flags); err == nil {
		t.Error("no games at all are in order")
	}
}
