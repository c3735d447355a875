package metrics

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// runOf returns the report of a run with these jobs and the given state.
func runOf(state string, now *solve.Event, jobs ...solve.JobRecord) *status.Run {
	return &status.Run{Status: state, Journal: &solve.Journal{Game: "g", State: state,
		Begun: time.Unix(1, 5e8), Updated: time.Unix(2, 0), Now: now, Jobs: jobs, Damaged: 2}}
}

// job returns the record of a job.
func job(step string, tier int, s runner.Stats) solve.JobRecord {
	return solve.JobRecord{Step: step, Tier: tier, Seconds: 1.5, Stats: s}
}

// written returns what Write writes, without comments and build_info.
func written(t *testing.T, runs ...Run) string {
	t.Helper()
	var out bytes.Buffer
	must.OK(t, Write(&out, "v1", runs))
	return regexp.MustCompile(`(?m)^(#|treereduce_build_info).*\n`).ReplaceAllString(out.String(), "")
}

// TestWrite checks the metrics of a run on a cluster, beside a directory without a run.
func TestWrite(t *testing.T) {
	r := runOf(solve.Running, &solve.Event{Step: "solve", Share: 0.25, Left: 60, Tracking: "http://x", State: runner.Accepted},
		job("init", 0, runner.Stats{Counts: step.Counts{Records: 1}, Size: 100}),
		job("possible", 1, runner.Stats{Counts: step.Counts{Records: 7, Positions: 3}, Size: 12345678901, Application: "a", Retries: 4}))
	const want = `treereduce_run_info{data="a\\b\n\"c",game="g"} 1
treereduce_run_state{data="a\\b\n\"c",state="running"} 1
treereduce_run_state{data="a\\b\n\"c",state="stopped"} 0
treereduce_run_state{data="a\\b\n\"c",state="failed"} 0
treereduce_run_state{data="a\\b\n\"c",state="died"} 0
treereduce_run_state{data="a\\b\n\"c",state="solved"} 0
treereduce_run_begun_timestamp_seconds{data="a\\b\n\"c"} 1.5
treereduce_run_updated_timestamp_seconds{data="a\\b\n\"c"} 2
treereduce_share_done{data="a\\b\n\"c"} 0.25
treereduce_seconds_left{data="a\\b\n\"c"} 60
treereduce_positions_found{data="a\\b\n\"c"} 4
treereduce_job_positions{data="a\\b\n\"c",step="init",tier="0"} 1
treereduce_job_positions{data="a\\b\n\"c",step="possible",tier="1"} 3
treereduce_job_bytes{data="a\\b\n\"c",step="init",tier="0"} 100
treereduce_job_bytes{data="a\\b\n\"c",step="possible",tier="1"} 12345678901
treereduce_job_seconds{data="a\\b\n\"c",step="init",tier="0"} 1.5
treereduce_job_seconds{data="a\\b\n\"c",step="possible",tier="1"} 1.5
treereduce_retries_total{data="a\\b\n\"c"} 4
treereduce_damaged_total{data="a\\b\n\"c"} 2
treereduce_cluster_jobs{data="a\\b\n\"c",state="accepted"} 1
treereduce_cluster_jobs{data="a\\b\n\"c",state="running"} 0
treereduce_cluster_jobs{data="a\\b\n\"c",state="succeeded"} 1
treereduce_cluster_jobs{data="a\\b\n\"c",state="failed"} 0
`
	if got := written(t, Run{"a\\b\n\"c", r}, Run{Data: "none"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := written(t, Run{"ä\xff\xfe", runOf(solve.Solved, nil)}); !strings.HasPrefix(got, `treereduce_run_info{data="ä\\xff\\xfe",game="g"} 1`) || !utf8.ValidString(got) {
		t.Errorf("a name that is not UTF-8: %q", got)
	}
	var out bytes.Buffer
	must.OK(t, Write(&out, "v1", nil))
	for _, want := range []string{"# HELP treereduce_retries_total How often ", "\n# TYPE treereduce_retries_total counter\n", "\ntreereduce_build_info{version=\"v1\",goversion=\"go1."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, &out)
		}
	}
	failed := runOf(solve.Failed, &solve.Event{Step: "solve", Tracking: "http://x", State: runner.Running})
	if got := written(t, Run{"d", failed}); !strings.Contains(got, `treereduce_cluster_jobs{data="d",state="failed"} 1`) || strings.Contains(got, "seconds_left") {
		t.Errorf("failed: %s", got)
	}
	if got := written(t, Run{"d", runOf(solve.Solved, nil)}); !strings.Contains(got, `share_done{data="d"} 1`) || !strings.Contains(got, `seconds_left{data="d"} 0`) {
		t.Errorf("solved: %s", got)
	}
}

// TestPasses checks that the passes over a tier have one sample together: Prometheus demands different labels, and some games
// have thousands of passes.
func TestPasses(t *testing.T) {
	jobs := []solve.JobRecord{job("mark", 0, runner.Stats{Counts: step.Counts{Records: 1}})}
	for pass := range 4 {
		j := job("solve", 0, runner.Stats{Counts: step.Counts{Records: 10}})
		j.Pass = pass
		jobs = append(jobs, j)
	}
	got := written(t, Run{"d", runOf(solve.Running, nil, jobs...)})
	for _, want := range []string{`
treereduce_job_positions{data="d",step="mark",tier="0"} 1
treereduce_job_positions{data="d",step="solve",tier="0"} 40
`, `
treereduce_job_seconds{data="d",step="mark",tier="0"} 1.5
treereduce_job_seconds{data="d",step="solve",tier="0"} 6
`} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant among them%s", got, want)
		}
	}
}

// TestDocs checks that docs/watching.md describes every metric, and that the metrics that the dashboard queries
// exist.
func TestDocs(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/watching.md"))(t))
	known := map[string]bool{"build_info": true}
	for _, f := range families() {
		known[f.name] = true
	}
	for name := range known {
		if !strings.Contains(page, "| `treereduce_"+name) {
			t.Errorf("docs/watching.md does not describe treereduce_%s", name)
		}
	}
	for _, name := range regexp.MustCompile(`treereduce_(\w+)`).FindAllStringSubmatch(page+string(must.Get(os.ReadFile("../../../docs/grafana.json"))(t)), -1) {
		if !known[name[1]] {
			t.Errorf("there is no %s", name[0])
		}
	}
}
