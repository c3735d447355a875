// Package driver is the command line of driver: it reads flags, calls the
// packages that do the work, and prints.
package driver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/filesys"
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

// ofGame gives a command a sub-command for each game, each with the game's
// parameters and the command's flags.
func ofGame(games game.Kinds, c *cli.Command, action func(*cli.Context, game.Kind) error) *cli.Command {
	for _, kind := range games {
		c.Subcommands = append(c.Subcommands, &cli.Command{
			Name:   kind.Name,
			Usage:  kind.Usage,
			Flags:  append(command.GameFlags(kind, false), c.Flags...),
			Action: func(c *cli.Context) error { return action(c, kind) },
		})
	}
	c.Flags, c.Action = nil, command.Unknown("game", games.Names())
	return c
}

// interruptible is a context that a Ctrl-C ends, or SIGTERM. A second one ends the
// process at once.
func interruptible(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// openData opens the data directory of a command line that looks at what is there. A name without hdfs:// is first looked for on this
// machine, then in the default file system of a cluster.
func openData(c *cli.Context) (*filesys.Place, error) {
	name := c.String("data")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && hadoop.ConfDir() != "" {
		if name, err = hadoop.InDefault(name); err != nil {
			return nil, misnamed("data", err)
		}
	}
	return open("data", name)
}

// open opens the file system of the name that a flag gives.
func open(flag, name string) (*filesys.Place, error) {
	place, err := filesys.Open(name)
	return place, misnamed(flag, err)
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
