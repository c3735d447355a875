// Package driver contains the command line of driver: it reads flags, calls the packages that
// do the work, and prints the results.
package driver

import (
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/solve"
)

// Main implements the command driver for a program with these games: it executes the command
// line of the process, and ends the process. A module that has its own games calls it with
// them.
func Main(games ...game.Kind) {
	os.Exit(Run(games, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// Run executes a command line, of which the first word is the program's name, with these
// streams. It returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C,
// 143 by SIGTERM.
func Run(games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := command.CheckGames(games, slices.Concat(solveFlags(), rangesFlags(), planFlags())); err != nil {
		return command.Exit(args, err, stderr)
	}
	commands := []*cli.Command{solveCommand(games), statusCommand(), lookupCommand(games), statsCommand(games), exportCommand(games), compareCommand(games), explainCommand(games), verifyCommand(games), planCommand(games), calibrateCommand(), emrManage()}
	if tiered := withRanges(games); len(tiered) > 0 {
		commands = append(commands, rangesCommand(tiered))
	}
	commands = append(commands, command.CompletionCommand("driver"))
	return command.Run(&cli.App{
		Name:        "driver",
		Usage:       "solve games exactly, and look at the result",
		Description: firstSteps(games),
		Commands:    commands,
		Action:      command.Unknown("command", command.Names(commands)),
	}, args, stdin, stdout, stderr)
}

// firstSteps returns an example session with the first game that can be solved; "" if there is
// none.
func firstSteps(games game.Kinds) string {
	g := example(games)
	if g == nil {
		return ""
	}
	flags, moves, p := datadir.Flags(g.Spec()), "", g.Start()
	for range 2 {
		if next := g.Moves(nil, p); len(next) > 0 {
			moves, p = moves+" "+next[0].Name, next[0].To
		}
	}
	return "Solve a game, look at the result, and play against it:\n\n" +
		"   driver solve " + flags + "\n" +
		"   driver lookup" + moves + "\n" +
		"   driver stats\n" +
		"   play tui " + flags
}

// example returns the first game that can be solved, with its default parameters; nil if there
// is none.
func example(games game.Kinds) game.Game {
	for _, kind := range games {
		if g, err := command.Default(kind); err == nil && solve.Check(game.MethodOf(g)) == nil {
			return g
		}
	}
	return nil
}
