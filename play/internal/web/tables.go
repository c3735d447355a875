//go:build !js

package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/result/export"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/train"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// Limits of the page of a table.
const (
	openingNodes = 1000            // nodes of the tree of the first plies
	openingPlies = 5               // its levels
	notable      = 5               // positions in a list
	listTime     = 4 * time.Second // in which they are found
	sampleSize   = 20              // puzzles among which those with the most moves are listed
)

// hasWhole reports whether there are pages of tables.
const hasWhole = true

// wholeRoutes registers the pages of tables, and the interface for programs.
func (s *Server) wholeRoutes() {
	s.api()
	s.Handle("/tables/{game}/{variant}", s.tablePage)
	s.Handle("/tables/{game}/{variant}/{file}", s.tableFile)
}

// A whole is what the page of a table shows.
type whole struct {
	stats     table.Stats
	value     string // of the initial position
	opening   chart.Sunburst
	replies   []linked // the moves of the initial position
	longest   []linked
	longestOf string // how they were found
	only      []linked
}

// A linked is a position with a link to it.
type linked struct{ Name, Text, Link string }

// whole returns what is shown of the table of a game. It is computed once, in one of the slots
// of searches.
func (s *Server) whole(ctx context.Context, g *served) (w *whole, err error) {
	if w = g.whole.Load(); w != nil {
		return w, nil
	}
	err = s.withSlot(ctx, g, func(*slot) (err error) {
		if w = g.whole.Load(); w != nil { // since the first look
			return nil
		}
		if w, err = newWhole(ctx, g); err == nil {
			g.whole.Store(w)
		}
		return err
	})
	return w, err
}

// newWhole reads what is shown of the table of a game.
func newWhole(ctx context.Context, g *served) (*whole, error) {
	w := new(whole)
	var err error
	if w.stats, err = g.table.Stats(); err != nil {
		return nil, err
	}
	if err := w.open(ctx, g); err != nil {
		return nil, err
	}
	if err := w.findLongest(ctx, g); err != nil {
		return nil, err
	}
	return w, w.findOnly(ctx, g)
}

// styles are the styles of outcomes.
var styles = [...]chart.Style{game.Undecided: chart.Draw, game.SecondWins: chart.Second, game.FirstWins: chart.First, game.Tie: chart.Tie}

// winner returns the style of the outcome of the value of a position with a player to move.
func winner(g game.Game, turn game.Player, v game.Value) chart.Style {
	return styles[outcomeOf(g, turn, v)]
}

// outcomeOf returns the outcome of the value of a position with a player to move. The position of a game with values of the
// mover need not contain the player to move.
func outcomeOf(g game.Game, turn game.Player, v game.Value) game.Outcome {
	o := v.Outcome()
	if g.Values().OfMover {
		switch game.Result(o) {
		case game.Wins:
			o = game.WinFor(turn)
		case game.Loses:
			o = game.WinFor(turn.Other())
		}
	}
	return o
}

// textOf returns the value of a position with a player to move in words: "X wins in 9".
func textOf(g game.Game, turn game.Player, v game.Value) string {
	if o := outcomeOf(g, turn, v); g.Values().OfMover && (o == game.FirstWins || o == game.SecondWins) {
		return fmt.Sprintf("%s wins in %d", player.Who(g, o.Winner()), v.Remoteness())
	}
	return g.Values().Text(v)
}

