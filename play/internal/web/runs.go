//go:build !js

package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/metrics"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/web/http"
	"github.com/treereduce/treereduce/table"
)

// A watchedRun is the run in a data directory, whose page is shown. Its journal is read at most once every
// readEvery, however many clients there are.
type watchedRun struct {
	source *Source

	mu    sync.Mutex
	read  time.Time // when state was read
	state *apiRun
}

// readEvery is the shortest time between two reads of a journal.
const readEvery = time.Second

// The states of a run besides those of package solve.
const (
	notBegun   = "absent"     // there is no journal
	unreadable = "unreadable" // the journal cannot be read
)

// An apiRun is the state of a run in the answer of /api/runs. openapi.json describes its fields.
type apiRun struct {
	Data       string      `json:"data"`
	Title      string      `json:"title,omitempty"`
	Status     string      `json:"status"`
	Text       string      `json:"text"`
	Trouble    string      `json:"trouble,omitempty"`
	Play       string      `json:"play,omitempty"`
	Share      float64     `json:"share"`
	Forward    int         `json:"forward"`
	Retrograde int         `json:"retrograde"`
	Tiers      int         `json:"tiers,omitempty"`
	Positions  int64       `json:"positions"`
	Rate       float64     `json:"rate,omitempty"`
	Journal    *status.Run `json:"journal,omitempty"` // as driver status --json prints it

	page template.HTML // the state as the page shows it
}

// isSolved reports whether the run has solved its game.
func (a *apiRun) isSolved() bool { return a.Status == solve.Solved }

// Link returns the address of the page, from the first page.
func (a *apiRun) Link() string { return "run?data=" + url.QueryEscape(a.Data) }

// runOf returns the run that has solved a table; nil if it is not known.
func (s *Server) runOf(table *Source) *apiRun {
	for _, run := range s.states() {
		if run.isSolved() && run.Data == table.Name {
			return run
		}
	}
	return nil
}

// stateOf returns the state of a run.
func (s *Server) stateOf(w *watchedRun) *apiRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stale() {
		s.dropChanged(w.source)
		w.state = s.readState(w.source)
		w.read = time.Now()
	}
	return w.state
}

// stale reports whether the state is to be read. The caller locks mu.
func (w *watchedRun) stale() bool { return w.state == nil || time.Since(w.read) >= readEvery }

// refresh has the states that are stale read, without waiting for them: the file system of a
// directory may be slow.
func (s *Server) refresh() {
	for _, w := range s.runs {
		if w.mu.TryLock() { // otherwise it is being read
			stale := w.stale()
			w.mu.Unlock()
			if stale {
				go s.stateOf(w)
			}
		}
	}
}

// states returns the states of all runs.
func (s *Server) states() []*apiRun {
	all := make([]*apiRun, len(s.runs))
	for i, w := range s.runs {
		all[i] = s.stateOf(w)
	}
	return all
}

// apiRuns implements /api/runs.
func (s *Server) apiRuns(*http.Request) (any, error) { return s.states(), nil }

// readState reads the state of the run in a data directory, and begins to serve its table once
// that is complete.
func (s *Server) readState(source *Source) *apiRun {
	a := &apiRun{Data: source.Name}
	r, err := status.Read(source.FS, source.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Status, a.Text = notBegun, "no run has begun"
	case err != nil:
		a.Status, a.Text, a.Trouble = unreadable, "the state of the run cannot be read", err.Error()
	default:
		a.describe(r)
		var g game.Game
		if g, err = s.o.Games.Parse(r.Game); err == nil {
			a.Title = game.TitleOf(g)
			if a.Play, err = s.serveTable(source, g.Spec(), r); err != nil && a.Trouble == "" {
				a.Trouble = err.Error()
			}
		}
	}
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, "state", a.view()); err != nil {
		a.Trouble = err.Error()
	}
	a.page = template.HTML(page.String())
	return a
}

// describe sets the fields that come from the journal.
func (a *apiRun) describe(r *status.Run) {
	a.Title, a.Status, a.Text, a.Trouble, a.Journal = r.Game, r.Status, r.State(), r.Trouble(), r
	a.Forward, a.Retrograde, a.Tiers = r.Tiers()
	a.Positions, a.Rate, a.Share = r.Positions(), r.Rate(), r.Share()
}

// dropTime is how long requests may still read a table that is not served any more.
const dropTime = 2 * answerTime

