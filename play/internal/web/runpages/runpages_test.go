package runpages

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/runner"
	inprocess "github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/play/internal/testing/openapi"
	"github.com/treereduce/treereduce/play/internal/web"
	"github.com/treereduce/treereduce/table"
)

// watch starts a server of data directories without a table, and returns it with a client that
// checks its answers against openapi.json.
func watch(t *testing.T, sources ...web.Source) (*httptest.Server, openapi.Client) {
	t.Helper()
	s := must.Get(web.New(web.Options{Games: all.Kinds(), Searches: 1, Memory: 1 << 20, AllowOrigin: "*", Sources: sources, Pages: New}))(t)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server, openapi.New(t, s.Handler())
}

// get returns the status and the body of an answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	answer := must.Get(http.Get(url))(t)
	defer answer.Body.Close()
	return answer.StatusCode, string(must.Get(io.ReadAll(answer.Body))(t))
}

// A position is an answer for a position; its value is unsolved, and its remoteness unknown, if that is not known.
type position struct {
	Value      string `json:"positionValue"`
	Remoteness int
	Moves      []any
}

const (
	unsolved = "unsolved"
	unknown  = -100
)

// contents returns the names, lengths and times of all files of a directory, except the journal,
// which the driver writes from time to time; of directories, whose times change with it, the names.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.OK(t, filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && info.Name() != store.JournalFile {
			if all[name] = fmt.Sprint(info.Mode()); !info.IsDir() {
				all[name] += fmt.Sprint(info.Size(), info.ModTime())
			}
		}
		return err
	}))
	return all
}

// TestRun watches a run in a directory that does not exist at first, from its start to its end:
// every state is that of driver status, watching changes nothing there, and at the end the server
// has the values of the table.
func TestRun(t *testing.T) {
	const spec = "connectn width=4 height=4 connect=3"
	dir := filepath.Join(t.TempDir(), "data")
	server, c := watch(t, web.Source{Name: "data dir", FS: store.Local{}, Path: dir})
	request := must.Get(http.NewRequestWithContext(t.Context(), "GET", server.URL+"/run/events?data=data+dir", nil))(t)
	answer := must.Get(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	// next returns the page of the first event that contains a text.
	next := func(text string) string {
		t.Helper()
		for lines.Scan() {
			var page string
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &page) == nil && strings.Contains(page, text) {
				return page
			}
		}
		t.Fatalf("the stream ended before %q: %v", text, lines.Err())
		return ""
	}
	start := func() (p position) {
		c.Get("connectn/4-4-3/positions/", "p=1,1", &p)
		return p
	}
	next("no run has begun")
	if got := start().Value; got != unsolved {
		t.Errorf("before the run: %s", got)
	}

	reached, goOn := make(chan solve.Event), make(chan bool)
	g := solved.Game(t, spec)
	data := must.Get(store.Create(store.Local{}, dir, spec, store.Fresh, solve.IsRunArtifact, nil))(t)
	ended := make(chan error, 1)
	go func() {
		defer close(reached)
		_, err := solve.Run(t.Context(), data, g, solve.Options{Runner: &inprocess.Runner{}, Reducers: 1, Combine: true,
			Final: solve.FinalYes, UntilTier: -1, Report: func(e solve.Event) {
				if e.Done && (e.Job == "data_first9" || e.Job == "data_second5") {
					reached <- e
					<-goOn
				}
			}})
		data.Close()
		ended <- err
	}()
	for e := range reached {
		var before map[string]string
		if e.Step == "possible" { // while the retrograde pass waits, the driver still writes and deletes files
			before = contents(t, dir)
		}
		r := must.Get(status.Read(store.Local{}, dir))(t)
		for r.Now == nil { // the journal is behind, and has no job yet
			time.Sleep(readEvery / 10)
			r = must.Get(status.Read(store.Local{}, dir))(t)
		}
		forward, back, _ := r.Tiers()
		page := next(fmt.Sprintf(`<span>%d of 17 tiers</span></p><p class="bar"><label for="Retrograde">Retrograde</label> <progress id="Retrograde" max="17" value="%d"`, forward, back))
		metrics := httptest.NewRecorder()
		c.Handler.ServeHTTP(metrics, httptest.NewRequest("GET", "http://localhost/metrics", nil))
		for _, want := range []string{fmt.Sprintf("\ntreereduce_positions_found{data=\"data dir\"} %d\n", r.Positions()), `state="running"} 1`} {
			if !strings.Contains(metrics.Body.String(), want) {
				t.Errorf("no %s in %s", want, metrics.Body)
			}
		}
		wants := []string{`<p class="state running" role="status">running</p>`, "<dt>Now</dt>", "<dt>Positions</dt><dd>" + numfmt.Number(r.Positions()) + "</dd>", `<h2 class="game">Connect 3 on 4×4</h2>`}
		for _, line := range slices.Concat(r.Jobs(), r.Steps()) { // on a busy machine, the journal is behind
			wants = append(wants, `<th scope="row">`+line.Name+`</th>`)
		}
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("no %q in %s", want, page)
			}
		}
		if before != nil {
			if diff := storetest.Differences(contents(t, dir), before); diff != nil {
				t.Errorf("watching changed the directory: %v", diff)
			}
		}
		goOn <- true
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if page := next(`<p class="state solved" role="status">solved</p>`); !strings.Contains(page, `<a href="./play/connectn/4-4-3">`) || !strings.Contains(page, "100.0%") {
		t.Error(page)
	}
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil { // the stream ends
		t.Error(err)
	}
	if p := start(); p.Value == unsolved || len(p.Moves) != 4 {
		t.Errorf("after the run: %+v", p)
	}
	for link, page := range map[string]string{"./play/connectn/4-4-3#against=adapts": "/", "./run?data=data&#43;dir": "/", "./../../tables/connectn/4-4-3": "/play/connectn/4-4-3"} {
		if _, text := get(t, server.URL+page); !strings.Contains(text, `href="`+link+`"`) {
			t.Errorf("%s has no link to %s: %s", page, link, text)
		}
	}
}

