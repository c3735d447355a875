package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/lines"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/play/internal/web"
	"github.com/treereduce/treereduce/search"
)

// A page is the game as the page of a server shows it. Each request has the whole game, from the answer before.
type page struct {
	address      string
	Game         map[string]string
	Said, Judged string
	Review       map[string]string // HTML
	Practice     struct{ Asked string }
}

// do does something with the game.
func (p *page) do(t *testing.T, action string) {
	t.Helper()
	q := url.Values{"do": {action}}
	for name, value := range p.Game {
		q.Set(name, value)
	}
	answer := must.Get(http.Get(p.address + "?" + q.Encode()))(t)
	defer answer.Body.Close()
	*p = page{address: p.address}
	if must.OK(t, json.NewDecoder(answer.Body).Decode(p)); answer.StatusCode != 200 {
		t.Fatalf("%s: status %d", action, answer.StatusCode)
	}
}

// TestViews plays the same moves, takes the same ones back, asks for a hint, reviews the game, and practises the same mistake in a
// session, on this screen, on the page and in line mode, and compares what they say.
func TestViews(t *testing.T) {
	g := solved.Game(t, three)
	m, s := start(t, three, nil), session.New(player.NewHistory(g), [2]bool{true, true})
	m.Analysing = false
	server := httptest.NewServer(must.Get(web.New(web.Options{Games: all.Kinds(), Searches: 1, Sources: []web.Source{{Name: "three", Table: solved.Table(t, g)}}}))(t).Handler())
	defer server.Close()
	p := &page{address: server.URL + "/view/connectn/3-3-3", Game: map[string]string{"mode": "play"}}
	var typed, want strings.Builder
	for _, action := range []string{"0", "1", "undo", "undo", "2", "1", "2", "0", "undo", "1", "hint", "2"} {
		want.WriteString(s.State() + "\n")
		typed.WriteString(action + "\n")
		switch action {
		case "undo":
			s.Undo()
			keys(t, m, "U")
			p.do(t, action)
		case "hint":
			s.Hint = "2" // the only move that wins
			keys(t, m, "H")
			p.do(t, action)
		default:
			must.OK(t, s.Play(action))
			keys(t, m, action)
			p.do(t, "move "+action)
		}
		expect(t, m, " "+s.State()+"\n")
		if !strings.HasSuffix(p.Said, session.Capital(s.State())+".") {
			t.Errorf("the page says %q, want %q", p.Said, s.State())
		}
	}
	if end := "X has won after 5 moves"; s.State() != end {
		t.Errorf("%q, want %q", s.State(), end)
	}
	m.Update(tea.WindowSizeMsg{Width: 250, Height: 30}) // so that nothing is wrapped
	want.WriteString(s.State() + "\n")
	z := analysis.New(g, solved.Table(t, g), nil, search.Options{})
	h := s.History()
	typed.WriteString("review\n")
	judgments := must.Get(z.Judge(t.Context(), h, 0, 0))(t)
	p.do(t, "analyse")
	expect(t, m, session.Judged(h, judgments))
	if p.Judged != session.Judged(h, judgments) {
		t.Errorf("the page says %q, want %q", p.Judged, session.Judged(h, judgments))
	}
	want.WriteString(session.Judged(h, judgments) + "\n")
	mistakes := strings.Split(html.UnescapeString(p.Review["mistakes"]), "<li>")[1:]
	for i, j := range judgments {
		if !j.Mistake {
			continue
		}
		text, _, _ := strings.Cut(session.Mistake(h, i, j), ";") // a search finds not all better moves
		expect(t, m, text)
		if len(mistakes) == 0 || !strings.Contains(mistakes[0], text) {
			t.Fatalf("the page says %v, want %q", mistakes, text)
		}
		mistakes = mistakes[1:]
		fmt.Fprintf(&want, "move %d: %s\n", i+1, session.Mistake(h, i, j))
	}
	typed.WriteString("practise\n")
	must.OK(t, s.Practise(judgments))
	keys(t, m, "P")
	p.do(t, "practise")
	for _, name := range []string{"", "1", "1", "0"} {
		if name != "" {
			typed.WriteString(name + "\n")
			must.OK(t, s.Play(name))
			keys(t, m, name)
			p.do(t, "move "+name)
		}
		task, verdict := s.Asked(must.Get(z.Assess(t.Context(), h.Position(), 0))(t))
		expect(t, m, task)
		expect(t, m, verdict)
		want.WriteString(cmp.Or(verdict, task) + "\n")
		if got := strings.TrimSpace(p.Practice.Asked); got != strings.TrimSpace(task+"\n"+verdict) {
			t.Errorf("the page says %q, want %q, %q", got, task, verdict)
		}
	}
	s.Next(must.Get(z.Assess(t.Context(), h.Position(), 0))(t))
	task, _ := s.Asked(analysis.Report{})
	want.WriteString(task + "\n")
	if got := lineMode(t, z, typed.String()); got != want.String() {
		t.Errorf("line mode:\n%s\nwant\n%s", got, want.String())
	}
}

// lineMode returns what line mode prints for two people who type lines, without boards, moves and questions.
func lineMode(t *testing.T, z *analysis.Analyzer, typed string) string {
	var out strings.Builder
	console := player.NewConsole(strings.NewReader(typed), &out)
	series := lines.Series{Humans: [2]bool{true, true}, Console: console, Out: &out, Analyzer: func() (*analysis.Analyzer, error) { return z, nil }}
	for i := range series.Entrants {
		series.Entrants[i] = referee.Entrant{Name: "human", New: func(context.Context) (player.Player, error) { return player.NewHuman(console), nil }}
	}
	if err := series.Play(t.Context(), solved.Game(t, three)); err != io.EOF {
		t.Error(err)
	}
	others := regexp.MustCompile(`(?m)^(help lists .*|looking for .*| [.XO] .*| 0 1 2|. \(human\): .*|taken back: .*|Play again.*)\n`)
	return others.ReplaceAllString(out.String(), "")
}
