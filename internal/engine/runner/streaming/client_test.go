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

// listing is the line of an application in a list.
func listing(state, final string) string {
	return "application_1_0001\tx\tMAPREDUCE\tme\tdefault\t" + state + "\t" + final + "\t50%\thttp://x"
}

// TestSubmitCommands checks that a good job takes no command but its submission, and what its progress and statistics are.
func TestSubmitCommands(t *testing.T) {
	r, commands := installed(t, `cat >&2 <<'END'
INFO impl.YarnClientImpl: Submitted application application_1_0001
INFO mapreduce.Job: The url to track the job: http://x
INFO mapreduce.Job:  map 0% reduce 0%
INFO mapreduce.Job:  map 100% reduce 50%
	Job Counters 
		Failed map tasks=2
		Failed reduce tasks=1
END`)
	var states []string
	job := &runner.Job{Progress: func(p runner.Progress) { states = append(states, fmt.Sprint(p.State, p.Share, p.Tracking)) }}
	stats, err := r.submit(t.Context(), job, []string{"jar", "streaming.jar"})
	if err != nil || stats.Application != "application_1_0001" || stats.Retries != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	if want := []string{runner.Accepted + "0http://x", runner.Running + "0http://x", runner.Running + "0.75http://x"}; !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
	if got := commands(); !slices.Equal(got, []string{"jar streaming.jar"}) {
		t.Errorf("commands %q", got)
	}
}

// TestSubmitFails checks the error of a job that was not submitted, of one that failed, and of a client that failed while the
// resource manager cannot be asked.
func TestSubmitFails(t *testing.T) {
	for name, test := range map[string]struct{ client, list, want string }{
		"refused": {"echo 'ERROR: unknown queue: x' >&2", "true", "hadoop: not submitted: exit status 5: ERROR: unknown queue: x"},
		"failed": {"echo 'Submitted application application_1_0001' >&2; echo 'Job failed' >&2", "echo '" + listing("FINISHED", "FAILED") + "'",
			"application_1_0001: exit status 5: Job failed"},
		"lost": {"echo 'an error' >&2", "echo no route >&2; exit 1", "hadoop: exit status 5: an error; "},
	} {
		r, _ := installed(t, `case $1 in jar) `+test.client+`; exit 5;; *) `+test.list+`;; esac`)
		_, err := r.submit(t.Context(), &runner.Job{Output: "/data/_attempt-x"}, []string{"jar"})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// TestStop stops a job that runs: it is killed on the cluster.
func TestStop(t *testing.T) {
	r, commands := installed(t, `case $1 in jar) echo 'Submitted application application_1_0001' >&2
echo 'The url to track the job: http://x' >&2; sleep 600;; esac`)
	ctx, cancel := context.WithCancel(t.Context())
	job := &runner.Job{Progress: func(runner.Progress) { cancel() }}
	if _, err := r.submit(ctx, job, []string{"jar"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got, want := commands(), []string{"jar", "org.apache.hadoop.mapred.JobClient -kill job_1_0001"}; !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
}

// TestForgotten simulates a resource manager that was restarted while a driver waited for a
// job: it responds, but knows of no application.
func TestForgotten(t *testing.T) {
	r, _ := installed(t, "true")
	_, err := r.attend(t.Context(), &runner.Job{Output: "/data/_attempt-x"}, yarn.App{ID: "application_1_0001", State: "RUNNING"})
	if err == nil || !strings.Contains(err.Error(), "application_1_0001: the resource manager does not know it any more") {
		t.Errorf("error %v", err)
	}
}

// TestAttend waits for a job of another driver, whose counters come from a command.
func TestAttend(t *testing.T) {
	r, commands := installed(t, `case $* in
*-list*) echo '`+listing("FINISHED", "SUCCEEDED")+`';;
*-status*) printf '\tJob Counters\n\t\tFailed map tasks=2\n';;
esac`)
	stats, err := r.attend(t.Context(), &runner.Job{Output: "/data/_attempt-x"}, yarn.App{ID: "application_1_0001", State: "RUNNING"})
	if err != nil || stats.Retries != 2 || len(commands()) != 2 {
		t.Errorf("%+v, %v, %q", stats, err, commands())
	}
}

// TestAtWork checks that an application counts as missing only if the resource manager says
// so.
func TestAtWork(t *testing.T) {
	for _, test := range []struct {
		list  string
		keeps bool
		fails bool
	}{
		{"true", false, false},
		{"echo '" + listing("RUNNING", "UNDEFINED") + "'", true, false},
		{"echo '" + listing("FINISHED", "SUCCEEDED") + "'", true, false},
		{"echo '" + listing("FINISHED", "FAILED") + "'", false, false},
		{"exit 1", false, true},
	} {
		r, _ := installed(t, test.list)
		_, err := r.find(t.Context(), "/data/_attempt-x")
		keeps, fails := err == nil, err != nil && !errors.Is(err, errNoApp)
		if keeps != test.keeps || fails != test.fails {
			t.Errorf("%s: %v", test.list, err)
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

// TestKeepsCopying checks that a new driver ends the copying of a dead one, and that it is an error if that is not possible.
func TestKeepsCopying(t *testing.T) {
	for _, test := range []struct {
		list, kill    string
		killed, fails bool
	}{
		{"true", "true", false, false},
		{"echo '" + listing("FINISHED", "SUCCEEDED") + "'", "true", false, false},
		{"echo '" + listing("FINISHED", "SUCCEEDED") + "'; echo '" + strings.Replace(listing("RUNNING", "UNDEFINED"), "1_0001", "1_0000", 1) + "'", "true", true, false},
		{"echo '" + listing("RUNNING", "UNDEFINED") + "'", "exit 1", true, true},
		{"exit 1", "true", false, true},
	} {
		r, commands := installed(t, "case $* in *-list*) "+test.list+";; *-kill*) "+test.kill+";; esac")
		keeps, err := r.Keeps(t.Context(), "/data/"+stagePrefix+"x")
		killed := strings.Contains(strings.Join(commands(), "\n"), "-kill job_1_000")
		if keeps || (err != nil) != test.fails || killed != test.killed {
			t.Errorf("%s; %s: keeps %v, %v, killed %v", test.list, test.kill, keeps, err, killed)
		}
	}
}
