package web

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestDrawn draws random positions and compares their values with the request, for each
// combination of tier, outcome and remoteness of the table.
func TestDrawn(t *testing.T) {
	for _, spec := range []string{"connectn width=3 height=3 connect=3", "quickcross width=3 height=2 connect=3", "mancala pits=2 stones=2", "dodgem size=3"} {
		g := solved.Game(t, spec)
		tab := solved.Table(t, g)
		server := serve(t, spec)
		id, variant := idOf(spec)
		at := server.URL + "/view/" + id + "/" + variant + "?random=1"
		for tier := range tab.Tiers() + 1 {
			counts := must.Get(tab.Counts(tier))(t)
			for want := range counts {
				q := "&outcome=" + url.QueryEscape(g.Values().Word(want.Outcome()))
				if _, tiers := g.(game.Tiered); tiers {
					q += "&tier=" + strconv.Itoa(tier)
				}
				if want.Valid() {
					q += "&remoteness=" + strconv.Itoa(want.Remoteness())
				}
				status, body := get(t, at+q)
				var v viewJSON
				if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 {
					t.Fatalf("%s %s: status %d, %v: %s", spec, q, status, err, body)
				}
				p := must.Get(g.Parse(v.Text))(t)
				if value, ok, err := tab.Lookup(p); value != want || !ok || err != nil || game.TierOf(g, p) != tier {
					t.Errorf("%s %s: %q of tier %d, %v, %v", spec, q, v.Text, game.TierOf(g, p), value, err)
				}
			}
		}
		for q, says := range map[string]string{"&tier=" + strconv.Itoa(tab.Tiers()+1): "tier", "&outcome=glory": "outcome", "&remoteness=-1": "expected a number", "&remoteness=4000": "no such position"} {
			if status, body := get(t, at+q); status != 400 || !strings.Contains(body, says) {
				t.Errorf("%s %s: status %d: %s", spec, q, status, body)
			}
		}
	}
	if status, body := get(t, serve(t).URL+"/view/connectn/4-4-3?random=1&tier=2"); status != 404 || !strings.Contains(body, "no table") {
		t.Errorf("without a table: status %d: %s", status, body)
	}
}

// TestFindPosition finds positions in each form: moves since the initial position are moves of the play.
func TestFindPosition(t *testing.T) {
	at := serve(t).URL + "/view/connectn/4-4-3?from="
	for text, want := range map[string]string{"1,1,2": " 1,1,2", "112": " 1,1,2", "1:223": " 1,1,2", "    X           ": "    X            ", "": " "} {
		status, body := get(t, at+url.QueryEscape(text))
		var v viewJSON
		if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 {
			t.Fatalf("%q: status %d, %v: %s", text, status, err, body)
		}
		if got := v.Game["from"] + " " + v.Game["moves"]; got != want || !v.Labels {
			t.Errorf("%q: %q, labels %v, want %q", text, got, v.Labels, want)
		}
	}
	if status, body := get(t, at+"9"); status != 400 || !strings.Contains(body, "neither a board nor moves") {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestArranged finds positions by the squares of their pictures.
func TestArranged(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "mnk width=3 height=3 connect=3", "quickcross width=3 height=2 connect=3", "mancala pits=2 stones=2", "dodgem size=3", "network"} {
		g := solved.Game(t, spec)
		id, variant := idOf(spec)
		at := serve(t).URL + "/view/" + id + "/" + variant + "?"
		r := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			walk := gametest.Walk(r, g, r.IntN(12))
			p := walk[len(walk)-1]
			var rows []string
			for _, row := range g.Picture(p).Rows {
				var texts []string
				for _, s := range row {
					texts = append(texts, s.Text)
				}
				rows = append(rows, strings.Join(texts, ","))
			}
			status, body := get(t, at+url.Values{"board": {strings.Join(rows, "\n")}, "turn": {strconv.Itoa(int(g.ToMove(p)))}}.Encode())
			var v viewJSON
			if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 || v.Text != string(g.AppendText(nil, p)) || len(v.Look.Place) == 0 {
				t.Fatalf("%s: %q: status %d, %v: %s", spec, g.AppendText(nil, p), status, err, body)
			}
		}
		for _, board := range []string{"", "X", "X,X\nX", strings.Repeat("9,", 20)} {
			if status, body := get(t, at+"board="+url.QueryEscape(board)); status != 400 || !strings.Contains(body, "there is no such position") {
				t.Errorf("%s: board %q: status %d: %s", spec, board, status, body)
			}
		}
	}
	at := serve(t, "connectn width=3 height=3 connect=3").URL + "/view/connectn/3-3-3?board="
	for board, says := range map[string]string{
		".,.,.\n.,.,.\nX,O,.": "", ".,.,.\nX,.,.\n.,O,.": "a piece over an empty square", ".,.,.\n.,.,.\nX,X,.": "", "X,O,.\nX,O,.\nX,O,.": "play does not reach it",
	} {
		status, body := get(t, at+url.QueryEscape(board))
		if wrong := says != "" || strings.Contains(board, "X,X"); (status == 400) != wrong || !strings.Contains(body, says) {
			t.Errorf("%q: status %d: %s", board, status, body)
		}
	}
}
