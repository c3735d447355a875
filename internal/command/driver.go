package command

import (
	"io"

	"github.com/urfave/cli/v2"
)

// defaultData is the data directory where none is named.
const defaultData = "all_data"

// Driver is the command driver.
func Driver(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := []*cli.Command{solveCommand(), lookupCommand(), statsCommand(), verifyCommand()}
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return run(&cli.App{
		Name:     "driver",
		Usage:    "solve games exactly, and look at the result",
		Commands: commands,
		Action:   unknown("command", names),
	}, args, stdin, stdout, stderr)
}

// dataFlag names the data directory.
func dataFlag() cli.Flag {
	return &cli.StringFlag{Name: "data", Usage: "the data `DIRECTORY`", Value: defaultData}
}
