// Package play contains the command line of play: it reads flags, calls the packages that
// search and play, and prints the results.
package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/alias"
)

// Main implements the command play for a program with these games: it executes the command line
// of the process, and ends the process. A module that has its own games calls it with them.
func Main(games ...game.Kind) {
	os.Exit(Run(games, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// Run executes a command line, of which the first word is the program's name, with these
// streams. It returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C,
// 143 by SIGTERM.
func Run(games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.WithRules(games, func() string { return command.GameIn(games, args) }, args, stderr, func(ctx context.Context, games game.Kinds, args []string, _ *program.Program) int {
		return run(ctx, games, args, stdin, stdout, stderr)
	})
}

// run executes a command line without the options of a rules program.
func run(ctx context.Context, games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	list, err := commands(games)
	if err != nil {
		return command.Exit(args, err, stderr)
	}
	return command.Run(ctx, &cli.App{
		Name:     "play",
		Usage:    "play games, and find who wins",
		Commands: list,
		Action:   howToBegin(games, command.Unknown("command or game", command.Names(list))),
	}, args, stdin, stdout, stderr)
}

// howToBegin returns an action that is unknown and, without arguments, adds how to begin.
func howToBegin(games game.Kinds, unknown cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		err := unknown(c)
		if c.NArg() == 0 {
			name := games.Names()[0]
			if known := alias.Of(games); len(known) > 0 {
				name = known[0].Name
			}
			err = errors.Join(err, fmt.Errorf("to begin: play tui %s (in the terminal), play %s (line by line) or play web --open (in a browser)", name, name))
		}
		return err
	}
}

// commands returns the commands of play for these games. No game may have the name of a command, and no parameter that of
// a flag.
func commands(games game.Kinds) ([]*cli.Command, error) {
	if err := games.Check(); err != nil {
		return nil, err
	}
	list := []*cli.Command{tuiCommand(games), webCommand(games), findWinnerCommand(games), matchCommand(games), tournamentCommand(games), engineCommand(games), replayCommand(games), reviewCommand(games), accuracyCommand(games), trainCommand(games)}
	if columns := ofColumns(games); len(columns) > 0 {
		list = append(list, scoreCommand(columns))
	}
	list = append(append(list, command.CompletionCommand("play")), gameCommands(games)...)
	names := command.Names(list)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("game %s: the name is that of a command", name)
		}
	}
	return list, command.CheckGames(games, commonFlags(list))
}

// commonFlags returns the flags of commands and of their subcommands, without the parameters of games.
func commonFlags(list []*cli.Command) (flags []cli.Flag) {
	for _, c := range list {
		flags = append(flags, commonFlags(c.Subcommands)...)
		for _, f := range c.Flags {
			if f.(cli.CategorizableFlag).GetCategory() != "board" {
				flags = append(flags, f)
			}
		}
	}
	return flags
}
