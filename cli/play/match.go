package play

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/play/referee"
)

func matchCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "match",
		Usage:     "play a match of two players",
		ArgsUsage: "PLAYER PLAYER",
		Description: entrantHelp + "The first player moves first in game 1, the\n" +
			"other in game 2, and so on. An illegal move, a crash or a timeout loses the game, and the match continues.\n" +
			"In a game with cycles, the third repetition of a position is a draw, and so are 1,000 moves, unless the\n" +
			"game sets another limit. ± is the standard error of the score.",
		Flags: resultFlags(1, "number `N` of games; colours alternate"),
	}, playMatch)
}

// playMatch implements play match.
func playMatch(c *cli.Context, kind game.Kind) error {
	a, err := newArena(c, kind, 2, 2)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	a.match.Entrants = [2]referee.Entrant(a.entrants)
	standings, err := a.match.Play(ctx)
	return a.end(ctx, err, func() error {
		if c.Bool("json") {
			return json.NewEncoder(a.out).Encode(map[string]any{
				"spec": a.match.Game.Spec(), "games": a.games, "openings": a.match.Opening, "seed": a.seed,
				"players": []any{standingJSON(standings[0]), standingJSON(standings[1])},
			})
		}
		rows := [][]string{{"", "score", "±", "wins", "ties", "losses", "faults", "mean move", "longest"}}
		for _, s := range standings {
			rows = append(rows, []string{s.Name, fmt.Sprintf("%.3f", s.Score()), fmt.Sprintf("%.3f", s.Error()),
				fmt.Sprint(s.Wins), fmt.Sprint(s.Ties), fmt.Sprint(s.Losses), fmt.Sprint(s.Faults), numfmt.Duration(s.Mean()), numfmt.Duration(s.Longest)})
		}
		columns(a.out, rows)
		return nil
	})
}
