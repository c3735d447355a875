package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/play/player"
	"github.com/treereduce/treereduce/internal/play/referee"
	"github.com/treereduce/treereduce/internal/play/report"
	"github.com/treereduce/treereduce/internal/testing/must"
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
		var page bytes.Buffer
		must.OK(t, r.HTML(&page))
		text := page.String()
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
			if strings.Join(g.Moves, " ") != strings.Join(p.Moves, " ") || data.Names[g.Players[1]] != p.Players[1] || len(g.Boards) != len(g.Moves)+1 {
				t.Fatalf("%s: game %d: %+v, want %+v", spec, i, g, p)
			}
			h := player.NewHistory(r.Game)
			for n, board := range g.Boards {
				var want, got []string
				for _, row := range r.Game.Picture(h.Position()).Rows {
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
				if n < len(p.Moves) {
					h.Play(p.Moves[n])
				}
			}
		}
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
