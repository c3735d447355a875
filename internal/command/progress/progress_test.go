package progress

import (
	"bytes"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// TestProgressLines checks that lines are written at intervals if stderr is not a terminal,
// also by plan and verify.
func TestProgressLines(t *testing.T) {
	defer func(every time.Duration) { lineEvery = every }(lineEvery)
	lineEvery = time.Hour
	var out bytes.Buffer
	p := NewBar(&cli.Context{App: &cli.App{Name: "driver", ErrWriter: &out}})
	p.Doing("drawing boards", 0.5)
	p.Report(solve.Event{Step: "verify", Share: 0.5})
	if out.Len() > 0 {
		t.Errorf("within the time: %q", &out)
	}
	lineEvery = 0
	p.Doing("drawing boards", 0.5)
	p.Report(solve.Event{Step: "verify", Share: 0.75})
	p.End()
	if want := "driver: [##########..........]  50.0%  drawing boards\ndriver: [###############.....]  75.0%  verify\n"; out.String() != want {
		t.Errorf("%q, expected %q", &out, want)
	}
}

// TestProgressLine checks that the line of progress begins with what matters most, and is cut
// to the terminal's width.
func TestProgressLine(t *testing.T) {
	p := new(Line)
	p.Report(solve.Event{Job: "data_first7", Step: "possible", Tier: 7, Tiers: 20, Done: true, Stats: runner.Stats{Counts: step.Counts{Records: 1234}}})
	p.Report(solve.Event{Job: "data_second7", Step: "solve", Tier: 7, Tiers: 20, Done: true, Stats: runner.Stats{Counts: step.Counts{Records: 1234}}})
	for share, want := range map[float64]string{
		0:     "[....................]   0.0%  solve tier 7 of 20  1.23k positions",
		0.005: "[....................]   0.5%  solve tier 7 of 20  1.23k positions", // too early for an estimate
		0.5:   "[##########..........]  50.0%  17 s left  solve tier 7 of 20  1.23k positions",
		1:     "[####################] 100.0%  17 s left  solve tier 7 of 20  1.23k positions",
		2:     "[####################] 200.0%  17 s left  solve tier 7 of 20  1.23k positions",
	} {
		if got := p.line(solve.Event{Job: "data_second6", Step: "solve", Tier: 7, Tiers: 20, Share: share, Left: 17}); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
	if got := cut("×××", 2); got != "××" {
		t.Error(got)
	}
}
