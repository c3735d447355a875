package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"maps"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/metrics"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/testing/testbook"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// serve starts a server with the tables of these games.
func serve(t testing.TB, specs ...string) *httptest.Server {
	t.Helper()
	o := Options{Games: all.Kinds(), Searches: 2, Memory: 8 << 20, AllowOrigin: "*",
		HostAllowed: func(host string) bool { return metrics.HostAllowed(host, []string{"board.example"}) }}
	for _, spec := range specs {
		o.Sources = append(o.Sources, Source{Name: spec, Table: solved.Table(t, solved.Game(t, spec))})
	}
	s := must.Get(New(o))(t)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server
}

// get returns the status and the body of an answer.
func get(t testing.TB, url string) (int, string) {
	t.Helper()
	answer := must.Get(http.Get(url))(t)
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(body)
}

// TestView compares the values of positions and moves with the table.
func TestView(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "quickcross width=3 height=2 connect=3", "mancala pits=2 stones=2", "dodgem size=3"} {
		g := solved.Game(t, spec)
		tab := solved.Table(t, g)
		server := serve(t, spec)
		id, variant := idOf(spec)
		r := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			walk := gametest.Walk(r, g, r.IntN(12))
			p := walk[len(walk)-1]
			status, body := get(t, server.URL+"/view/"+id+"/"+variant+"?from="+url.QueryEscape(string(g.AppendText(nil, p))))
			var v viewJSON
			if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 {
				t.Fatalf("%s: status %d, %v: %s", spec, status, err, body)
			}
			if g.Primitive(p) != 0 {
				if v.Over == "" || len(v.Moves) > 0 {
					t.Errorf("%s %q: %s", spec, g.AppendText(nil, p), body)
				}
				continue
			}
			value, _, err := tab.Lookup(p)
			must.OK(t, err)
			now := markOf(g, p, g.ToMove(p), "", analysis.Worth{Value: value, Known: true})
			if got, want := string(v.Report["known"]), `<p id="worth" class="`+now.Value+`">`+now.Glyph+" "; !strings.HasPrefix(got, want) || !strings.Contains(got, now.Word) || strings.Contains(got, " in ") != (now.Ends != "") {
				t.Errorf("%s %q: %s, want %+v", spec, g.AppendText(nil, p), got, now)
			}
			choices, err := tab.Choices(p)
			if err != nil || len(choices) != len(v.Moves) {
				t.Fatalf("%s %q: %v, %s", spec, g.AppendText(nil, p), err, body)
			}
			for _, c := range choices {
				want := markOf(g, p, g.ToMove(p), c.Name, analysis.Worth{Value: g.Values().Before(c.Value), Known: true})
				if row := fmt.Sprintf(`<td class="%s">%s %s`, want.Value, want.Glyph, want.Word); !slices.ContainsFunc(v.Marks, func(m markJSON) bool { return m.Name == c.Name && m.Value == want.Value && m.Text == want.Text }) || !strings.Contains(string(v.Report["moves"]), row) {
					t.Errorf("%s %q: %+v, %s; want %+v", spec, g.AppendText(nil, p), v.Marks, v.Report["moves"], want)
				}
			}
		}
	}
}

// texts returns the texts of the elements of a name in HTML.
func texts(content template.HTML, element string) (all []string) {
	for _, m := range regexp.MustCompile("(?s)<"+element+"[ >].*?</"+element+">").FindAllString(string(content), -1) {
		all = append(all, html.UnescapeString(regexp.MustCompile("<[^>]*>").ReplaceAllString(m, "")))
	}
	return all
}

