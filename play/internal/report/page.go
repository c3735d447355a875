package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.js
	pageScript []byte
	//go:embed page.css
	pageStyle string
)

// page is what the template of the page shows.
type page struct {
	Title, Date, Note, Policy string
	Settings                  [][2]string
	Openings, Rounds          []string
	Sides                     []string // what the game calls the players
	Rows                      []Row
	Players                   []pagePlayer
	Style                     template.CSS
	Script                    template.JS
	Data                      data
}

// functions are those that the template calls.
var functions = template.FuncMap{
	"points": Points, "percent": Percent, "duration": numfmt.Duration, "count": func(n int, noun string) string { return numfmt.Count(n, noun) },
	"class": func(s referee.Standing) string {
		return [...]string{"lost", "even", "won"}[cmp.Compare(s.Wins, s.Losses)+1]
	},
}

// HTML writes the page. It needs no other file, and its policy forbids the browser to run or load
// anything else. The page is the same for the same Report, in whichever order the matches were played.
func (r Report) HTML(w io.Writer) error {
	parsed, err := template.New("page").Funcs(functions).Parse(pageText)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r.Played = r.inOrder()
	rows := Rows(r.Cross)
	games, err := r.games(rows)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	script := bytes.Join([][]byte{board.Script, pageScript}, []byte("\n"))
	style := chart.StyleSheet + board.StyleSheet + pageStyle
	p := page{
		Title: r.Title, Note: r.Note, Settings: r.Settings, Openings: openings(r.Played), Rounds: Rounds(r.Cross), Sides: sides(r.Game), Rows: rows,
		Players: r.players(rows, games), Data: r.data(rows, games), Style: template.CSS(style), Script: template.JS(script),
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash([]byte(style)), hash(script)),
	}
	if p.Title == "" {
		p.Title = game.TitleOf(r.Game) + ": results"
	}
	if !r.Date.IsZero() {
		p.Date = r.Date.Format("2 January 2006")
	}
	return parsed.Execute(w, p)
}

// inOrder returns the games by the order of the entrants, and those of two entrants in the order in
// which they were played.
func (r Report) inOrder() []referee.Played {
	entry := make(map[string]int)
	for i, s := range r.Cross.Standings {
		entry[s.Name] = i
	}
	pair := func(p referee.Played) []int {
		a, b := entry[p.Players[0]], entry[p.Players[1]]
		return []int{min(a, b), max(a, b)}
	}
	return slices.SortedStableFunc(slices.Values(r.Played), func(p, q referee.Played) int { return slices.Compare(pair(p), pair(q)) })
}

// openings returns the different openings of games, as texts.
func openings(played []referee.Played) (all []string) {
	for _, p := range played {
		if text := strings.Join(p.History.Names()[:p.Opening], " "); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// sides returns what a game calls the players.
func sides(g game.Game) []string {
	return []string{player.Who(g, game.First), player.Who(g, game.Second)}
}

// hash returns the name of a text in a policy.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
