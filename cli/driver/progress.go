package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/plan"
)

// progressEvery is how often a line of progress is drawn anew.
const progressEvery = 100 * time.Millisecond

// lineEvery is how often a line of progress is written where stderr is no terminal.
var lineEvery = 10 * time.Second // a variable for tests

// progress shows the news of a run: one line that is drawn over on a terminal,
// lines of JSON with --json, otherwise a line every ten seconds. What a person is told meanwhile is told
// through it, also by what works beside the run.
type progress struct {
	stderr io.Writer
	mu     sync.Mutex // whoever writes, or reads the rest, has it

	out   io.Writer
	json  bool
	lines bool // out is no terminal: each line is written once
	last  time.Time
	job   string
	drawn bool
	width func() int // columns of the terminal
	total int64      // positions that were found in this run
}

// The bar of progress.
const (
	barWidth = 20
	// estimateFrom is the share of a run that must be done for the rest to be estimated:
	// of less it is the start of processes that counts.
	estimateFrom = 0.01
	// usualWidth is the columns of a terminal that does not say.
	usualWidth = 80
)

func newProgress(c *cli.Context) *progress {
	p := newBar(c)
	if c.Bool("json") {
		p.json, p.lines, p.out = true, false, c.App.Writer
	}
	return p
}

// newBar is progress as a line on a terminal, or a line every ten seconds.
func newBar(c *cli.Context) *progress {
	p := &progress{stderr: c.App.ErrWriter, out: c.App.ErrWriter, lines: true, last: time.Now(), width: func() int { return usualWidth }}
	if f, ok := c.App.ErrWriter.(*os.File); ok {
		if command.IsTerminal(f) {
			p.lines, p.last = false, time.Time{}
			p.width = func() int {
				if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
					return columns
				}
				return usualWidth
			}
		}
	}
	return p
}

// report takes an event.
func (p *progress) report(e solve.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Done && (step.IsForward(e.Step) || e.Step == step.Init || e.Step == step.Possible) {
		p.total += positionsOf(e.Stats) // the way back meets the same ones again
	}
	now := time.Now()
	if p.out == nil {
		return
	}
	if p.lines {
		p.draw(now, p.line(e))
		return
	}
	if !e.Done && e.Job == p.job && now.Sub(p.last) < progressEvery {
		return
	}
	fresh := e.Job != p.job
	p.job = e.Job
	if p.json {
		if fresh || e.Done || now.Sub(p.last) >= time.Second {
			p.last = now
			json.NewEncoder(p.out).Encode(e) // a lost line is told at the end
		}
		return
	}
	p.draw(now, p.line(e))
}

// draw draws a line over the last, unless that has only just been drawn, or writes one.
func (p *progress) draw(now time.Time, line string) {
	if p.lines {
		if now.Sub(p.last) >= lineEvery {
			p.last = now
			fmt.Fprintf(p.out, "driver: %s\n", line)
		}
		return
	}
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	p.drawn = true
	fmt.Fprintf(p.out, "\r\x1b[K%s", cut(line, p.width()-1))
}

// doing shows how far something is that has no jobs.
func (p *progress) doing(what string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		p.draw(time.Now(), bar(share)+"  "+what)
	}
}

// bar is the share of something as a bar.
func bar(share float64) string {
	done := min(barWidth, max(0, int(share*barWidth)))
	return fmt.Sprintf("[%s%s] %5.1f%%", strings.Repeat("#", done), strings.Repeat(".", barWidth-done), 100*share)
}

// line is the news in a line, what matters most first: it may be cut.
func (p *progress) line(e solve.Event) string {
	line := bar(e.Share)
	if e.Left > 0 && e.Share >= estimateFrom {
		line += fmt.Sprintf("  %s left", time.Duration(e.Left*float64(time.Second)).Round(time.Second))
	}
	line += fmt.Sprintf("  %s", e.Step)
	if e.Job != "" && e.Step != step.Final {
		line += " " + e.Place()
	}
	if p.total > 0 {
		line += fmt.Sprintf("  %s positions", short(float64(p.total)))
	}
	if e.Tracking != "" {
		line += fmt.Sprintf("  map %.0f%% reduce %.0f%% %s", 100*e.Map, 100*e.Reduce, e.Tracking)
	}
	return line
}

// cut keeps what of a line fits into so many columns.
func cut(line string, columns int) string {
	if letters := []rune(line); len(letters) > columns {
		return string(letters[:max(0, columns)])
	}
	return line
}

// end removes the line of progress.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// clear removes the line that is drawn.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// tell writes a line for a person, in place of the line of progress.
func (p *progress) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.stderr, "driver: %s\n", text)
}

// short writes a number in three digits and a unit.
func short(n float64) string {
	digits, prefix := plan.Scaled(n)
	return digits + prefix
}
