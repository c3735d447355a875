package session_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/search"
)

const three = "connectn width=3 height=3 connect=3"

// TestScripts does what people do, and checks the moves that are made, those that can be made again, and the state in words.
func TestScripts(t *testing.T) {
	both, first, second, none := [2]bool{true, true}, [2]bool{true, false}, [2]bool{false, true}, [2]bool{}
	for _, test := range []struct {
		people [2]bool
		script string // moves, and u undo, r redo, s swap, ! resign, w wait; upper case: it must not be possible
		want   string // moves made, moves taken back, state
	}{
		{both, "", "|| X to move"},
		{both, "01", "0 1|| X to move"},
		{both, "01uU", ""},
		{both, "01uuU", "|0 1| X to move"},
		{both, "01uur", "0|1| O to move"},
		{both, "01uurrR", "0 1|| X to move"},
		{both, "01uu0", "0|1| O to move"},
		{both, "01uu2", "2|| O to move"},
		{both, "01S", "0 1|| X to move"},
		{both, "01010", "0 1 0 1 0|| X has won after 5 moves"},
		{both, "01010u", "0 1 0 1|0| X to move"},
		{both, "01!", "0 1|| O has won after 2 moves: X resigned"},
		{both, "01!!", ""},
		{both, "01!u", "0 1|| X to move"},
		{both, "01!uu", "0|1| O to move"},
		{both, "01!u2", "0 1 2|| O to move"},
		{both, "012u!R", "0 1|| O has won after 2 moves: X resigned"},
		{first, "01!s", "0 1|| you have won after 2 moves: X (machine) resigned"},
		{first, "0", "0|| O (machine) is thinking"},
		{first, "0R", "0|| O (machine) is thinking"},
		{first, "01", "0 1|| X (you) to move"},
		{first, "0101", "0 1 0 1|| X (you) to move"},
		{first, "0101u", "0 1|0 1| X (you) to move"},
		{first, "0101uur", "0 1|0 1| X (you) to move"},
		{first, "01010", "0 1 0 1 0|| you have won after 5 moves"},
		{first, "01010s", "0 1 0 1 0|| you have lost after 5 moves"},
		{first, "01!", "0 1|| you have lost after 2 moves: X (you) resigned"},
		{first, "01s", "0 1|| X (machine) is thinking"},
		{first, "01sw", "0 1|| X (machine) is paused"},
		{second, "", "|| X (machine) is thinking"},
		{second, "0u", "|0| X (machine) is paused"},
		{second, "01010", "0 1 0 1 0|| you have lost after 5 moves"},
		{none, "01u", "0|1| O (machine) is paused"},
		{none, "01u1", "0 1|| X (machine) is thinking"},
		{both, "210200121", "2 1 0 2 0 0 1 2 1|| a tie after 9 moves"},
	} {
		s := session.New(player.NewHistory(solved.Game(t, three)), test.people)
		failed := false
		for _, c := range test.script {
			ok := true
			switch c {
			case 'u', 'U':
				ok = s.Undo()
			case 'r', 'R':
				ok = s.Redo()
			case 's', 'S':
				ok = s.Swap() == nil
			case '!':
				ok = s.Resign() == nil
			case 'w':
				s.Paused = true
			default:
				ok = s.Play(string(c)) == nil
			}
			failed = failed || ok != (c != 'U' && c != 'R' && c != 'S')
		}
		made := s.History().Names()
		got := strings.Join(made, " ") + "|" + strings.Join(s.Moves()[len(made):], " ") + "| " + s.State()
		if failed != (test.want == "") || !failed && got != test.want {
			t.Errorf("%v %q: %q, failed %v, want %q", test.people, test.script, got, failed, test.want)
		}
	}
}

// TestPause checks that machines can be paused until the game is over.
func TestPause(t *testing.T) {
	s := session.New(player.NewHistory(solved.Game(t, three)), [2]bool{})
	for _, name := range []string{"0", "1", "0", "1", "0"} {
		if !s.Can("pause") {
			t.Error("not before", name)
		}
		must.OK(t, s.Play(name))
	}
	if s.Can("pause") {
		t.Error("after the end")
	}
}

