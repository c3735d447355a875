// Package driver is the command line of driver: it reads flags, calls the
// packages that do the work, and prints.
package driver

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
)

// defaultData is the data directory where none is named.
const defaultData = "all_data"

// Main is the command driver.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := []*cli.Command{solveCommand(), lookupCommand(), statsCommand(), verifyCommand()}
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

// dataFlag names the data directory.
func dataFlag() cli.Flag {
	return &cli.StringFlag{Name: "data", Usage: "the data `DIRECTORY`", Value: defaultData}
}
