package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// The directory testdata contains the answers of a cluster of Hadoop 3.4.2, by request path:
// resource manager, application masters, history server and node managers have different
// paths. (The class path was removed from one log.) These were its applications:
const (
	good         = "application_1795287426079_0001" // succeeded
	mapperFails  = "application_1795287426079_0002" // possible_map failed at the input "zzz", twice
	reducerFails = "application_1795287426079_0003" // possible_reduce failed at the input "zzz"; the other reduce was killed then
	masterFails  = "application_1795287426079_0004" // the master's -Xmx was not a number
	noProgram    = "application_1795287426079_0005" // the mapper does not exist
	noQueue      = "application_1795287426079_0006" // the queue does not exist
	killed       = "application_1795287426079_0007" // by the resource manager
	masterMemory = "application_1795287426079_0039" // the master had 14 MB
	timeout      = "application_1795287426079_0023" // its mapper slept, and was killed
	running      = "application_1795287426079_0019" // its mapper sleeps
	uberFails    = "application_1795298523036_0007" // the master ran the map, which failed, and wrote no history
)

// recorded is the address of the node manager in testdata.
const recorded = "localhost:8042"

// A fake is a cluster that answers with testdata. All its services have the same address.
type fake struct {
	*httptest.Server
	client *Client

	// answer may answer a request instead; it returns whether it did.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.client = New(map[string]string{
		"yarn.resourcemanager.webapp.address": f.address(),
		"mapreduce.jobhistory.webapp.address": f.address(),
	}, "someone")
	return f
}

func (f *fake) address() string { return f.Listener.Addr().String() }

// ServeHTTP answers with the file of the request's path or, if there is none, with Hadoop's
// error.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.answer != nil && f.answer(w, r) {
		return
	}
	name := "testdata" + r.URL.Path
	if tag := r.URL.Query().Get("applicationTags"); tag != "" {
		name += ",applicationTags=" + tag
	}
	for extension, contentType := range map[string]string{".json": "application/json;charset=utf-8", ".txt": "text/plain;charset=utf-8"} {
		data, err := os.ReadFile(filepath.FromSlash(name + extension))
		if err == nil {
			w.Header().Set("Content-Type", contentType)
			w.Write([]byte(strings.ReplaceAll(string(data), recorded, f.address())))
			return
		}
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/proxy/"):
		http.Redirect(w, r, "/cluster/app/"+strings.Split(r.URL.Path, "/")[2], http.StatusFound)
	case strings.Contains(r.URL.Path, "/containerlogs/"):
		w.Header().Set("Content-Type", "text/plain;charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte("java.lang.Exception: Cannot find this log on the local disk."))
	case r.URL.Query().Has("applicationTags"):
		reply(w, http.StatusOK, `{"apps":{}}`)
	default:
		reply(w, http.StatusNotFound, `{"RemoteException":{"exception":"NotFoundException","message":"java.lang.Exception: job, job_1, is not found"}}`)
	}
}

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(code)
	w.Write([]byte(body))
}

// always returns an answer function that answers with JSON.
func always(body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		reply(w, http.StatusOK, body)
		return true
	}
}

// missing returns an answer function that answers 404 if the path contains text.
func missing(text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, text) {
			http.NotFound(w, r)
			return true
		}
		return false
	}
}