// TestReview checks the judgments of a play, with the moves that were taken back: from the table at
// once, and without one after the event stream of a review.
func TestReview(t *testing.T) {
	const play = "?moves=0,0&later=3,1"
	review := func(server *httptest.Server) reviewJSON {
		status, body := get(t, server.URL+"/view/connectn/4-4-3"+play)
		var v viewJSON
		if err := json.Unmarshal([]byte(body), &v); err != nil || v.Made != 2 || len(v.Last) != 1 || !slices.Equal(texts(v.Review["history"], "th"), []string{"Move", "Value", "start", "0", "0", "3", "1"}) {
			t.Fatalf("status %d, %v: %s", status, err, body)
		}
		return v.reviewJSON
	}
	want := review(serve(t, "connectn width=4 height=4 connect=3"))
	mistakes := []string{
		"Move 3 X played 3: win in 9 → lose in 12, then 0 0 2 2 2 3 … (0 threatens 0); better: 2 (win in 9), 0 (win in 11), 1 (win in 11) Refute",
		"Move 4 O played 1: win in 11 → lose in 12, then 1 0 0 1 1 3 …; better: 0 (win in 11), 2 (win in 11) Refute",
	}
	values := []string{"X in 9", "X in 14", "X in 9", "O in 11", "X in 11"}
	if got := texts(want.Review["mistakes"], "li"); !slices.Equal(got, mistakes) || !reflect.DeepEqual(want.Mistakes, [][2]int{{2, 0}, {3, 1}}) {
		t.Errorf("%v: %q, want %q", want.Mistakes, got, mistakes)
	}
	if got := texts(want.Review["history"], "button"); !slices.Equal(got, values) {
		t.Errorf("values %q, want %q", got, values)
	}
	if r := want; r.Open || !r.Practise || r.Judged[:46] != "X: 2 moves, 1 mistake. O: 2 moves, 1 mistake. " || !strings.HasPrefix(r.Judged[46:], "The turning point was move 4, O 1, the last of 2 mistakes: it loses in 12, then ") {
		t.Errorf("%+v", r)
	}
	slow := must.Get(New(Options{Games: all.Kinds(), Searches: 1, Memory: 8 << 20}))(t)
	slow.reviewTime = time.Microsecond // the first searches do not prove all values
	server := httptest.NewServer(slow.Handler())
	defer server.Close()
	if _, body := get(t, server.URL+"/view/connectn/4-4-3/review?moves=0,0,3,1"); strings.Count(body, "event: report") <= 5 || !strings.HasSuffix(body, "\n\nevent: end\ndata: {}\n\n") {
		t.Errorf("a slow review: %s", body)
	}
	if r := review(server); r.Open || r.Judged != want.Judged {
		t.Errorf("after a slow review: %+v, want %+v", r, want)
	}
	slow.reviewMost = time.Millisecond
	if _, body := get(t, server.URL+"/view/network/regular/review?moves=24,34"); !strings.Contains(body, " 0 of 3 positions are solved; the search goes on for 1 s …") || !strings.HasSuffix(body, "\n\nevent: end\ndata: {}\n\n") {
		t.Errorf("a short review: %s", body)
	}
	server = serve(t)
	if r := review(server); !r.Open || r.Practise || len(r.Mistakes) != 0 || r.Judged != "X: 2 moves, 0 mistakes, 2 moves not judged: no value is proven. O: 2 moves, 0 mistakes, 2 moves not judged: no value is proven." {
		t.Errorf("before a review: %+v", r)
	}
	_, body := get(t, server.URL+"/view/connectn/4-4-3/review?moves=0,0,3,1")
	if got, want := strings.Count(body, "event: report"), 5; got != want || !strings.Contains(body, ` 4 of 5 positions are solved; the search goes on for 10 s …"`) || !strings.HasSuffix(body, "event: end\ndata: {}\n\n") {
		t.Errorf("%s", body)
	}
	events := strings.Split(body, "event: report\n")
	for i, known := range []string{"not known", "X in 11", "O in 11", "X in 9", "X in 14"} { // each position is shown when it is solved
		if !strings.Contains(events[i+1], "\\u003e"+known+"\\u003c/button") {
			t.Errorf("event %d does not have %s: %s", i, known, events[i+1])
		}
	}
	r := review(server)
	for i, text := range texts(r.Review["mistakes"], "li") {
		if text, _, _ = strings.Cut(text, ";"); !strings.HasPrefix(mistakes[i], text) {
			t.Errorf("%q, want %q", text, mistakes[i])
		}
	}
	if got := texts(r.Review["history"], "button"); !slices.Equal(got, values) || !reflect.DeepEqual(r.Mistakes, want.Mistakes) {
		t.Errorf("values %q, mistakes %v", got, r.Mistakes)
	}
}

// TestPractice practises the mistake of a play that is over, to its end, by requests that each have the whole game.
func TestPractice(t *testing.T) {
	at := serve(t, "connectn width=3 height=3 connect=3").URL + "/view/connectn/3-3-3?"
	game := map[string]string{"moves": "0,1,0,1,0"}
	for _, step := range []struct{ do, moves, asked string }{
		{"practise", "0", "Mistake 1 of 1. Find a move with which O does not lose."},
		{"move 1", "0", "Mistake 1 of 1. Find a move with which O does not lose.\n1 is wrong: lose in 8. Try another move."},
		{"move 2", "0", "Mistake 1 of 1. Find a move with which O does not lose.\n2 is right: tie in 8."},
		{"next", "0,1,0,1,0", "0 of 1 found at the first try."},
		{"stop", "0,1,0,1,0", ""},
	} {
		q := url.Values{"do": {step.do}}
		for name, value := range game {
			q.Set(name, value)
		}
		status, body := get(t, at+q.Encode())
		var v viewJSON
		if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 || v.Game["moves"] != step.moves || (v.Practice == nil) != (step.asked == "") || v.Practice != nil && v.Practice.Asked != step.asked {
			t.Fatalf("%s: status %d, %v: %+v, %s", step.do, status, err, v.Practice, body)
		}
		game = v.Game
	}
}

