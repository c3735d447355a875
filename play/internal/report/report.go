// Package report presents the result of a match or tournament: its ranking, as comma-separated
// values, and as a page for a browser that contains everything it shows. It plays no games.
package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// A Report is the result of a match or tournament.
type Report struct {
	Game  game.Game
	Cross referee.Cross

	// The other fields are for the page.
	Title    string           // "": that of the game
	Date     time.Time        // the day of the match or tournament; zero: not shown
	Settings [][2]string      // names and values
	Note     string           // describes the games, and what is missing
	Played   []referee.Played // the games
	// Judge reviews the moves of a game, unless there is no time to; nil: the page has no values and mistakes.
	Judge func(referee.Played) ([]analysis.Judgment, error)
}

// A Row is an entrant in a ranking.
type Row struct {
	Rank int // from 1
	referee.Standing
	Rating      referee.Rating
	Superiority float64            // the likelihood that it is stronger than the next one; NaN for the last
	Against     []referee.Standing // its results against each entrant, in the order of the ranking
}

// Rounds describes the matches of a knockout tournament, a line each: "round 1: alice beats bob, 3/4".
func Rounds(c referee.Cross) (lines []string) {
	for n, round := range c.Rounds {
		name := fmt.Sprintf("round %d", n+1)
		if len(round) == 1 {
			name = "final"
		}
		for _, b := range round {
			winner, loser := b.Winner, b.Loser()
			if loser < 0 {
				lines = append(lines, fmt.Sprintf("%s: %s has no opponent", name, c.Standings[winner].Name))
				continue
			}
			first, second, s := c.Standings[winner].Name, c.Standings[loser].Name, c.Between[winner][loser]
			line := fmt.Sprintf("%s: %s beats %s, %s", name, first, second, Points(s))
			if s.Wins == s.Losses {
				line = fmt.Sprintf("%s: %s and %s are level, %s; %s is named first", name, first, second, Points(s), first)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// Rows returns the ranking, the best first: of a knockout tournament by the rounds that they won, then by
// rating.
func Rows(c referee.Cross) []Row {
	ratings := c.Ratings()
	order := make([]int, len(ratings))
	for i := range order {
		order[i] = i
	}
	// Equal results give equal ratings but for rounding.
	key := func(i int) float64 { return math.Round(ratings[i].Elo * 1e6) }
	won := make(map[int]int) // rounds, by entrant
	for _, round := range c.Rounds {
		for _, b := range round {
			won[b.Winner]++
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(won[j], won[i]), cmp.Compare(key(j), key(i))) })
	var rows []Row
	for n, i := range order {
		r := Row{Rank: n + 1, Standing: c.Standings[i], Rating: ratings[i], Superiority: math.NaN()}
		if n+1 < len(order) {
			r.Superiority = referee.Superiority(ratings, i, order[n+1])
		}
		for _, j := range order {
			r.Against = append(r.Against, c.Between[i][j])
		}
		rows = append(rows, r)
	}
	return rows
}

// Points returns the points and the number of games: "3½/4"; "-" without games.
func Points(s referee.Standing) string {
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

// Percent returns a likelihood: "97.5%"; "-" for NaN.
func Percent(p float64) string {
	if math.IsNaN(p) {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*p)
}

// CSV writes the ranking as comma-separated values, with a heading. A name that a spreadsheet would take
// for a formula gets an apostrophe before it.
func (r Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"rank", "name", "rating", "rating_error", "superiority", "points", "games", "wins", "ties", "losses", "faults",
		"mean_seconds", "longest_seconds"})
	number := func(x float64, digits int) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'f', digits, 64)
	}
	for _, row := range Rows(r.Cross) {
		name := row.Name
		if strings.ContainsAny(name[:min(1, len(name))], "=+-@\t\r") {
			name = "'" + name
		}
		out.Write([]string{strconv.Itoa(row.Rank), name, number(row.Rating.Elo, 0), number(row.Rating.Error, 0), number(row.Superiority, 4),
			number(float64(row.Wins)+float64(row.Ties)/2, 1), strconv.Itoa(row.Games()), strconv.Itoa(row.Wins), strconv.Itoa(row.Ties),
			strconv.Itoa(row.Losses), strconv.Itoa(row.Faults), number(row.Mean().Seconds(), 6), number(row.Longest.Seconds(), 6)})
	}
	out.Flush()
	return out.Error()
}
