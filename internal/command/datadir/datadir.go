// Package datadir is the flags of command lines that name a data directory, or a file,
// on this machine or in HDFS, and what they name.
package datadir

import (
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/table"
)

// byDefault is the data directory where none is named.
const byDefault = "all_data"

// Open returns the file system of the data directory of a command line that
// looks at what is there. A name without hdfs:// is first looked for on this
// machine, then in the default file system of a cluster.
func Open(c *cli.Context) (fsys store.FS, path string, done func(), err error) {
	return OpenDir("data", c.String("data"))
}

// OpenDir is Open of the data directory of that name, which a flag gives.
func OpenDir(flag, name string) (fsys store.FS, path string, done func(), err error) {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && hadoop.ConfDir() != "" {
		if name, err = hadoop.InDefault(name); err != nil {
			return nil, "", nil, Misnamed(flag, err)
		}
	}
	return OpenFile(flag, name)
}

// OpenFile returns the file system of the name that a flag gives, and the path there; done
// ends the connection.
func OpenFile(flag, name string) (fsys store.FS, path string, done func(), err error) {
	place, err := filesys.Open(name)
	if err != nil {
		return nil, "", nil, Misnamed(flag, err)
	}
	return place.FS, place.Path, func() { place.Close() }, nil
}

// Misnamed makes an error of usage of one that a flag's name has earned.
func Misnamed(flag string, err error) error {
	if e := new(hadoop.NameError); errors.As(err, &e) {
		return command.Usagef("--%s %w", flag, err)
	}
	return err
}

// Flag names the data directory.
func Flag() cli.Flag {
	return &cli.StringFlag{Name: "data", Usage: "the data `DIRECTORY`, on this machine or in HDFS (hdfs://host:port/path, hdfs:///path)", Value: byDefault}
}

// WithTable calls do with the table of the data directory of a command line, which is
// that of one of the games.
func WithTable(c *cli.Context, games game.Kinds, do func(t *table.Table, fsys store.FS, path string) error) error {
	fsys, path, done, err := Open(c)
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
