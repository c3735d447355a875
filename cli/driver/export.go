package driver

import (
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/result/export"
	"github.com/treereduce/treereduce/table"
)

func (p *program) exportCommand() *cli.Command {
	return p.reads(&cli.Command{
		Name:      "export",
		Usage:     "export positions of a table, one per line",
		UsageText: "driver export [--data DIRECTORY] [--format FORMAT] [--tier N] [--outcome WORD] [--remoteness N] [--sample N] [--dots] [--canonical]",
		Description: "Each line is a position with the fields of lookup --json: position, hash, value (win, lose, tie or draw, for\n" +
			"the player to move; solved or unsolvable, in a puzzle) and remoteness (moves to the end; empty for a draw), then outcome (the value in the game's\n" +
			"words). Tiers ascend; the lines of a tier are in the order of the table, which sort changes. CSV begins with a header\n" +
			"line. N may be a range: 3-5.\n" +
			"Where a table stores one of a position and its images (mirrored, rotated …), all have lines; play need not\n" +
			"reach them all. --canonical writes one of each.\n" +
			"Spreadsheets drop leading blanks: --dots writes dots instead, which all commands read.\n\n" +
			"   driver export --tier 1 --outcome X --remoteness 16 --format csv >tier1.csv\n" +
			"   driver export --sample 1000 --seed 1 --format jsonl",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`FORMAT`: " + formats(), Value: "tsv"},
			&cli.StringFlag{Name: "tier", Usage: "only tier `N`"},
			&cli.StringFlag{Name: "outcome", Usage: "only this outcome: a `WORD` of the game (X, O, tie; win, lose, tie, draw; solved, unsolvable), or a value byte"},
			&cli.StringFlag{Name: "remoteness", Usage: "only positions `N` moves from the end"},
			&cli.BoolFlag{Name: "dots", Usage: "write blanks as dots"},
			&cli.BoolFlag{Name: "canonical", Usage: "write one of each position and its images"},
			&cli.Uint64Flag{Name: "sample", Usage: "`N` positions at random, uniformly", DefaultText: "all"},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed, for a reproducible sample", DefaultText: "a different one each time"},
		},
		Action: p.export,
	})
}

// formats returns the names of the formats.
func formats() string { return strings.Join(slices.Sorted(maps.Keys(export.Forms)), ", ") }

// mostSample is the maximum size of a sample: each worker keeps that many positions in memory.
const mostSample = 10_000_000

// export implements driver export.
func (p *program) export(c *cli.Context) error {
	if err := command.NoArguments(c, ": --data names the directory"); err != nil {
		return err
	}
	if n := c.Uint64("sample"); c.IsSet("sample") && (n == 0 || n > mostSample) {
		return command.Usagef("--sample %d: expected 1 to %d positions", n, mostSample)
	}
	if c.IsSet("seed") && !c.IsSet("sample") {
		return command.Usagef("--seed requires --sample N")
	}
	form, ok := export.Forms[c.String("format")]
	if !ok {
		return command.Usagef("--format %q: expected %s", c.String("format"), formats())
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	return datadir.WithTable(ctx, c.String("data"), p.games, func(t *table.Table, _ *filesys.Place) error {
		of, err := export.SelectionOf(t, c.String("tier"), c.String("remoteness"), c.String("outcome"))
		if err != nil {
			return command.Usagef("--%w", err)
		}
		of.Canonical, of.Images = c.Bool("canonical"), !c.Bool("canonical")
		x := &export.Exporter{Table: t, Of: of, Form: form, Out: c.App.Writer, Dots: c.Bool("dots")}
		if g, start := t.Game(), t.Game().Start(); x.Dots {
			if p, err := g.Parse(string(export.Dotted(g.AppendText(nil, start)))); err != nil || p != start {
				return command.Usagef("--dots: positions of %s cannot be read with dots for blanks", g.Spec())
			}
		}
		if _, err := io.WriteString(x.Out, form.Header); err != nil {
			return err
		}
		if c.IsSet("sample") {
			seed := c.Uint64("seed")
			if !c.IsSet("seed") {
				seed = rand.Uint64()
			}
			err = x.Sample(ctx, c.Uint64("sample"), seed)
		} else {
			err = x.All(ctx)
		}
		return command.Stopped(ctx, err)
	}, p.openers(ctx)...)
}
