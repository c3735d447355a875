package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

func (p *program) tableCommand() *cli.Command {
	return &cli.Command{
		Name:      "table",
		Usage:     "make a table small, or full again",
		UsageText: "driver table small|full DIRECTORY",
		Description: "A small table stores every second tier. All commands read it like a full one: they compute the\n" +
			"positions and values of the other tiers from the two tiers next to them. DIRECTORY is the data\n" +
			"directory of a solved game.",
		Action: func(c *cli.Context) error {
			size, name := c.Args().Get(0), c.Args().Get(1)
			if c.Args().Len() != 2 || size != solve.SmallTable && size != solve.FullTable {
				return command.Usagef("expected %s or %s, and a data directory", solve.SmallTable, solve.FullTable)
			}
			err := p.resize(c.Context, c.App.Writer, size, name)
			if errors.Is(err, context.Canceled) {
				return command.ErrInterrupted
			}
			return err
		},
	}
}

// resize gives the table in the data directory name a size, small or full, and prints what it has then.
func (p *program) resize(ctx context.Context, out io.Writer, size, name string) error {
	place, err := datadir.OpenDir("data", name)
	if err != nil {
		return err
	}
	defer place.Close()
	m, err := store.ReadManifest(place.FS, place.Path)
	if err != nil {
		return fmt.Errorf("table: expected the data directory of a run: %w", err)
	}
	g, err := p.games.Parse(m.Game)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(ctx)
	defer stop()
	place.EndWith(ctx)
	data, err := store.Create(place.FS, place.Path, g.Spec(), store.Resume, solve.IsRunArtifact, nil)
	if err != nil {
		return err
	}
	defer data.Close()
	if err := solve.Resize(ctx, data, g, size); err != nil {
		return err
	}
	seal, err := store.ReadSeal(place.FS, data.Dir(table.Dir))
	if err != nil {
		return err
	}
	bytes := int64(0)
	for _, f := range seal.Files {
		bytes += f.Length
	}
	_, err = fmt.Fprintf(out, "%s: %s, %d of %d tiers, %s\n", path.Join(name, table.Dir), size, len(seal.Files), len(seal.Files)+len(seal.Omitted), numfmt.Bytes(float64(bytes)))
	return err
}
