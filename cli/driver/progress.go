package driver

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/treereduce/treereduce/solve"
)

// progressEvery is how often a line of progress is drawn anew.
const progressEvery = 100 * time.Millisecond

// progress shows the news of a run: one line that is drawn over on a terminal,
// lines of JSON with --json, nothing otherwise.
type progress struct {
	out   io.Writer // nil: quiet
	json  bool
	last  time.Time
	job   string
	drawn bool
	total int64 // records written in this run
}

func newProgress(c *cli.Context) *progress {
	p := &progress{json: c.Bool("json")}
	if p.json {
		p.out = c.App.Writer
	} else if f, ok := c.App.ErrWriter.(*os.File); ok {
		if term.IsTerminal(int(f.Fd())) {
			p.out = f
		}
	}
	return p
}

// report takes an event.
func (p *progress) report(e solve.Event) {
	if e.Done {
		p.total += e.Records
	}
	now := time.Now()
	if p.out == nil || !e.Done && e.Job == p.job && now.Sub(p.last) < progressEvery {
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
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	p.drawn = true
	fmt.Fprintf(p.out, "\r\x1b[K%5.1f%%  %-13s %s", 100*e.Share, e.Step, e.Place())
	if p.total > 0 && e.Elapsed > 0 {
		fmt.Fprintf(p.out, "  %s positions, %s/s", short(float64(p.total)), short(float64(p.total)/e.Elapsed))
	}
	if e.Tracking != "" {
		fmt.Fprintf(p.out, "  map %.0f%% reduce %.0f%% %s", 100*e.Map, 100*e.Reduce, e.Tracking)
	}
	if e.Left > 0 {
		fmt.Fprintf(p.out, "  %s left", time.Duration(e.Left*float64(time.Second)).Round(time.Second))
	}
}

// end removes the line of progress.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// short writes a number in three digits and a unit.
func short(n float64) string {
	for _, unit := range []string{"", "k", "M", "G"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g%s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3gT", n)
}