// TestNoProxy sends a request in a process whose environment names a proxy. The proxy must not get it.
func TestNoProxy(t *testing.T) {
	if os.Getenv("TREEREDUCE_TEST_PROXIED") != "" {
		c := New(map[string]string{"yarn.resourcemanager.webapp.address": "cluster.invalid:8088"}, "someone")
		if _, err := c.Metrics(t.Context()); err == nil {
			t.Error("a host that does not exist has answered")
		}
		return
	}
	var requests atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer proxy.Close()
	self, err := os.Executable()
	must.OK(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestNoProxy$")
	cmd.Env = append(os.Environ(), "TREEREDUCE_TEST_PROXIED=1", "http_proxy="+proxy.URL, "HTTP_PROXY="+proxy.URL, "no_proxy=", "NO_PROXY=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("the proxy got %d requests", n)
	}
}

func TestFind(t *testing.T) {
	f := newFake(t)
	apps, err := f.client.Find(t.Context(), "treereduce-mapper-fails")
	if err != nil || len(apps) != 1 {
		t.Fatalf("%v, %v", apps, err)
	}
	a := apps[0]
	if a.ID != mapperFails || a.Name != "mapper-fails" || a.State != "FINISHED" || a.FinalStatus != "FAILED" ||
		!strings.HasPrefix(a.Diagnostics, "Task failed task_1795287426079_0002_m_000000\n") ||
		!strings.HasSuffix(a.TrackingURL, "/proxy/"+mapperFails+"/") || strings.Join(a.Tags, " ") != "treereduce-mapper-fails" ||
		a.Started.IsZero() || a.Finished.Before(a.Started) ||
		a.JobID() != "job_1795287426079_0002" || !a.Ended() {
		t.Errorf("%+v", a)
	}
	if apps, err := f.client.Find(t.Context(), "nothing"); err != nil || len(apps) != 0 {
		t.Errorf("no application: %v, %v", apps, err)
	}
}

// TestFindOrder checks that the newest application comes first.
func TestFindOrder(t *testing.T) {
	f := newFake(t)
	f.answer = always(`{"apps":{"app":[{"id":"a_1","startedTime":5},{"id":"a_3","startedTime":7},{"id":"a_2","startedTime":7}]}}`)
	apps, err := f.client.Find(t.Context(), "x")
	var ids []string
	for _, a := range apps {
		ids = append(ids, a.ID)
	}
	if got := strings.Join(ids, " "); err != nil || got != "a_3 a_2 a_1" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	for _, queue := range []string{"", "default", "root.default"} {
		if err := f.client.Check(t.Context(), queue); err != nil {
			t.Errorf("%q: %v", queue, err)
		}
	}
	says := func(err error, want string) {
		t.Helper()
		want = strings.ReplaceAll(want, "URL", f.URL)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), f.URL) > 1 || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
	says(f.client.Check(t.Context(), "fast"), "resource manager URL: no queue fast (there are: default)")
	f.answer = always(`{"clusterMetrics":{"activeNodes":0,"lostNodes":2,"unhealthyNodes":1}}`)
	says(f.client.Check(t.Context(), ""), "resource manager URL: no live node (2 lost, 1 unhealthy)")
	f.Close()
	says(f.client.Check(t.Context(), ""), "resource manager URL/ws/v1/cluster/metrics: dial tcp")
}

// TestQueues checks trees of queues that the recorded cluster does not have.
func TestQueues(t *testing.T) {
	var tree schedulerQueue
	if err := json.Unmarshal([]byte(`{"type": "capacityScheduler", "queueName": "root", "queues": {"queue": [
		{"queueName": "a", "state": "RUNNING", "queues": {"queue": [
			{"queueName": "b", "state": "RUNNING"},
			{"queueName": "c", "state": "STOPPED"}]}},
		{"queueName": "open", "autoCreateChildQueueEnabled": true}]}}`), &tree); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"b":             "",
		"root.a.b":      "",
		"c":             "the queue c is stopped",
		"a":             "no queue a (there are: a.b, a.c, open)",
		"root.open.new": "",
		"root.a.new":    "no queue root.a.new (there are: a.b, a.c, open)",
	} {
		got := ""
		if err := checkQueue(tree, name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if err := checkQueue(schedulerQueue{Type: "fairScheduler"}, "any"); err != nil {
		t.Errorf("a fair scheduler makes queues: %v", err)
	}
}

func TestProgress(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		app  App
		want Progress
	}{
		{App{ID: running, State: "RUNNING"}, Progress{0, 0, "RUNNING"}},
		{App{ID: good, State: "RUNNING"}, Progress{100, 100, "SUCCEEDED"}}, // it has ended since then
		{App{ID: good, State: "FINISHED"}, Progress{100, 100, "SUCCEEDED"}},
		{App{ID: reducerFails, State: "FINISHED"}, Progress{100, 0, "FAILED"}},
		{App{ID: masterFails, State: "ACCEPTED"}, Progress{0, 0, "FAILED"}}, // there was no job
	} {
		if got, err := f.client.Progress(t.Context(), test.app); err != nil || got != test.want {
			t.Errorf("%s: %v, %v", test.app.ID, got, err)
		}
	}
	f.answer = always(`{"job":{"state":"RUNNING","mapProgress":37.5,"reduceProgress":12.25,"mapsTotal":4}}`)
	if got, err := f.client.Progress(t.Context(), App{ID: running}); err != nil || got != (Progress{37.5, 12.25, "RUNNING"}) {
		t.Errorf("%v, %v", got, err)
	}
}

