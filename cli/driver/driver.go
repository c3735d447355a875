// Package driver contains the command line of driver: it reads flags, calls the packages that
// do the work, and prints the results.
package driver

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	rules "github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/alias"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// Main implements the command driver for a program with these games: it executes the command
// line of the process, and ends the process. A module that has its own games calls it with
// them.
func Main(games ...game.Kind) { Extension{}.Main(games...) }

// Run executes a command line, of which the first word is the program's name, with these
// streams. It returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C,
// 143 by SIGTERM.
func Run(games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Extension{}.Run(games, args, stdin, stdout, stderr)
}

// Main is the function Main for a program with an Extension.
func (x Extension) Main(games ...game.Kind) {
	os.Exit(x.Run(games, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// Run is the function Run for a program with an Extension.
func (x Extension) Run(games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.WithRules(games, func() string { return gameOf(games, args) }, args, stderr, func(ctx context.Context, games game.Kinds, args []string, r *rules.Program) int {
		return (&program{games, r, x}).run(ctx, args, stdin, stdout, stderr)
	})
}

// gameOf returns the name of the game that a command line names, or of that in the data directories which it reads, if they
// are on this machine; "" if it may need another game than games.
func gameOf(games game.Kinds, args []string) (name string) {
	if len(args) < 2 || !slices.Contains([]string{"lookup", "stats", "verify", "status", "export", "compare"}, args[1]) {
		return command.GameIn(games, args)
	}
	values, others := command.ValuesOf(args[2:], "data", "game")
	dirs := append([]string{datadir.ByDefault}, values["data"]...)
	dirs = dirs[len(dirs)-1:]
	if args[1] == "compare" {
		dirs = others
	}
	for _, dir := range dirs {
		m, err := store.ReadManifest(store.Local{}, dir)
		if err != nil || len(values["game"]) > 0 {
			return ""
		}
		name, _, _ = strings.Cut(m.Game, " ")
		if _, ours := games.Named(name); !ours {
			return ""
		}
	}
	return name
}

// run executes a command line without the options of a rules program.
func (p *program) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	games := p.games
	if err := command.CheckGames(games, slices.Concat(p.solveFlags(new(solveFlags), append(ours(), p.Runners...)), rangesFlags(), p.planFlags())); err != nil {
		return command.Exit(args, err, stderr)
	}
	commands := slices.Concat([]*cli.Command{p.solveCommand(), p.statusCommand(), p.lookupCommand(), p.statsCommand(), p.exportCommand(), p.compareCommand(),
		p.verifyCommand(), p.planCommand(), p.checkCommand(), rangesCommand(games)}, p.Commands)
	name := filepath.Base(args[0])
	commands = append(commands, command.CompletionCommand(name))
	return command.Run(ctx, &cli.App{
		Name:        name,
		Usage:       "solve games exactly, and query the result",
		Description: firstSteps(games),
		Commands:    commands,
		Action:      command.Unknown("command", command.Names(commands)),
	}, args, stdin, stdout, stderr)
}

// firstSteps returns an example session with the first game; "" if there is none.
func firstSteps(games game.Kinds) string {
	if len(games) == 0 {
		return ""
	}
	flags := alias.Words(games[0])
	return "Solve a game, query the result, and play against it:\n\n" +
		"   driver solve " + flags + "\n" +
		"   driver lookup --start\n" +
		"   driver stats\n" +
		"   play tui " + flags + "\n\n" +
		"A game of your own: driver solve NAME --rules-program COMMAND, see docs/rules.md"
}
