package yarn

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answering is a transport that gives every request except those for logs the same answer.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(a))}
	if r.Header.Get("Accept") != "application/json" {
		answer.Header.Set("Content-Type", r.Header.Get("Accept"))
	}
	return answer, nil
}

// FuzzAnswers calls all methods with a cluster whose services answer with the same bytes.
// Whatever the bytes are, the results must be in range, and errors must be one line.
func FuzzAnswers(f *testing.F) {
	err := filepath.WalkDir("testdata", func(name string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".json" {
			return err
		}
		data, err := os.ReadFile(name)
		f.Add(data)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		`{"job":{"mapsTotal":-1,"reducesTotal":0,"successfulMapAttempts":1}}`,
		`{"apps":{"app":[null,{"id":""},{"startedTime":-9223372036854775808}]}}`,
		`{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queues":{"queue":[null,1,{"queues":[]}]}}}}`,
		`{"tasks":{"task":[{"state":"FAILED","startTime":1}]},"taskAttempts":{"taskAttempt":[{"state":"FAILED","assignedContainerId":".."}]}}`,
		`null`, `[]`, ``, `{`,
	} {
		f.Add([]byte(text))
	}
	c := New(map[string]string{
		"yarn.resourcemanager.webapp.address": "127.0.0.1:1",
		"mapreduce.jobhistory.webapp.address": "127.0.0.1:1",
	}, "someone")
	f.Fuzz(func(t *testing.T, body []byte) {
		c.http.Transport = answering(body)
		ctx := context.Background()
		oneLine := func(what string, err error) {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: an error of several lines: %q", what, err)
			}
		}
		oneLine("Check", c.Check(ctx, "a.b"))
		_, err := c.Metrics(ctx)
		oneLine("Metrics", err)
		apps, err := c.Find(ctx, "tag")
		oneLine("Find", err)
		app, err := c.App(ctx, "application_1_0001")
		oneLine("App", err)
		for _, a := range append(apps[:min(len(apps), 3)], app, App{ID: "application_1_0001", State: "FINISHED", FinalStatus: "FAILED"}) {
			p, err := c.Progress(ctx, a)
			oneLine("Progress", err)
			if a.Ended() && err == nil && (p.Map > 100 || p.Reduce > 100) {
				t.Errorf("%s has done %v", a.ID, p)
			}
			failure, err := c.Cause(ctx, a)
			oneLine("Cause", err)
			if text := failure.String(); err == nil && strings.Contains(text, "\n") {
				t.Errorf("a failure of several lines: %q", text)
			}
			_, err = c.Counters(ctx, a.JobID())
			oneLine("Counters", err)
		}
	})
}