// Names of a counter group of Hadoop and of one of its counters.
const (
	jobCounters  = "org.apache.hadoop.mapreduce.JobCounter"
	launchedMaps = "TOTAL_LAUNCHED_MAPS"
)

func TestCounters(t *testing.T) {
	f := newFake(t)
	counters, err := f.client.Counters(t.Context(), App{ID: good}.JobID())
	must.OK(t, err)
	for _, want := range []struct {
		group, name string
		n           int64
	}{
		{"test", "lines", 3},
		{"org.apache.hadoop.mapreduce.TaskCounter", "REDUCE_OUTPUT_RECORDS", 2},
		{jobCounters, launchedMaps, 1},
		{"org.apache.hadoop.mapreduce.FileSystemCounter", "HDFS_BYTES_WRITTEN", 16},
	} {
		if n := counters[want.group][want.name]; n != want.n {
			t.Errorf("%s of %s: %d, want %d", want.name, want.group, n, want.n)
		}
	}
	counters, err = f.client.Counters(t.Context(), App{ID: running}.JobID())
	if err != nil || counters[jobCounters][launchedMaps] != 1 {
		t.Errorf("while it runs: %v, %v", counters, err)
	}
}

// TestCountersLate checks Counters with a history server that learns of a job late.
func TestCountersLate(t *testing.T) {
	f := newFake(t)
	var asked atomic.Int32
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		return asked.Add(1) < 6 && missing("/history/")(w, r)
	}
	if counters, err := f.client.Counters(t.Context(), App{ID: good}.JobID()); err != nil || counters["test"]["lines"] != 3 {
		t.Errorf("%v, %v", counters, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	_, err := f.client.Counters(ctx, App{ID: killed}.JobID())
	if err == nil || !strings.Contains(err.Error(), "history server "+f.URL) || time.Since(begin) > 10*time.Second {
		t.Errorf("one that never comes: %v after %v", err, time.Since(begin))
	}
}

func TestKill(t *testing.T) {
	f := newFake(t)
	var state atomic.Int32
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPut:
			if r.URL.Query().Get("user.name") != "someone" {
				t.Errorf("asked as %s", r.URL)
			}
			reply(w, http.StatusAccepted, `{"state":"RUNNING"}`)
		case state.Add(1) < 3:
			reply(w, http.StatusOK, `{"app":{"id":"`+killed+`","state":"RUNNING"}}`)
		default:
			return false
		}
		return true
	}
	if err := f.client.Kill(t.Context(), killed); err != nil {
		t.Error(err)
	}
	if state.Load() < 3 {
		t.Error("did not wait for its end")
	}
	state.Store(-1000)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := f.client.Kill(ctx, killed); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that does not end: %v", err)
	}
}

