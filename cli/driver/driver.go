// Package driver is the command line of driver: it reads flags, calls the
// packages that do the work, and prints.
package driver

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/internal/store"
)

// defaultData is the data directory where none is named.
const defaultData = "all_data"

// Main is the command driver for a program that knows these games: it does what the
// command line of the process says, and ends the process. A module that has games of
// its own calls it with them.
func Main(games ...game.Kind) {
	os.Exit(Run(games, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// Run is driver with this command line, of which the first word is its own name, and
// these streams. It returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped
// by Ctrl-C.
func Run(games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := command.CheckGames(games, append(solveFlags(), rangesFlags()...)); err != nil {
		return command.Exit(args, err, stderr)
	}
	commands := []*cli.Command{solveCommand(games), statusCommand(), lookupCommand(games), statsCommand(games), verifyCommand(games)}
	if tiered := withRanges(games); len(tiered) > 0 {
		commands = append(commands, rangesCommand(tiered))
	}
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

// openData returns the file system of the data directory of a command line that
// looks at what is there. A name without hdfs:// is first looked for on this
// machine, then in the default file system of a cluster.
func openData(c *cli.Context) (fsys store.FS, path string, done func(), err error) {
	name := c.String("data")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && hadoop.ConfDir() != "" {
		if name, err = hadoop.InDefault(name); err != nil {
			return nil, "", nil, misnamed("data", err)
		}
	}
	return open("data", name)
}

// open returns the file system of the name that a flag gives, and the path there; done
// ends the connection.
func open(flag, name string) (fsys store.FS, path string, done func(), err error) {
	place, err := filesys.Open(name)
	if err != nil {
		return nil, "", nil, misnamed(flag, err)
	}
	return place.FS, place.Path, func() { place.Close() }, nil
}

// misnamed makes an error of usage of one that a flag's name has earned.
func misnamed(flag string, err error) error {
	if e := new(hadoop.NameError); errors.As(err, &e) {
		return command.Usagef("--%s %w", flag, err)
	}
	return err
}

// dataFlag names the data directory.
func dataFlag() cli.Flag {
	return &cli.StringFlag{Name: "data", Usage: "the data `DIRECTORY`, on this machine or in HDFS (hdfs://host:port/path, hdfs:///path)", Value: defaultData}
}
