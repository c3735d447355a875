package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/play/internal/web"
	"github.com/treereduce/treereduce/search"
)

// A page is the game as the page of a server shows it. Each request has the whole game, from the answer before.
type page struct {
	address string
	Game    map[string]string
	State   string
	Review  struct {
		Judged   string
		Mistakes []struct{ Text string }
	}
	Practice struct{ Asked string }
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

// TestViews plays the same moves, takes the same ones back, asks for a hint, and practises the same mistake in a session, on
// this screen, on the page and, as far as that can, in line mode, and compares what they say.
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
		if p.State != s.State() {
			t.Errorf("the page says %q, want %q", p.State, s.State())
		}
	}
	if end := "X has won after 5 moves"; s.State() != end {
		t.Errorf("%q, want %q", s.State(), end)
	}
	if got := prompts(t, typed.String()); got != want.String() {
		t.Errorf("line mode:\n%s\nwant\n%s", got, want.String())
	}

	m.Update(tea.WindowSizeMsg{Width: 250, Height: 30}) // so that nothing is wrapped
	z := analysis.New(g, solved.Table(t, g), nil, search.Options{})
	h := s.History()
	judgments := analysis.Review(g, h.Names(), 0, must.Get(z.AssessAll(t.Context(), h.Positions(), 0))(t))
	p.do(t, "analyse")
	expect(t, m, session.Judged(h, judgments))
	if p.Review.Judged != session.Judged(h, judgments) {
		t.Errorf("the page says %q, want %q", p.Review.Judged, session.Judged(h, judgments))
	}
	mistakes := p.Review.Mistakes
	for i, j := range judgments {
		if !j.Mistake {
			continue
		}
		text, _, _ := strings.Cut(session.Mistake(h, i, j), ";") // a search finds not all better moves
		expect(t, m, text)
		if len(mistakes) == 0 || !strings.HasPrefix(mistakes[0].Text, text) {
			t.Fatalf("the page says %v, want %q", mistakes, text)
		}
		mistakes = mistakes[1:]
	}
	must.OK(t, s.Practise(judgments))
	keys(t, m, "P")
	p.do(t, "practise")
	for _, name := range []string{"", "1", "2"} {
		if name != "" {
			must.OK(t, s.Play(name))
			keys(t, m, name)
			p.do(t, "move "+name)
		}
		task, verdict := s.Asked(z.LookUp(h.Position()))
		expect(t, m, task)
		expect(t, m, verdict)
		if got := strings.TrimSpace(p.Practice.Asked); got != strings.TrimSpace(task+"\n"+verdict) {
			t.Errorf("the page says %q, want %q, %q", got, task, verdict)
		}
	}
}

// prompts returns what line mode prints for two people before each line that they type.
func prompts(t *testing.T, typed string) string {
	var out bytes.Buffer
	console := player.NewConsole(strings.NewReader(typed), &out)
	console.Undo, console.Hint = true, func(context.Context, *player.History) (string, error) { return "2", nil }
	seats := [2]referee.Seat{{Name: "A", Player: player.NewHuman(console)}, {Name: "B", Player: player.NewHuman(console)}}
	must.Get(referee.Rules{}.Play(t.Context(), solved.Game(t, three), seats, nil))(t)
	var lines []string
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "taken back: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
