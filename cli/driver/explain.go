package driver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
)

func explainCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "explain a value byte of the steps or of final",
		UsageText: "driver explain [--game NAME] [--mover] VALUE …",
		Description: "The two low bits of a VALUE (66, 0x42 or 0b1000010) are the outcome: 1 second player wins, 2 first\n" +
			"player wins, 3 tie. The other bits are the remoteness: the number of moves to the end under best play. In a game\n" +
			"whose values are from the view of the player to move, the outcome is 0 draw, 1 lose, 2 win, 3 tie.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "game", Usage: "`NAME` of the game: " + strings.Join(games.Names(), ", "), Value: games[0].Name},
			&cli.BoolFlag{Name: "mover", Usage: "read the value from the view of the player to move"},
		},
		Action: func(c *cli.Context) error { return explain(c, games) },
	}
}

// explain implements driver explain.
func explain(c *cli.Context, games game.Kinds) error {
	if c.Args().Len() == 0 {
		return command.Usagef("expected a value, such as 66")
	}
	kind, ok := games.Named(c.String("game"))
	if !ok {
		return command.Usagef("--game %q: expected one of %s", c.String("game"), strings.Join(games.Names(), ", "))
	}
	g, err := command.Default(kind)
	if err != nil {
		return err
	}
	values := g.Values()
	values.OfMover = values.OfMover || c.Bool("mover")
	var lines []byte
	for _, word := range c.Args().Slice() {
		n, err := strconv.ParseUint(word, 0, 16)
		if err != nil {
			return command.Usagef("%q: expected a value, 0 to 65535", word)
		}
		v := game.Value(n)
		lines = fmt.Appendf(lines, "%d = %d·4 + %d: %s\n", v, v.Remoteness(), v.Outcome(), meaning(values, v))
	}
	_, err = c.App.Writer.Write(lines)
	return err
}

// meaning describes a value.
func meaning(values game.Values, v game.Value) string {
	switch {
	case !v.Valid() && v.Remoteness() > 0:
		return "no value: its outcome is missing"
	case !v.Valid() && !values.OfMover:
		return "not known yet"
	case !v.Valid():
		return "DRAW: play never ends"
	case v.Remoteness() == 0:
		return values.Word(v.Outcome()) + ", and play has ended"
	}
	return values.Word(v.Outcome()) + " in " + numfmt.Count(v.Remoteness(), "move")
}
