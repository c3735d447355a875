package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
)

// scoreCommand returns play score, which only supports Connect N: in other games, a move is
// more than a digit, or a position has no number of empty squares.
func scoreCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:  "score",
		Usage: "print the scores of Connect N positions, in the notation of other solvers",
		Description: "Each line of stdin lists the columns of the moves from the start, counted from 1, without blanks: 44455.\n" +
			"It is printed with its score: (W·H + 2 − n)/2, rounded down, with n stones on the board when the game is\n" +
			"won; negative if the player to move loses, 0 for a tie. Total nodes and time go to stderr.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "weak", Usage: "print only the outcome: 1, 0 or -1, which is faster"},
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each position, with nodes and seconds"},
		}, searchFlags(byDefault)...),
	}, score)
}

// ofColumns returns the games that are Connect N.
func ofColumns(games game.Kinds) game.Kinds {
	return which(games, func(g game.Game) bool {
		_, ok := g.(*connectn.Rules)
		return ok
	})
}

// which returns the kinds whose games satisfy such. It tests the game that a kind makes by
// default.
func which(games game.Kinds, such func(game.Game) bool) (kinds game.Kinds) {
	for _, kind := range games {
		if g, err := kind.Default(); err == nil && such(g) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// mostColumns is the largest number of columns that a digit can name.
const mostColumns = 9

// score implements play score.
func score(c *cli.Context, kind game.Kind) error {
	if err := command.NoArguments(c, ": positions are read from stdin"); err != nil {
		return err
	}
	made, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	g, ok := made.(*connectn.Rules)
	if n := len(made.Moves(nil, made.Start())); !ok || n > mostColumns {
		return command.Usagef("%s: a column is one digit, so %d columns are the maximum", made.Spec(), mostColumns)
	}
	s, err := searcherOf(c, g)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	openings := book.Embedded(g)
	var positions int
	var nodes uint64
	var took time.Duration
	err = command.EachLine(ctx, c.App, "columns", func(out io.Writer, line string) error {
		p, err := parseColumns(g, line)
		if err != nil {
			return command.Refuse(err)
		}
		var r search.Result
		if v, ok := openings.Lookup(p); ok {
			r.Value = v
		} else {
			if r, err = s.Search(ctx, p, search.Limit{Weak: c.Bool("weak")}); err != nil {
				return err
			}
			if !r.Exact {
				return command.ErrInterrupted
			}
		}
		positions, nodes, took = positions+1, nodes+r.Nodes, took+r.Time
		n := scoreOf(g, p, r.Value, c.Bool("weak"))
		if c.Bool("json") {
			return json.NewEncoder(out).Encode(map[string]any{"line": line, "score": n, "nodes": r.Nodes, "seconds": r.Time.Seconds()})
		}
		_, err = fmt.Fprintln(out, line, n)
		return err
	})
	if positions > 0 && (err == nil || errors.Is(err, command.ErrReported) || errors.Is(err, command.ErrInterrupted)) {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s, %s in %s\n", c.App.Name, numfmt.Count(positions, "position"), numfmt.Count(nodes, "node"), numfmt.Duration(took))
	}
	return err
}

// scoreOf returns the score of a position of value v for the player to move; if weak is true,
// only its sign.
func scoreOf(g *connectn.Rules, p game.Position, v game.Value, weak bool) int {
	n := 1
	if !weak {
		n = (g.Tiers() + 2 - g.Tier(p) - v.Remoteness()) / 2
	}
	switch v.Outcome().For(g.ToMove(p)) {
	case game.Wins:
		return n
	case game.Loses:
		return -n
	}
	return 0
}

// parseColumns makes the moves of a line of columns, digits from 1.
func parseColumns(g *connectn.Rules, line string) (game.Position, error) {
	h := player.NewHistory(g)
	columns := len(h.Moves())
	for i := range len(line) {
		column := int(line[i]) - '1'
		if column < 0 || column >= columns {
			return 0, fmt.Errorf("move %d: expected a column, 1 to %d, found %q", i+1, columns, line[i])
		}
		if _, finished := h.Finished(); finished {
			return 0, fmt.Errorf("move %d: the game is over before it", i+1)
		}
		if h.Play(strconv.Itoa(column)) != nil {
			return 0, fmt.Errorf("move %d: column %c is full", i+1, line[i])
		}
	}
	return h.Position(), nil
}