// TestLine checks that the squares of a line, put on the board one after the other, give the boards of
// play: with the moves that the request names, and with best play after them, with and without a table.
func TestLine(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=3")
	for _, specs := range [][]string{{g.Spec()}, nil} {
		server := serve(t, specs...)
		for query, want := range map[string]int{"moves=0,0&line=3,1": 2, "moves=0,0&line=3&best": 12, "moves=0,1,0,1&line=0&best": 1, "moves=0,1,1&line=0&best": 8} {
			status, body := get(t, server.URL+"/view/connectn/4-4-3/line?"+query)
			var v struct {
				Plies []linePlyJSON
				Why   string
			}
			if err := json.Unmarshal([]byte(body), &v); err != nil || len(v.Plies) != want {
				t.Fatalf("%s: status %d, %v: %d plies, want %d: %s", query, status, err, len(v.Plies), want, body)
			}
			if why := map[string]string{"moves=0,0&line=3&best": "after 0, O threatens 0", "moves=0,1,1&line=0&best": "after 0 2 3 0 1, X threatens 1 and 2"}[query]; specs != nil && v.Why != why {
				t.Errorf("%s: %q, want %q", query, v.Why, why)
			}
			h := player.NewHistory(g)
			values := must.Get(url.ParseQuery(query))(t)
			must.OK(t, playAll(h, values.Get("moves")))
			rows := g.Picture(h.Position()).Rows
			for i, ply := range v.Plies {
				if ply.Turn != int(h.Turn()) {
					t.Errorf("%s: move %d of side %d", query, i+1, ply.Turn)
				}
				must.OK(t, h.Play(ply.Move))
				for k, at := range ply.Changed {
					rows[at[1]][at[0]] = ply.Squares[k]
				}
				if now := g.Picture(h.Position()); !reflect.DeepEqual(rows, now.Rows) || !reflect.DeepEqual(ply.Won, now.Won) {
					t.Errorf("%s, after move %d: %v, want %v", query, i+1, rows, now.Rows)
				}
			}
			if over := g.Primitive(h.Position()) != 0; over != (want != 2) {
				t.Errorf("%s: the line ends at the end of the game: %v", query, over)
			}
		}
		if status, body := get(t, server.URL+"/view/connectn/4-4-3/line?line=9"); status != 400 || !strings.Contains(body, "move 1") {
			t.Errorf("a line with an illegal move: status %d: %s", status, body)
		}
	}
}

// TestAnalysis checks that a search of a small board ends with the values of the table.
func TestAnalysis(t *testing.T) {
	spec := "connectn width=4 height=4 connect=3"
	server := serve(t)
	answer := must.Get(http.Get(server.URL + "/view/connectn/4-4-3/analysis?moves=1"))(t)
	defer answer.Body.Close()
	var last reportJSON
	lines, ended := bufio.NewScanner(answer.Body), false
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data: {\"done\""); ok {
			last = reportJSON{}
			must.OK(t, json.Unmarshal([]byte("{\"done\""+text), &last))
		}
		ended = ended || lines.Text() == "event: end"
	}
	g := solved.Game(t, spec)
	p := g.Moves(nil, g.Start())[1].To
	v, _, err := solved.Table(t, g).Lookup(p)
	must.OK(t, err)
	if want := fmt.Sprintf("O: %s in %d</p>", notation.ValueOf(g, p, v).Word(), v.Remoteness()); !ended || !last.Done || len(last.Marks) != 4 || !strings.Contains(string(last.Report["known"]), want) {
		t.Errorf("ended %t: %+v, want %+v", ended, last, want)
	}
}

// TestAnalysisProgress checks that a search that takes longer than half a second sends a line then,
// which differs from the one before only in the work done.
func TestAnalysisProgress(t *testing.T) {
	server := serve(t)
	answer := must.Get(http.Get(server.URL + "/view/connectn/8-7-4/analysis?moves="))(t)
	defer answer.Body.Close()
	var last reportJSON
	for lines, reports := bufio.NewScanner(answer.Body), 0; reports < 200 && lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var now reportJSON
		must.OK(t, json.Unmarshal([]byte(text), &now))
		source := now.Report["known"]
		if now.Report["known"] = last.Report["known"]; now.Report["known"] != source && reflect.DeepEqual(now, last) {
			return
		}
		now.Report["known"] = source
		last = now
		reports++
	}
	t.Error("no line of a search at work")
}