// open fills the tree of the first plies: as many plies as have few nodes, at least one.
func (w *whole) open(ctx context.Context, g *served) error {
	type place struct {
		*chart.Node
		*player.History
	}
	start := player.NewHistory(g.g)
	v, _, err := g.table.Lookup(start.Position())
	if err != nil {
		return err
	}
	w.value = textOf(g.g, start.Turn(), v)
	root := &chart.Node{Name: "start", Text: "start: " + w.value, Style: winner(g.g, start.Turn(), v), Link: toRoot + g.address()}
	level, nodes, depth := []place{{root, start}}, 1, 0
	for ; depth < openingPlies; depth++ {
		count := 0
		for _, at := range level {
			count += len(at.Moves())
		}
		if nodes += count; count == 0 || depth > 0 && nodes > openingNodes {
			break
		}
		var next []place
		for _, at := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, m := range at.Moves() {
				after := at.Clone()
				v, ok, err := g.table.Lookup(m.To)
				if err = cmp.Or(err, after.Play(m.Name)); err != nil || !ok {
					return cmp.Or(err, fmt.Errorf("%s: the position after %s is missing", g.data, strings.Join(after.Names(), " ")))
				}
				moves, turn := after.Names(), after.Turn()
				n := &chart.Node{Name: m.Name, Text: strings.Join(moves, " ") + ": " + textOf(g.g, turn, v), Style: winner(g.g, turn, v), Link: toRoot + g.address() + "?moves=" + url.QueryEscape(strings.Join(moves, ","))}
				at.Children, next = append(at.Children, n), append(next, place{n, after})
				if depth == 0 {
					w.replies = append(w.replies, linked{m.Name, analysis.Worth{Value: g.g.Values().Before(v), Known: true}.Text(g.g, start.Position()), n.Link})
				}
			}
		}
		level = next
	}
	w.opening = chart.Sunburst{
		Title:    g.title() + ": the opening, " + numfmt.Count(depth, "move"),
		Subtitle: "Who wins under best play after each move; the moves of a position share its arc equally",
		Root:     root,
		Legend: []chart.Series{
			{Name: player.Who(g.g, game.First) + " wins", Style: chart.First}, {Name: player.Who(g.g, game.Second) + " wins", Style: chart.Second},
			{Name: "tie", Style: chart.Tie}, {Name: "draw", Style: chart.Draw},
		},
	}
	return nil
}

// toRoot leads from the page of a table to the first page.
const toRoot = "../../"

// link returns a position with a link to it.
func (g *served) link(p game.Position, text string) linked {
	name := string(g.g.AppendText(nil, p))
	return linked{name, text, toRoot + g.address() + "?from=" + url.QueryEscape(name)}
}

// findLongest finds positions with the longest win in a time. It reads only tiers that have one.
func (w *whole) findLongest(ctx context.Context, g *served) error {
	most := 0
	for _, r := range w.stats.Rows {
		if r.Outcome != game.Tie { // a draw has remoteness 0
			most = max(most, r.Remoteness)
		}
	}
	longest := func(o game.Outcome, remoteness int) bool { return o != game.Tie && remoteness == most && most > 0 }
	w.longestOf = fmt.Sprintf("The longest win takes %s.", numfmt.Count(most, "move"))
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	scan, err := g.table.Scan(limited, table.Selection{
		Tier: func(tier int) bool {
			return slices.ContainsFunc(w.stats.Rows, func(r table.Row) bool { return r.Tier == tier && longest(r.Outcome, r.Remoteness) })
		},
		Value: func(v game.Value) bool { return longest(v.Outcome(), v.Remoteness()) },
	})
	if err != nil {
		return err
	}
	for batch, err := range scan.Batches() {
		if limited.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		for i, p := range batch.Positions[:min(len(batch.Positions), notable-len(w.longest))] {
			w.longest = append(w.longest, g.link(p, textOf(g.g, g.g.ToMove(p), batch.Values[i])))
		}
		if len(w.longest) == notable {
			break
		}
	}
	return nil
}

// findOnly finds won positions with one winning move: of the puzzles that are found in a time, those with the most moves.
func (w *whole) findOnly(ctx context.Context, g *served) error {
	f, err := train.NewFinder(g.g, analysis.New(g.g, g.table, nil, search.Options{}), answerTime, 1)
	if err != nil {
		return err
	}
	var won []*train.Puzzle
	for begun := time.Now(); time.Since(begun) < listTime && len(won) < sampleSize; {
		p, err := f.Next(ctx, 1, train.Grades)
		if err == train.ErrNone {
			break
		}
		if err != nil {
			return err
		}
		if analysis.ResultOf(g.g, p.Report.Position, p.Report.Value) == game.Wins {
			won = append(won, p)
		}
	}
	slices.SortStableFunc(won, func(a, b *train.Puzzle) int { return cmp.Compare(len(b.Report.Moves), len(a.Report.Moves)) })
	for _, p := range won[:min(len(won), notable)] {
		w.only = append(w.only, g.link(p.Report.Position, fmt.Sprintf("1 of %d moves wins; %s", len(p.Report.Moves), textOf(g.g, g.g.ToMove(p.Report.Position), p.Report.Value))))
	}
	return nil
}

