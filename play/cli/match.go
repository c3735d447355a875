package play

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
)

func matchCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "match",
		Usage:     "play a match of two players",
		ArgsUsage: "PLAYER PLAYER",
		Description: entrantHelp + "The first player moves first in game 1, the\n" +
			"other in game 2, and so on. An illegal move, a crash or a timeout loses the game, and the match continues.\n" +
			"In a game with cycles, the third repetition of a position is a draw, and so are 1,000 moves, unless the\n" +
			"game sets another limit. 95% is the interval of the score over all openings, and LOS the likelihood that\n" +
			"the player is the stronger one. Both count each opening once, because more games of it show little new.",
		Flags: matchFlags(),
	}, playMatch)
}

func matchFlags() []cli.Flag {
	return resultFlags(1, "number `N` of games; colours alternate",
		&cli.StringFlag{Name: "until", Usage: "end the match when it is decided with confidence `P`, e.g. 95%, who is stronger (a sequential probability ratio test); --games is then the maximum, by default 1000"})
}

// untilGames is the maximum number of games of --until.
const untilGames = 1000

// confidence parses a confidence, "95%", into a number above a half and below 1.
func confidence(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	p, err := strconv.ParseFloat(digits, 64)
	if percent {
		p /= 100
	}
	if err != nil || !(p > 0.5 && p < 1) {
		return 0, command.Usagef("--until %q: expected more than 50%% and less than 100%%", text)
	}
	return p, nil
}

// playMatch implements play match.
func playMatch(c *cli.Context, kind game.Kind) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	until, err := 0.0, error(nil)
	if c.IsSet("until") {
		if until, err = confidence(c.String("until")); err != nil {
			return err
		}
	}
	a, err := newArena(ctx, c, kind, nil, 2, 2)
	if err != nil {
		return err
	}
	a.match.Entrants, a.match.Until = [2]referee.Entrant(a.entrants), until
	if until > 0 && !c.IsSet("games") {
		a.match.Games = untilGames
	}
	a.planned = a.match.Games
	standings, verdict, err := a.match.Play(ctx)
	cross := referee.NewCross(a.entrants)
	cross.Add(0, 1, standings)
	return a.end(ctx, err, cross, func() error {
		if a.o.json {
			m := a.resultJSON([]any{standingJSON(standings[0]), standingJSON(standings[1])})
			if until > 0 {
				m["verdict"] = verdict
			}
			return json.NewEncoder(a.out).Encode(m)
		}
		rows := [][]string{{"", "score", "95%", "LOS", "wins", "ties", "losses", "faults", "mean move", "longest"}}
		for _, s := range standings {
			low, high := s.Interval()
			rows = append(rows, []string{s.Name, fmt.Sprintf("%.3f", s.Score()), fmt.Sprintf("%.2f-%.2f", low, high), report.Percent(s.Superiority()),
				fmt.Sprint(s.Wins), fmt.Sprint(s.Ties), fmt.Sprint(s.Losses), fmt.Sprint(s.Faults), numfmt.Duration(s.Mean()), numfmt.Duration(s.Longest)})
		}
		columns(a.out, rows)
		text := a.summary()
		switch verdict {
		case referee.Stronger:
			text += "; decided: " + standings[0].Name + " is stronger"
		case referee.Weaker:
			text += "; decided: " + standings[1].Name + " is stronger"
		case referee.Equal:
			text += "; decided: neither is stronger by 70 Elo"
		default:
			if until > 0 {
				text += "; not decided"
			}
		}
		_, err := fmt.Fprintln(a.out, text)
		return err
	})
}