// TestKillRefused checks that Kill uses Hadoop's own client if the resource manager refuses.
func TestKillRefused(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			reply(w, http.StatusForbidden, `{"RemoteException":{"message":"java.lang.Exception: The default static user cannot carry out this operation."}}`)
			return true
		}
		return false
	}
	err := f.client.Kill(t.Context(), killed)
	if err == nil || !strings.Contains(err.Error(), "403 Forbidden: The default static user cannot") {
		t.Errorf("without a command: %v", err)
	}
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	f.client.Command = script(t, dir, `echo "$HADOOP_USER_NAME $*" > '`+said+`'`)
	if err := f.client.Kill(t.Context(), killed); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(said); string(got) != "someone org.apache.hadoop.mapred.JobClient -kill job_1795287426079_0007\n" {
		t.Errorf("the command was given %q", got)
	}
	f.client.Command = script(t, dir, "echo 'log4j:WARN noise' >&2; echo 'no such job' >&2; exit 3")
	if err := f.client.Kill(t.Context(), killed); err == nil || !strings.HasSuffix(err.Error(), "-kill job_1795287426079_0007: no such job") {
		t.Errorf("the command fails: %v", err)
	}
}

func script(t *testing.T, dir, text string) string {
	t.Helper()
	name := filepath.Join(dir, "hadoop")
	must.OK(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return name
}

const mapperSays = `possible_map: hdfs://localhost:9000/user/yarn-helper/in/yh-bad.txt:1: expected a key of 3 hexadecimal digits (0-9, a-f), found "zzz"`

func TestCause(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		app, want string
		attempt   string
	}{
		{mapperFails, "map 0 on 127.0.0.1: " + mapperSays, "attempt_1795287426079_0002_m_000000_0"},
		{reducerFails, `reduce 1 on 127.0.0.1: possible_reduce: stdin:1: expected a key of 3 hexadecimal digits (0-9, a-f), found "zzz\t"`, "attempt_1795287426079_0003_r_000001_0"},
		{masterFails, "application master on 127.0.0.1: Invalid maximum heap size: -Xmx1q", "appattempt_1795287426079_0004_000002"},
		{noProgram, `map 0 on 127.0.0.1: IOException: Cannot run program "no_such_program": error=2, No such file or directory`, "attempt_1795287426079_0005_m_000000_0"},
		{masterMemory, "application master on 127.0.0.1: Error starting MRAppMaster: OutOfMemoryError: Java heap space", "appattempt_1795287426079_0039_000001"},
		{timeout, "map 0 on 127.0.0.1: nothing was read, written or reported for 4s (mapreduce.task.timeout) (one of 2 lines)", "attempt_1795287426079_0023_m_000000_0"},
		{uberFails, "map 0 on 127.0.0.1: possible_map: /block2/data_first4/part-00000.blocks: damaged: the checksum of the block at byte 45 (range 0x0) is wrong", "appattempt_1795298523036_0007_000001"},
		{noQueue, "Application " + noQueue + " submitted by user root to unknown queue: nope", ""},
		{killed, "Application " + killed + " was killed by user dr.who", ""},
	} {
		got, err := f.client.Cause(t.Context(), App{ID: test.app})
		if err != nil || got.String() != test.want || got.Attempt != test.attempt {
			t.Errorf("%s: %q of %q, %v", test.app, got, got.Attempt, err)
		}
	}
	for _, app := range []string{good, running} {
		if got, err := f.client.Cause(t.Context(), App{ID: app}); err == nil {
			t.Errorf("%s did not fail: %q", app, got)
		}
	}
}

