package play

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/tui"
)

func tuiCommand(games game.Kinds) *cli.Command {
	c := command.OfGame(games, &cli.Command{
		Name:  "tui",
		Usage: "play in the terminal, and analyse with the value of each move",
		Description: "Use keys or the mouse; ? lists them. If the data directory has the game's table, it values the moves and\n" +
			"the machine plays from it; otherwise both search, and moves have evaluations until their values are proven.\n" +
			"Without parameters of the board, it is the board of that table.\n" +
			"The last game of each board, with its sides and level, is kept for the next start: in treereduce/ below\n" +
			"$XDG_STATE_HOME (~/.local/state). NO_COLOR turns colours off.\n" +
			"Without a terminal it is human against machine, line by line.",
		Flags: tuiFlags(),
	}, func(c *cli.Context, kind game.Kind) error { return playTUI(c, games, kind) })
	c.Description, c.Flags = "Without a game, it plays that of the table in the data directory.", tuiFlags()
	unknown := c.Action
	c.Action = func(c *cli.Context) error {
		if c.Args().Present() {
			return unknown(c)
		}
		return playTUI(c, games, game.Kind{})
	}
	return c
}

// defaultPace is long enough to see a move of the machine.
const defaultPace = 400 * time.Millisecond

func tuiFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "you", Usage: "side that you play: first, second, both or none (watch the machine)", DefaultText: "asked"},
		&cli.StringFlag{Name: "level", Usage: "`LEVEL` of the machine, random, or beginner to perfect; the keys + and - change it", DefaultText: "perfect with a table, club without"},
		&cli.DurationFlag{Name: "pace", Usage: "minimum time before a machine's move is shown", Value: defaultPace},
		&cli.BoolFlag{Name: "fresh", Usage: "ignore the game that was kept"},
		datadir.Flag(),
	}, searchFlags(byDefault)...)
}

// playTUI implements play tui.
func playTUI(c *cli.Context, games game.Kinds, kind game.Kind) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	o, err := tuiOptions(c, games)
	if err != nil {
		return err
	}
	if kind.Name != "" {
		if o.Game, err = command.GameOf(c, kind); err != nil {
			return err
		}
	}
	parse := boardOf(games, kind)
	if kind.Name != "" && boardGiven(c, kind) {
		parse = only(o.Game)
	}
	if o.Table, o.Notice, err = dataOf(c).tableIfAny(parse); err != nil {
		return err
	}
	switch {
	case o.Table != nil:
		defer o.Table.Close()
		o.Game = o.Table.Game()
	case kind.Name == "":
		return command.Usagef("%s; expected a game: %s", cmp.Or(o.Notice, c.String("data")+" has no table"), strings.Join(command.Names(c.Command.Subcommands), ", "))
	}
	o.Book = book.Embedded(o.Game)
	o.Kept = keptFile(o.Game.Spec())
	in, out, ok := terminal(c)
	if !ok {
		return sitDown(c, o.Game, lineByLine(o))
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	if err := tui.Run(ctx, o, in, out); !errors.Is(err, context.Canceled) {
		return err
	}
	return command.ErrInterrupted
}

// tuiOptions reads the flags, except those of the game and of its table.
func tuiOptions(c *cli.Context, games game.Kinds) (o tui.Options, err error) {
	if o.Search, err = searchOptions(c); err != nil {
		return o, err
	}
	if err := command.AtLeast(c, 0, "pace"); err != nil {
		return o, err
	}
	if word := c.String("you"); c.IsSet("you") {
		i := slices.Index([]string{"none", "first", "second", "both"}, word)
		if i < 0 {
			return o, command.Usagef("--you %q: expected first, second, both or none", word)
		}
		o.Seats = &[2]bool{i&1 != 0, i&2 != 0}
	}
	if c.IsSet("level") {
		if _, err = player.ParseLevel(c.String("level")); err != nil {
			return o, command.Usagef("--level: %w", err)
		}
	}
	o.Level, o.Pace, o.Parse = c.String("level"), c.Duration("pace"), games.Parse
	o.Fresh = c.Bool("fresh")
	o.Colourless = os.Getenv("NO_COLOR") != ""
	return o, nil
}

// keptFile returns the name of the file that keeps the last game of this spec from one start to the next; "" if there is no
// place for it.
func keptFile(spec string) string {
	state := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); err == nil && !filepath.IsAbs(state) {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, "treereduce", strings.NewReplacer(" ", "-", "=", "").Replace(spec)+".games")
}

// lineByLine returns the players to use if there is no terminal.
func lineByLine(o tui.Options) []string {
	machine := "machine"
	if o.Level != "" {
		machine = player.Level{Name: o.Level}.String()
	} else if o.Table != nil {
		machine = "table"
	}
	players := []string{"human", machine}
	if o.Seats != nil {
		for i, person := range o.Seats {
			if players[i] = machine; person {
				players[i] = "human"
			}
		}
	}
	return players
}

// terminal returns the files from which a command reads and to which it writes; ok is true if
// both are terminals that support cursor control.
func terminal(c *cli.Context) (in, out *os.File, ok bool) {
	in, _ = command.FileOf(c.App.Reader)
	out, _ = command.FileOf(c.App.Writer)
	kind := os.Getenv("TERM")
	if runtime.GOOS == "windows" { // whose terminals set no TERM
		kind = cmp.Or(kind, "windows")
	}
	return in, out, kind != "" && kind != "dumb" && command.IsTerminal(in) && command.IsTerminal(out)
}
