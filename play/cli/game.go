package play

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
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
			"end of the input is quit, too.",
		Flags: gameFlags(),
	}, playGame)
	for _, g := range c.Subcommands {
		g.Category = cmp.Or(g.Category, "to play a game")
		if kind, ok := games.Named(g.Name); ok && isMancala(kind) {
			asMancala(g)
		}
	}
	return c.Subcommands
}

// gameFlags returns the flags of play GAME.
func gameFlags() []cli.Flag {
	return append([]cli.Flag{&cli.BoolFlag{Name: "quit", Aliases: []string{"q"}, Usage: "exit after one game"},
		&cli.BoolFlag{Name: "rules", Usage: "print the rules of the game"}}, entrantFlags()...)
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
	l.console.Undo, l.console.Hint = true, l.hint
	specs, err := specsOf(words)
	if err != nil {
		return err
	}
	entrants, humans, err := l.entrants(specs)
	if err != nil {
		return err
	}
	if g.Values().Puzzle && words[0] == words[1] {
		entrants[1].Name = entrants[0].Name
	}
	t := session{console: l.console, out: c.App.Writer, humans: humans, settled: c.IsSet("you"), quit: c.Bool("quit")}
	copy(t.entrants[:], entrants)
	defer t.leave()
	err = t.games(ctx, g)
	if err == io.EOF || err == player.ErrLeft {
		err = nil
	}
	return command.Stopped(ctx, err)
}

// hint returns the best move: from the table in the data directory, the opening book, or by a search.
func (l *lobby) hint(ctx context.Context, h *player.History) (string, error) {
	level := player.Strongest()
	best, err := l.make(ctx, entrantSpec{kind: "machine", level: &level})
	if err != nil {
		return "", err
	}
	defer best.Close()
	return best.Move(ctx, h, player.HintTime)
}

// session is a series of games between two players, with the questions that a human is asked.
type session struct {
	entrants [2]referee.Entrant // the first one has the first move
	players  [2]player.Player   // nil if not yet made
	humans   int
	settled  bool // the first player is already chosen
	quit     bool // end after one game
	console  *player.Console
	out      io.Writer
}

// games plays games until the human wants no more; without a human, it plays one game.
func (t *session) games(ctx context.Context, g game.Game) error {
	for {
		if t.humans == 1 && !t.settled && !g.Info().NamedFirst {
			first, err := t.ask(ctx, "Who moves first", t.entrants[0].Name, t.entrants[1].Name)
			if err != nil {
				return err
			}
			if first == 1 {
				t.entrants[0], t.entrants[1] = t.entrants[1], t.entrants[0]
				t.players[0], t.players[1] = t.players[1], t.players[0]
			}
		}
		var seats [2]referee.Seat
		for i, e := range t.entrants {
			if t.players[i] == nil {
				p, err := e.New(ctx)
				if err != nil {
					return err
				}
				t.players[i] = p
			}
			seats[i] = referee.Seat{Name: e.Name, Player: t.players[i], Limit: e.Limit}
		}
		names := [2]string{seats[0].Name, seats[1].Name}
		rules := referee.Rules{Grace: referee.DefaultGrace, Watch: func(h *player.History) { showMove(t.out, h, names, true) }}
		played, err := rules.Play(ctx, g, seats, nil)
		for i, p := range t.players {
			if played.Dismiss(game.Player(i), p) {
				t.players[i] = nil
			}
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(t.out, played.Text(g.Values())); err != nil || t.humans == 0 || t.quit {
			return err
		}
		if again, err := t.ask(ctx, "Play again", "yes", "no"); err != nil || again == 1 {
			return err
		}
	}
}

// leave closes the players.
func (t *session) leave() {
	for _, p := range t.players {
		if p != nil {
			p.Close()
		}
	}
}

// ask repeats a question until the answer is one of two, or the first letter of one, in any case; it returns
// the index of the answer.
func (t *session) ask(ctx context.Context, question string, answers ...string) (int, error) {
	for {
		if _, err := fmt.Fprintf(t.out, "%s, %s or %s?\n", question, answers[0], answers[1]); err != nil {
			return 0, err
		}
		line, err := t.console.Line(ctx)
		if err != nil {
			return 0, err
		}
		if i := slices.IndexFunc(answers, func(a string) bool { return strings.EqualFold(line, a) || strings.EqualFold(line, a[:1]) }); i >= 0 {
			return i, nil
		}
		expected := fmt.Sprintf("%s or %s, their first letter, or quit", answers[0], answers[1])
		switch player.Word(line) {
		case player.Quit:
			return 0, player.ErrLeft
		case player.Help:
			fmt.Fprintf(t.out, "answer %s\n", expected)
		default:
			fmt.Fprintf(t.out, "expected %s; found %q\n", expected, line)
		}
	}
}