// dropChanged ends the service of the table of a data directory if the directory contains another
// one, or none: its game, or another one, is solved again.
func (s *Server) dropChanged(source *Source) {
	s.mu.Lock()
	i := slices.IndexFunc(s.tables, func(t *Source) bool { return t.Name == source.Name })
	var old *Source
	if i >= 0 {
		old = s.tables[i]
	}
	s.mu.Unlock()
	if old == nil || old.Table.Current() {
		return
	}
	id, variant := idOf(old.Table.Game().Spec())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables = slices.DeleteFunc(s.tables, func(t *Source) bool { return t == old })
	delete(s.games, id+"/"+variant)
	time.AfterFunc(dropTime, func() { old.Table.Close() })
}

// serveTable returns the address of the page of the game of a run whose table is served; "" if
// there is no table yet. It opens the table when that is complete.
func (s *Server) serveTable(source *Source, spec string, r *status.Run) (string, error) {
	id, variant := idOf(spec)
	s.mu.Lock()
	g := s.games[id+"/"+variant]
	s.mu.Unlock()
	complete := r.Status == solve.Solved || r.Now != nil && r.Now.Step == step.Final
	switch {
	case g != nil && g.source != nil && (complete || g.source.Name == source.Name):
		return "/" + g.address(), nil
	case !complete:
		return "", nil
	}
	t, err := table.OpenFS(source.FS, source.Path, s.o.Games.Parse)
	if err != nil {
		return "", err
	}
	opened := &Source{Name: source.Name, Table: t, FS: source.FS, Path: source.Path}
	if g = s.add(opened); g.source != opened { // the run of another directory has ended meanwhile
		t.Close()
	}
	return "/" + g.address(), nil
}

// The following types are what the template of the page shows.
type (
	runView struct {
		*apiRun
		Percent     string
		Bars        []progressBar
		Facts       []linked
		Picture     template.HTML
		Steps, Jobs runTable
	}
	progressBar struct {
		Name, Text string
		Done, Of   int
	}
	runTable struct {
		Header []string
		Rows   []runRow
	}
	// A runRow is a line of a table; its first cell is a link, if Link is not "".
	runRow struct {
		Name, Link string
		Cells      []string
	}
)

// view returns what the page shows of a run.
func (a *apiRun) view() runView {
	v := runView{apiRun: a, Percent: fmt.Sprintf("%.1f%%", 100*a.Share)}
	r := a.Journal
	if r == nil {
		return v
	}
	if a.Tiers > 0 {
		bar := func(name string, done int) {
			v.Bars = append(v.Bars, progressBar{name, fmt.Sprintf("%d of %s", done, numfmt.Count(a.Tiers, "tier")), done, a.Tiers})
		}
		bar("Forward", a.Forward)
		bar("Retrograde", a.Retrograde)
	}
	v.Facts = factsOf(a)
	v.Picture = foundPicture(a)
	v.Steps, v.Jobs = tableOf("step", r.Steps()), tableOf("job", r.Jobs())
	return v
}

// factsOf returns the numbers of a run, except those that are not known.
func factsOf(a *apiRun) (facts []linked) {
	r := a.Journal
	add := func(name, text string, known bool) {
		if known {
			facts = append(facts, linked{Name: name, Text: text})
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
		facts = append(facts, linked{name, text, webLink(e.Tracking)})
	}
	var sum status.Line
	for _, l := range r.Steps() {
		sum.Bytes += l.Bytes
		sum.Waiting += l.Waiting
		sum.Working += l.Working
		sum.Seconds += l.Seconds
	}
	left := r.Left()
	add("Time left", left, left != "")
	add("Positions", numfmt.Number(a.Positions), true)
	add("Positions a second", numfmt.Short(a.Rate), a.Rate > 0)
	if a.Tiers == 0 {
		add("Forward passes", numfmt.Number(a.Forward), a.Forward > 0)
		add("Retrograde passes", numfmt.Number(a.Retrograde), a.Retrograde > 0)
	}
	add("Bytes shuffled", numfmt.Bytes(float64(sum.Bytes)), sum.Bytes > 0)
	add("Waiting for the cluster", numfmt.Seconds(sum.Waiting), sum.Waiting > 0)
	add("Working on the cluster", numfmt.Seconds(sum.Working), sum.Working > 0)
	add("Time of all jobs", numfmt.Seconds(sum.Seconds), sum.Seconds > 0)
	add("Begun", r.Begun.Local().Format(time.DateTime), !r.Begun.IsZero())
	add("Last update", r.Updated.Local().Format(time.DateTime), true)
	return facts
}

// webLink returns a URL from a journal if it is one of a web page, or else "".
func webLink(address string) string {
	if u, err := url.Parse(address); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return address
	}
	return ""
}

