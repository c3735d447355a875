package session_test

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/session"
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
		{both, "01!u", "0|1| O to move"},
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
		{none, "01u1", "0 1|| X (machine) is paused"},
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
