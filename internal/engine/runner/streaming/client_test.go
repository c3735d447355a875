package streaming

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// installed returns a runner whose hadoop command is a script, and a function that returns the commands that were run.
func installed(t *testing.T, script string) (r *Runner, commands func() []string) {
	dir := t.TempDir()
	command, log := filepath.Join(dir, "hadoop"), filepath.Join(dir, "log")
	must.OK(t, os.WriteFile(command, []byte("#!/bin/sh\necho \"$*\" >> '"+log+"'\n"+script+"\n"), 0o755))
	services := map[string]string{"yarn.resourcemanager.webapp.address": "127.0.0.1:1", "mapreduce.jobhistory.webapp.address": "127.0.0.1:1"}
	return &Runner{FS: new(hadoop.FS), Yarn: yarn.New(command, services, "")}, func() []string {
		return strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(log))(t))), "\n")
	}
}

// listing is the line of an application in a list of those that have not ended.
const listing = "application_1_0001\tx\tMAPREDUCE\tme\tdefault\tRUNNING\tUNDEFINED\t50%\thttp://x"

// TestSubmitCommands checks that a good job takes no command but its submission, what its progress and statistics are, and that
// its maps must have read all records.
func TestSubmitCommands(t *testing.T) {
	r, commands := installed(t, `cat >&2 <<'END'
INFO impl.YarnClientImpl: Submitted application application_1_0001
INFO mapreduce.Job: The url to track the job: http://x
INFO mapreduce.Job:  map 0% reduce 0%
INFO mapreduce.Job:  map 100% reduce 50%
	Job Counters 
		Failed map tasks=2
		Failed reduce tasks=1
	treereduce map
		records in=7
END`)
	var states []string
	job := &runner.Job{Output: "/data/_attempt-x", Step: step.Possible, Method: method.Of(must.Get(connectn.New(3, 3, 3))(t)), Progress: func(p runner.Progress) { states = append(states, fmt.Sprint(p.State, p.Share, p.Tracking)) }}
	stats, err := r.submit(t.Context(), job, 7, []string{"jar", "streaming.jar"})
	if err != nil || stats.Application != "application_1_0001" || stats.Retries != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	if want := []string{runner.Accepted + "0http://x", runner.Running + "0http://x", runner.Running + "0.75http://x"}; !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
	if got := commands(); !slices.Equal(got, []string{"jar streaming.jar"}) {
		t.Errorf("commands %q", got)
	}
	if _, err := r.submit(t.Context(), job, 8, []string{"jar"}); !errors.Is(err, runner.ErrAgain) || !strings.Contains(err.Error(), "its maps have read 7 records of 8") {
		t.Errorf("a map without its split: %v", err)
	}
}

// TestSubmitFails checks the error of a job that was not submitted, of one that failed, and of a client that failed: then the
// application is killed, if it still runs and the resource manager can be asked.
func TestSubmitFails(t *testing.T) {
	const submitted = "echo 'Submitted application application_1_0001' >&2"
	for name, test := range map[string]struct{ client, list, want string }{
		"refused":     {"echo 'ERROR: unknown queue: x' >&2", "true", "hadoop: not submitted: exit status 5: ERROR: unknown queue: x"},
		"failed":      {submitted + "; echo 'Job failed' >&2", "true", "application_1_0001: hadoop: exit status 5: Job failed"},
		"only client": {submitted, "echo '" + listing + "'", "application_1_0001: hadoop: exit status 5"},
		"lost":        {"echo 'an error' >&2", "echo no route >&2; exit 1", "hadoop: exit status 5: an error; "},
	} {
		r, commands := installed(t, `case $*,$1 in *,jar) `+test.client+`; exit 5;; *-list*) `+test.list+`;; esac`)
		_, err := r.submit(t.Context(), &runner.Job{Output: "/data/_attempt-x"}, 0, []string{"jar"})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || name != "lost" && err.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		if killed := strings.Contains(strings.Join(commands(), "\n"), "-kill job_1_0001"); killed != (name == "only client") {
			t.Errorf("%s: killed %v: %q", name, killed, commands())
		}
	}
}

// TestStop stops a job that runs: it is killed on the cluster.
func TestStop(t *testing.T) {
	r, commands := installed(t, `case $*,$1 in *,jar) echo 'Submitted application application_1_0001' >&2
echo 'The url to track the job: http://x' >&2; sleep 600;; *-list*) echo '`+listing+`';; esac`)
	ctx, cancel := context.WithCancel(t.Context())
	job := &runner.Job{Output: "/data/_attempt-x", Progress: func(runner.Progress) { cancel() }}
	if _, err := r.submit(ctx, job, 0, []string{"jar"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := commands(); len(got) != 3 || !strings.Contains(got[1], "-appTags "+r.tag(job.Output)) || got[2] != "org.apache.hadoop.mapred.JobClient -kill job_1_0001" {
		t.Errorf("commands %q", got)
	}
}

// TestEnd checks that a new driver ends the job of a dead one, and that it is an error if that is not possible. It is none if
// the job ends by itself meanwhile.
func TestEnd(t *testing.T) {
	const once = "[ -e $0.ended ] || echo '" + listing + "'"
	for _, test := range []struct {
		list, kill    string
		killed, fails bool
	}{
		{"true", "true", false, false},
		{"echo '" + listing + "'", "true", true, false},
		{"echo '" + listing + "'", "exit 1", true, true},
		{once, "touch $0.ended; exit 1", true, false},
		{"exit 1", "true", false, true},
	} {
		r, commands := installed(t, "case $* in *-list*) "+test.list+";; *-kill*) "+test.kill+";; esac")
		err := r.End(t.Context(), "/data/"+stagePrefix+"x")
		killed := strings.Contains(strings.Join(commands(), "\n"), "-kill job_1_0001")
		if (err != nil) != test.fails || killed != test.killed {
			t.Errorf("%s; %s: %v, killed %v", test.list, test.kill, err, killed)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "a job of an earlier driver may still run, for "+stagePrefix+"x: ") {
			t.Error(err)
		}
	}
}

// A sized runner checks that no job reads more records than MostRecords returns.
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

// TestMostRecords checks that MostRecords is an upper bound for all jobs of a game.
func TestMostRecords(t *testing.T) {
	for _, board := range [][3]int{{1, 1, 1}, {1, 2, 2}, {3, 3, 3}, {4, 4, 4}, {1, 6, 2}} {
		g := must.Get(connectn.New(board[0], board[1], board[2]))(t)
		r := &sized{Runner: &inline.Runner{}, t: t, most: method.Of(g).MostRecords()}
		solved.Dir(t, g, func(o *solve.Options) { o.Runner, o.Combine, o.KeepAll = r, false, true })
		if r.jobs == 0 {
			t.Errorf("%s: no jobs", g.Spec())
		}
	}
}
