package play

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
)

func tournamentCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "tournament",
		Usage:     "play a tournament: a round robin, a gauntlet or a knockout; print a table and ratings",
		ArgsUsage: "PLAYER PLAYER…",
		Description: entrantHelp + "As in a match, the colours\n" +
			"alternate, and faults lose. Ratings are Elo points by the Bradley-Terry model, with mean 0:\n" +
			"a player 400 points above another scores ten times as much. Each pair counts one extra tie, so that\n" +
			"a player that won every game has a rating too, and each opening counts once. ± is the standard error, LOS\n" +
			"the likelihood that the player is stronger than the next one.",
		Flags: tournamentFlags(),
	}, playTournament)
}

func tournamentFlags() []cli.Flag {
	return resultFlags(4, "number `N` of games for each pair, two of each opening; colours alternate",
		&cli.StringFlag{Name: "roster", Usage: "add the programs of `FILE`, with limits: lines of NAME,COMMAND or NAME,COMMAND,DIRECTORY"},
		&cli.StringFlag{Name: "unlimited", Usage: "do not limit these `THINGS` of the programs of --roster: some of memory,cpu,processes,network,files"},
		&cli.StringFlag{Name: "against", Usage: "a gauntlet: the player `NAME` plays each other one, and these do not play each other"},
		&cli.BoolFlag{Name: "knockout", Usage: "the loser of a match plays no more; the players named first meet last; a level match is continued for up to 8 games, then the player named first wins"},
		&cli.IntFlag{Name: "parallel", Usage: "play `N` matches at the same time", Value: 1},
		&cli.BoolFlag{Name: "resume", Usage: "go on with the tournament in the file of --save, or begin it"})
}

// playTournament implements play tournament.
func playTournament(c *cli.Context, kind game.Kind) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	if err := command.AtLeast(c, 1, "parallel"); err != nil {
		return err
	}
	var roster []entrantSpec
	if name := c.String("roster"); name != "" {
		var err error
		if roster, err = readRoster(name); err != nil {
			return fmt.Errorf("--roster: %w", err)
		}
	}
	a, err := newArena(ctx, c, kind, roster, 2, math.MaxInt)
	if err != nil {
		return err
	}
	t := referee.Tournament{Match: a.match, Entrants: a.entrants, Parallel: c.Int("parallel"), Against: a.against, Knockout: a.o.knockout}
	if t.Match.Rules.Watch != nil && t.Parallel > 1 {
		return command.Usagef("--parallel %d: a human plays one game at a time", t.Parallel)
	}
	a.planned = t.Games()
	cross, err := t.Play(ctx)
	return a.end(ctx, err, cross, func() error {
		rows := report.Rows(cross)
		if a.o.json {
			m := a.resultJSON(crossJSON(rows))
			if a.o.knockout {
				m["rounds"] = roundsJSON(cross)
			}
			return json.NewEncoder(a.out).Encode(m)
		}
		for _, line := range report.Rounds(cross) {
			fmt.Fprintln(a.out, line)
		}
		columns(a.out, crossRows(rows))
		_, err := fmt.Fprintln(a.out, a.summary())
		return err
	})
}

// maxCross is the maximum number of players for whom the table has a column each, so that its
// rows are short.
const maxCross = 8

// crossRows returns the table of a tournament, best player first.
func crossRows(ranking []report.Row) [][]string {
	head := []string{"", "rating", "±", "LOS", "points"}
	wide := len(ranking) <= maxCross
	if wide {
		for n := range ranking {
			head = append(head, strconv.Itoa(n+1))
		}
	}
	rows := [][]string{append(head, "faults", "mean move", "longest")}
	for _, r := range ranking {
		row := []string{fmt.Sprintf("%d %s", r.Rank, r.Name), fmt.Sprintf("%+.0f", r.Rating.Elo), fmt.Sprintf("%.0f", r.Rating.Error), report.Percent(r.Superiority), report.Points(r.Standing)}
		if wide {
			for _, s := range r.Against {
				row = append(row, report.Points(s))
			}
		}
		rows = append(rows, append(row, strconv.Itoa(r.Faults), numfmt.Duration(r.Mean()), numfmt.Duration(r.Longest)))
	}
	return rows
}

// crossJSON returns the same table as JSON.
func crossJSON(ranking []report.Row) (players []any) {
	for _, r := range ranking {
		if r.Games() == 0 {
			continue // the tournament was stopped before this player's first game
		}
		m := standingJSON(r.Standing)
		m["rating"], m["rating_error"] = r.Rating.Elo, r.Rating.Error
		if delete(m, "superiority"); !math.IsNaN(r.Superiority) {
			m["superiority"] = r.Superiority // over the next one
		}
		var against []any
		for j, b := range r.Against {
			if b.Games() > 0 {
				against = append(against, map[string]any{"player": ranking[j].Name, "wins": b.Wins, "ties": b.Ties, "losses": b.Losses})
			}
		}
		m["against"] = against
		players = append(players, m)
	}
	return players
}

// roundsJSON returns the matches of a knockout tournament as JSON: their players, the winner first.
func roundsJSON(c referee.Cross) [][][]string {
	rounds := [][][]string{}
	for _, round := range c.Rounds {
		var matches [][]string
		for _, b := range round {
			names := []string{c.Standings[b.Winner].Name}
			if loser := b.Loser(); loser >= 0 {
				names = append(names, c.Standings[loser].Name)
			}
			matches = append(matches, names)
		}
		rounds = append(rounds, matches)
	}
	return rounds
}
