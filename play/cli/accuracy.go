package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/accuracy"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
)

func accuracyCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "accuracy",
		Usage:     "measure how many moves of a player keep the result, and how many are the best",
		ArgsUsage: "PLAYER",
		Description: entrantHelp + "The player is asked for a move at each of --positions positions of random games with two or more moves. Values\n" +
			"come from the game's table in the data directory, or from a search.\n\n" +
			"   keeps result  moves after which a win is still a win, a tie a tie,\n" +
			"                 a draw a draw\n" +
			"   best move     moves that also win as soon or lose as late as possible\n" +
			"   95%           the interval of the share before it, by Wilson\n" +
			"   points lost   the points of the position less those of the move, a mean:\n" +
			"                 a win is one point, a tie or draw half a point\n\n" +
			"An illegal move, a crash, a timeout or a resignation loses all points. A position is not judged if its value\n" +
			"is not proven, or that of the move. The player random shows which share needs no skill.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "positions", Usage: "number `N` of positions", Value: 1000},
			&cli.DurationFlag{Name: "judge-time", Usage: "without a table: time of the search of each position", Value: 500 * time.Millisecond},
			&cli.DurationFlag{Name: "grace", Usage: "time that a move may take beyond its limit, for delays of the machine", Value: referee.DefaultGrace},
			&cli.BoolFlag{Name: "json", Usage: "print the result as a line of JSON"},
		}, entrantFlags()...),
	}, measureAccuracy)
}

// measureAccuracy implements play accuracy.
func measureAccuracy(c *cli.Context, kind game.Kind) error {
	if c.Args().Len() != 1 {
		return countError("one player", c.Args().Len())
	}
	if err := cmp.Or(command.AtLeast(c, 1, "positions"), command.Positive(c, "judge-time"), command.AtLeast(c, 0, "grace")); err != nil {
		return err
	}
	g, err := gameOf(c, kind, c.Args().Slice())
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	l, err := newLobby(ctx, c, g, c.App.ErrWriter)
	if err != nil {
		return err
	}
	entrants, people, err := l.seat(ctx, c.Args().Slice())
	if err != nil {
		return err
	}
	t, err := l.data.tableOf(g, l.notices)
	if err != nil {
		return err
	}
	if t != nil {
		defer t.Close()
	}
	m := &measured{g: g, player: entrants[0].Name, seed: l.seed, judge: "a search", histories: accuracy.FromGames(g, c.Int("positions"), l.seed)}
	if t != nil {
		m.judge = "the table " + l.data.name
	}
	if len(m.histories) == 0 {
		return fmt.Errorf("%s: found no position with two or more moves", g.Spec())
	}
	exam := accuracy.Exam{Entrant: entrants[0], Rules: referee.Rules{Grace: c.Duration("grace")}, Analyzer: analysis.New(g, t, book.Embedded(g), l.options), Limit: c.Duration("judge-time")}
	if people[0] {
		exam.Rules.Watch = func(p referee.Played) { fmt.Fprint(c.App.ErrWriter, g.Picture(p.History.Position())) }
	}
	return m.run(ctx, c, exam)
}

// measured is the accuracy of a player.
type measured struct {
	accuracy.Result
	g         game.Game
	player    string
	judge     string // where the values come from
	seed      uint64
	histories []*player.History // that end at the positions
}

// run examines the player and prints the result, if there is one. It is not an error if a human leaves.
func (m *measured) run(ctx context.Context, c *cli.Context, exam accuracy.Exam) (err error) {
	bar := progress.NewBar(c)
	exam.Fault = func(p referee.Played) {
		bar.Print(fmt.Sprintf("%s: %s", m.player, cmp.Or(p.Detail(), p.Reason.String())))
	}
	exam.Report = func(n int) {
		bar.Doing(fmt.Sprintf("%s of %s", numfmt.Number(n), numfmt.Count(len(m.histories), "position")), float64(n)/float64(len(m.histories)))
	}
	m.Result, err = exam.Run(ctx, m.histories)
	bar.End()
	if m.Positions > 0 {
		print := m.print
		if c.Bool("json") {
			print = m.printJSON
		}
		if err := print(c.App.Writer); err != nil {
			return err
		}
	}
	if err == player.ErrLeft { // an error that only wraps ErrLeft has another reason
		err = nil
	}
	return command.Stopped(ctx, err)
}

// print prints the result as a table, and a line that describes the positions.
func (m *measured) print(out io.Writer) error {
	rows := [][]string{{"ply", "moves", "keeps result", "95%", "best move", "95%", "points lost"}}
	row := func(name string, g accuracy.Group) {
		if g.Moves > 0 {
			rows = append(rows, slices.Concat([]string{name, numfmt.Number(g.Moves)},
				shareCells(g.Kept, g.Moves), shareCells(g.Best, g.Measured), []string{fmt.Sprintf("%.3f", g.Lost/float64(g.Moves))}))
		}
	}
	for _, g := range m.Groups() {
		name := strconv.Itoa(g.First)
		if g.Last > g.First {
			name = fmt.Sprintf("%d-%d", g.First, g.Last)
		}
		row(name, g)
	}
	row("all", m.Total())
	columns(out, rows)
	text := fmt.Sprintf("%s: %s, judged by %s, seed %d", m.player, numfmt.Count(m.Positions, "position"), m.judge, m.seed)
	if n := m.Unjudged(); n > 0 {
		text += fmt.Sprintf("; %s not judged: no value is proven", numfmt.Number(n))
	}
	if m.Faults > 0 {
		text += "; " + numfmt.Count(m.Faults, "fault")
	}
	if m.Asked > 0 {
		text += "; mean move " + numfmt.Duration(m.Time/time.Duration(m.Asked))
	}
	if m.Positions < len(m.histories) {
		text += "; stopped: the result is partial"
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// shareCells returns the cells of a share, k of n, and of its interval.
func shareCells(k, n int) []string {
	if n == 0 {
		return []string{"-", "-"}
	}
	low, high := accuracy.Interval(k, n)
	return []string{report.Percent(float64(k) / float64(n)), fmt.Sprintf("%.1f-%.1f", 100*low, 100*high)}
}

// printJSON prints the result as a line of JSON.
func (m *measured) printJSON(out io.Writer) error {
	return json.NewEncoder(out).Encode(map[string]any{
		"spec": m.g.Spec(), "player": m.player, "judge": m.judge, "seed": m.seed, "positions": m.Positions,
		"unjudged": m.Unjudged(), "faults": m.Faults, "partial": m.Positions < len(m.histories),
		"seconds": m.Time.Seconds(), "all": m.Total(), "plies": append([]accuracy.Group{}, m.Plies...),
	})
}