// TestBook checks that the positions of an opening book have all values without a search, and
// that the perfect machine plays from it.
func TestBook(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=4").(game.Tiered)
	tab := solved.Table(t, g)
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1}))(t)
	s.games["connectn/4-4-4"] = &served{id: "connectn", variant: "4-4-4", g: g, book: testbook.New(t, g, 3)}
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	_, body := get(t, server.URL+"/view/connectn/4-4-4?moves=1,1")
	var v viewJSON
	must.OK(t, json.Unmarshal([]byte(body), &v))
	h := player.NewHistory(g)
	for i, text := range texts(v.Review["history"], "button") {
		value, _, err := tab.Lookup(h.Position())
		if m := markOf(g, h.Position(), h.Turn(), "", analysis.Worth{Value: value, Known: true}); err != nil || m.Value == "tie" && text != "tie" || m.Value != "tie" && !strings.HasSuffix(text, " in "+m.Ends) {
			t.Errorf("ply %d: %v, %q, want %+v", i, err, text, m)
		}
		if i < 2 {
			must.OK(t, h.Play("1"))
		}
	}
	if slices.ContainsFunc(v.Marks, func(m markJSON) bool { return m.Value == "" }) || len(v.Marks) != len(v.Moves) {
		t.Errorf("%+v", v.Marks)
	}
	if _, body := get(t, server.URL+"/view/connectn/4-4-4/analysis?moves=1,1"); strings.Count(body, "event: report") != 1 || !strings.Contains(body, "From the opening book.") || !strings.Contains(body, `"done":true`) {
		t.Error(body)
	}
	choices := must.Get(tab.Choices(h.Position()))(t)
	s.slots = nil // a search would wait
	if status, body := get(t, server.URL+"/view/connectn/4-4-4?moves=1,1&mode=play&seats=perfect,person&do=machine"); status != 200 || !strings.Contains(body, `"moves":"1,1,`+choices[0].Name+`"`) {
		t.Errorf("status %d: %s, want %s", status, body, choices[0].Name)
	}
}

// TestKnown keeps more analyses than a server may, and checks that none is taken for that of another board.
func TestKnown(t *testing.T) {
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1}))(t)
	boards := []*served{{id: "connectn", g: solved.Game(t, "connectn width=4 height=4 connect=3")}, {id: "connectn", g: solved.Game(t, "connectn width=4 height=4 connect=4")}}
	p := boards[0].g.Moves(nil, boards[0].g.Start())[0].To
	for i := range game.Position(maxKnown) {
		s.keep(boards[0], analysis.Report{Position: 1<<40 + i})
	}
	s.keep(boards[0], analysis.Report{Position: p, Worth: analysis.Worth{Known: true}})
	if !s.worth(boards[0], p).Known || s.worth(boards[1], p).Known || s.begin(boards[1], p).Known || len(s.assessed) > maxKnown {
		t.Errorf("%d analyses, %+v", len(s.assessed), s.worth(boards[1], p))
	}
}

