package yarn

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

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
	f.client = New("", map[string]string{
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
	for extension, contentType := range map[string]string{".json": "application/json;charset=utf-8", ".txt": "text/plain;charset=utf-8"} {
		data, err := os.ReadFile(filepath.FromSlash(name + extension))
		if err == nil {
			w.Header().Set("Content-Type", contentType)
			w.Write([]byte(strings.ReplaceAll(string(data), recorded, f.address())))
			return
		}
	}
	switch {
	case strings.Contains(r.URL.Path, "/containerlogs/"):
		w.Header().Set("Content-Type", "text/plain;charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte("java.lang.Exception: Cannot find this log on the local disk."))
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
		c := New("", map[string]string{"yarn.resourcemanager.webapp.address": "cluster.invalid:8088"}, "someone")
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

// TestMetrics asks for the size of a cluster, as a user.
func TestMetrics(t *testing.T) {
	f := newFake(t)
	user := ""
	f.answer = func(_ http.ResponseWriter, r *http.Request) bool { user = r.URL.Query().Get("user.name"); return false }
	if got, err := f.client.Metrics(t.Context()); err != nil || got != (Metrics{1, 4}) || user != "someone" {
		t.Errorf("%+v, %v, by %q", got, err, user)
	}
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
		got, err := f.client.Cause(t.Context(), test.app)
		if err != nil || got.String() != test.want || got.Attempt != test.attempt {
			t.Errorf("%s: %q of %q, %v", test.app, got, got.Attempt, err)
		}
	}
	if got, err := f.client.Cause(t.Context(), good); err == nil {
		t.Errorf("it did not fail: %q", got)
	}
}

// TestLateEnd checks that Cause waits for the end of an application, but not for ever.
func TestLateEnd(t *testing.T) {
	f := newFake(t)
	asked := 0
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if asked++; asked < 4 {
			reply(w, http.StatusOK, string(must.Get(os.ReadFile("testdata/ws/v1/cluster/apps/"+running+".json"))(t)))
		}
		return asked < 4
	}
	if got, err := f.client.Cause(t.Context(), mapperFails); err != nil || got.Text != mapperSays {
		t.Errorf("%q, %v", got, err)
	}
	f.answer = always(`{"app":{"state":"ACCEPTED","finalStatus":"UNDEFINED","diagnostics":"waiting for resources"}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 3*pollInterval)
	defer cancel()
	if got, err := f.client.Cause(ctx, running); err == nil {
		t.Errorf("it did not end: %q", got)
	}
}

// TestCausePlaces removes the places of a log, one by one.
func TestCausePlaces(t *testing.T) {
	f := newFake(t)
	cause := func(want string) {
		t.Helper()
		if got, err := f.client.Cause(t.Context(), mapperFails); err != nil || got.Text != want || got.Task != "map 0" {
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
	// The history server does not answer.
	f.answer = missing("/history/")
	f.client.history = "http://127.0.0.1:1"
	got, err := f.client.Cause(t.Context(), mapperFails)
	if err != nil || !strings.HasPrefix(got.Text, "Task failed task_1795287426079_0002_m_000000") {
		t.Errorf("no history: %q, %v", got, err)
	}
}

// TestStandby checks several resource managers, of which the first is down, and one of the
// others is on standby.
func TestStandby(t *testing.T) {
	f := newFake(t)
	standby := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "This is standby RM. The redirect url is: /ws/v1/cluster/metrics\n")
	}))
	defer standby.Close()
	f.client.managers = []string{"http://127.0.0.1:1", standby.URL, f.URL}
	if got, err := f.client.Metrics(t.Context()); err != nil || got.ActiveNodes != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	f.Close()
	_, err := f.client.Metrics(t.Context())
	if err == nil || strings.Count(err.Error(), "; resource manager http://") != 2 || strings.Contains(err.Error(), "\n") {
		t.Errorf("none: %v", err)
	}
}

// TestFailedAttempts checks that attempts that were killed are left out, and that the first one that printed something
// counts.
func TestFailedAttempts(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/jobs/job_1_0001/tasks/task_1_0001_m_000003/attempts"):
			reply(w, http.StatusOK, `{"taskAttempts":{"taskAttempt":[
				{"id":"attempt_0","state":"FAILED","startTime":3,"assignedContainerId":"c0","diagnostics":"org.apache.hadoop.streaming.Pipe"},
				{"id":"attempt_1","state":"FAILED","startTime":4,"assignedContainerId":"c1","diagnostics":"org.apache.hadoop.streaming.Pipe"},
				{"id":"attempt_2","state":"KILLED","startTime":1,"assignedContainerId":"c2"},
				{"id":"attempt_3","state":"FAILED","startTime":2,"assignedContainerId":"c3","diagnostics":"nothing"}]}}`)
		case strings.Contains(r.URL.Path, "/containerlogs/"):
			w.Header().Set("Content-Type", "text/plain")
			if container := strings.Split(r.URL.Path, "/")[5]; container != "c3" {
				io.WriteString(w, container+" fails\n")
			}
		default:
			return false
		}
		return true
	}
	failure, err := f.client.taskFailure(t.Context(), "application_1_0001", "task_1_0001_m_000003")
	if err != nil || failure.Attempt != "attempt_0" || failure.Text != "c0 fails" {
		t.Errorf("%+v, %v", failure, err)
	}
}

// TestLateHistory checks that the history server is asked again if it does not know a job yet.
func TestLateHistory(t *testing.T) {
	f := newFake(t)
	var asked atomic.Int32
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.URL.Path, "/history/mapreduce/") && asked.Add(1) < 4 && missing("/history/")(w, r)
	}
	if got, err := f.client.Cause(t.Context(), mapperFails); err != nil || got.Text != mapperSays {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLastMaster checks that the last of several application masters is described.
func TestLastMaster(t *testing.T) {
	f := newFake(t)
	f.answer = always(`{"appAttempts":{"appAttempt":[{"appAttemptId":"first"},{"appAttemptId":"second"}]}}`)
	if failure, err := f.client.masterFailure(t.Context(), finished{ID: good}, "map 0"); err != nil || failure.Attempt != "second" {
		t.Errorf("%+v, %v", failure, err)
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
		"broken":    {func(w http.ResponseWriter) { reply(w, 200, `{"apps":`) }, "unexpected end of JSON input"},
		"too long":  {func(w http.ResponseWriter) { reply(w, 200, strings.Repeat(" ", maxAnswer+1)) }, "the answer has more than 33554432 bytes"},
		"exception": {func(w http.ResponseWriter) { reply(w, 500, `{"RemoteException":{"message":"no\nmore"}}`) }, "500 Internal Server Error: no"},
	} {
		f.answer = func(w http.ResponseWriter, r *http.Request) bool { test.answer(w); return true }
		_, err := f.client.Metrics(t.Context())
		want := "resource manager " + f.URL + "/ws/v1/cluster/metrics: " + test.want
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
	}
}
