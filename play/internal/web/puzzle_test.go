package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/train"
	"github.com/treereduce/treereduce/table"
)

// ask decodes the answer of a server.
func ask[T any](t testing.TB, address string) (answer T) {
	t.Helper()
	status, body := get(t, address)
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 {
		t.Fatalf("%s: status %d: %s", address, status, body)
	}
	return answer
}

// moveOf returns the only move of a puzzle that keeps the result, by the values of the table.
func moveOf(t testing.TB, tab *table.Table, v *viewJSON) string {
	t.Helper()
	g := tab.Game()
	p := g.Start()
	for name := range strings.SplitSeq(v.Game["moves"], ",") {
		moves := g.Moves(nil, p)
		p = moves[slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == name })].To
	}
	result := func(q game.Position) game.Result {
		value, _, err := tab.Lookup(q)
		must.OK(t, err)
		return value.Outcome().For(g.ToMove(p))
	}
	var keep []string
	for _, m := range g.Moves(nil, p) {
		if result(m.To) == result(p) {
			keep = append(keep, m.Name)
		}
	}
	if len(keep) != 1 || result(p) == game.Loses {
		t.Errorf("%v: %q keep the result", v.Game, keep)
	}
	return strings.Join(keep, " ")
}

// TestPuzzle checks the puzzles of days: one move keeps the result, the server says so and that others do not. Another server has
// the same, and other days and grades have others.
func TestPuzzle(t *testing.T) {
	g := solved.Game(t, "connectn width=5 height=4 connect=4")
	tab := solved.Table(t, g)
	server, second := serve(t, g.Spec()), serve(t, g.Spec())
	all := map[string]bool{}
	for _, date := range []string{"2026-11-29", "2026-11-30", "2028-02-29"} {
		seen := map[string]bool{}
		for _, b := range train.Bands() {
			path := "/puzzle/connectn/5-4-4?date=" + date + "&grade=" + b.Name
			p := ask[puzzleJSON](t, server.URL+path)
			if again := ask[puzzleJSON](t, second.URL+path); again.ID != p.ID || again.View.Text != p.View.Text || again.Task != p.Task || again.Grade != p.Grade {
				t.Errorf("%s: %+v, with the other server %+v", path, p, again)
			}
			if seen[p.ID] || p.Grade < b.Lowest || p.Grade > b.Highest || !strings.HasPrefix(p.Task, p.View.Players[p.View.Turn]+" to move: find the move that ") {
				t.Errorf("%s: repeated %v, grade %d, %s", path, seen[p.ID], p.Grade, p.Task)
			}
			seen[p.ID], all[p.ID] = true, true
			if p.View.Report != nil || p.View.Review != nil || p.View.Marks != nil {
				t.Errorf("%s shows values", path)
			}
			answer, play := moveOf(t, tab, p.View), server.URL+"/puzzle/connectn/5-4-4/answer?moves="+p.View.Game["moves"]
			for _, m := range p.View.Moves {
				got := ask[answerJSON](t, play+"&move="+m.Name)
				mark := got.Marks[slices.IndexFunc(got.Marks, func(o markJSON) bool { return o.Name == m.Name })]
				word, text, ends := "", "", 0
				fmt.Sscanf(got.Text, "%s %s in %d", &text, &word, &ends)
				if got.Right != (m.Name == answer) || got.Move != m.Name || text != m.Name+":" || word != mark.Value || !strings.HasSuffix(mark.Text, strconv.Itoa(ends)) {
					t.Errorf("%s: move %s: %+v, the answer is %s", path, m.Name, got, answer)
				}
				if _, line, found := strings.Cut(got.Text, ", then "); found != (ends > 1) || !strings.Contains(line, "threatens") && len(strings.Fields(line)) != min(ends-1, 7) {
					t.Errorf("%s: move %s: line %q of %d moves", path, m.Name, line, ends)
				}
			}
			if got := ask[answerJSON](t, play); got.Move != answer || !got.Right {
				t.Errorf("%s: shows %+v, the answer is %s", path, got, answer)
			}
			if again := ask[puzzleJSON](t, server.URL+"/puzzle/connectn/5-4-4?moves="+p.View.Game["moves"]); again.ID != p.ID || again.Task != p.Task || again.Grade != 0 {
				t.Errorf("%s: the position itself: %+v", path, again)
			}
		}
	}
	if len(all) < 7 { // the puzzles of a day do not depend on those of another one, so that two can be the same
		t.Errorf("9 puzzles of 3 days are %d different ones", len(all))
	}
}