// TestMissing asks for a position whose successors are missing in the table.
func TestMissing(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3")
	dir := solved.Dir(t, g)
	out := must.Get(os.Create(filepath.Join(dir, table.TierFile(1))))(t)
	must.OK(t, errors.Join(streamfmt.NewWriter(out, g.Spec(), streamfmt.HalfBlocks, nil).Close(), out.Close(), table.Seal(store.Local{}, dir, g.Spec())))
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	server := httptest.NewServer(must.Get(New(Options{Games: all.Kinds(), Searches: 1, Sources: []Source{{Name: dir, Table: tab}}}))(t).Handler())
	defer server.Close()
	if status, body := get(t, server.URL+"/api/connectn/3-3-3/positions?p="+url.QueryEscape(string(g.AppendText(nil, g.Start())))); status != 500 || !strings.Contains(body, "its move 0 leads to") || !strings.Contains(body, "which is missing") {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestMachineMove checks that every machine makes legal moves, and that those that see a win take it.
func TestMachineMove(t *testing.T) {
	server := serve(t, "connectn width=4 height=4 connect=3")
	for _, level := range append(player.Opponents(), player.Level{Name: "grandmaster&limit=1"}) {
		level := level.Name
		status, body := get(t, server.URL+"/view/connectn/4-4-3?moves=0,0&do=machine&seats="+strings.Replace(level+",person", "&limit=1,person", ",person&limit=1", 1))
		var v viewJSON
		if err := json.Unmarshal([]byte(body), &v); status != 200 || err != nil || v.Made != 3 || level == "perfect" && v.Game["moves"] != "0,0,2" {
			t.Errorf("%s: status %d, %v: %s", level, status, err, body)
		}
	}
}

// TestRefused checks the answers to requests that are not allowed or not possible.
func TestRefused(t *testing.T) {
	server := serve(t)
	for _, test := range []struct {
		method, path, host string
		status             int
		says               string
	}{
		{"GET", "/", "evil.example", 421, `host \"evil.example\" is not served here`},
		{"GET", "/", "evil-localhost", 421, "is not served here"},
		{"GET", "/", "evil-board.example", 421, "is not served here"},
		{"GET", "/", "Board.example:1", 200, ""},
		{"GET", "/", "localhost:1", 200, ""},
		{"GET", "/", "[::1]:1", 200, ""},
		{"POST", "/", "", 405, "expected GET or HEAD"},
		{"GET", "/none", "", 404, "no such page"},
		{"GET", "/static/play.html", "", 404, "no such page"},
		{"GET", "/static/..%2fweb.go", "", 404, ""},
		{"GET", "/static/..%2f..%2f..%2f..%2fetc%2fpasswd", "", 404, ""},
		{"GET", "/tables/connectn/..%2f..%2fetc%2fpasswd", "", 404, ""},
		{"GET", "/view/..%2f..%2fetc/passwd", "", 404, ""},
		{"GET", "/play/connectn?width=7&height=6&connect=4", "", 200, "Connect 4 on 7×6"}, // redirects
		{"GET", "/play/network", "", 200, "Network"},
		{"GET", "/", "", 200, "pieces of each player: 3, 5, 6, 7 or 9"},
		{"GET", "/play/connectn/7-6-4/", "", 200, `<a href="./../../../">`},
		{"GET", "/play/connect4", "", 200, "column with 6 pieces is full"}, // the rules, too
		{"GET", "/play/mnk", "", 200, "<pre>   a b c\n1  . O X"},
		{"GET", "/play/connectn?width=x", "", 400, "expected width=NUMBER"},
		{"GET", "/play/chess", "", 404, `there is no game \"chess\"`},
		{"GET", "/play/chess/regular", "", 404, `there is no game \"chess\"`},
		{"GET", "/view/connectn/7-6", "", 404, "expected 3 parameters"},
		{"GET", "/view/connectn/7-600-4", "", 404, "height"},
		{"GET", "/view/connectn/7-6-4?moves=9", "", 400, "move 1: expected one of"},
		{"GET", "/view/connectn/7-6-4?from=xyz", "", 400, "position"},
		{"GET", "/view/connectn/7-6-4/analysis?from=xyz", "", 400, "position"},
		{"GET", "/view/connectn/7-6-4?seats=divine,person", "", 400, "expected random, beginner"},
		{"GET", "/view/connectn/3-3-3?do=hint&moves=0,1,0,1,0", "", 400, "there is no such action"},
		{"GET", "/view/connectn/7-6-4?seats=random,random&do=machine&limit=-1", "", 400, "expected milliseconds"},
		{"GET", "/view/connectn/7-6-4?seats=random,random&do=machine&limit=10001", "", 400, "expected milliseconds, from 1 to 10000"},
		{"GET", "/view/connectn/7-6-4?moves=" + strings.Repeat("0,", 9000), "", 414, "query"},
	} {
		r := must.Get(http.NewRequest(test.method, server.URL+test.path, nil))(t)
		if test.host != "" {
			r.Host = test.host
		}
		answer := must.Get(http.DefaultClient.Do(r))(t)
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != test.status || !strings.Contains(string(body), test.says) {
			t.Errorf("%s %.80s: status %d, %s", test.method, test.path, answer.StatusCode, body)
		}
		h := answer.Header
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", test.path, h)
		}
	}
}

// TestRedirect checks that a redirect to the page of a game keeps what is no parameter of the game.
func TestRedirect(t *testing.T) {
	server := serve(t)
	for from, to := range map[string]string{
		"/play/connect4":                          "/play/connectn/7-6-4",
		"/play/connect4?moves=3,3":                "/play/connectn/7-6-4?moves=3%2C3",
		"/play/connectn?width=5&from=%239&moves=": "/play/connectn/5-3-3?from=%239&moves=",
		"/play/connectn?width=5&moves=3":          "/play/connectn/5-3-3?moves=3",
	} {
		answer := must.Get(http.Get(server.URL + from))(t)
		answer.Body.Close()
		if got := answer.Request.URL.RequestURI(); got != to {
			t.Errorf("%s leads to %s, want %s", from, got, to)
		}
	}
}

// TestIndex checks the list of games: each game has one card, solved ones are marked, other boards come after the first of each game,
// game by game, and each card has one link, and a board with a position that is not the first one, as a picture and as text.
func TestIndex(t *testing.T) {
	_, page := get(t, serve(t, "connectn width=3 height=3 connect=3", "mnk width=2 height=2 connect=2", "connectn width=4 height=4 connect=3").URL+"/")
	cards := regexp.MustCompile(`<li( data-solved)?>`).Split(page, -1)[1:]
	if want := len(all.Kinds()) + 2; len(cards) != want { // one is the default of its kind
		t.Errorf("%d cards, want %d", len(cards), want)
	}
	var links, marked []string
	for _, card := range cards {
		found := regexp.MustCompile(`<a href="([^"]*)"`).FindAllStringSubmatch(card, -1)
		if len(found) != 1 {
			t.Fatalf("%d links: %s", len(found), card)
		}
		links = append(links, found[0][1])
		text := html.UnescapeString(regexp.MustCompile(`data-board="([^"]*)"`).FindStringSubmatch(card)[1])
		var v viewJSON
		must.OK(t, json.Unmarshal([]byte(text), &v))
		id, variant, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(found[0][1], "./play/"), "#against=adapts"), "/")
		spec := must.Get(must.Get(New(Options{Games: all.Kinds(), Searches: 1}))(t).specOf(id, variant))(t)
		text = html.UnescapeString(regexp.MustCompile(`(?s)<noscript><pre>(.*?)</pre>`).FindStringSubmatch(card)[1])
		if regexp.MustCompile(`\bN (in|of)\b`).MatchString(card) || strings.HasPrefix(spec, "connectn") && !strings.Contains(card, "3 in a row wins") {
			t.Errorf("%s: %s", spec, card)
		}
		if strings.Contains(card, `<small class="badge">solved</small></a>`) {
			marked = append(marked, found[0][1])
		}
		if g := solved.Game(t, spec); reflect.DeepEqual(v.Picture.Rows, g.Picture(g.Start()).Rows) || v.Picture.Won != nil || strings.Count(text, "\n") < len(v.Picture.Rows) {
			t.Errorf("%s: the board is %v\n%s", spec, v.Picture, text)
		}
	}
	if want := []string{"./play/connectn/3-3-3#against=adapts", "./play/connectn/4-4-3#against=adapts", "./play/mnk/2-2-2#against=adapts"}; links[0] != want[0] || !slices.Equal(links[len(links)-2:], want[1:]) || !slices.Equal(marked, want) {
		t.Errorf("the links are %v, those of solved games %v", links, marked)
	}
	if n := strings.Count(page, "<li data-solved>"); n != 3 {
		t.Errorf("%d games can be the game of the day, want 3", n)
	}
	if n := strings.Count(page, `action="./play/connectn#against=adapts"`); n != 1 {
		t.Errorf("%d forms of a game", n)
	}
	for _, want := range []string{`<select name="men"><option>3</option><option selected>5</option><option>6</option>`, `<summary aria-label="Other boards than Quixo on 3×3">`, `game has its exact value`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if _, page := get(t, serve(t).URL+"/"); strings.Contains(page, "game has its exact value") || !strings.Contains(page, "<p>The values of positions are found by search") {
		t.Error("without a table, the page speaks of solved games")
	}
}

