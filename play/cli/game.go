package play

import (
	"cmp"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/lines"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// gameCommands returns a command for each game, named like the game, that plays it.
func gameCommands(games game.Kinds) []*cli.Command {
	c := command.OfGame(games, &cli.Command{
		ArgsUsage: "[PLAYER PLAYER]",
		Description: entrantHelp + "Without players, a human plays against a machine. A human is asked who moves first, and whether\n" +
			"to play again; a machine then keeps its table. Without a human the first player moves first;\n" +
			"in Network, always. A human enters moves, or help, hint, undo, resign (the game) or quit (the program); the\n" +
			"end of the input is quit, too. After a game, review lists the mistakes, and practise lets a human try them again.",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "quit", Aliases: []string{"q"}, Usage: "exit after one game"},
			&cli.BoolFlag{Name: "rules", Usage: "print the rules of the game"}}, entrantFlags()...),
	}, playGame)
	for _, g := range c.Subcommands {
		g.Category = cmp.Or(g.Category, "to play a game")
		if kind, ok := games.Named(g.Name); ok && isMancala(kind) {
			asMancala(g)
		}
	}
	return c.Subcommands
}

// playGame implements play GAME.
func playGame(c *cli.Context, kind game.Kind) error {
	g, err := gameOf(c, kind, c.Args().Slice())
	if err != nil {
		return err
	}
	words := c.Args().Slice()
	switch n, puzzle := len(words), g.Values().Puzzle; {
	case n == 0 && puzzle:
		words = []string{"human", "human"} // one person makes all moves
	case n == 0:
		words = []string{"human", "machine"}
	case n == 1 && puzzle:
		words = append(words, words[0])
	case n != 2:
		return countError("two players", n)
	}
	if c.Bool("rules") {
		_, err := fmt.Fprintf(c.App.Writer, "%s\n\n%s", game.TitleOf(g), game.RulesOf(g))
		return err
	}
	return sitDown(c, g, words)
}

// sitDown plays games between the two players that words describe, on the console.
func sitDown(c *cli.Context, g game.Game, words []string) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	l, err := newLobby(ctx, c, g, c.App.Writer)
	if err != nil {
		return err
	}
	entrants, people, err := l.seat(ctx, words)
	if err != nil {
		return err
	}
	if g.Values().Puzzle && words[0] == words[1] {
		entrants[1].Name = entrants[0].Name
	}
	r := reviewer{options: l.options, data: l.data, notices: l.notices}
	defer r.close()
	t := lines.Series{Entrants: [2]referee.Entrant(entrants), Humans: [2]bool(people), Settled: c.IsSet("you"), Once: c.Bool("quit"), Console: l.console, Out: c.App.Writer,
		Analyzer: func() (*analysis.Analyzer, error) { return r.analyzerOf(g) }}
	err = t.Play(ctx, g)
	if err == io.EOF || err == player.ErrLeft {
		err = nil
	}
	return command.Stopped(ctx, err)
}
