// Package play is the command line of play: it reads flags, calls the packages that
// search and play, and prints.
package play

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
)

// Main is the command play for a program that knows these games: it does what the
// command line of the process says, and ends the process. A module that has games of
// its own calls it with them.
func Main(games ...game.Kind) {
	os.Exit(Run(games, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// Run is play with this command line, of which the first word is its own name, and these
// streams. It returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped by
// Ctrl-C.
func Run(games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := checkGames(games); err != nil {
		return command.Exit(args, err, stderr)
	}
	list := commands(games)
	return command.Run(&cli.App{
		Name:     "play",
		Usage:    "play games, and find who wins",
		Commands: list,
		Action:   command.Unknown("command or game", command.Names(list)),
	}, args, stdin, stdout, stderr)
}

// commands are what play can do with games.
func commands(games game.Kinds) []*cli.Command {
	list := []*cli.Command{tuiCommand(games), findWinnerCommand(games), matchCommand(games), tournamentCommand(games), engineCommand(games), replayCommand(games)}
	if columns := ofColumns(games); len(columns) > 0 {
		list = append(list, scoreCommand(columns))
	}
	if c := experimentCommand(games); c != nil {
		list = append(list, c)
	}
	return append(append(list, command.CompletionCommand("play")), gameCommands(games)...)
}

// flags are those of all commands.
func flags() []cli.Flag {
	return slices.Concat(findWinnerFlags(), scoreFlags(), experimentFlags(), gameFlags(), resultFlags(0, ""), tuiFlags(), []cli.Flag{endgamesFlag()})
}

// checkGames wants the list of games to be in order, and no name to be taken: a game's by
// a command, a parameter's by a flag.
func checkGames(games game.Kinds) error {
	if err := command.CheckGames(games, flags()); err != nil {
		return err
	}
	names := command.Names(commands(games))
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("game %s: the name is that of a command", name)
		}
	}
	return nil
}
