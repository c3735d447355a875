package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
)

// end prints the result, if a game was finished, writes the files, and returns the error of the command. It is not an
// error if a human leaves.
func (a *arena) end(ctx context.Context, playing error, cross referee.Cross) error {
	if a.saved != nil {
		if err := a.saved.Close(); err != nil && playing == nil {
			playing = fmt.Errorf("--save: %w", err)
		}
		if a.games == 0 {
			os.Remove(a.saved.Name()) // it has no game
		}
	}
	a.stopped = playing != nil
	if a.c.Bool("quiet") {
		for _, f := range a.faults {
			a.lobby.notices.Printf("%s: %v", f.Player, f)
		}
	}
	if a.games > 0 {
		if err := cmp.Or(a.print(cross), a.write(ctx, cross)); err != nil {
			return err
		}
	}
	if playing == player.ErrLeft { // an error that only wraps ErrLeft has another reason
		playing = nil
	}
	return command.Stopped(ctx, playing)
}

// write writes the files of --csv and --html.
func (a *arena) write(ctx context.Context, cross referee.Cross) error {
	r := report.Report{Game: a.Match.Game, Cross: cross, Title: a.c.String("title"), Date: a.begun, Note: a.summary(), Played: a.all}
	values := "none"
	if review := a.c.Duration("review"); a.table != nil {
		defer a.table.Close()
		values, r.Judge = "from the game's table", a.judge(ctx)
	} else if review > 0 {
		values, r.Judge = fmt.Sprintf("from searches of %v in all", review), a.judge(ctx)
	}
	r.Settings = append(a.settings(), [2]string{"Values", values})
	return cmp.Or(writeFile("csv", a.c.String("csv"), r.CSV), writeFile("html", a.c.String("html"), r.HTML))
}

// judge returns a function that reviews a game: by the table, or by a search. All searches share the time of --review; when it
// is over, or ctx ends, no game is reviewed.
func (a *arena) judge(ctx context.Context) func(referee.Played) ([]analysis.Judgment, error) {
	analyzer, left := analysis.New(a.Match.Game, a.table, book.Embedded(a.Match.Game), a.lobby.options), 0
	for _, p := range a.all {
		left += len(p.History.Positions())
	}
	end := time.Now().Add(a.c.Duration("review"))
	if a.table != nil {
		ctx = context.Background()
	}
	return func(p referee.Played) ([]analysis.Judgment, error) {
		limit := time.Until(end) / time.Duration(left)
		left -= len(p.History.Positions())
		if a.table == nil && limit <= 0 {
			return nil, nil
		}
		judgments, err := analyzer.Judge(ctx, p.History, p.Opening, limit)
		if ctx.Err() != nil {
			return nil, nil
		}
		return judgments, err
	}
}

// form names the form of the match or tournament.
func (a *arena) form() string {
	switch {
	case a.Match.Until > 0:
		return "match until it is decided with " + a.c.String("until")
	case !a.tournament:
		return "match"
	case a.Against != nil:
		return a.c.String("against") + " against each other player"
	case a.Knockout:
		return "knockout"
	}
	return "each against each"
}

// settings returns what the games depend on, by name; the first is the seed.
func (a *arena) settings() [][2]string {
	var players []string
	for _, e := range a.Entrants {
		limit := "no limit"
		if e.Limit > 0 {
			limit = e.Limit.String()
		}
		players = append(players, fmt.Sprintf("%s (%s)", e.Name, limit))
	}
	plies := "automatic"
	if n := a.c.Int("openings"); n != referee.AutoPlies {
		plies = strconv.Itoa(n)
	}
	return [][2]string{
		{"Seed", strconv.FormatUint(a.lobby.seed, 10)}, {"Form", a.form()}, {"Game", a.Match.Game.Spec()}, {"Games of each pair", strconv.Itoa(a.Match.Games)},
		{"Moves of an opening", plies}, {"Grace", a.Match.Rules.Grace.String()}, {"Players, with the time per move", strings.Join(players, ", ")},
	}
}

