package driver

import (
	"fmt"
	"path"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/result/compare"
)

func (p *program) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare two results, and show the first difference",
		UsageText: "driver compare [--game SPEC] A B",
		Description: "A and B are solved data directories, their tables, directories, files or pipes of text as in DIR/final\n" +
			"(- is stdin) or of a tier's records. Text may be in any order; it is read into memory. It may have the\n" +
			"initial position of Connect N, which DIR/final leaves out. The exit status is 1 if they differ.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "game", Usage: "game of text files without a data directory: `SPEC` as status prints it"},
		},
		Action: p.compare,
	}
}

// compare implements driver compare.
func (p *program) compare(c *cli.Context) error {
	if c.Args().Len() != 2 {
		return command.Usagef("expected two results, found %d", c.Args().Len())
	}
	if c.Args().Get(0) == "-" && c.Args().Get(1) == "-" {
		return command.Usagef("stdin can only be one of the two results")
	}
	var g game.Game
	if c.IsSet("game") {
		var err error
		if g, err = p.games.Parse(c.String("game")); err != nil {
			return command.Usagef("--game: %w", err)
		}
	}
	var sources [2]*compare.Source
	for i, name := range c.Args().Slice() {
		s, err := p.openSource(c, name)
		if err != nil {
			return err
		}
		defer s.Close()
		sources[i] = s
		switch {
		case s.Game == nil:
		case g == nil:
			g = s.Game
		case g.Spec() != s.Game.Spec():
			return fmt.Errorf("%s is of another game: expected %q, found %q", name, g.Spec(), s.Game.Spec())
		}
	}
	if g == nil {
		return command.Usagef("the game of these texts is unknown: name it with --game")
	}
	d, err := compare.Between(g, sources)
	if err != nil {
		return err
	}
	if err := d.WriteText(c.App.Writer, [2]string{sources[0].Name, sources[1].Name}); err != nil || !d.Any {
		return err
	}
	return command.ErrReported
}

// openSource opens the result that a name refers to.
func (p *program) openSource(c *cli.Context, name string) (*compare.Source, error) {
	if name == "-" {
		return compare.OpenStdin(c.App.Reader), nil
	}
	place, err := datadir.OpenDir(name, p.openers(c.Context)...)
	if err != nil {
		return nil, err
	}
	if _, missing := place.FS.Stat(path.Join(place.Path, store.ManifestFile)); missing == nil {
		if err := datadir.Absent(place, name); err != nil { // a run without a table yet
			place.Close()
			return nil, err
		}
	}
	return compare.Open(place, command.Printable(name), p.games)
}
