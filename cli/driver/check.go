package driver

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	rules "github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// asks reports whether a game is that of the rules program.
func (p *program) asks(kind game.Kind) bool {
	return p.rules != nil && p.rules.Kind().Name == kind.Name
}

func (p *program) checkCommand() *cli.Command {
	var games game.Kinds
	if p.rules != nil {
		games = game.Kinds{p.rules.Kind()}
	}
	check := command.OfGame(games, &cli.Command{
		Name:  "check",
		Usage: "check the rules of the rules program",
		Description: "It asks for positions of random games, each twice, in another order and by another copy of the\n" +
			"program, and prints the first answer that violates docs/rules.md.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "positions", Usage: "number of positions", Value: 10_000},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed", Value: 1},
		},
	}, func(c *cli.Context, kind game.Kind) error {
		if err := command.Positive(c, "positions"); err != nil {
			return err
		}
		g, err := command.GameOf(c, kind)
		if err != nil {
			return err
		}
		ctx, stop := command.Interruptible(c.Context)
		defer stop()
		n, err := rules.Check(ctx, g, c.Int("positions"), c.Uint64("seed"))
		if err != nil {
			return command.Stopped(ctx, err)
		}
		fmt.Fprintf(c.App.Writer, "%s: %s checked, no fault found\n%s is a hash of the header and of:\n", g.Spec(), numfmt.Count(n, "position"), rules.Code)
		for _, line := range p.rules.Identity() {
			fmt.Fprintf(c.App.Writer, "  %s\n", command.Printable(line))
		}
		return nil
	})
	check.UsageText = "driver check NAME --" + command.RulesFlag + " COMMAND [--" + command.FilesFlag + " FILE]... [--" + command.SandboxFlag + "]"
	check.Description = "See docs/rules.md."
	if p.rules == nil {
		check.Action = func(*cli.Context) error {
			return command.Usagef("check is for the game of a rules program: --%s COMMAND", command.RulesFlag)
		}
	}
	return check
}
