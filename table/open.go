//go:build !js

package table

import (
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/filesys"
)

// Open opens the table of a data directory, whose game must be one of the given games. The
// directory is a path on this machine, or a name in HDFS: hdfs://host:port/path, or
// hdfs:///path for the default file system of Hadoop's configuration. Open fails if the table
// is incomplete, differs from its seal, or is of another game than its data directory.
func Open(directory string, games game.Kinds) (*Table, error) {
	place, err := filesys.Open(directory)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	t, err := OpenFS(place.FS, place.Path, games.Parse)
	if err != nil {
		return nil, errors.Join(err, place.Close())
	}
	t.place = place
	return t, nil
}