// TestLimits checks that a server whose slots for searches and event streams are taken refuses
// further ones, and that it does not keep all games.
func TestLimits(t *testing.T) {
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1, Memory: 1 << 20}))(t)
	taken := <-s.slots
	ask := func(path string) *httptest.ResponseRecorder {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/view/connectn/4-4-3"+path, nil).WithContext(ctx))
		return w
	}
	if w := ask("?seats=perfect,person&do=machine"); w.Code != 503 || !strings.Contains(w.Body.String(), "busy") {
		t.Errorf("a move without a slot: status %d: %s", w.Code, w.Body)
	}
	s.streams = make(chan struct{}) // none may begin
	for _, path := range []string{"/analysis", "/review?moves=1,1"} {
		if w := ask(path); w.Code != 503 || !strings.Contains(w.Body.String(), "busy") {
			t.Errorf("%s without a stream: status %d: %s", path, w.Code, w.Body)
		}
	}
	s.slots <- taken
	if w := ask("?seats=club,person&do=machine"); w.Code != 200 {
		t.Errorf("a move with a slot: status %d: %s", w.Code, w.Body)
	}
	for n := range maxGames + 1 {
		s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", fmt.Sprintf("http://localhost/play/mancala/1-%d", n+1), nil))
	}
	if len(s.games) != maxGames {
		t.Errorf("%d games are kept, want %d", len(s.games), maxGames)
	}
}

// gone is the connection to a client that is gone: writes fail, or the first one ends the request.
type gone struct {
	http.ResponseWriter
	end func() // nil: writes fail
}

func (g gone) Write(b []byte) (int, error) {
	if g.end == nil {
		return 0, io.ErrClosedPipe
	}
	g.end()
	return len(b), nil
}

func (gone) Flush() {}

