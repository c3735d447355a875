package progress

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
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

// TestLog checks that events and messages go to the log, with their level and fields, and nothing to stderr else.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.String("log", JSON, "")
	p := New(cli.NewContext(&cli.App{Name: "driver", ErrWriter: &out}, flags, nil))
	job := solve.Event{Job: "data_first7", Step: "possible", Tier: 7, Share: 0.25}
	for _, kind := range []solve.Kind{solve.Begun, solve.Working} {
		job.Kind = kind
		p.Report(job)
	}
	p.Report(solve.Event{Kind: solve.Retried, Job: job.Job})
	job.Kind, job.Stats = solve.Done, runner.Stats{Counts: step.Counts{Records: 9, Positions: 5}, Size: 6}
	p.Report(job)
	p.Report(solve.Event{Kind: solve.Damaged, Job: "table", Text: "table: cut short"})
	p.Print("hello")
	p.Doing("counting", 0.5)
	p.Result(map[string]any{"value": "tie", "positions": 9})
	p.End()
	if err := p.Failed(nil); err != nil {
		t.Error(err)
	}
	if err := p.Failed(fmt.Errorf("%w: later", command.ErrInterrupted)); !errors.Is(err, command.ErrReported) || !errors.Is(err, command.ErrInterrupted) {
		t.Error(err)
	}
	if err := p.Failed(errors.New("no space")); !errors.Is(err, command.ErrReported) {
		t.Error(err)
	}
	const want = `{"level":"INFO","msg":"begun","job":"data_first7","step":"possible","tier":7,"share":0.25}
{"level":"WARN","msg":"retried","job":"data_first7"}
{"level":"INFO","msg":"done","job":"data_first7","step":"possible","tier":7,"share":0.25,"positions":5,"bytes":6,"seconds":0}
{"level":"WARN","msg":"damaged","job":"table","text":"table: cut short"}
{"level":"INFO","msg":"message","text":"hello"}
{"level":"INFO","msg":"result","positions":9,"value":"tie"}
{"level":"WARN","msg":"stopped","text":"stopped: later"}
{"level":"ERROR","msg":"failed","text":"no space"}
`
	if got := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(out.String(), ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	without := NewBar(&cli.Context{App: &cli.App{Name: "driver", ErrWriter: &out}})
	if err := without.Failed(command.ErrInterrupted); errors.Is(err, command.ErrReported) {
		t.Error("an error that is in no log counts as reported")
	}
}

// TestProgressLine checks that the line of progress begins with what matters most, and is cut
// to the terminal's width.
func TestProgressLine(t *testing.T) {
	p := NewBar(&cli.Context{App: &cli.App{ErrWriter: io.Discard}})
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