// TestSmallGames checks the puzzles of days of games with few hard ones: a grade is not below that of the button before, the page is
// told if a grade is missing, and few answers end the game.
func TestSmallGames(t *testing.T) {
	server := serve(t, "mills men=3", "quixo size=3")
	for _, game := range []string{"mills/3", "quixo/3"} {
		harder, ends := 0, 0
		for day := range 5 {
			last := 0
			for _, b := range train.Bands() {
				path := fmt.Sprintf("/puzzle/%s?date=2026-11-%d&grade=%s", game, 26+day, b.Name)
				p := ask[puzzleJSON](t, server.URL+path)
				level := fmt.Sprintf("grade %d of 10", p.Grade)
				if p.Grade < b.Lowest {
					level += "; none harder was found"
				}
				if p.Grade < last || p.Level != level {
					t.Errorf("%s: %s after grade %d, want %s", path, p.Level, last, level)
				}
				harder, last = max(harder, p.Grade), p.Grade
				if text := ask[answerJSON](t, server.URL+"/puzzle/"+game+"/answer?moves="+url.QueryEscape(p.View.Game["moves"])).Text; strings.HasSuffix(text, ": win in 1") {
					ends++
				}
			}
		}
		if harder < 2 || ends > 2 {
			t.Errorf("%s: the highest grade is %d, and %d of 15 answers end the game", game, harder, ends)
		}
	}
}

// TestDaysInRow checks that the puzzles of two days in a row differ, and that a game with one puzzle has it on each day.
func TestDaysInRow(t *testing.T) {
	const one = "quickcross width=4 height=1 connect=2"
	specs := []string{"connectn width=3 height=3 connect=3", "mancala pits=2 stones=2", one}
	server := serve(t, specs...)
	for _, spec := range specs {
		id, variant := idOf(spec)
		var before []string
		for day := range 10 {
			date := time.Date(1969, 12, 27+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			var now []string
			for _, b := range train.Bands() {
				now = append(now, ask[puzzleJSON](t, server.URL+"/puzzle/"+id+"/"+variant+"?date="+date+"&grade="+b.Name).ID)
			}
			if again := slices.ContainsFunc(now, func(id string) bool { return slices.Contains(before, id) }); day > 0 && again != (spec == one) {
				t.Errorf("%s, %s: puzzles %v after %v", spec, date, now, before)
			}
			before = now
		}
	}
}

// TestAnotherPuzzle checks that puzzles of seeds are not those that the page names, and that there are none after the last.
func TestAnotherPuzzle(t *testing.T) {
	server := serve(t, "connectn width=3 height=3 connect=3")
	tab := solved.Table(t, solved.Game(t, "connectn width=3 height=3 connect=3"))
	var ids []string
	for seed := 0; ; seed++ {
		path := server.URL + "/puzzle/connectn/3-3-3?grade=medium&seed=" + strconv.Itoa(seed) + "&without=" + strings.Join(ids, ",")
		status, body := get(t, path)
		if status == 404 && strings.Contains(body, "found no puzzle") {
			break
		}
		p := ask[puzzleJSON](t, path)
		moveOf(t, tab, p.View)
		if slices.Contains(ids, p.ID) {
			t.Fatalf("puzzle %s is repeated", p.ID)
		}
		ids = append(ids, p.ID)
	}
	if len(ids) < 30 {
		t.Errorf("%d puzzles", len(ids))
	}
}

// TestPuzzleRefused checks the errors.
func TestPuzzleRefused(t *testing.T) {
	server := serve(t, "connectn width=3 height=3 connect=3")
	for path, want := range map[string]string{
		"connectn/3-3-3?grade=easy":                              `400 date \"\": expected`,
		"connectn/3-3-3?grade=easy&date=2026-13-01":              `400 date \"2026-13-01\": expected`,
		"connectn/3-3-3?grade=11&date=2026-11-29":                `400 grade \"11\": expected easy, medium or hard`,
		"connectn/3-3-3?grade=easy&seed=x":                       `400 seed \"x\": expected a number`,
		"connectn/3-3-3?grade=easy&seed=1&without=1,y":           `400 without \"1,y\": expected numbers`,
		"connectn/4-3-3?grade=easy&date=2026-11-29":              `404 Connect 3 on 4×3 has no table here`,
		"connectn/3-3-3?moves=0,1,0,1,0":                         `400 the game is over`,
		"connectn/3-3-3/answer?moves=0,1,0,1,0":                  `400 expected no move`,
		"connectn/3-3-3/answer?moves=0&move=7":                   `400 expected one of`,
		"network/regular/answer?move=11":                         `503 position`,
		"network/regular?from=" + url.QueryEscape("no position"): `400 position`,
	} {
		status, body := get(t, server.URL+"/puzzle/"+path)
		text, says, _ := strings.Cut(want, " ")
		if strconv.Itoa(status) != text || !strings.Contains(body, says) {
			t.Errorf("%s: status %d: %s; expected %s", path, status, body, want)
		}
	}
}

// TestMistakeBySearch checks the answer to a mistake in a game without a table: a search proves the values.
func TestMistakeBySearch(t *testing.T) {
	server := serve(t)
	for move, want := range map[string]bool{"0": true, "4": false} { // X has three above one another, and so has O
		got := ask[answerJSON](t, server.URL+"/puzzle/connectn/7-6-4/answer?moves=0,1,0,1,0,1&move="+move)
		if got.Right != want {
			t.Errorf("move %s: %+v", move, got)
		}
	}
	if p := ask[puzzleJSON](t, server.URL+"/puzzle/connectn/7-6-4?moves=0,1,0,1,0,1"); p.Task != "X to move: find the move that wins" {
		t.Errorf("the task is %q", p.Task)
	}
}
