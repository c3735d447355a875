package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// rulesOf reads --rules: not given (nil), all positions, or a number of positions, and --seed.
func rulesOf(c *cli.Context) (*table.Rules, error) {
	const hint = ": --data names the directory, and --rules takes one number"
	if !c.Bool("rules") {
		if c.IsSet("seed") {
			return nil, command.Usagef("--seed requires --rules N")
		}
		return nil, command.NoArguments(c, hint)
	}
	r, text := &table.Rules{Seed: rand.Uint64()}, c.Args().First()
	if c.Args().Len() > 1 {
		return nil, command.Usagef("unexpected argument %q%s", c.Args().Get(1), hint)
	}
	if text == "" && c.IsSet("seed") {
		return nil, command.Usagef("--seed requires --rules N")
	}
	if c.IsSet("seed") {
		r.Seed = c.Uint64("seed")
	}
	if text != "" {
		var err error
		if r.Sample, err = strconv.ParseUint(text, 10, 64); err != nil || r.Sample == 0 {
			return nil, command.Usagef("--rules: expected a number of positions, found %q", text)
		}
	}
	return r, nil
}

func (p *program) verifyCommand() *cli.Command {
	return p.reads(&cli.Command{
		Name:      "verify",
		Usage:     "check all values of a table, that no position is missing or extra, and the checksum of final",
		UsageText: "driver verify [--data DIRECTORY] [--seed NUMBER] [--rules [N]]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "rules", Usage: "verify by the plain moves of the rules, independent of the steps: all positions, or N at random, if that is at most half of them"},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed of --rules N, for a reproducible sample", DefaultText: "a different one each time"},
		},
		Action: func(c *cli.Context) error {
			rules, err := rulesOf(c)
			if err != nil {
				return err
			}
			ctx, stop := command.Interruptible(c.Context)
			defer stop()
			err = datadir.WithTable(ctx, c.String("data"), p.games, func(t *table.Table, place *filesys.Place) error {
				bar := progress.New(c)
				if rules != nil {
					return verifyRules(ctx, c.App.Writer, bar, t, rules)
				}
				n, err := t.VerifyReport(ctx, func(share float64) { bar.Report(solve.Event{Step: "verify", Share: share}) })
				bar.End()
				if err == nil {
					err = solve.CheckFinal(ctx, place.FS, place.Path, t.Game().Spec())
				}
				if err == nil {
					err = checkKept(ctx, place, t.Game())
				}
				if err == nil {
					fmt.Fprintf(c.App.Writer, "%s: %s verified, all correct\n", t.Game().Spec(), numfmt.Count(n, "position"))
				}
				return err
			}, p.openers(ctx)...)
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("verify: %w", err)
			}
			return command.Stopped(ctx, err)
		},
	})
}

// checkKept verifies the directories that a run with --keep all has kept.
func checkKept(ctx context.Context, place *filesys.Place, g game.Game) error {
	m, err := store.ReadManifest(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a table without a run is allowed
	}
	if err != nil || m.Options["keep"] != "all" {
		return err
	}
	return solve.CheckKept(ctx, place.FS, place.Path, g)
}

// verifyRules checks a table, or a sample of it, against the rules of the game. It prints the
// seed of a sample, so that the check can be repeated.
func verifyRules(ctx context.Context, out io.Writer, bar *progress.Line, t *table.Table, rules *table.Rules) error {
	seed := ""
	if rules.Sample > 0 {
		seed = fmt.Sprintf(" (seed %d)", rules.Seed)
	}
	rules.Report = func(share float64) { bar.Report(solve.Event{Step: "verify --rules", Share: share}) }
	checked, all, err := rules.Verify(ctx, t)
	bar.End()
	var fault *table.Fault
	switch {
	case errors.As(err, &fault):
		return fmt.Errorf("%w%s", err, seed)
	case err != nil:
		return err
	case checked == all:
		seed = ""
	}
	_, err = fmt.Fprintf(out, "%s: %s of %s verified by the rules, all correct%s\n", t.Game().Spec(), numfmt.Number(checked), numfmt.Count(all, "position"), seed)
	return err
}
