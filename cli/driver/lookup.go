package driver

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/table"
)

func lookupCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:      "lookup",
		Usage:     "the value of a position, and of each of its moves",
		UsageText: "driver lookup [--data DIRECTORY] [POSITION]",
		Description: "POSITION is a board as in DIR/final ('XO  '; in Connect N, blanks may be . or _), or the moves that\n" +
			"lead to it from the start (3 3 2, or a1- 'b2|'): words are moves if each is one in its turn. A board that\n" +
			"begins with - comes after --. Without a POSITION, each line of stdin is one.",
		Flags: []cli.Flag{
			datadir.Flag(),
			command.StartFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoLateFlags(c, "the position"); err != nil {
				return err
			}
			return datadir.WithTable(c, games, func(t *table.Table, _ *filesys.Place) error {
				return command.EachPosition(c.Context, c, t.Game(), func(out io.Writer, p game.Position) error { return lookup(out, t, p) })
			})
		},
	}
}

// lookup prints the value of a position, and of those to which its moves lead. Where
// values are those of the player to move, that is the opponent there.
func lookup(out io.Writer, t *table.Table, p game.Position) error {
	g := t.Game()
	v, ok, err := t.Lookup(p)
	if err != nil {
		return err
	}
	values, board := g.Values(), g.AppendText(nil, p)
	fmt.Fprintf(out, "%s", g.Picture(p))
	switch {
	case !ok:
		fmt.Fprintf(out, "%q cannot be reached: play stops before it\n", board)
		return nil
	case finished(v):
		fmt.Fprintf(out, "%q is finished: %s\n", board, values.Word(v.Outcome()))
		return nil
	default:
		fmt.Fprintf(out, "%s: %s\n", command.Heading(g, p), values.Text(v))
	}
	choices, err := t.Choices(p)
	if err != nil {
		return err
	}
	if !v.Valid() {
		var keep []string
		for _, m := range choices {
			if !m.Value.Valid() {
				keep = append(keep, m.Name)
			}
		}
		fmt.Fprintf(out, "play need never end; what keeps the draw: %s\n", strings.Join(keep, " "))
	}
	for _, m := range choices {
		if finished(m.Value) {
			fmt.Fprintf(out, "  %s: %s at once\n", m.Name, values.Word(m.Value.Outcome()))
		} else {
			fmt.Fprintf(out, "  %s: %s\n", m.Name, values.Text(m.Value))
		}
	}
	return nil
}

// finished reports whether a value is that of a position in which play has ended.
func finished(v game.Value) bool { return v.Valid() && v.Remoteness() == 0 }