// inHDFS is a file system whose locks cannot be queried.
type inHDFS struct{ store.Local }

// TestSameGame checks that of two directories with tables of the same game the first one is
// served, and that the run of the other one leads to its page.
func TestSameGame(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3")
	var sources []web.Source
	for _, name := range []string{"first", "second"} {
		dir := solved.Dir(t, g)
		tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
		t.Cleanup(func() { tab.Close() })
		sources = append(sources, web.Source{Name: name, Table: tab, FS: store.Local{}, Path: dir})
	}
	server, _ := watch(t, sources...)
	_, page := get(t, server.URL+"/")
	if n := strings.Count(page, `href="./play/connectn/3-3-3#against=adapts"`); n != 1 {
		t.Errorf("%d tables in %s", n, page)
	}
	if _, page := get(t, server.URL+"/run?data=second"); !strings.Contains(page, `<a href="./play/connectn/3-3-3">`) {
		t.Errorf("no link to the game in %s", page)
	}
}

// TestRunStates checks the page of runs that have ended, of one on a cluster, and of
// journals that cannot be read.
func TestRunStates(t *testing.T) {
	const spec = "connectn width=4 height=4 connect=3"
	now := &solve.Event{Job: "data_first3", Step: "possible", Tier: 3, Tiers: 16, Share: .25, Left: 90}
	onCluster := *now
	onCluster.Map, onCluster.Reduce, onCluster.Tracking = .5, .25, "http://cluster:8088/proxy/application_1_0002/"
	job := solve.JobRecord{Job: "data_first2", Step: "possible", Tier: 2, Seconds: 20, Tracking: "http://cluster:8088/proxy/application_1_0001/"}
	job.Records = 1600
	job.Stats.Application, job.Stats.Bytes, job.Stats.Waiting, job.Stats.Working = "application_1_0001", 2_500_000, 7.5, 12.5
	script := job
	script.Job, script.Tracking = "data_first1", "javascript:alert(1)"
	for _, test := range []struct {
		name    string
		fsys    store.FS
		journal any // or the text of the file; nil: none
		status  string
		expect  []string
	}{
		{"absent", store.Local{}, nil, notBegun, []string{"no run has begun"}},
		{"failed", store.Local{}, solve.Journal{Game: spec, State: solve.Failed, Error: "data_first3: no space left on <device>", Now: now}, solve.Failed,
			[]string{"error: data_first3: no space left on &lt;device&gt;", "<dt>Last job</dt><dd>possible, tier 3 of 16", "25.0%"}},
		{"stopped", store.Local{}, solve.Journal{Game: spec, State: solve.Stopped, Now: now}, solve.Stopped, []string{"stopped in data_first3; --resume continues"}},
		{"killed", store.Local{}, solve.Journal{Game: spec, State: solve.Running, Now: now}, status.Died, []string{"died in data_first3; --resume continues"}},
		{"silent in HDFS", inHDFS{}, solve.Journal{Game: spec, State: solve.Running, Updated: time.Now().Add(-time.Hour), Now: now}, status.Died,
			[]string{"no update for 60 min: it was killed, or its machine failed"}},
		{"in HDFS", inHDFS{}, solve.Journal{Game: spec, State: solve.Running, Updated: time.Now(), Now: &onCluster, Jobs: []solve.JobRecord{script, job}}, solve.Running, []string{
			"<dt>Time left</dt><dd>90 s</dd>", "<dt>Positions a second</dt><dd>80</dd>", "<td>5,000,000</td><td>15.00</td><td>25.00</td>",
			`<a href="http://cluster:8088/proxy/application_1_0002/">possible, tier 3 of 16: map 50%, reduce 25%</a>`,
			`<a href="http://cluster:8088/proxy/application_1_0001/">data_first2</a>`, `<a href="#ZgotmplZ">data_first1</a>`, "<td>application_1_0001</td>"}},
		{"with cycles", store.Local{}, solve.Journal{Game: "quickcross width=3 height=2 connect=3", State: solve.Stopped, Jobs: []solve.JobRecord{
			{Job: "data_first0", Step: "init", Stats: job.Stats}, {Job: "data_first0.1", Step: "mark", Pass: 1, Stats: job.Stats}}}, solve.Stopped,
			[]string{`<th scope="row">mark</th>`}},
		{"of another program's game", store.Local{}, solve.Journal{Game: "chess", State: solve.Stopped}, solve.Stopped, []string{`<h2 class="game">chess</h2>`}},
		{"without its table", store.Local{}, solve.Journal{Game: spec, State: solve.Solved}, solve.Solved, []string{"the game has not been solved yet"}},
		{"damaged", store.Local{}, "{}\n", unreadable, []string{"jobs.json"}},
		{"with an unknown state", store.Local{}, solve.Journal{Game: spec, State: "asleep"}, unreadable, []string{"expected a state of running"}},
		{"with odd numbers", store.Local{}, solve.Journal{Game: "", State: solve.Failed, Now: &solve.Event{Tiers: 1 << 40, Share: 1e300},
			Jobs: []solve.JobRecord{{Step: "possible", Tier: -1, Seconds: 1e300, Stats: runner.Stats{Bytes: -1}}}}, solve.Failed, []string{"100.0%"}},
	} {
		dir := t.TempDir()
		text, ok := test.journal.(string)
		if test.journal != nil {
			file := []byte(text)
			if !ok {
				file = must.Get(store.MarshalSummed(test.journal))(t)
			}
			must.OK(t, os.WriteFile(filepath.Join(dir, store.JournalFile), file, 0o666))
		}
		server, _ := watch(t, web.Source{Name: "d", FS: test.fsys, Path: dir})
		code, page := get(t, server.URL+"/run?data=d")
		for _, want := range append(test.expect, `<p class="state `+test.status+`" role="status">`) {
			if code != http.StatusOK || !strings.Contains(page, want) {
				t.Errorf("%s: status %d, no %q in %s", test.name, code, want, page)
			}
		}
		if strings.Contains(page, "javascript:") {
			t.Errorf("%s: %s", test.name, page)
		}
	}
}

