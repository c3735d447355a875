// Package datadir contains the flags that name a data directory or a file, on this machine, in
// HDFS or in another file system, and opens what they name. It knows no particular command.
package datadir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// ByDefault is the default data directory.
const ByDefault = "all_data"

// OpenDir opens the data directory of a command that reads an existing one, by the name that --data gives. A
// name without hdfs:// is looked up first on this machine, then in the default file system of a cluster.
func OpenDir(name string, further ...filesys.Opener) (*filesys.Place, error) {
	name, err := found(name, further)
	if err != nil {
		return nil, Misnamed("data", err)
	}
	return OpenFile("data", name, further...)
}

// found returns the name that OpenDir opens for a name.
func found(name string, further []filesys.Opener) (string, error) {
	elsewhere := slices.ContainsFunc(further, func(o filesys.Opener) bool { return o.Opens(name) })
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) || elsewhere {
		return name, nil
	}
	if there, err := hadoop.HasDefault(); err != nil || !there {
		return name, err
	}
	return hadoop.InDefault(name)
}

// OpenFile opens the file system of the name that a flag gives.
func OpenFile(flag, name string, further ...filesys.Opener) (*filesys.Place, error) {
	place, err := filesys.Open(name, further...)
	return place, Misnamed(flag, err)
}

// Write writes the file that a flag names, on this machine or in HDFS; "-" is stdout.
func Write(stdout io.Writer, flag, name string, content []byte) error {
	if name == "-" {
		_, err := stdout.Write(content)
		return err
	}
	place, err := OpenFile(flag, name)
	if err != nil {
		return err
	}
	defer place.Close()
	return store.WriteFile(place.FS, place.Path, content)
}

// Misnamed converts an error in the name that a flag gives to a usage error.
func Misnamed(flag string, err error) error {
	if e := new(hadoop.NameError); errors.As(err, &e) {
		if flag == "data" && strings.HasPrefix(e.Name, "s3://") {
			return command.Usagef("--data %s: this driver has no S3 and Amazon EMR: build bin/driver-aws with make aws", e.Name)
		}
		return command.Usagef("--%s %w", flag, err)
	}
	return err
}

// Flag returns --data, which names the data directory. further describes, in the help, the other
// file systems that a command supports.
func Flag(further ...string) cli.Flag {
	usage := strings.Join(append([]string{"data `DIRECTORY`, on this machine or in HDFS (hdfs://host:port/path, hdfs:///path)"}, further...), ", or ")
	return &cli.StringFlag{Name: "data", Usage: usage, Value: ByDefault}
}

// LoginFlags returns the options of a login to a cluster with Kerberos. They set the environment
// variables of Hadoop's programs, which all commands respect, so that the hadoop command logs in
// too.
func LoginFlags() []cli.Flag {
	sets := func(name, variable, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, DefaultText: variable, Action: func(_ *cli.Context, value string) error { return os.Setenv(variable, value) }}
	}
	return []cli.Flag{
		sets("keytab", kerberos.Keytab, "keytab `FILE`, to log in to a cluster with Kerberos without kinit"),
		sets("principal", kerberos.Principal, "Kerberos principal `NAME`, user@REALM: which key of the keytab, or whose ticket"),
	}
}

// CheckLogin refuses the options of a login if none of the files and directories that a command line names is in
// HDFS.
func CheckLogin(c *cli.Context, names ...string) error {
	if slices.ContainsFunc(names, func(name string) bool { there, _ := hadoop.InHDFS(name); return there }) {
		return nil
	}
	for _, f := range LoginFlags() {
		if name := f.Names()[0]; c.IsSet(name) {
			return command.Usagef("--%s is an option of a data directory in HDFS", name)
		}
	}
	return nil
}

// CheckReader is CheckLogin for a command that reads the directory that --data names, and may write the file that
// --svg names.
func CheckReader(c *cli.Context, further ...filesys.Opener) error {
	data, err := found(c.String("data"), further)
	if err != nil {
		return nil // OpenDir returns it
	}
	return CheckLogin(c, data, c.String("svg"))
}

// WithTable calls do with the table in the data directory that --data names, which must be a
// table of one of the games. The calls of an HDFS end soon after ctx.
func WithTable(ctx context.Context, name string, games game.Kinds, do func(t *table.Table, place *filesys.Place) error, further ...filesys.Opener) error {
	place, err := OpenDir(name, further...)
	if err != nil {
		return err
	}
	defer place.Close()
	place.EndWith(ctx)
	if err := Absent(place, name); err != nil {
		return err
	}
	t, err := table.OpenFS(place.FS, place.Path, games.Parse)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t, place)
}