// maxColumns is the number of columns of a picture that can be read.
const maxColumns = 200

// foundPicture returns a picture of the positions that were found in each tier, or by each pass;
// "" if there are none.
func foundPicture(a *apiRun) template.HTML {
	found := make(map[int]uint64)
	for _, r := range a.Journal.Found() {
		found[r.Tier] += r.Positions
	}
	if len(found) == 0 {
		return ""
	}
	tiers := slices.Sorted(maps.Keys(found))
	first, last := tiers[0], max(a.Tiers-1, tiers[len(tiers)-1])
	if first < 0 || last >= maxColumns {
		return ""
	}
	c := chart.Columns{Title: "Positions found by tier", Subtitle: "On a logarithmic scale", Axis: "tier"}
	if a.Tiers == 0 {
		c.Title, c.Axis = "Positions found by pass", "pass"
	}
	values := make([]float64, 0, last-first+1)
	for tier := first; tier <= last; tier++ {
		c.Names = append(c.Names, strconv.Itoa(tier))
		c.Texts = append(c.Texts, fmt.Sprintf("%s %d: %s", c.Axis, tier, numfmt.Count(found[tier], "position")))
		values = append(values, float64(found[tier]))
	}
	c.Panels = []chart.Panel{{Series: []chart.Series{{Style: chart.Plain, Values: values}}}}
	return template.HTML(chart.Inline(c))
}

// tableOf returns lines of jobs or steps as driver status prints them, with links to the pages
// of the jobs.
func tableOf(what string, lines []status.Line) runTable {
	header, rows := status.Columns(what, lines)
	t := runTable{Header: header}
	for i, row := range rows {
		t.Rows = append(t.Rows, runRow{row[0], webLink(lines[i].Tracking), row[1:]})
	}
	return t
}

// metrics implements /metrics: the runs as metrics for Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var runs []metrics.Run
	for _, a := range s.states() {
		runs = append(runs, metrics.Run{Data: a.Data, Run: a.Journal})
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	metrics.Write(w, command.Version(), runs) // the client notices an error
}

// run returns the run that a request names.
func (s *Server) run(r *http.Request) (*watchedRun, error) {
	name := r.URL.Query().Get("data")
	for _, w := range s.runs {
		if w.source.Name == name {
			return w, nil
		}
	}
	return nil, problem{http.StatusNotFound, fmt.Errorf("data directory %q is not served here", name)}
}

// runPage implements /run: the page of a run.
func (s *Server) runPage(w http.ResponseWriter, r *http.Request) {
	run, err := s.run(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	state := s.stateOf(run)
	s.write(w, r, "run.html", map[string]any{"Data": state.Data, "State": state.page,
		"Events": strings.Replace(state.Link(), "run", "run/events", 1)})
}

// runEvents implements /run/events: an event with the state of a run, as the page shows it,
// whenever it changes. The stream ends when the game is solved.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) {
	run, err := s.run(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.stream(w, r, func(out *stream, r *http.Request) error {
		tick := time.NewTicker(readEvery)
		defer tick.Stop()
		for last := template.HTML(""); ; {
			state := s.stateOf(run)
			if state.page != last {
				if err := out.send("state", state.page); err != nil {
					return err
				}
				last = state.page
			}
			if state.Status == solve.Solved {
				return nil
			}
			select {
			case <-r.Context().Done():
				return r.Context().Err()
			case <-tick.C:
			}
		}
	})
}

// wholeRoutes registers the pages of tables and of runs.
func (s *Server) wholeRoutes(mux *http.ServeMux) {
	s.api(mux)
	mux.HandleFunc("GET /tables/{game}/{variant}", s.tablePage)
	mux.HandleFunc("GET /tables/{game}/{variant}/values", s.valuesPage)
	mux.HandleFunc("GET /tables/{game}/{variant}/{file}", s.tableFile)
	mux.HandleFunc("GET /run", s.runPage)
	mux.HandleFunc("GET /run/events", s.runEvents)
	mux.HandleFunc("GET /metrics", s.metrics)
}
