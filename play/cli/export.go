package play

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/web/remote"
	"github.com/treereduce/treereduce/play/internal/web/site"
)

// exportWeb implements play web --export: it writes the pages as static files, with the tables of --data.
func exportWeb(c *cli.Context, games game.Kinds, dir string) error {
	for _, name := range []string{"listen", "open", "host", "allow-origin", "searches", "memory"} {
		if c.IsSet(name) {
			return fmt.Errorf("--%s: the site of --export has no server: leave this flag out", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := site.New(dir, filepath.Dir(self))
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	tables, all, err := recordTables(ctx, c.StringSlice("data"), games)
	if err != nil {
		return err
	}
	size, err := s.Write(tables)
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	with := ""
	if len(tables) > 0 {
		with = " and tables of " + numfmt.Bytes(float64(all))
	}
	fmt.Fprintf(c.App.Writer, "%s: %s%s; copy it to a web server\n", dir, numfmt.Bytes(float64(size)), with)
	return nil
}

// recordTables reads the tables of data directories, and returns them with their number of bytes. The
// directories stay open until the program ends.
func recordTables(ctx context.Context, names []string, games game.Kinds) (tables []*remote.Table, all int64, err error) {
	for _, name := range names {
		place, err := datadir.OpenDir(name)
		if err != nil {
			return nil, 0, err
		}
		if err := datadir.Absent(place, name); err != nil {
			return nil, 0, err
		}
		t, err := remote.Record(ctx, place.FS, place.Path, games, remote.MaxSize-all)
		if err != nil {
			return nil, 0, err
		}
		if program.Owns(t.Game) {
			return nil, 0, fmt.Errorf("--data %s: no browser can run the rules program of %s: serve it with play web", name, t.Game)
		}
		if i := slices.IndexFunc(tables, func(o *remote.Table) bool { return o.Game == t.Game }); i >= 0 {
			return nil, 0, fmt.Errorf("--data %s: %s has a table of the same game: leave out one of them", name, names[i])
		}
		tables, all = append(tables, t), all+t.Size()
	}
	return tables, all, nil
}
