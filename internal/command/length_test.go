package command_test

import (
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/command"
)

// longGame has one tier more than the largest remoteness of a value.
type longGame struct{ game.Blockwise }

func (longGame) Tiers() int { return game.MaxByteRemoteness + 1 }

// TestTooLong checks that a game that can last too long is refused when a command creates it.
func TestTooLong(t *testing.T) {
	kind := connectn.Kind
	kind.New = func([]int) (game.Game, error) {
		rules, err := connectn.New(3, 3, 3)
		return longGame{rules}, err
	}
	app := &cli.App{Commands: []*cli.Command{{
		Name:  "play",
		Flags: command.GameFlags(kind, false),
		Action: func(c *cli.Context) error {
			_, err := command.GameOf(c, kind)
			return err
		},
	}}}
	var stderr strings.Builder
	status := command.Run(t.Context(), app, []string{"test", "play"}, strings.NewReader(""), io.Discard, &stderr)
	want := "test: connectn width=3 height=3 connect=3: it can last 64 moves, at most 63 are provided for\n"
	if status != command.ExitUsage || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("status %d, %q, want %q", status, stderr.String(), want)
	}
}