// tableOf returns what is shown of the table that a request names.
func (s *Server) tableOf(r *Request) (*served, *whole, error) {
	g, err := s.game(r)
	if err != nil {
		return nil, nil, err
	}
	if g.table == nil {
		return nil, nil, errNoTable
	}
	w, err := s.whole(r.Context(), g)
	return g, w, err
}

// tablePage implements /tables: the pictures of a table, its numbers, and positions in it. The
// heat map of a long game has thousands of numbers: it is an image, and the file tiers.csv has them.
func (s *Server) tablePage(r *Request) (*Answer, error) {
	g, all, err := s.tableOf(r)
	if err != nil {
		return nil, err
	}
	columns := all.stats.Columns()
	header, rows := numbersOf(columns)
	return s.Page(r, "tables.html", map[string]any{
		"Title": g.title(), "At": "tables/" + g.id + "/" + g.variant, "Play": g.address(), "Value": all.value, "Positions": numfmt.Number(all.stats.Positions),
		"Columns": inline(columns), "NoTiers": g.noTiers(), "Opening": inline(all.opening), "Header": header, "Rows": rows, "Replies": all.replies, "Mover": player.Who(g.g, g.g.ToMove(g.g.Start())),
		"Longest": all.longest, "LongestOf": all.longestOf, "Only": all.only,
	})
}

// inline returns a picture as an element of a page.
func inline(p chart.Picture) template.HTML { return template.HTML(chart.Inline(p)) } // escaped by package chart

// noTiers reports whether the game has no tiers.
func (g *served) noTiers() bool {
	_, tiers := g.g.(game.Tiered)
	return !tiers
}

// numbersOf returns the numbers of a picture as a table.
func numbersOf(c chart.Columns) (header []string, rows [][]string) {
	header = []string{c.Axis}
	for _, name := range c.Names {
		rows = append(rows, []string{name})
	}
	for _, p := range c.Panels {
		for _, s := range p.Series {
			header = append(header, cmp.Or(s.Name, "positions"))
			for i, n := range s.Values {
				rows[i] = append(rows[i], numfmt.Number(n))
			}
		}
	}
	return header, rows
}

// tableFile implements the files below /tables: pictures and statistics.
func (s *Server) tableFile(r *Request) (*Answer, error) {
	file := r.PathValue("file")
	g, all, err := s.tableOf(r)
	if err != nil {
		return nil, err
	}
	const svg = "image/svg+xml"
	f, ok := map[string]struct {
		kind  string
		write func(io.Writer) error
	}{
		"tiers.svg":    {svg, all.stats.WriteSVG},
		"heat.svg":     {svg, func(w io.Writer) error { return chart.Write(w, all.stats.Heat()) }},
		"sunburst.svg": {svg, func(w io.Writer) error { return chart.Write(w, all.opening) }},
		"tiers.csv":    {"text/csv; charset=utf-8", all.stats.WriteCSV},
		"tiers.json":   {"application/json", all.stats.WriteJSON},
	}[file]
	if !ok {
		return nil, errNotFound
	}
	var body bytes.Buffer
	if err := f.write(&body); err != nil {
		return nil, err
	}
	a := Text(f.kind, "no-cache", body.Bytes())
	a.Header["Content-Disposition"] = fmt.Sprintf("inline; filename=%q", g.id+"-"+g.variant+"-"+file)
	if f.kind == svg { // its style sheet is inside
		a.Header["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
	}
	return a, nil
}

// drawn returns a random position of those that export.SelectionOf describes. Each is equally likely.
func drawn(ctx context.Context, t *table.Table, tier, remoteness, outcome string) (game.Position, error) {
	of, err := export.SelectionOf(t, tier, remoteness, outcome)
	if err != nil {
		return 0, badRequest(err)
	}
	found, err := t.Sample(ctx, 1, rand.Uint64(), of)
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, badRequest(errors.New("the table has no such position"))
	}
	return found[0].Positions[0], nil
}
