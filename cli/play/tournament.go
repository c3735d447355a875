package play

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/play/referee"
)

func tournamentCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "tournament",
		Usage:     "play a round-robin tournament; print a table and ratings",
		ArgsUsage: "PLAYER PLAYER…",
		Description: entrantHelp + "As in a match, the colours\n" +
			"alternate, and faults lose. Ratings are Elo points by the Bradley-Terry model, with mean 0:\n" +
			"a player 400 points above another scores ten times as much. Each pair counts one extra tie, so that\n" +
			"a player that won every game has a rating too. ± is the standard error.",
		Flags: resultFlags(2, "number `N` of games for each pair; colours alternate"),
	}, playTournament)
}

// playTournament implements play tournament.
func playTournament(c *cli.Context, kind game.Kind) error {
	a, err := newArena(c, kind, 2, math.MaxInt)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	t := referee.Tournament{Match: a.match, Entrants: a.entrants}
	cross, err := t.Play(ctx)
	return a.end(ctx, err, func() error {
		if c.Bool("json") {
			return json.NewEncoder(a.out).Encode(a.crossJSON(cross))
		}
		columns(a.out, crossRows(cross))
		return nil
	})
}

// ranked returns the indices of the entrants from the best to the worst.
func ranked(ratings []referee.Rating) []int {
	order := make([]int, len(ratings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ratings[j].Elo, ratings[i].Elo) })
	return order
}

// points returns the points and the number of games: "3½/4"; "-" without games.
func points(s referee.Standing) string {
	if s.Games() == 0 {
		return "-"
	}
	text := strconv.Itoa(s.Wins + s.Ties/2)
	if s.Ties%2 == 1 {
		if text == "0" {
			text = ""
		}
		text += "½"
	}
	return fmt.Sprintf("%s/%d", text, s.Games())
}

// crossRows returns the table of a tournament, best player first.
func crossRows(cross referee.Cross) [][]string {
	ratings := cross.Ratings()
	order := ranked(ratings)
	head := []string{"", "rating", "±", "points"}
	for n := range order {
		head = append(head, strconv.Itoa(n+1))
	}
	rows := [][]string{append(head, "faults", "mean move", "longest")}
	for n, i := range order {
		s := cross.Standings[i]
		row := []string{fmt.Sprintf("%d %s", n+1, s.Name), fmt.Sprintf("%+.0f", ratings[i].Elo), fmt.Sprintf("%.0f", ratings[i].Error), points(s)}
		for _, j := range order {
			row = append(row, points(cross.Between[i][j]))
		}
		rows = append(rows, append(row, strconv.Itoa(s.Faults), numfmt.Duration(s.Mean()), numfmt.Duration(s.Longest)))
	}
	return rows
}

// crossJSON returns the same table as JSON.
func (a *arena) crossJSON(cross referee.Cross) map[string]any {
	ratings := cross.Ratings()
	var players []any
	for _, i := range ranked(ratings) {
		if cross.Standings[i].Games() == 0 {
			continue // the tournament was stopped before this player's first game
		}
		m := standingJSON(cross.Standings[i])
		m["rating"], m["rating_error"] = ratings[i].Elo, ratings[i].Error
		var against []any
		for j, b := range cross.Between[i] {
			if b.Games() > 0 {
				against = append(against, map[string]any{"player": cross.Standings[j].Name, "wins": b.Wins, "ties": b.Ties, "losses": b.Losses})
			}
		}
		m["against"] = against
		players = append(players, m)
	}
	return map[string]any{"spec": a.match.Game.Spec(), "games": a.games, "openings": a.match.Opening, "seed": a.seed, "players": players}
}
