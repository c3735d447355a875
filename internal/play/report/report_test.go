package report_test

import (
	"testing"

	"github.com/treereduce/treereduce/internal/play/referee"
	"github.com/treereduce/treereduce/internal/play/report"
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
