package play

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/play/internal/lines"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

func replayCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "replay the games of a file and check them against the rules",
		ArgsUsage: "FILE",
		Description: "FILE was written by match or tournament --save; - is stdin. Every move must be legal, and the result must\n" +
			"follow from the moves; the first error ends the command.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "boards", Usage: "print every move and board"},
			&cli.IntFlag{Name: "game", Usage: "print only game `N` of the file", DefaultText: "all"},
		},
		Action: func(c *cli.Context) error { return replay(c, games) },
	}
}

// replay implements play replay.
func replay(c *cli.Context, games game.Kinds) error {
	return eachPlayed(c, games, func(_ context.Context, out io.Writer, n int, p referee.Played) error {
		if c.Bool("boards") {
			shown := p
			shown.History = player.NewHistory(p.History.Game())
			fmt.Fprintln(out, shown.History.Game().Spec())
			lines.Show(out, shown, true)
			for _, name := range p.History.Names() {
				if err := shown.History.Play(name); err != nil {
					return err
				}
				lines.Show(out, shown, true)
			}
		}
		_, err := fmt.Fprintln(out, gameLine(n, p))
		return err
	})
}

// eachPlayed calls do for the games of the file that the command line names, or for the one that
// --game names.
func eachPlayed(c *cli.Context, games game.Kinds, do func(ctx context.Context, out io.Writer, n int, p referee.Played) error) error {
	if c.Args().Len() != 1 {
		return command.Usagef("expected one file, found %d", c.Args().Len())
	}
	only := c.Int("game")
	if err := command.AtLeast(c, 1, "game"); err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	in, name := command.Until(ctx, c.App.Reader), "stdin"
	if c.Args().First() != "-" {
		name = c.Args().First()
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	out := bufio.NewWriter(c.App.Writer)
	defer out.Flush()
	n := 0
	for p, err := range referee.Games(in, name, games.Parse) {
		if n++; ctx.Err() != nil {
			break
		}
		if err == nil && (only == 0 || n == only) {
			err = do(ctx, out, n, p)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return command.ErrInterrupted
	case n == 0:
		return fmt.Errorf("%s: the file has no games", name)
	case n < only:
		return fmt.Errorf("%s: no game %d: the file has %d", name, only, n)
	}
	return nil
}