// TestCausePlaces removes the places of a log, one by one.
func TestCausePlaces(t *testing.T) {
	f := newFake(t)
	app := App{ID: mapperFails}
	cause := func(want string) {
		t.Helper()
		if got, err := f.client.Cause(t.Context(), app); err != nil || got.Text != want || got.Task != "map 0" {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	// The node manager does not answer, but logs were aggregated.
	f.answer = missing("/ws/v1/node/")
	cause(mapperSays)
	// No log: only the exit code of the program is known.
	f.answer = missing("/containerlogs/")
	file := "/containerlogs/container_1795287426079_0002_01_000002/stderr?size=-65536: 404 Not Found"
	cause("the program ended with code 1; what it wrote to stderr is not to be had: " +
		"node manager " + f.URL + "/ws/v1/node" + file + "; history server " + f.URL + "/ws/v1/history" + file)
	// On this machine.
	f.client.logDirs = []string{"no such folder", t.TempDir()}
	folder := filepath.Join(f.client.logDirs[1], mapperFails, "container_1795287426079_0002_01_000003")
	must.OK(t, os.MkdirAll(folder, 0o777))
	must.OK(t, os.WriteFile(filepath.Join(folder, "stderr"), []byte("log4j:WARN x\nthe local one\n"), 0o666))
	cause("the local one")
	// The history server does not answer.
	f.answer = missing("/history/")
	f.client.history = "http://127.0.0.1:1"
	got, err := f.client.Cause(t.Context(), app)
	if err != nil || !strings.HasPrefix(got.Text, "Task failed task_1795287426079_0002_m_000000") {
		t.Errorf("no history: %q, %v", got, err)
	}
}

// TestStandby checks several resource managers, of which the first is down, and one of the
// others is on standby.
func TestStandby(t *testing.T) {
	f := newFake(t)
	standby := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, `{"clusterInfo":{"haState":"STANDBY"}}`)
	}))
	defer standby.Close()
	f.client.managers = []string{"http://127.0.0.1:1", standby.URL, f.URL}
	for range 2 {
		if apps, err := f.client.Find(t.Context(), "treereduce-good"); err != nil || len(apps) != 1 {
			t.Errorf("%v, %v", apps, err)
		}
	}
	if f.client.active != f.URL {
		t.Errorf("the active one is %s", f.client.active)
	}
	f.Close()
	err := f.client.Check(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), standby.URL+": it is standby") || strings.Contains(err.Error(), "\n") {
		t.Errorf("none: %v", err)
	}
}

// TestActiveEnds asks a resource manager that was active and has ended, and then the other one.
func TestActiveEnds(t *testing.T) {
	f, first := newFake(t), newFake(t)
	active := func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/cluster/info") {
			reply(w, http.StatusOK, `{"clusterInfo":{"haState":"ACTIVE"}}`)
			return true
		}
		return false
	}
	f.answer, first.answer = active, active
	f.client.managers = []string{first.URL, f.URL}
	for _, want := range []string{first.URL, f.URL} {
		if apps, err := f.client.Find(t.Context(), "treereduce-good"); err != nil || len(apps) != 1 || f.client.active != want {
			t.Errorf("%v, %v; %s is active, want %s", apps, err, f.client.active, want)
		}
		first.Close()
	}
}

// TestProxyRedirects asks the proxy for a job that does not run. The page to which it redirects is not
// requested.
func TestProxyRedirects(t *testing.T) {
	f := newFake(t)
	var page atomic.Bool
	f.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/cluster/") {
			page.Store(true)
		}
		return false
	}
	var answer jobAnswer
	err := f.client.get(t.Context(), master, f.URL+masterPath(App{ID: good}.JobID()), &answer)
	if code(err) != http.StatusFound || page.Load() {
		t.Errorf("%v, the page was requested: %v", err, page.Load())
	}
}

