package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/play/internal/web"
)

// TestViews plays the same moves, and takes the same ones back, in a session, on this screen, on the page and in line
// mode, and compares the state of the game in words.
func TestViews(t *testing.T) {
	g := solved.Game(t, three)
	m, s := start(t, three, nil), session.New(player.NewHistory(g), [2]bool{true, true})
	server := httptest.NewServer(must.Get(web.New(web.Options{Games: all.Kinds(), Searches: 1}))(t).Handler())
	defer server.Close()
	var typed, want strings.Builder
	for _, action := range []string{"0", "1", "undo", "undo", "2", "1", "2", "0", "undo", "1", "2"} {
		made := strings.Join(s.History().Names(), ",")
		if want.WriteString(s.State() + "\n"); action == "undo" {
			s.Undo()
			keys(t, m, "U")
			action = "do=undo"
		} else {
			must.OK(t, s.Play(action))
			keys(t, m, action)
			made, action = strings.TrimPrefix(made+","+action, ","), ""
		}
		typed.WriteString(map[bool]string{true: "undo", false: made[max(0, len(made)-1):]}[action != ""] + "\n")
		expect(t, m, "    "+s.State()+"\n")
		answer := must.Get(http.Get(fmt.Sprintf("%s/view/connectn/3-3-3?moves=%s&people=0,1&%s", server.URL, made, action)))(t)
		var page struct{ State string }
		must.OK(t, json.NewDecoder(answer.Body).Decode(&page))
		answer.Body.Close()
		if page.State != s.State() {
			t.Errorf("the page says %q, want %q", page.State, s.State())
		}
	}
	if end := "X has won after 5 moves"; s.State() != end {
		t.Errorf("%q, want %q", s.State(), end)
	}
	if got := prompts(t, typed.String()); got != want.String() {
		t.Errorf("line mode:\n%s\nwant\n%s", got, want.String())
	}
}

// prompts returns what line mode prints for two people before each line that they type.
func prompts(t *testing.T, typed string) string {
	var out bytes.Buffer
	console := player.NewConsole(strings.NewReader(typed), &out)
	console.Undo = true
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
