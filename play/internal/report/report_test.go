package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
	"github.com/treereduce/treereduce/search"
)

func TestPoints(t *testing.T) {
	for want, s := range map[string]referee.Standing{
		"-":    {},
		"0/2":  {Losses: 2},
		"½/1":  {Ties: 1},
		"3½/5": {Wins: 3, Ties: 1, Losses: 1},
		"2/3":  {Wins: 1, Ties: 2},
	} {
		if got := report.Points(s); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}

// sample plays a small tournament of a game; one entrant has a name that a page must escape.
func sample(t *testing.T, spec string) report.Report {
	t.Helper()
	g, err := all.Kinds().Parse(spec)
	must.OK(t, err)
	r := report.Report{Game: g, Note: "a <note>"}
	entrant := func(name string, seed uint64) referee.Entrant {
		return referee.Entrant{Name: name, New: func(context.Context) (player.Player, error) { return player.NewRandom(seed), nil }}
	}
	tour := referee.Tournament{
		Entrants: []referee.Entrant{entrant("</script><b>", 1), entrant("B, \"x\"", 2), entrant("C", 3)},
		Match: referee.Match{Game: g, Games: 2, Report: func(p referee.Played) error {
			r.Played = append(r.Played, p)
			return nil
		}},
	}
	if r.Cross, err = tour.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHTML checks that the data of the page contains the pictures of all positions, for every game, and
// that names cannot end the script.
func TestHTML(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "mancala pits=3 stones=2", "quickcross width=3 height=3 connect=3", "network", "dodgem size=3"} {
		r := sample(t, spec)
		text := html(t, r)
		if strings.Contains(text, "<b>") || strings.Contains(text, "<note>") || strings.Count(text, "</script>") != 2 {
			t.Errorf("%s: names are not escaped", spec)
		}
		var data struct {
			Width   int
			Boards  []string
			Names   []string
			Squares []struct{ Text string }
			Games   []struct {
				Players [2]int
				Moves   []string
				Boards  []int
			}
		}
		found := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(text)
		must.OK(t, json.Unmarshal([]byte(found[1]), &data))
		for i, p := range r.Played {
			g := data.Games[i]
			if strings.Join(g.Moves, " ") != strings.Join(p.History.Names(), " ") || data.Names[g.Players[1]] != p.Players[1] || len(g.Boards) != len(g.Moves)+1 {
				t.Fatalf("%s: game %d: %+v, want %+v", spec, i, g, p)
			}
			for n, board := range g.Boards {
				var want, got []string
				for _, row := range r.Game.Picture(p.History.At(n)).Rows {
					for _, s := range row {
						want = append(want, s.Text)
					}
				}
				for _, c := range data.Boards[board] {
					got = append(got, data.Squares[c-'0'].Text)
				}
				if strings.Join(got, ",") != strings.Join(want, ",") {
					t.Fatalf("%s: game %d, move %d: %v, want %v", spec, i, n, got, want)
				}
			}
		}
	}
}

// history returns the history of these moves.
func history(t *testing.T, g game.Game, moves []string) *player.History {
	t.Helper()
	h := player.NewHistory(g)
	for _, name := range moves {
		must.OK(t, h.Play(name))
	}
	return h
}

// html returns the page of a report.
func html(t *testing.T, r report.Report) string {
	t.Helper()
	var page bytes.Buffer
	must.OK(t, r.HTML(&page))
	return page.String()
}

// TestHTMLAgain checks that a page depends on the date that it is given and on the games, but not on
// the order of the matches.
func TestHTMLAgain(t *testing.T) {
	r := sample(t, "connectn width=4 height=4 connect=3")
	r.Date = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	r.Settings = [][2]string{{"Seed", "17"}}
	first := html(t, r)
	r.Played = slices.Concat(r.Played[4:], r.Played[:4])
	if html(t, r) != first {
		t.Error("the order of the matches changes the page")
	}
	s := r.Cross.Between[1][2]
	if s.Wins == s.Losses {
		t.Fatalf("%+v: expected a winner", s)
	}
	class := map[bool]string{true: "won", false: "lost"}[s.Wins > s.Losses]
	if !regexp.MustCompile(`<td class="` + class + `"><a href="#pair-\d-\d" aria-label="B, &#34;x&#34; against C: ` + report.Points(s) + `">`).MatchString(first) {
		t.Errorf("the page lacks the result of B against C: %+v", s)
	}
	for _, want := range []string{"<h1>Connect 3 on 4×4: results</h1>", "9 March 2026", "<dt>Seed</dt><dd>17</dd>"} {
		if !strings.Contains(first, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	r.Title = "Spring & fall"
	if !strings.Contains(html(t, r), "<h1>Spring &amp; fall</h1>") {
		t.Error("the page lacks its title")
	}
}

// TestHTMLFaults checks the section of a player that loses by faults of several kinds: each kind is
// counted, and has one example with the board.
func TestHTMLFaults(t *testing.T) {
	r := sample(t, "connectn width=3 height=3 connect=3")
	lost := func(reason referee.Reason, did, message string, moves ...string) referee.Played {
		winner := game.FirstWins
		if len(moves)%2 == 0 {
			winner = game.SecondWins
		}
		return referee.Played{History: history(t, r.Game, moves), Players: [2]string{"C", "B, \"x\""}, Outcome: winner, Reason: reason, Did: did, Message: message}
	}
	const ended = "ended without an answer"
	r.Played = []referee.Played{
		lost(referee.Illegal, "played 7, which is not a legal move,", `expected one of 0 1 2, found "7"`, "1", "0"),
		lost(referee.Failed, "", `program: genmove first: line 12`),
		lost(referee.Failed, "", `program: genmove first: line 7`, "1", "0"),
		lost(referee.Late, "", `it took 2s, the limit is 1s`),
		lost(referee.Failed, "", `program: genmove second: line 1`, "1"),
		lost(referee.Failed, ended, `program: genmove: no answer (exit status 1: `+strings.Repeat("9", 300)),
		lost(referee.Failed, ended, `program: genmove: no answer (exit status 1: `+strings.Repeat("9", 200), "1", "0"),
	}
	page := html(t, r)
	for _, want := range []string{
		`<strong>Illegal move</strong>, 1 time. <a href="#game-1-end">Game 1</a>: C played 7, which is not a legal move, on move 3; B, &#34;x&#34; wins.` + "\n<pre> . . .\n . . .\n O X .\n 0 1 2\n</pre>",
		`<strong>Failed</strong>, 2 times. <a href="#game-2-end">Game 2</a>: C failed on move 1; B, &#34;x&#34; wins.`,
		`<p class="message">program: genmove first: line 12</p>`,
		`<strong>Too slow</strong>, 1 time. <a href="#game-4-end">Game 4</a>: C took too long on move 1; B, &#34;x&#34; wins.`,
		`<strong>Failed</strong>, 1 time. <a href="#game-5-end">Game 5</a>: B, &#34;x&#34; failed on move 2; C wins.`,
		`<strong>Failed</strong>, 2 times. <a href="#game-6-end">Game 6</a>: C ended without an answer on move 1; B, &#34;x&#34; wins.`,
		`<p class="message">program: genmove: no answer (exit status 1: ` + strings.Repeat("9", 200-len("program: genmove: no answer (exit status 1: ")) + "…</p>",
		`<a href="#game-5" class="fault" aria-label="game 5: fault">fault</a>`,
	} {
		if strings.Count(page, want) != 1 {
			t.Errorf("%d times: %s", strings.Count(page, want), want)
		}
	}
}

// TestHTMLJudged checks that a page has the values of the positions and the mistakes of the moves that
// were chosen, as a review finds them.
func TestHTMLJudged(t *testing.T) {
	r := sample(t, "connectn width=3 height=3 connect=3")
	r.Played = []referee.Played{{
		History: history(t, r.Game, strings.Fields("0 1 0 1 2 1")), Players: [2]string{"C", "B, \"x\""}, Opening: 2, Outcome: game.SecondWins, Times: make([]time.Duration, 4),
	}}
	z := analysis.New(r.Game, solved.Table(t, r.Game), nil, search.Options{})
	r.Judge = func(p referee.Played) ([]analysis.Judgment, error) {
		return z.Judge(t.Context(), p.History, p.Opening, 0)
	}
	page := html(t, r)
	var data struct {
		Games []struct {
			Values   []string
			Mistakes []struct {
				Move int
				Text string
			}
			Turning string
		}
	}
	must.OK(t, json.Unmarshal([]byte(regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(page)[1]), &data))
	g := data.Games[0]
	if got := g.Values[5]; got != "win in 1" {
		t.Errorf("before the last move: %s", got)
	}
	if len(g.Mistakes) != 1 || g.Mistakes[0].Move != 5 || !strings.Contains(g.Mistakes[0].Text, "2: win in 1 → lose in 2") {
		t.Errorf("%+v", g.Mistakes)
	}
	if want := "The turning point was move 5, X (C) 2: it loses in 2, "; !strings.HasPrefix(g.Turning, want) {
		t.Errorf("%q, want %q", g.Turning, want)
	}
	if !strings.Contains(page, "1 of 2 moves were mistakes.") {
		t.Error("the section of the player lacks its mistakes")
	}
}

func TestCSV(t *testing.T) {
	r := sample(t, "connectn width=4 height=4 connect=3")
	var text bytes.Buffer
	must.OK(t, r.CSV(&text))
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 4 || len(rows[0]) != 13 || rows[1][0] != "1" || rows[3][4] != "" || rows[1][6] != "4" {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestCSVFormulas checks that no name is a formula in a spreadsheet.
func TestCSVFormulas(t *testing.T) {
	r := sample(t, "connectn width=4 height=4 connect=3")
	for name, want := range map[string]string{"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "a=1": "a=1", "": ""} {
		for i := range r.Cross.Standings {
			r.Cross.Standings[i].Name = name
		}
		var text bytes.Buffer
		must.OK(t, r.CSV(&text))
		rows, err := csv.NewReader(&text).ReadAll()
		if err != nil || rows[1][1] != want {
			t.Errorf("%q: %v, %v, want %q", name, rows, err, want)
		}
	}
}
