package driver

import (
	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/table"
)

// withTable calls do with the table of the data directory of a command line, which is
// that of one of the games.
func withTable(c *cli.Context, games game.Kinds, do func(t *table.Table, place *filesys.Place) error) error {
	place, err := openData(c)
	if err != nil {
		return err
	}
	defer place.Close()
	t, err := table.Open(place.FS, place.Path, games.Parse)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t, place)
}
