package play

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/play/referee"
)

func TestPoints(t *testing.T) {
	for want, s := range map[string]referee.Standing{
		"-":    {},
		"0/2":  {Losses: 2},
		"½/1":  {Ties: 1},
		"3½/5": {Wins: 3, Ties: 1, Losses: 1},
		"2/3":  {Wins: 1, Ties: 2},
	} {
		if got := points(s); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	var b strings.Builder
	columns(&b, [][]string{{"", "±", "wins"}, {"Ä", "½", "10"}, {"second", "-", ""}})
	const want = "        ±  wins\nÄ       ½    10\nsecond  -\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
