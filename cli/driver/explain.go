package driver

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "what a value of the steps and of final means",
		UsageText: "driver explain [--mover] VALUE …",
		Description: "The two low bits of a VALUE (66, 0x42 or 0b1000010) are the outcome: 1 the second player wins (O in Connect\n" +
			"N), 2 the first (X), 3 a tie. The others are the remoteness: how many moves it is to the end, if both play\n" +
			"their best. Where values are those of the player to move, as in Quick Cross: 0 draw, 1 lose, 2 win, 3 tie.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "mover", Usage: "of a game whose values are those of the player to move"},
		},
		Action: explain,
	}
}

// explain is driver explain.
func explain(c *cli.Context) error {
	if c.Args().Len() == 0 {
		return command.Usagef("expected a value, such as 66")
	}
	values := game.Values{OfMover: c.Bool("mover"), Players: [2]string{game.First.String(), game.Second.String()}}
	var lines []byte
	for _, word := range c.Args().Slice() {
		n, err := strconv.ParseUint(word, 0, 16)
		if err != nil {
			return command.Usagef("%q: expected a value, 0 to 65535", word)
		}
		v := game.Value(n)
		lines = fmt.Appendf(lines, "%d = %d·4 + %d: %s\n", v, v.Remoteness(), v.Outcome(), meaning(values, v))
	}
	_, err := c.App.Writer.Write(lines)
	return err
}

// meaning is a value in words.
func meaning(values game.Values, v game.Value) string {
	switch {
	case !v.Valid() && v.Remoteness() > 0:
		return "no value: its outcome is missing"
	case !v.Valid() && !values.OfMover:
		return "not known yet"
	case !v.Valid():
		return "DRAW: play need never end"
	case v.Remoteness() == 0:
		return values.Word(v.Outcome()) + ", and play has ended"
	}
	return values.Word(v.Outcome()) + " in " + command.Moves(v.Remoteness())
}
