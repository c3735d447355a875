package streaming

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// managed returns a runner whose resource manager responds with answer.
func managed(t *testing.T, answer http.HandlerFunc) *Runner {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w, q)
	}))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	return &Runner{FS: new(hadoop.FS), Yarn: yarn.New(map[string]string{
		"yarn.resourcemanager.webapp.address": address, "mapreduce.jobhistory.webapp.address": address}, "")}
}

// TestForgotten simulates a resource manager that was restarted while a driver waited for a
// job: it responds, but knows of no application.
func TestForgotten(t *testing.T) {
	r := managed(t, func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.URL.Path == "/ws/v1/cluster/apps":
			io.WriteString(w, `{"apps":{}}`)
		case q.URL.Path == "/ws/v1/cluster/metrics":
			io.WriteString(w, `{"clusterMetrics":{}}`)
		default:
			http.NotFound(w, q)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := r.attend(ctx, &runner.Job{Output: "/data/_attempt-x"}, yarn.App{ID: "application_1_0001", State: "RUNNING"})
	if err == nil || !strings.Contains(err.Error(), "application_1_0001: the resource manager does not know it any more") {
		t.Errorf("error %v", err)
	}
}

// TestAtWork checks that an application counts as missing only if the resource manager write
// so.
func TestAtWork(t *testing.T) {
	for _, test := range []struct {
		answer string
		keeps  bool
		fails  bool
	}{
		{`{"apps":{}}`, false, false},
		{`{"apps":{"app":[{"id":"application_1_0001","state":"RUNNING","finalStatus":"UNDEFINED"}]}}`, true, false},
		{`{"apps":{"app":[{"id":"application_1_0001","state":"FINISHED","finalStatus":"SUCCEEDED"}]}}`, true, false},
		{`{"apps":{"app":[{"id":"application_1_0001","state":"FINISHED","finalStatus":"FAILED"}]}}`, false, false},
		{"", false, true},
	} {
		r := managed(t, func(w http.ResponseWriter, q *http.Request) {
			if test.answer == "" {
				http.Error(w, "not now", http.StatusServiceUnavailable)
				return
			}
			io.WriteString(w, test.answer)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		_, err := r.findSurely(ctx, "/data/_attempt-x")
		cancel()
		keeps, fails := err == nil, err != nil && !errors.Is(err, errNoApp)
		if keeps != test.keeps || fails != test.fails {
			t.Errorf("%s: %v", test.answer, err)
		}
	}
}

// TestParse checks that all output of a client is read, even if a line is longer than any of
// Hadoop's: a client whose output is not read blocks.
func TestParse(t *testing.T) {
	read, write := io.Pipe()
	parsed := make(chan struct{})
	c := &client{counters: make(yarn.Counters)}
	var states []string
	job := &runner.Job{Progress: func(p runner.Progress) { states = append(states, p.State) }}
	go func() {
		c.parse(read, job)
		close(parsed)
	}()
	fmt.Fprint(write, "Submitted application application_1_0001\nThe url to track the job: http://x\n map 0% reduce 0%\n\tJob Counters \n\t\tFailed map tasks=2\n\t\tFailed reduce tasks=1\n")
	fmt.Fprintf(write, "\tgroup\n\t\ta=9223372036854775807\n\t\tb=9007199254740993\n%s\n%s\n", strings.Repeat("x", 1<<20), "more")
	write.Close()
	<-parsed
	if c.app != "application_1_0001" {
		t.Errorf("application %q", c.app)
	}
	if want := []string{runner.Accepted, runner.Running}; !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
	if s := new(Runner).stats(job, c.app, c.counters, time.Second); s.Retries != 3 {
		t.Errorf("%d retries", s.Retries)
	}
	if group := c.counters["group"]; group["a"] != math.MaxInt64 || group["b"] != 1<<53+1 {
		t.Errorf("counters %v", group)
	}
}

// A sized runner checks that no job reads more records than mostRecords returns.
type sized struct {
	runner.Runner
	t    *testing.T
	most float64
	jobs int
}

func (r *sized) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	p := &plan{Runner: new(Runner), job: job}
	if job.Step == step.Possible || job.Step == step.Solve {
		r.jobs++
		if err := p.fill(); err != nil || float64(p.reads) > r.most {
			r.t.Errorf("%s: reads %d, at most %.0f, %v", job.Name, p.reads, r.most, err)
		}
	}
	return r.Runner.Run(ctx, job)
}

// TestMostRecords checks that mostRecords is an upper bound for all jobs of a game.
func TestMostRecords(t *testing.T) {
	for _, board := range [][3]int{{1, 1, 1}, {1, 2, 2}, {3, 3, 3}, {4, 4, 4}, {1, 6, 2}} {
		for _, codec := range []jobdir.Codec{jobdir.Packed, jobdir.Text} {
			g := must.Get(connectn.New(board[0], board[1], board[2]))(t)
			r := &sized{Runner: &inline.Runner{}, t: t, most: mostRecords(game.MethodOf(g), codec)}
			solved.Dir(t, g, func(o *solve.Options) { o.Runner, o.Codec, o.Combine, o.KeepAll = r, codec, false, true })
			if r.jobs == 0 {
				t.Errorf("%s: no jobs", g.Spec())
			}
		}
	}
}