// TestUnknown checks that only directories that are served have pages, that the files of the pages are there, and that a
// stream ends with its client.
func TestUnknown(t *testing.T) {
	server, _ := watch(t, web.Source{Name: "d", FS: store.Local{}, Path: t.TempDir()})
	for path, want := range map[string]string{
		"/run?data=/etc": `404 {"error":"data directory \"/etc\" is not served here"}`, "/run/events": `404 {"error":"data directory \"\" is not served here"}`,
		"/static/run.js": "200 // The page of a run", "/static/run.css": "200 ", "/static/run.html": "404 ", "/static/style.css": "200 ",
	} {
		if code, text := get(t, server.URL+path); !strings.HasPrefix(fmt.Sprint(code, " ", text), want) {
			t.Errorf("%s: status %d, %.100s, want %s", path, code, text, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request := must.Get(http.NewRequestWithContext(ctx, "GET", server.URL+"/run/events?data=d", nil))(t)
	answer := must.Get(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	if line := must.Get(bufio.NewReader(answer.Body).ReadString('\n'))(t); line != "event: state\n" {
		t.Errorf("%q", line)
	}
	cancel()
	server.Close() // it waits for the end of the stream
}

// TestOverwritten solves the game of a directory again, and another game, while the directory is
// served. The server must notice that, and open the new table.
func TestOverwritten(t *testing.T) {
	three, four := solved.Game(t, "connectn width=3 height=3 connect=3"), solved.Game(t, "connectn width=4 height=3 connect=3")
	dir := solved.Dir(t, three)
	tab := must.Get(table.OpenOf(store.Local{}, dir, three))(t)
	server, c := watch(t, web.Source{Name: "d", Table: tab, FS: store.Local{}, Path: dir})
	solveAs := func(g game.Game, mode store.Mode, o solve.Options) {
		t.Helper()
		data := must.Get(store.Create(store.Local{}, dir, g.Spec(), mode, solve.IsRunArtifact, nil))(t)
		defer data.Close()
		o.Runner, o.Reducers, o.Lines, o.Final = &inprocess.Runner{}, 1, false, solve.FinalNo
		must.Get(solve.Run(t.Context(), data, g, o))(t)
	}
	// shows waits until the values of a board are those of a table, or are not known.
	shows := func(variant, value string, remoteness int) {
		t.Helper()
		var p position
		must.Until(t, func() bool {
			c.Get("connectn/"+variant+"/positions/", "p=", &p)
			return p.Value == value && p.Remoteness == remoteness
		}, func() string { return fmt.Sprintf("%s: %+v, want %s in %d", variant, p, value, remoteness) })
	}
	shows("3-3-3", "tie", 9)
	solveAs(four, store.Overwrite, solve.Options{UntilTier: 6})
	shows("3-3-3", unsolved, unknown)
	shows("4-3-3", unsolved, unknown)
	if _, index := get(t, server.URL+"/"); strings.Contains(index, "The whole game") {
		t.Errorf("there is a table in %s", index)
	}
	solveAs(four, store.Resume, solve.Options{UntilTier: -1})
	shows("4-3-3", "win", 9)
	// The same game again: the files of the old table have been deleted.
	solveAs(four, store.Overwrite, solve.Options{UntilTier: -1})
	shows("3-3-3", unsolved, unknown)
	shows("4-3-3", "win", 9)
	status, text := 0, ""
	must.Until(t, func() bool {
		status, text = get(t, server.URL+"/tables/connectn/4-3-3")
		return status == http.StatusOK
	}, func() string { return fmt.Sprintf("status %d, %s", status, text) })
}