// TestGone checks that event streams end when their client is gone: when an event cannot be sent, or while they wait.
func TestGone(t *testing.T) {
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1}))(t)
	for _, path := range []string{"analysis", "review?moves=1"} {
		for _, ends := range []bool{false, true} {
			ctx, end := context.WithCancel(t.Context())
			w := gone{httptest.NewRecorder(), end}
			sl := <-s.slots // so that the stream waits for it
			if !ends {
				w.end = nil
				s.slots <- sl
			}
			s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/view/connectn/4-4-3/"+path, nil))
			if len(s.streams) != 0 || w.Header().Get("X-Accel-Buffering") != "no" {
				t.Errorf("%s: %d streams are open, headers %v", path, len(s.streams), w.Header())
			}
			if end(); ends {
				s.slots <- sl
			}
		}
	}
}

// TestEnd checks the result and the review of a game that is over, and that a request names the level of a machine that adapts.
func TestEnd(t *testing.T) {
	path := serve(t, "connectn width=3 height=3 connect=3").URL + "/view/connectn/3-3-3?mode=play&seats="
	for query, want := range map[string]string{
		"person,adapts&moves=0,1,0,1,0": "win", "adapts,person&moves=0,1,0,1,0": "lose", "person,person&moves=0,1,0,1,0": "", "person,random&moves=0,1,2,1,0,2,1,0,2": "tie",
		"person,random&moves=0,1,0,1": "", "person,random&moves=0,1,0,1&resigned=1": "lose", "random,person&moves=0,1,0,1&resigned=1": "win",
	} {
		if v := ask[viewJSON](t, path+query); v.Result != want || (v.Review != nil) != (v.Over != "") || len(v.Marks) > 0 || !v.Done {
			t.Errorf("%s: result %q, want %q: %+v", query, v.Result, want, v)
		}
	}
	if v := ask[viewJSON](t, path+"adapts,person&do=machine&level=casual"); v.Made != 1 || v.Game["seats"] != "adapts,person" {
		t.Errorf("the machine that adapts: %+v", v.Game)
	}
	for _, query := range []string{"adapts,person&do=machine", "adapts,person&do=machine&level=adapts", "person,x"} {
		if status, body := get(t, path+query); status != 400 {
			t.Errorf("%s: status %d: %s", query, status, body)
		}
	}
}

// TestLog checks that an error is one line of the log, whatever a request contains.
func TestLog(t *testing.T) {
	var lines strings.Builder
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1, Log: log.New(&lines, "", 0)}))(t)
	r := httptest.NewRequest("GET", "http://localhost/view/connectn/7-6-4%0aplay:%20all%20is%20well%1b[2J", nil)
	s.failed(&Request{Path: r.URL.EscapedPath()}, errors.New("one\ntwo"))
	if got, want := lines.String(), "/view/connectn/7-6-4%0aplay:%20all%20is%20well%1b[2J: one two\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPageSize checks that no page loads more than 160 kB besides its data.
func TestPageSize(t *testing.T) {
	server := serve(t)
	var files int
	for _, path := range []string{"/", "/play/connectn/7-6-4", "/play/network/regular", "/puzzles/connectn/7-6-4"} {
		seen := map[string]bool{}
		var load func(string) int
		load = func(name string) (size int) {
			if seen[name] {
				return 0
			}
			seen[name] = true
			status, body := get(t, server.URL+name)
			if status != 200 {
				t.Errorf("%s: status %d", name, status)
			}
			size = len(body)
			for _, m := range regexp.MustCompile(`(?:href|src)="[./]+(/static/[^"]+)"|from '\./([^']+)'`).FindAllStringSubmatch(body, -1) {
				if m[1] != "" {
					size += load(m[1])
				} else {
					size += load("/static/" + m[2])
				}
			}
			return size
		}
		if size := load(path); size > 160_000 || size < 5_000 {
			t.Errorf("%s: %d bytes: %v", path, size, seen)
		}
		files = max(files, len(seen))
	}
	if want := 11; files != want { // the page, three style sheets, six scripts and the icon
		t.Errorf("a page loads %d files, want %d", files, want)
	}
}

