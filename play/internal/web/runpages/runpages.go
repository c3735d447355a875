// Package runpages has the pages of the runs in data directories: their state and its changes, and metrics for Prometheus. It reads journals, and changes nothing.
package runpages

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/metrics"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/web"
)

//go:embed static
var static embed.FS

// Pages implements web.Pages.
type Pages struct {
	server *web.Server
	runs   []*watchedRun
}

// New makes the pages of the runs in those directories that have a file system, and registers them.
func New(server *web.Server, sources []web.Source) (web.Pages, error) {
	p := &Pages{server: server}
	for i := range sources {
		if sources[i].FS != nil {
			p.runs = append(p.runs, &watchedRun{source: &sources[i]})
		}
	}
	server.Handle("/run", p.page)
	server.Handle("/run/events", p.events)
	server.Handle("/metrics", p.metrics)
	for _, file := range []string{"static/run.css", "static/run.js"} {
		server.Handle("/"+file, func(*web.Request) (*web.Answer, error) { return web.File(static, file) })
	}
	return p, server.Parse(static, "static/*.html")
}

// A watchedRun is the run in a data directory, whose page is shown. Its journal is read at most once every
// readEvery, however many clients there are.
type watchedRun struct {
	source *web.Source

	mu    sync.Mutex
	read  time.Time // when state was read
	state *runState
}

// readEvery is the shortest time between two reads of a journal.
const readEvery = time.Second

// The states of a run besides those of package solve.
const (
	notBegun   = "absent"     // there is no journal
	unreadable = "unreadable" // the journal cannot be read
)

// A runState is the state of a run.
type runState struct {
	web.Run
	Trouble string
	Play    string      // the address of the page of its game, if a table is served
	Journal *status.Run // nil: it cannot be read

	page template.HTML // the state as the page shows it
}

// state returns the state of a run.
func (p *Pages) state(w *watchedRun) *runState {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stale() {
		p.server.Drop(w.source.Name)
		w.state = p.readState(w.source)
		w.read = time.Now()
	}
	return w.state
}

// stale reports whether the state is to be read. The caller locks mu.
func (w *watchedRun) stale() bool { return w.state == nil || time.Since(w.read) >= readEvery }

// Refresh implements web.Pages.
func (p *Pages) Refresh() {
	for _, w := range p.runs {
		if w.mu.TryLock() { // otherwise it is being read
			stale := w.stale()
			w.mu.Unlock()
			if stale {
				go p.state(w)
			}
		}
	}
}

// states returns the states of all runs.
func (p *Pages) states() []*runState {
	all := make([]*runState, len(p.runs))
	for i, w := range p.runs {
		all[i] = p.state(w)
	}
	return all
}

// Runs implements web.Pages.
func (p *Pages) Runs() (runs []web.Run) {
	for _, a := range p.states() {
		runs = append(runs, a.Run)
	}
	return runs
}

// readState reads the state of the run in a data directory, and begins to serve its table once
// that is complete.
func (p *Pages) readState(source *web.Source) *runState {
	a := &runState{Run: web.Run{Data: source.Name, Link: "run?data=" + url.QueryEscape(source.Name)}}
	r, err := status.Read(source.FS, source.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Status, a.Text = notBegun, "no run has begun"
	case err != nil:
		a.Status, a.Text, a.Trouble = unreadable, "the state of the run cannot be read", err.Error()
	default:
		a.Status, a.Text, a.Trouble, a.Journal = r.Status, r.State(), r.Trouble(), r
		complete := a.Status == solve.Solved || r.Now != nil && r.Now.Step == step.Final
		if a.Title, a.Play, err = p.server.Offer(source, r.Game, complete); err != nil && a.Trouble == "" {
			a.Trouble = err.Error()
		}
	}
	if a.page, err = p.server.Render("state", a.view()); err != nil {
		a.Trouble = err.Error()
	}
	return a
}

// The following types are what the template of the page shows.
type (
	runView struct {
		*runState
		Percent, Of                string // the share that is done; the number of tiers
		Forward, Retrograde, Tiers int    // tiers that are done, and all; see status.Run.Tiers
		Facts                      []fact
		Steps, Jobs                runTable
	}
	// A fact is a number of the run, with a link unless Link is "".
	fact     struct{ Name, Text, Link string }
	runTable struct {
		Header []string
		Rows   [][]string
		Lines  []status.Line // of Rows
	}
)

