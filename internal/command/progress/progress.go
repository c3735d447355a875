// Package progress shows the progress of a run on a terminal, as lines of text, or as JSON. It does
// not know which runner executes the jobs.
package progress

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// progressEvery is the shortest time between two updates of the progress line.
const progressEvery = 100 * time.Millisecond

// lineEvery is the time between two lines of progress if stderr is not a terminal.
var lineEvery = 10 * time.Second // variable for tests

// A Line shows the progress of a run: as one line that is redrawn on a terminal, as lines of
// JSON with --json, otherwise as a line every ten seconds. Messages to the user go through it,
// including those of goroutines that run in parallel.
type Line struct {
	name   string // of the program
	stderr io.Writer
	mu     sync.Mutex // protects all that follows

	out   io.Writer
	json  bool
	lines bool // out is not a terminal: each line is written once
	last  time.Time
	job   string // the last one in JSON
	drawn bool
	total int64 // positions found in this run

	log *slog.Logger // gets events and messages instead of stderr; nil: without --log
}

// JSON is the value of --log: lines of JSON.
const JSON = "json"

// The progress bar.
const (
	barWidth = 20
	// estimateFrom is the share of a run that must be done before the remaining time is
	// estimated: until then, the time to start processes dominates.
	estimateFrom = 0.01
	// usualWidth is the number of columns if the terminal does not report it.
	usualWidth = 80
)

// New returns the Line of a command: with --json it prints JSON on stdout, otherwise it is that of
// NewBar. With --log it writes events to stderr.
func New(c *cli.Context) *Line {
	p := NewBar(c)
	if c.String("log") == JSON {
		p.log, p.out, p.lines = slog.New(slog.NewJSONHandler(p.stderr, nil)), io.Discard, true
	}
	if c.Bool("json") {
		p.json, p.lines, p.out = true, false, c.App.Writer
	}
	return p
}

// NewBar returns a Line that draws a line on a terminal, or else prints a line every ten
// seconds.
func NewBar(c *cli.Context) *Line {
	p := &Line{name: c.App.Name, stderr: c.App.ErrWriter, out: c.App.ErrWriter, lines: !command.IsTerminal(c.App.ErrWriter)}
	if p.lines {
		p.last = time.Now()
	}
	return p
}

// width returns the number of columns of the terminal.
func (p *Line) width() int {
	if f, ok := p.out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return usualWidth
}

// Report shows an event.
func (p *Line) Report(e solve.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record(e)
	if !e.Kind.IsProgress() {
		if e.Text != "" && p.log == nil {
			p.print(e.Text)
		}
		return
	}
	if e.Done && step.IsForward(e.Step) {
		p.total += cmp.Or(e.Positions, e.Records) // the retrograde passes visit the same positions again
	}
	now := time.Now()
	if !p.json {
		p.draw(now, p.line(e))
	} else if e.Done || e.Job != p.job || now.Sub(p.last) >= time.Second {
		p.last, p.job = now, e.Job
		json.NewEncoder(p.out).Encode(e) // a failed write is reported at the end
	}
}

// record writes an event to the log, except that a job has come farther.
func (p *Line) record(e solve.Event) {
	if p.log == nil || e.Kind == solve.Working {
		return
	}
	level, fields := slog.LevelInfo, []any{"job", e.Job}
	switch e.Kind {
	case solve.Resumed:
		fields = nil
	case solve.Begun:
		fields = append(fields, "step", e.Step, "tier", e.Tier, "share", e.Share)
	case solve.Done:
		fields = append(fields, "step", e.Step, "tier", e.Tier, "share", e.Share, "positions", cmp.Or(e.Positions, e.Records), "bytes", e.Size, "seconds", e.Seconds)
	case solve.Retried, solve.Damaged, solve.Warning:
		level = slog.LevelWarn
	}
	if e.Text != "" {
		fields = append(fields, "text", e.Text)
	}
	p.log.Log(context.Background(), level, string(e.Kind), fields...)
}

// Result writes the result of a run to the log, if there is one.
func (p *Line) Result(fields map[string]any) {
	if p.log == nil {
		return
	}
	var all []any
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		all = append(all, name, fields[name])
	}
	p.log.Info("result", all...)
}

// Failed writes the error of a run to the log, if there is a log and an error. It returns an error that is not
// printed again, with the same exit status.
func (p *Line) Failed(err error) error {
	switch {
	case p.log == nil || err == nil:
		return err
	case errors.Is(err, command.ErrInterrupted):
		p.log.Warn("stopped", "text", err.Error())
	default:
		p.log.Error("failed", "text", err.Error())
	}
	return errors.Join(command.ErrReported, err)
}

// draw redraws the line, unless the last update was less than progressEvery ago. If out is not
// a terminal, it prints a line every lineEvery.
func (p *Line) draw(now time.Time, line string) {
	if p.lines {
		if now.Sub(p.last) >= lineEvery {
			p.last = now
			fmt.Fprintf(p.out, "%s: %s\n", p.name, line)
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

// Doing shows the progress of an activity without jobs.
func (p *Line) Doing(what string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		p.draw(time.Now(), bar(share)+"  "+what)
	}
}

// bar returns a share (0 to 1) as a progress bar.
func bar(share float64) string {
	done := min(barWidth, max(0, int(share*barWidth)))
	return fmt.Sprintf("[%s%s] %5.1f%%", strings.Repeat("#", done), strings.Repeat(".", barWidth-done), 100*share)
}

// line formats an event as a line, with the most important parts first because it may be cut.
func (p *Line) line(e solve.Event) string {
	line := bar(e.Share)
	if e.Left > 0 && e.Share >= estimateFrom {
		line += fmt.Sprintf("  %s left", e.TimeLeft())
	}
	line += fmt.Sprintf("  %s", e.Step)
	if e.Job != "" && e.Step != step.Final {
		line += " " + e.Place()
	}
	if p.total > 0 {
		line += fmt.Sprintf("  %s positions", numfmt.Short(float64(p.total)))
	}
	if e.Tracking != "" {
		line += fmt.Sprintf("  map %.0f%% reduce %.0f%% %s", 100*e.Map, 100*e.Reduce, e.Tracking)
	}
	return line
}

// cut cuts a line to a number of columns.
func cut(line string, columns int) string {
	if letters := []rune(line); len(letters) > columns {
		return string(letters[:max(0, columns)])
	}
	return line
}

// End removes the progress line.
func (p *Line) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// clear removes the progress line if there is one.
func (p *Line) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// Print prints a message to the user, replacing the progress line.
func (p *Line) Print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(text)
}

// print is Print for a caller that has locked mu.
func (p *Line) print(text string) {
	if p.log != nil {
		p.log.Info("message", "text", text)
		return
	}
	p.clear()
	fmt.Fprintf(p.stderr, "%s: %s\n", p.name, text)
}