// FuzzView checks that any query gets an answer, that none of them is an internal error, and that the game of an answer is one
// that the next request can have.
func FuzzView(f *testing.F) {
	f.Add("from=0x044&moves=1,2")
	f.Add("from=%20%20&moves=a1-")
	f.Add("mode=play&seats=person,random&rival=club&do=move 1&do=machine&do=undo&do=go 1&do=swap&do=resign&do=new&do=seat 0 random")
	f.Add("practice=null")
	f.Add(`practice={"plies":[""]}`)
	f.Add(`moves=0,0,3&practice={"plies":[2],"had":"Ag==","at":0,"tries":["1"],"back":3}&do=move 2&do=next&do=stop`)
	for _, action := range []string{"swap", "seat 0 random", "resume", "resign", "undo", "go 1", "new", "play", "practise", "pause"} {
		f.Add(`moves=0,0&later=3&seats=person,random&practice={"plies":[2],"had":"Ag==","at":0,"tries":["1"],"back":3}&do=` + action)
	}
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1, Memory: 1 << 20}))(f)
	handler := s.Handler()
	games := []string{"connectn/4-4-3", "quickcross/3-3-3", "mancala/3-2", "network/regular", "dodgem/3"}
	f.Fuzz(func(t *testing.T, query string) {
		for _, g := range games {
			r := httptest.NewRequest("GET", "http://localhost/view/"+g, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code >= 500 {
				t.Errorf("%s?%q: status %d, %s", g, query, w.Code, w.Body)
			}
			var first, next viewJSON
			if w.Code != 200 || json.Unmarshal(w.Body.Bytes(), &first) != nil {
				continue
			}
			again := url.Values{}
			for name, value := range first.Game {
				again.Set(name, value)
			}
			r.URL.RawQuery = again.Encode()
			w = httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if err := json.Unmarshal(w.Body.Bytes(), &next); w.Code != 200 || err != nil || !maps.Equal(next.Game, first.Game) || first.Hint == "" && next.Said != first.Said {
				t.Errorf("%s?%q: %v %q, then status %d: %s", g, query, first.Game, first.Said, w.Code, w.Body)
			}
		}
	})
}

// TestServe checks that clients that send or read nothing do not keep others from their
// answers, and that the end of the context ends open event streams and the server.
func TestServe(t *testing.T) {
	s := must.Get(New(Options{Games: all.Kinds(), Searches: 1, Memory: 8 << 20}))(t)
	l := must.Get(net.Listen("tcp", "localhost:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	at := "http://" + l.Addr().String()
	var slow []net.Conn
	for range 50 {
		conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		slow = append(slow, conn)
		io.WriteString(conn, "GET / HTTP/1.1\r\nHo")
	}
	stream := must.Get(http.Get(at + "/view/connectn/8-7-4/analysis"))(t)
	defer stream.Body.Close()
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || line != "event: report\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if status, _ := get(t, at+"/"); status != 200 {
		t.Errorf("status %d beside slow clients", status)
	}
	large := must.Get(http.NewRequest("GET", at+"/", nil))(t)
	large.Header.Set("X-Large", strings.Repeat("x", 2*maxHeader))
	answer := must.Get(http.DefaultClient.Do(large))(t)
	if answer.Body.Close(); answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d of a large header", answer.StatusCode)
	}
	for _, conn := range slow { // the server would wait for their requests
		conn.Close()
	}
	stop()
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("the event stream: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if answer, err := http.Get(at + "/"); err == nil {
		answer.Body.Close()
		t.Error("an answer after the end")
	}
}

// TestLongRequests sends 100,000 random requests. None may lead to an internal error, and at the
// end the server still answers as at the beginning.
func TestLongRequests(t *testing.T) {
	longtest.Skip(t)
	o := Options{Games: all.Kinds(), Searches: 1, Memory: 1 << 20}
	for _, spec := range []string{"connectn width=3 height=3 connect=3", "quickcross width=3 height=2 connect=3", "mancala pits=2 stones=2"} {
		o.Sources = append(o.Sources, Source{Name: spec, Table: solved.Table(t, solved.Game(t, spec))})
	}
	s := must.Get(New(o))(t)
	handler := s.Handler()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	ask := func(path, query string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(pick("GET", "GET", "GET", "HEAD", "POST"), "http://localhost/", nil)
		request.URL.Path, request.URL.RawQuery = path, query
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, request)
		return w
	}
	for range 100_000 {
		path := pick("/play/", "/tables/", "/view/", "/api/", "/static/", "/") + pick("connectn/3-3-3", "connectn/7-6-4", "quickcross/3-2-3", "mancala/2-2", "network/regular", "dodgem/3", "..", "%2e%2e", "\x00") +
			pick("", "", "/", "/positions/", "/tiers.svg", "/heat.svg", "/tiers.csv", "/instructions", "/../..", "/ä")
		query := ""
		for range r.IntN(4) {
			value := pick("", "0", "1,2", "a1-", "0x44", "#5", "1_X........", "State([2,2,0,2,2,0],0)", "X,O,.\n.,.,.", "WIN", "tie", "-1", "99999999999999999999")
			if i := r.IntN(len(value) + 1); r.IntN(3) == 0 {
				value = value[:i] + string(rune(r.IntN(300))) + value[i:]
			}
			query += pick("from", "moves", "p", "random", "tier", "outcome", "remoteness", "board", "turn", "width", "pits") + "=" + pick(value, url.QueryEscape(value)) + pick("&", "&", ";", "%")
		}
		if w := ask(path, query); w.Code >= 500 {
			t.Errorf("%q?%q: status %d, %.300s", path, query, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/api/connectn/3-3-3/positions/?p=1_.........", nil))
	if !strings.Contains(w.Body.String(), `"positionValue":"tie","remoteness":9`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