// view returns what the page shows of a run.
func (a *runState) view() runView {
	v, r := runView{runState: a}, a.Journal
	if r == nil {
		return v
	}
	v.Forward, v.Retrograde, v.Tiers = r.Tiers()
	v.Percent, v.Of, v.Facts = fmt.Sprintf("%.1f%%", 100*r.Share()), numfmt.Count(v.Tiers, "tier"), factsOf(r)
	v.Steps, v.Jobs = tableOf("step", r.Steps()), tableOf("job", r.Jobs())
	return v
}

// factsOf returns the numbers of a run, except those that are not known.
func factsOf(r *status.Run) (facts []fact) {
	add := func(name, text string, known bool) {
		if known {
			facts = append(facts, fact{Name: name, Text: text})
		}
	}
	if e := r.Now; e != nil {
		name := "Last job"
		if r.Alive() {
			name = "Now"
		}
		text := e.Step + ", " + e.Place()
		if e.Tracking != "" && r.Alive() {
			text += fmt.Sprintf(": map %.0f%%, reduce %.0f%%", 100*e.Map, 100*e.Reduce)
		}
		facts = append(facts, fact{name, text, e.Tracking})
	}
	add("Time left", r.Left(), r.Left() != "")
	add("Positions", numfmt.Number(r.Positions()), true)
	add("Positions a second", numfmt.Short(r.Rate()), r.Rate() > 0)
	add("Begun", r.Begun.Local().Format(time.DateTime), !r.Begun.IsZero())
	add("Last update", r.Updated.Local().Format(time.DateTime), true)
	return facts
}

// tableOf returns lines of jobs or steps as driver status prints them.
func tableOf(what string, lines []status.Line) runTable {
	header, rows := status.Columns(what, lines)
	return runTable{header, rows, lines}
}

// metrics implements /metrics: the runs as metrics for Prometheus.
func (p *Pages) metrics(*web.Request) (*web.Answer, error) {
	var runs []metrics.Run
	for _, a := range p.states() {
		runs = append(runs, metrics.Run{Data: a.Data, Run: a.Journal})
	}
	var body bytes.Buffer
	err := metrics.Write(&body, command.Version(), runs)
	return web.Text(metrics.ContentType, "no-cache", body.Bytes()), err
}

// run returns the run that a request names.
func (p *Pages) run(r *web.Request) (*watchedRun, error) {
	name := r.Parameters().Get("data")
	for _, run := range p.runs {
		if run.source.Name == name {
			return run, nil
		}
	}
	return nil, web.NotFound(fmt.Errorf("data directory %q is not served here", name))
}

// page implements /run: the page of a run.
func (p *Pages) page(r *web.Request) (*web.Answer, error) {
	run, err := p.run(r)
	if err != nil {
		return nil, err
	}
	state := p.state(run)
	return p.server.Page(r, "run.html", map[string]any{"Data": state.Data, "State": state.page, "Events": strings.Replace(state.Link, "run", "run/events", 1)})
}

// aliveEvery is the time after which a state that has not changed is sent again, so that a proxy does not end the stream (nginx does
// after a minute).
const aliveEvery = 20 * time.Second

// events implements /run/events: an event with the state of a run, as the page shows it,
// whenever it changes. The stream ends when the game is solved.
func (p *Pages) events(r *web.Request) (*web.Answer, error) {
	run, err := p.run(r)
	if err != nil {
		return nil, err
	}
	return p.server.Stream(func(ctx context.Context, out web.Stream) error {
		tick := time.NewTicker(readEvery)
		defer tick.Stop()
		last, sent := template.HTML(""), time.Time{}
		for {
			state := p.state(run)
			if state.page != last || time.Since(sent) >= aliveEvery {
				if err := out.Send("state", state.page); err != nil {
					return err
				}
				last, sent = state.page, time.Now()
			}
			if state.Status == solve.Solved {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	})
}
