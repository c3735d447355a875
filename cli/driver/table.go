package driver

import (
	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/table"
)

// withTable calls do with the table of the data directory of a command line, which is
// that of one of the games.
func withTable(c *cli.Context, games game.Kinds, do func(t *table.Table, fsys store.FS, path string) error) error {
	fsys, path, done, err := openData(c)
	if err != nil {
		return err
	}
	defer done()
	t, err := table.Open(fsys, path, games.Parse)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t, fsys, path)
}
