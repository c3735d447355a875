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
		Usage:     "two players, whoever they are, play some games",
		ArgsUsage: "PLAYER PLAYER",
		Description: entrantHelp + "The first-named begins, then the\n" +
			"other, in turn. An illegal move, a crash and a move that takes too long lose the game, and the match goes on.\n" +
			"Where moves may go in circles, the third repetition of a position is a draw, and so are 1,000 moves, if the\n" +
			"game says nothing else. The error of a score is its standard error.",
		Flags: resultFlags(1, "play `N` games; the colours alternate"),
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
