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

// FuzzAnswers asks a cluster whose services answer with the same bytes.
// Whatever the bytes are, errors and causes must be one line.
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
		`{"app":{"finalStatus":"FAILED","diagnostics":"Task failed task_1_0001_m_000000\\n"},"appAttempts":{"appAttempt":[null,{}]}}`,
		`{"app":{"finalStatus":"FAILED","diagnostics":"Task failed task_1_0001_m_000000\\n"},"taskAttempts":{"taskAttempt":[{"state":"FAILED","assignedContainerId":".."}]}}`,
		`null`, `[]`, ``, `{`,
	} {
		f.Add([]byte(text))
	}
	c := New("", map[string]string{
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
		_, err := c.Metrics(ctx)
		oneLine("Metrics", err)
		failure, err := c.Cause(ctx, "application_1_0001")
		oneLine("Cause", err)
		if text := failure.String(); err == nil && strings.Contains(text, "\n") {
			t.Errorf("a failure of several lines: %q", text)
		}
		_, err = c.taskFailure(ctx, "application_1_0001", "task_1_0001_m_000000")
		oneLine("taskFailure", err)
	})
}