// TestEndless plays a game that nobody wins until its moves are too many.
func TestEndless(t *testing.T) {
	g := solved.Game(t, "teeko variant=standard")
	s := session.New(player.NewHistory(g), [2]bool{true, false})
	random := rand.New(rand.NewPCG(1, 2))
	for _, over := s.End(); !over; _, over = s.End() {
		for _, i := range random.Perm(len(s.History().Moves())) {
			next := s.History().Clone()
			must.OK(t, next.Play(next.Moves()[i].Name))
			if _, won := next.Finished(); !won && next.Times() < 3 {
				must.OK(t, s.Play(next.Names()[len(next.Names())-1]))
				break
			}
		}
	}
	if got, want := s.State(), "a draw after 200 moves, the limit"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLater checks that a session continues with moves that were taken back.
func TestLater(t *testing.T) {
	h := player.NewHistory(solved.Game(t, three))
	must.OK(t, h.Play("0"))
	s := session.New(h, [2]bool{true, true}, "1", "2")
	for range 2 {
		if !s.Redo() {
			t.Error("no move can be made again")
		}
	}
	if got := strings.Join(s.History().Names(), " "); got != "0 1 2" || s.Redo() {
		t.Error(got)
	}
}

// TestAnalyse checks that an analysis names no machines, takes back one move at a time, lets machines wait, and goes on after a
// resignation, which counts again at its end.
func TestAnalyse(t *testing.T) {
	s := session.New(player.NewHistory(solved.Game(t, three)), [2]bool{true, false})
	for _, step := range []struct{ do, made, state string }{
		{"move 0", "0", "O (machine) is thinking"},
		{"move 1", "0 1", "X (you) to move"},
		{"resign", "0 1", "you have lost after 2 moves: X (you) resigned"},
		{"analyse", "0 1", "X to move"},
		{"play", "0 1", "you have lost after 2 moves: X (you) resigned"},
		{"analyse", "0 1", "X to move"},
		{"move 2", "0 1 2", "O to move"},
		{"undo", "0 1", "X to move"},
		{"go 0", "", "X to move"},
		{"redo", "0", "O to move"},
		{"play", "0", "O (machine) is paused"},
		{"resume", "0", "O (machine) is thinking"},
		{"pause", "0", "O (machine) is paused"},
		{"swap", "0", "O (you) to move"},
	} {
		must.OK(t, s.Do(step.do))
		if got := strings.Join(s.History().Names(), " "); got != step.made || s.State() != step.state {
			t.Errorf("%s: %q, %q, want %q, %q", step.do, got, s.State(), step.made, step.state)
		}
	}
	for _, action := range []string{"", "go", "go x", "move 9", "fly"} {
		if s.Do(action) == nil {
			t.Errorf("%q: no error", action)
		}
	}
}

// TestPractice puts the mistakes of a play right, with values from a table: one at the second try, one at once, and not the
// third. Against a machine, only those of the person are asked. A resignation stays.
func TestPractice(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=3")
	z := analysis.New(g, solved.Table(t, g), nil, search.Options{})
	h := player.NewHistory(g)
	for _, name := range []string{"0", "0", "3", "1", "2"} {
		must.OK(t, h.Play(name))
	}
	judgments := must.Get(z.Judge(t.Context(), h, 0, 0))(t)
	if got, want := session.Judged(h, judgments), "X: 3 moves, 2 mistakes. O: 2 moves, 1 mistake. The turning point was move 5, X 2, the last of 3 mistakes: it loses in 4, then 1 threatens 1 and 2; 1 was best and wins in 11 (1 0 0 1 1 3 …)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	unknown := slices.Clone(judgments)
	for i := range unknown {
		unknown[i].Before.Known, unknown[i].Mistake = false, false
	}
	if got, want := session.Judged(h, unknown), "X: 3 moves, 0 mistakes, 3 moves not judged: no value is proven. O: 2 moves, 0 mistakes, 2 moves not judged: no value is proven. Move 2, O 0, is the first that is known to lose: it loses in 10. Whether another move was better is not known."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	both := [2]bool{true, true}
	s := session.New(h, both)
	must.OK(t, s.Resign())
	known := func() analysis.Report { return must.Get(z.Assess(t.Context(), s.History().Position(), 0))(t) }
	says := func(want string) {
		t.Helper()
		task, verdict := s.Asked(known())
		if got := strings.TrimSpace(task + " " + verdict); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	must.OK(t, s.Practise(judgments))
	if !s.Analysing {
		t.Error("a practice without an analysis")
	}
	must.OK(t, s.Practice.Check(5))
	const first = "Mistake 1 of 3. Find a move with which X still wins."
	says(first)
	must.OK(t, s.Play("3"))
	says(first + " 3 is wrong: lose in 12. Try another move.")
	if s.Play("9") == nil || s.Right(known()) {
		t.Error("a move that is none, or a wrong move is right")
	}
	must.OK(t, s.Play("3"))
	says(first + " 3 is wrong, try 2: lose in 12. Try another move.")
	must.OK(t, s.Play("0"))
	says(first + " 0 is right: win in 11.")
	if !s.Right(known()) || len(s.History().Names()) != 2 {
		t.Errorf("%v", s.History().Names())
	}
	s.Next(known())
	says("Mistake 2 of 3. Find a move with which O still wins.")
	must.OK(t, s.Play("2"))
	s.Next(known())
	says("Mistake 3 of 3. Find a move with which X still wins.")
	must.OK(t, s.Play("3"))
	s.Next(known())
	says("1 of 3 found at the first try.")
	s.Next(known())
	if s.Play("3") == nil || s.Right(known()) {
		t.Error("a move after the end")
	}
	must.OK(t, s.Do("stop"))
	s.Analyse(false)
	if got, want := s.State(), "X has won after 5 moves: O resigned"; s.Practice != nil || got != want {
		t.Errorf("%+v, %q, want %q", s.Practice, got, want)
	}
	for name, end := range map[string]func() error{
		"resume": func() error { s.Resume(); return nil }, "swap": s.Swap, "seat": func() error { s.Sit(both); return nil },
	} {
		s.People = [2]bool{true, name != "swap"}
		must.OK(t, s.Practise(judgments))
		must.OK(t, end())
		if s.Practice != nil || len(s.History().Names()) != 5 {
			t.Errorf("%s in a practice: %+v, %v", name, s.Practice, s.History().Names())
		}
	}
	s.People = [2]bool{false, true}
	must.OK(t, s.Practise(judgments))
	says("Mistake 1 of 1. Find a move with which O still wins.")
	if s.Practise(judgments[:2]) == nil {
		t.Error("a practice without a mistake")
	}
	for _, p := range []session.Practice{{}, {Plies: []int{1}}, {Plies: []int{5}, Had: []game.Result{2}}, {Plies: []int{1}, Had: []game.Result{4}}, {Plies: []int{1}, Had: []game.Result{2}, At: 2}} {
		if p.Check(5) == nil {
			t.Errorf("%+v: no error", p)
		}
	}
}

// TestWords checks what a session says of a report, and that the result of a game is that of its only person.
func TestWords(t *testing.T) {
	g := solved.Game(t, three)
	h := player.NewHistory(g)
	for _, name := range []string{"0", "1", "0", "1"} {
		must.OK(t, h.Play(name))
	}
	s := session.New(h, [2]bool{false, true})
	for _, test := range []struct {
		report       analysis.Report
		said, source string
	}{
		{analysis.Report{Table: true, Worth: analysis.Worth{Known: true, Value: game.NewValue(game.FirstWins, 1)}}, "X: win in 1", "From the table."},
		{analysis.Report{Book: true, Done: true, Trouble: "the table is gone"}, "X: not known yet", "From the opening book. The table is gone."},
		{analysis.Report{Worth: analysis.Worth{Score: -2, Depth: 3}, Nodes: 2e6, Time: time.Second}, "Estimate: 2 points for O", "Search: 3 moves ahead, 2,000,000 positions, 2M a second …"},
		{analysis.Report{Worth: analysis.Worth{Depth: 3678}, Nodes: 2e6, Done: true}, "Estimate: even", "Search: 2,000,000 positions"},
	} {
		test.report.Position = h.Position()
		if said, source := s.Said(test.report), session.Source(test.report); said != test.said || source != test.source {
			t.Errorf("%q, %q, want %q, %q", said, source, test.said, test.source)
		}
	}
	if _, ok := s.Result(); ok {
		t.Error("a result before the end")
	}
	must.OK(t, s.Play("0"))
	if r, ok := s.Result(); r != game.Loses || !ok {
		t.Error(r, ok)
	}
	s.Sit([2]bool{true, true})
	if _, ok := s.Result(); ok {
		t.Error("a result of two people")
	}
}

// TestPlayed continues games from their records: one that goes on, one that is over, and one that a player has resigned.
func TestPlayed(t *testing.T) {
	g := solved.Game(t, three)
	for _, test := range []struct{ script, result, state string }{
		{"0 1", "none adjourned", "X (you) to move"},
		{"0 1 0 1 0", "first finished", "you have won after 5 moves"},
		{"0 1 !", "second resigned", "you have lost after 2 moves: X (you) resigned"},
	} {
		s := session.New(player.NewHistory(g), [2]bool{true, false})
		for _, name := range strings.Fields(test.script) {
			if name == "!" {
				must.OK(t, s.Resign())
			} else {
				must.OK(t, s.Play(name))
			}
		}
		p := s.Played([2]string{"human", "random"})
		if got := p.Result() + " " + p.Reason.String(); got != test.result || p.Players[1] != "random" || s.Over() != (test.result != "none adjourned") {
			t.Errorf("%s: %s, want %s", test.script, got, test.result)
		}
		if again := session.Continue(p, s.People); again.State() != test.state || len(again.Moves()) != len(p.History.Names()) {
			t.Errorf("%s: %q, want %q", test.script, again.State(), test.state)
		}
	}
}