// TestFailedAttempts checks that attempts that were killed are left out, and that the first one comes first.
func TestFailedAttempts(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/tasks"):
			reply(w, http.StatusOK, `{"tasks":{"task":[
				{"id":"task_1_0001_m_000001","state":"FAILED","startTime":0,"finishTime":1},
				{"id":"task_1_0001_m_000002","state":"FAILED","startTime":1,"finishTime":2},
				{"id":"task_1_0001_m_000003","state":"FAILED","startTime":1,"finishTime":3},
				{"id":"task_1_0001_m_000004","state":"SUCCEEDED","startTime":1,"finishTime":1}]}}`)
		case strings.HasSuffix(r.URL.Path, "/task_1_0001_m_000003/attempts"):
			reply(w, http.StatusOK, `{"taskAttempts":{"taskAttempt":[
				{"id":"attempt_0","state":"FAILED","startTime":3},
				{"id":"attempt_1","state":"FAILED","startTime":4},
				{"id":"attempt_2","state":"KILLED","startTime":1},
				{"id":"attempt_3","state":"FAILED","startTime":2}]}}`)
		default:
			return false
		}
		return true
	}
	attempts, err := f.client.failedAttempts(t.Context(), history, f.URL, jobJSON{Diagnostics: "Task failed task_1_0001_m_000003\n"})
	if err != nil || len(attempts) != 3 || attempts[0].ID != "attempt_3" || attempts[1].ID != "attempt_0" {
		t.Errorf("%+v, %v", attempts, err)
	}
}

// TestLastMaster checks that the last of several application masters is described.
func TestLastMaster(t *testing.T) {
	f := newFake(t)
	f.answer = always(`{"appAttempts":{"appAttempt":[{"appAttemptId":"first"},{"appAttemptId":"second"}]}}`)
	if last, err := f.client.lastMaster(t.Context(), App{ID: good}); err != nil || last.AppAttemptID != "second" {
		t.Errorf("%+v, %v", last, err)
	}
}

// TestLocalLog reads the end of a long log on this machine. The name of a container must not be a path.
func TestLocalLog(t *testing.T) {
	f := newFake(t)
	dir := t.TempDir()
	f.client.logDirs = []string{dir}
	must.OK(t, os.MkdirAll(filepath.Join(dir, good, "container_1"), 0o777))
	end := strings.Repeat("b", maxLog-1) + "c"
	for _, name := range []string{filepath.Join(dir, good, "container_1", "stderr"), filepath.Join(dir, "stderr")} {
		must.OK(t, os.WriteFile(name, []byte("aaa"+end), 0o666))
	}
	if got, err := f.client.log(t.Context(), f.address(), good, "container_1", "stderr"); err != nil || got != end {
		t.Errorf("%d bytes, %v; want the last %d", len(got), err, len(end))
	}
	for _, container := range []string{"", "..", "../" + good + "/container_1"} {
		if got, err := f.client.log(t.Context(), f.address(), good, container, "stderr"); err == nil {
			t.Errorf("container %q: %d bytes", container, len(got))
		}
	}
}

// TestMoment converts Hadoop's times.
func TestMoment(t *testing.T) {
	if got := moment(1_500); !got.Equal(time.Unix(1, 500_000_000)) {
		t.Errorf("%v", got)
	}
	for _, none := range []int64{0, -1} {
		if got := moment(none); !got.IsZero() {
			t.Errorf("%d: %v", none, got)
		}
	}
}

// TestAnswers checks invalid answers.
func TestAnswers(t *testing.T) {
	f := newFake(t)
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"page":      {func(w http.ResponseWriter) { w.Write([]byte("<html>")) }, `answered with "text/html", not application/json`},
		"broken":    {func(w http.ResponseWriter) { reply(w, 200, `{"apps":`) }, "unexpected EOF"},
		"too long":  {func(w http.ResponseWriter) { reply(w, 200, strings.Repeat(" ", maxAnswer+1)) }, "the answer has more than 33554432 bytes"},
		"exception": {func(w http.ResponseWriter) { reply(w, 500, `{"RemoteException":{"message":"no\nmore"}}`) }, "500 Internal Server Error: no"},
	} {
		f.answer = func(w http.ResponseWriter, r *http.Request) bool { test.answer(w); return true }
		_, err := f.client.Find(t.Context(), "x")
		want := "resource manager " + f.URL + "/ws/v1/cluster/apps?applicationTags=x: " + test.want
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
	}
}
