package amazon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/cloud/s3"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/s3test"
)

// A fakeEMR is a service with at most one cluster, j-A, whose step is complete when it is first
// described.
type fakeEMR struct {
	complete func() // called before the step is complete
	steps    string // the list of its steps; "": that of the run

	mu      sync.Mutex
	calls   []string
	request map[string]any // the input of RunJobFlow
}

func (f *fakeEMR) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := strings.TrimPrefix(r.Header.Get(faults.Target), "ElasticMapReduce.")
	f.calls = append(f.calls, call)
	w.Header().Set("Content-Type", faults.JSON)
	const id, name = `"Id": "j-A"`, `"Name": "treereduce s3://bucket/games/all_data #1"`
	switch call {
	case "ListClusters":
		if f.steps != "" {
			io.WriteString(w, `{"Clusters": [{`+id+`, `+name+`, "Status": {"State": "WAITING"}}]}`)
			return
		}
		io.WriteString(w, `{"Clusters": []}`)
	case "RunJobFlow":
		json.NewDecoder(r.Body).Decode(&f.request)
		io.WriteString(w, `{"JobFlowId": "j-A"}`)
	case "ListSteps":
		if f.steps != "" {
			io.WriteString(w, `{"Steps": [`+f.steps+`]}`)
			return
		}
		io.WriteString(w, `{"Steps": [{"Id": "s-A", "Name": "treereduce s3://bucket/games/all_data"}]}`)
	case "DescribeStep":
		f.complete()
		io.WriteString(w, `{"Step": {"Id": "s-A", "Status": {"State": "COMPLETED"}}}`)
	case "DescribeCluster":
		state := "RUNNING"
		for _, c := range f.calls {
			if c == "TerminateJobFlows" {
				state = "TERMINATING"
			}
		}
		io.WriteString(w, `{"Cluster": {`+id+`, "Status": {"State": "`+state+`"}}}`)
	default:
		io.WriteString(w, "{}")
	}
}

// TestRunOnEMR runs a game on a cluster that is created for it: what is requested cannot outlive its
// limit, is found again by its tag, and ends after the run unless it is kept.
func TestRunOnEMR(t *testing.T) {
	dir := solved(t)["connectn"]
	programs := t.TempDir()
	for _, name := range clusterPrograms {
		must.OK(t, os.WriteFile(filepath.Join(programs, name), []byte(name), 0o777))
	}
	for flags, kept := range map[string]bool{"": false, " --keep-cluster": true} {
		fake := s3test.StartFake(t, "bucket")
		service := &fakeEMR{complete: func() { putData(t, fake, dir, "bucket", "games/all_data") }}
		server := httptest.NewServer(service)
		defer server.Close()
		s3test.Use(t, append(fake.Env(), "AWS_ENDPOINT_URL_EMR="+server.URL))
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		status, stdout, stderr := runLine(emrLine + " --width 2 --height 2 --connect 2 --yes --max-hours 3 --poll 1ms --binaries " + programs + flags)
		if status != 0 || !strings.Contains(stdout, "Connect 2 on 2×2: X wins in 3 moves\n") {
			t.Errorf("%q: status %d, %s%s", flags, status, stdout, stderr)
		}
		text, err := json.Marshal(service.request)
		must.OK(t, err)
		action := "TERMINATE_CLUSTER"
		if kept {
			action = "CONTINUE"
		}
		for _, want := range []string{
			`"ActionOnFailure":"` + action + `"`, fmt.Sprintf(`"KeepJobFlowAliveWhenNoSteps":%v`, kept), `{"Key":"treereduce","Value":"s3://bucket/games/all_data"}`,
			`"Args":["180"]`, "timeout -s TERM -k 300 9900 ", // the limit, and 15 minutes less
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%q: no %s in %s", flags, want, text)
			}
		}
		ended := strings.Contains(strings.Join(service.calls, " "), "TerminateJobFlows")
		if records, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "treereduce", "emr", "*")); ended == kept || len(records) == 1 != kept {
			t.Errorf("%q: terminated %v, still recorded %v", flags, ended, records)
		}
	}
}

// onEMR calls do with a run whose bucket and service are fakes.
func onEMR(t *testing.T, fake *s3test.Fake, service http.Handler, do func(r *emrSolve)) {
	t.Helper()
	server := httptest.NewServer(service)
	defer server.Close()
	s3test.Use(t, append(fake.Env(), "AWS_ENDPOINT_URL_EMR="+server.URL))
	planned(t, emrLine, func(r *emrSolve) {
		must.OK(t, r.connect(t.Context()))
		must.OK(t, r.openBucket(t.Context()))
		do(r)
	})
}

// TestAtWork checks which steps count as a run on the same directory that is active: it is followed
// with --resume, and otherwise refuses the run.
func TestAtWork(t *testing.T) {
	for name, test := range map[string]struct {
		step   string
		active bool
	}{
		"active":            {`{"Id": "s-1", "Name": "treereduce s3://bucket/games/all_data", "Status": {"State": "RUNNING"}}`, true},
		"ended":             {`{"Id": "s-1", "Name": "treereduce s3://bucket/games/all_data", "Status": {"State": "FAILED"}}`, false},
		"another directory": {`{"Id": "s-1", "Name": "treereduce s3://bucket/games/all_data2", "Status": {"State": "RUNNING"}}`, false},
	} {
		onEMR(t, s3test.StartFake(t, "bucket"), &fakeEMR{steps: test.step}, func(r *emrSolve) {
			_, step, err := r.atWork(t.Context(), store.Resume)
			if err != nil || step == "s-1" != test.active {
				t.Errorf("%s, resumed: step %q, %v", name, step, err)
			}
			if _, _, err := r.atWork(t.Context(), store.Fresh); err != nil != test.active {
				t.Errorf("%s, fresh: %v", name, err)
			}
		})
	}
}

// TestResumeNothing checks that a run without data in S3 is not resumed, unless a step works on it.
func TestResumeNothing(t *testing.T) {
	onEMR(t, s3test.StartFake(t, "bucket"), &fakeEMR{}, func(r *emrSolve) {
		if err := r.mayBegin(store.Resume, false); err == nil || !strings.Contains(err.Error(), "no run to resume") {
			t.Error(err)
		}
		if err := r.mayBegin(store.Resume, true); err != nil {
			t.Errorf("while a step works: %v", err)
		}
	})
}

// TestClaimOfHours checks that a claim which is valid for longer than a driver's own is not waited for.
func TestClaimOfHours(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	fake.Put("bucket", "games/all_data/_owner", []byte(`{"who": "other", "seconds": 3600}`))
	onEMR(t, fake, &fakeEMR{}, func(r *emrSolve) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := r.mayWrite(ctx); !errors.As(err, new(*s3.ClaimedError)) {
			t.Error(err)
		}
	})
}
