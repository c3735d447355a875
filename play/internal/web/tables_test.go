package web

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/table"
)

// wellFormed checks that a text is XML.
func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v\n%.1000s", name, err, text)
		}
	}
}

// TestTables compares the page of a table and its files with the table: the statistics, the
// first plies, the longest wins, and the positions with one winning move.
func TestTables(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "quickcross width=3 height=2 connect=3", "mancala pits=2 stones=2", "dodgem size=3"} {
		g := solved.Game(t, spec)
		tab := solved.Table(t, g)
		server := serve(t, spec)
		id, variant := idOf(spec)
		at := server.URL + "/tables/" + id + "/" + variant
		status, page := get(t, at)
		if status != 200 {
			t.Fatalf("%s: status %d: %s", spec, status, page)
		}
		stats := must.Get(tab.Stats())(t)
		header, rows := numbersOf(stats.Columns())
		for _, row := range rows {
			if want := "<tr><td>" + strings.Join(row, "</td><td>") + "</td></tr>"; len(row) != len(header) || !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s", spec, want)
			}
		}
		var csv, json strings.Builder
		must.OK(t, errors.Join(stats.WriteCSV(&csv), stats.WriteJSON(&json)))
		for file, want := range map[string]string{"tiers.csv": csv.String(), "tiers.json": json.String()} {
			if _, got := get(t, at+"/"+file); got != want {
				t.Errorf("%s: %s differs from the statistics: %.300s", spec, file, got)
			}
		}
		_, tiers := g.(game.Tiered)
		for _, file := range []string{"tiers.svg", "heat.svg", "sunburst.svg"} {
			status, picture := get(t, at+"/"+file)
			if file == "heat.svg" && !tiers {
				if strings.Contains(page, "heat.svg") {
					t.Errorf("%s: the page has a heat map of a game without tiers", spec)
				}
			}
			if status != 200 || !strings.Contains(picture, "<style>") {
				t.Fatalf("%s: %s: status %d: %.300s", spec, file, status, picture)
			}
			wellFormed(t, file, picture)
		}
		for _, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1) {
			wellFormed(t, "the page", svg)
			if strings.Contains(svg, "<style") {
				t.Errorf("%s: the policy of the page forbids a style sheet inside it", spec)
			}
		}

		w := must.Get(newWhole(t.Context(), &served{id: id, variant: variant, g: g, table: tab}))(t)
		winning := func(p game.Position) (wins, moves int) {
			for _, m := range g.Moves(nil, p) {
				v, _, err := tab.Lookup(m.To)
				must.OK(t, err)
				if moves++; analysis.ResultOf(g, p, g.Values().Before(v)) == game.Wins {
					wins++
				}
			}
			return wins, moves
		}
		most, lone := 0, 0
		for batch, err := range tab.All() {
			must.OK(t, err)
			for i, v := range batch.Values {
				if r := analysis.ResultOf(g, batch.Positions[i], v); r == game.Wins || r == game.Loses {
					most = max(most, v.Remoteness())
				}
				if wins, moves := winning(batch.Positions[i]); wins == 1 && moves > 1 {
					lone++
				}
			}
		}
		at = "../../play/" + id + "/" + variant + "?from="
		for _, l := range w.longest {
			p := must.Get(g.Parse(l.Name))(t)
			v, ok, err := tab.Lookup(p)
			if err != nil || !ok || v.Remoteness() != most || !strings.HasSuffix(l.Text, winsIn(g, g.ToMove(p), v)) || l.Link != at+url.QueryEscape(l.Name) {
				t.Errorf("%s: %+v has value %v, the longest win takes %d plies, %v", spec, l, v, most, err)
			}
			if status, body := get(t, server.URL+strings.Replace(l.Link, "../../play/", "/view/", 1)); status != 200 {
				t.Errorf("%s: %s: status %d: %s", spec, l.Link, status, body)
			}
		}
		if len(w.longest) == 0 || len(w.longest) > notable {
			t.Errorf("%s: %d positions with the longest win", spec, len(w.longest))
		}
		if lone = min(lone, notable); len(w.only) > lone || lone > 0 && len(w.only) == 0 {
			t.Errorf("%s: %d positions with one winning move, want %d", spec, len(w.only), lone)
		}
		for _, l := range w.only {
			p := must.Get(g.Parse(l.Name))(t)
			wins, moves := winning(p)
			if want := "1 of " + numfmt.Number(moves) + " moves wins"; wins != 1 || !strings.HasPrefix(l.Text, want) {
				t.Errorf("%s: %+v: %d of %d moves win", spec, l, wins, moves)
			}
		}
		checkOpening(t, tab, w.opening.Root, player.NewHistory(g))
		view := ask[viewJSON](t, server.URL+"/view/"+id+"/"+variant)
		for _, r := range w.replies { // as in an analysis
			m := view.Marks[slices.IndexFunc(view.Marks, func(m markJSON) bool { return m.Name == r.Name })]
			if want := m.Text[len(m.Text)-len(strings.TrimLeft(m.Text, "▲▼=∞")):]; !strings.HasPrefix(r.Text, m.Value) || want != "" && !strings.HasSuffix(r.Text, " in "+want) {
				t.Errorf("%s: %+v, in an analysis %+v", spec, r, m)
			}
		}
	}
	server := serve(t, "connectn width=3 height=3 connect=3")
	for _, path := range []string{"/tables/connectn/3-3-3/other.svg", "/tables/connectn/7-6-4", "/tables/none/1"} {
		if status, body := get(t, server.URL+path); status != 404 {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
	if status, css := get(t, server.URL+"/static/chart.css"); status != 200 || css != chart.StyleSheet {
		t.Errorf("chart.css: status %d", status)
	}
}

// winsIn returns the value of a position in words: "X wins in 9".
func winsIn(g game.Game, turn game.Player, v game.Value) string {
	switch result := game.Result(v.Outcome()); {
	case g.Values().OfMover && result == game.Wins:
		return fmt.Sprintf("%s wins in %d", player.Who(g, turn), v.Remoteness())
	case g.Values().OfMover && result == game.Loses:
		return fmt.Sprintf("%s wins in %d", player.Who(g, turn.Other()), v.Remoteness())
	}
	return g.Values().Text(v)
}

// checkOpening compares a tree with the moves of a play, and its values with those of the table.
func checkOpening(t *testing.T, tab *table.Table, n *chart.Node, h *player.History) {
	t.Helper()
	g := h.Game()
	v, ok, err := tab.Lookup(h.Position())
	want := chart.Tie
	switch result := v.Outcome().For(h.Turn()); {
	case g.Values().OfMover && v.Outcome() == 0:
		want = chart.Draw
	case g.Values().OfMover && game.Result(v.Outcome()) == game.Wins || !g.Values().OfMover && result == game.Wins:
		want = [...]chart.Style{chart.First, chart.Second}[h.Turn()]
	case g.Values().OfMover && game.Result(v.Outcome()) == game.Loses || !g.Values().OfMover && result == game.Loses:
		want = [...]chart.Style{chart.Second, chart.First}[h.Turn()]
	}
	if err != nil || !ok || n.Style != want || !strings.HasSuffix(n.Text, ": "+winsIn(g, h.Turn(), v)) {
		t.Errorf("%s: %+v has value %v, %v", g.Spec(), n, v, err)
	}
	if q, err := url.Parse(n.Link); err != nil || q.Query().Get("moves") != strings.Join(h.Names(), ",") {
		t.Errorf("%s: link %s after %v, %v", g.Spec(), n.Link, h.Names(), err)
	}
	if len(n.Children) == 0 {
		return
	}
	moves := h.Moves()
	if len(moves) != len(n.Children) {
		t.Fatalf("%s: %d children for %d moves", g.Spec(), len(n.Children), len(moves))
	}
	for i, m := range moves {
		if n.Children[i].Name != m.Name {
			t.Errorf("%s: child %q for move %q", g.Spec(), n.Children[i].Name, m.Name)
		}
		after := h.Clone()
		must.OK(t, after.Play(m.Name))
		checkOpening(t, tab, n.Children[i], after)
	}
}
