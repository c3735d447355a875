package play

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

func reviewCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:      "review",
		Usage:     "list the mistakes of played games",
		ArgsUsage: "FILE",
		Description: "FILE was written by match or tournament --save, or by tui; - is stdin. A move is a mistake if it gives a win,\n" +
			"tie or draw away. Values come from the game's table in the data directory, or from a search, which may not\n" +
			"prove all of them in time.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "game", Usage: "review only game `N` of the file", DefaultText: "all"},
			&cli.DurationFlag{Name: "time", Usage: "time of the search of each position", Value: 500 * time.Millisecond},
			datadir.Flag(),
		}, searchFlags(byDefault)...),
		Action: func(c *cli.Context) error { return review(c, games) },
	}
}

// review implements play review.
func review(c *cli.Context, games game.Kinds) error {
	if err := command.Positive(c, "time"); err != nil {
		return err
	}
	options, err := searchOptions(c)
	if err != nil {
		return err
	}
	r := reviewer{options: options, data: dataOf(c), notices: logOf(c)}
	defer r.close()
	return eachPlayed(c, games, func(ctx context.Context, out io.Writer, n int, p referee.Played) error {
		z, err := r.analyzerOf(p.History.Game())
		if err != nil {
			return err
		}
		judgments, err := z.Judge(ctx, p.History, p.Opening, c.Duration("time"))
		if err := command.Stopped(ctx, err); err != nil {
			return err
		}
		printReview(out, n, p, judgments)
		return nil
	})
}

// A reviewer makes the analyzers of games. Games of the same spec that follow each other share one.
type reviewer struct {
	options  search.Options
	data     dataDir
	notices  *log.Logger
	spec     string
	analyzer *analysis.Analyzer
	table    *table.Table // the table that the analyzer reads; nil: there is none
}

// analyzerOf returns the analyzer of a game.
func (r *reviewer) analyzerOf(g game.Game) (*analysis.Analyzer, error) {
	if r.spec != g.Spec() {
		t, err := r.data.tableOf(g, r.notices)
		if err != nil {
			return nil, err
		}
		r.close()
		r.spec, r.table, r.analyzer = g.Spec(), t, analysis.New(g, t, book.Embedded(g), r.options)
	}
	return r.analyzer, nil
}

// close closes the table of the analyzer.
func (r *reviewer) close() {
	if r.table != nil {
		r.table.Close()
	}
}

// printReview prints a game, its moves with their values, its mistakes and a line for each player.
func printReview(out io.Writer, n int, p referee.Played, judgments []analysis.Judgment) {
	g, h := p.History.Game(), p.History
	who := func(side game.Player) string { return fmt.Sprintf("%s (%s)", player.Who(g, side), p.Players[side]) }
	fmt.Fprintln(out, gameLine(n, p))
	rows := [][]string{{"move", "player", "played", "before", "after"}}
	for i, j := range judgments {
		name := player.Who(g, h.Mover(i))
		if i < p.Opening {
			name += ", opening"
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), name, j.Move, j.Before.Text(g, h.At(i)), j.After.Text(g, h.At(i))})
	}
	columns(out, rows)
	for _, line := range session.Mistakes(h, judgments) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out, analysis.TurningPoint(h, judgments, who))
	for side, tally := range analysis.Tallies(h, judgments, p.Opening) {
		fmt.Fprintf(out, "%s: %v\n", who(game.Player(side)), tally)
	}
}
