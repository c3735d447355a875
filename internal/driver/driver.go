// Package driver is the command line of driver: it reads flags, calls the
// packages that do the work, and prints.
package driver

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/store"
)

// defaultData is the data directory where none is named.
const defaultData = "all_data"

// Main is the command driver.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := []*cli.Command{solveCommand(), lookupCommand(), statsCommand(), verifyCommand(), statusCommand()}
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return command.Run(&cli.App{
		Name:     "driver",
		Usage:    "solve games exactly, and look at the result",
		Commands: commands,
		Action:   command.Unknown("command", names),
	}, args, stdin, stdout, stderr)
}

// openData returns the file system of the data directory of a command line, and
// the path within it; done ends what it opened.
func openData(c *cli.Context) (fsys store.FS, path string, done func(), err error) {
	name := c.String("data")
	if !strings.HasPrefix(name, hadoop.Scheme) {
		return store.Local{}, name, func() {}, nil
	}
	f, path, err := hadoop.Dial(name)
	if err != nil {
		return nil, "", nil, err
	}
	return f, path, func() { f.Close() }, nil
}

// dataFlag names the data directory.
func dataFlag() cli.Flag {
	return &cli.StringFlag{Name: "data", Usage: "the data `DIRECTORY`, on this machine or in HDFS (hdfs://host:port/path)", Value: defaultData}
}