// writeFile writes the file that a flag names, if any.
func writeFile(flag, name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err == nil {
		err = cmp.Or(write(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// print prints the result.
func (a *arena) print(cross referee.Cross) error {
	rows := report.Rows(cross)
	if a.c.Bool("json") {
		return json.NewEncoder(a.out).Encode(a.resultJSON(cross, rows))
	}
	for _, line := range report.Rounds(cross) {
		fmt.Fprintln(a.out, line)
	}
	text := a.summary()
	if a.tournament {
		columns(a.out, crossRows(rows))
	} else {
		columns(a.out, matchRows(cross))
		text += a.verdict(cross)
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}

// verdict describes whether --until has decided a match.
func (a *arena) verdict(cross referee.Cross) string {
	if a.Match.Until == 0 {
		return ""
	}
	switch cross.Between[0][1].Decided(a.Match.Until) {
	case referee.Stronger:
		return "; decided: " + a.Entrants[0].Name + " is stronger"
	case referee.Weaker:
		return "; decided: " + a.Entrants[1].Name + " is stronger"
	case referee.Equal:
		return "; decided: neither is stronger by 70 Elo"
	}
	return "; not decided"
}

// summary describes the games of a result, and what is missing in it.
func (a *arena) summary() string {
	text := fmt.Sprintf("%s, %s different", numfmt.Count(a.games, "game"), numfmt.Number(len(a.distinct)))
	if a.Match.Openings != nil {
		text += ", from " + numfmt.Count(len(a.openings), "opening")
	}
	if off := unlimitedOf(a.c); len(off) > 0 {
		text += "; programs were not limited in " + strings.Join(off, ", ")
	}
	if a.stopped {
		text += fmt.Sprintf("; stopped after %s of %s: the table is partial", numfmt.Number(a.games), numfmt.Count(a.planned, "game"))
	}
	return text
}

// matchRows returns the table of a match.
func matchRows(cross referee.Cross) [][]string {
	rows := [][]string{{"", "score", "95%", "LOS", "wins", "ties", "losses", "faults", "mean move", "longest"}}
	for _, s := range cross.Standings {
		low, high := s.Interval()
		rows = append(rows, []string{s.Name, fmt.Sprintf("%.3f", s.Score()), fmt.Sprintf("%.2f-%.2f", low, high), report.Percent(s.Superiority()),
			fmt.Sprint(s.Wins), fmt.Sprint(s.Ties), fmt.Sprint(s.Losses), fmt.Sprint(s.Faults), numfmt.Duration(s.Mean()), numfmt.Duration(s.Longest)})
	}
	return rows
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

// resultJSON returns the result as JSON.
func (a *arena) resultJSON(cross referee.Cross, ranking []report.Row) map[string]any {
	players := []any{}
	for _, r := range ranking {
		if r.Games() == 0 {
			continue // the tournament was stopped before this player's first game
		}
		low, high := r.Interval()
		m := map[string]any{
			"player": r.Name, "score": r.Score(), "error": r.Standing.Error(), "low": low, "high": high, "rating": r.Rating.Elo, "rating_error": r.Rating.Error,
			"wins": r.Wins, "ties": r.Ties, "losses": r.Losses, "faults": r.Faults,
			"moves": r.Moves, "mean_seconds": r.Mean().Seconds(), "longest_seconds": r.Longest.Seconds(),
		}
		if !math.IsNaN(r.Superiority) {
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
	m := map[string]any{
		"spec": a.Match.Game.Spec(), "games": a.games, "planned": a.planned, "partial": a.stopped, "distinct": len(a.distinct),
		"openings": len(a.openings), "seed": a.lobby.seed, "players": players,
	}
	if off := unlimitedOf(a.c); len(off) > 0 {
		m["unlimited"] = off
	}
	if a.Match.Until > 0 {
		m["verdict"] = cross.Between[0][1].Decided(a.Match.Until)
	}
	if a.Knockout {
		m["rounds"] = report.Rounds(cross)
	}
	return m
}

// columns prints rows in columns; the first column is left-aligned, the others are
// right-aligned.
func columns(out io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
