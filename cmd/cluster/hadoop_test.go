//go:build hadoop

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// manager and history are the web services that report the jobs of the cluster of make
// cluster-up.
const (
	manager = "http://localhost:8088/ws/v1/cluster/"
	history = "http://localhost:19888/ws/v1/history/mapreduce/jobs/"
)

// TestHadoopMake uses a real cluster as a user does, in a shell. It starts the cluster, copies files,
// runs jobs by hand, and solves games by make and by driver. It stops, starts and stops the cluster
// again. Finally it makes a daemon unable to start.
func TestHadoopMake(t *testing.T) {
	longtest.Share(t)
	u := newUser(t)
	const up = `file system: hdfs://localhost:9000
jobs:        http://localhost:8088
history:     http://localhost:19888
use it:      . CLUSTER/env.sh
`
	u.wants(t, "make -s cluster-down CLUSTER=$CLUSTER", "")
	u.wants(t, "make -s cluster-up CLUSTER=$CLUSTER", up)
	u.running(t)

	t.Run("jobs by hand", func(t *testing.T) {
		u.wants(t, `. $CLUSTER/env.sh && echo 000 | hadoop fs -put - first && hadoop fs -cat first`, "000\n")
		u.wants(t, `. $CLUSTER/env.sh && hadoop jar $CLUSTER/bin/hadoop-streaming.jar \
			-D treereduce.width=3 -D treereduce.height=3 -D treereduce.connect=3 -files bin/possible_map,bin/possible_reduce \
			-mapper possible_map -reducer possible_reduce -input first -output out >&2 && hadoop fs -cat 'out/part-*'`, "002\t\n020\t\n200\t\n")
	})
	// bin/hadoop, which make cluster-up creates, uses the cluster.
	t.Run("proj2-hadoop", func(t *testing.T) {
		u.wants(t, `make -s proj2-hadoop DATA_HADOOP=$DATA`, `Connect 3 on 3×3: tie in 9 moves
694 positions in N s
table: /user/USER/DATA/table
final: /user/USER/DATA/final
`)
		u.wants(t, `bin/hadoop fs -cat $DATA'/final/part-*' | cmp - ref_out/3x3_connect3.txt`, "")
		u.wants(t, `make -s proj2-hadoop WIDTH=4 HEIGHT=3 DATA_HADOOP=$DATA | head -1`, "Connect 3 on 4×3: X wins in 9 moves\n")
	})
	t.Run("options", func(t *testing.T) { testOptions(t, u) })

	t.Run("down", func(t *testing.T) {
		u.wants(t, "make -s cluster-down CLUSTER=$CLUSTER", "")
		u.wantNone(t)
		u.wants(t, "make -s cluster-down CLUSTER=$CLUSTER", "")
		stdout, stderr, code := u.does(t, "make -s cluster-status CLUSTER=$CLUSTER")
		if code == 0 || strings.Count(stdout, "not running") != 5 ||
			!strings.HasPrefix(stderr, "cluster: not running: NameNode, DataNode, ResourceManager, NodeManager, JobHistoryServer\n") {
			t.Errorf("status of what is down: exit status %d\n%s%s", code, stdout, stderr)
		}
		u.wants(t, "make -s cluster-up CLUSTER=$CLUSTER", up)
		u.wants(t, `bin/hadoop fs -cat 'out/part-*'`, "002\t\n020\t\n200\t\n")
		u.wants(t, "make -s cluster-down CLUSTER=$CLUSTER", "")
	})
	// The error names the daemon that cannot start, and shows its log.
	t.Run("cannot start", func(t *testing.T) {
		must.OK(t, os.Remove(filepath.Join(u.cluster, "hdfs", "name", "current", "VERSION")))
		_, stderr, code := u.does(t, "make -s cluster-up CLUSTER=$CLUSTER")
		if code == 0 || !strings.Contains(stderr, "NameNode: has ended") || !strings.Contains(stderr, "NameNode is not formatted") {
			t.Errorf("a name node without its folder: exit status %d\n%s", code, stderr)
		}
		u.wantNone(t)
	})
}

// testOptions runs two jobs on the cluster, whose mappers need a file that --files provides. It
// checks the jobs that status --json lists, and that --queue has set their queue on the
// cluster.
func testOptions(t *testing.T, u *user) {
	extra := filepath.Join(u.dir, "extra.txt")
	must.OK(t, os.WriteFile(extra, []byte("brought\n"), 0o666))
	programs := filepath.Join(u.dir, "programs")
	must.OK(t, os.Mkdir(programs, 0o777))
	for name, first := range map[string]string{"mapper": `test "$(cat extra.txt)" = brought || exit 1`, "reducer": ""} {
		text := fmt.Sprintf("#!/bin/sh\n%s\nexec %s/bin/${0##*/}\n", first, u.root)
		must.OK(t, os.WriteFile(filepath.Join(programs, name), []byte(text), 0o777))
	}
	const solve = `bin/driver solve connectn --width 3 --height 3 --connect 3 --data $DATA --runner hadoop --overwrite --cluster-above 150`
	u.wants(t, solve+` --queue default --cluster-bin `+programs+` --files `+extra+` | head -1`, "Connect 3 on 3×3: tie in 9 moves\n")
	var journal struct {
		State string
		Jobs  []struct {
			Job, Application string
			Records          int64
		}
	}
	stdout, stderr, _ := u.does(t, `bin/driver status --json --data $DATA`)
	if err := json.Unmarshal([]byte(stdout), &journal); err != nil || journal.State != "solved" {
		t.Fatalf("status --json: %v\n%s%s", err, stdout, stderr)
	}
	records := make(map[string]int64)
	for _, j := range journal.Jobs {
		if j.Application == "" {
			continue
		}
		records[j.Job] = j.Records
		// The default queue is the same one, but then its source is a configuration file.
		if source := queueSource(t, j.Application); source == "" || strings.HasSuffix(source, ".xml") {
			t.Errorf("%s: the queue default was set by %q", j.Job, source)
		}
	}
	if want := map[string]int64{"data_first8": 114, "data_second6": 150}; !maps.Equal(records, want) {
		t.Errorf("jobs on the cluster wrote %v, want %v", records, want)
	}
}

// queueSource returns what set the queue of a finished job to default.
func queueSource(t *testing.T, application string) string {
	t.Helper()
	var app struct{ App struct{ State, Queue string } }
	getJSON(t, manager+"apps/"+application, &app)
	if app.App.State != "FINISHED" || app.App.Queue != "default" && app.App.Queue != "root.default" {
		t.Errorf("%s: %+v", application, app)
	}
	var conf struct {
		Conf struct {
			Property []struct {
				Name   string
				Source []string
			}
		}
	}
	getJSON(t, history+strings.Replace(application, "application_", "job_", 1)+"/conf", &conf)
	for _, p := range conf.Conf.Property {
		if p.Name == "mapreduce.job.queuename" && len(p.Source) > 0 {
			return p.Source[0]
		}
	}
	return ""
}

// getJSON gets the answer of a web service, and retries until there is one.
func getJSON(t *testing.T, address string, to any) {
	t.Helper()
	var err error
	must.Until(t, func() bool {
		var answer *http.Response
		if answer, err = http.Get(address); err != nil {
			return false
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		} else {
			err = json.NewDecoder(answer.Body).Decode(to)
		}
		return err == nil
	}, func() string { return fmt.Sprintf("%s: %v", address, err) })
}

// A user types commands in the module's root directory.
type user struct {
	root, dir string
	cluster   string // the folder of the cluster
	env       []string
}

// newUser returns a user who has no Hadoop installation.
func newUser(t *testing.T) *user {
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	dir := must.Get(os.MkdirTemp("", "make-test-"))(t)
	u := &user{root: root, dir: dir, cluster: filepath.Join(dir, "cluster")}
	u.env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "HADOOP_") || strings.HasPrefix(v, "KRB5") || strings.HasPrefix(v, "MAKE")
	})
	u.env = append(u.env, "CLUSTER="+u.cluster, "DATA="+filepath.Base(dir))
	link := filepath.Join(root, "bin", "hadoop")
	was, linkErr := os.Readlink(link)
	t.Cleanup(func() {
		u.does(t, "make -s cluster-down CLUSTER=$CLUSTER")
		os.Remove(link)
		if linkErr == nil {
			if err := os.Symlink(was, link); err != nil {
				t.Error(err)
			}
		}
		if t.Failed() {
			t.Logf("the logs are in %s", filepath.Join(u.cluster, "logs"))
			return
		}
		os.RemoveAll(dir)
	})
	return u
}

// does runs a command line.
func (u *user) does(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	begun := time.Now()
	cmd := exec.Command("bash", "-c", "set -o pipefail; "+line)
	cmd.Dir, cmd.Env = u.root, u.env
	var out, printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &printed
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s: %s", time.Since(begun).Seconds(), line)
	return out.String(), printed.String(), cmd.ProcessState.ExitCode()
}

// varies replaces the parts of an output that differ from run to run.
func (u *user) varies(text string) string {
	text = regexp.MustCompile(`in [\d.]+ (µs|ms|s|min)`).ReplaceAllString(text, "in N s")
	text = regexp.MustCompile(`/user/[^/]+/`).ReplaceAllString(text, "/user/USER/")
	return strings.NewReplacer(u.cluster, "CLUSTER", filepath.Base(u.dir), "DATA").Replace(text)
}

// wants runs a command line, which must succeed and print want.
func (u *user) wants(t *testing.T, line, want string) {
	t.Helper()
	stdout, stderr, code := u.does(t, line)
	if got := u.varies(stdout); code != 0 || got != want {
		t.Fatalf("%s: exit status %d\n%s%s\nwant\n%s", line, code, got, stderr, want)
	}
}

// running checks that make cluster-status lists the five daemons, and that all of them run.
func (u *user) running(t *testing.T) {
	t.Helper()
	stdout, stderr, code := u.does(t, "make -s cluster-status CLUSTER=$CLUSTER")
	if n := len(regexp.MustCompile(`(?m)^\w+ +running +\d+ +http://localhost:\d+$`).FindAllString(stdout, -1)); code != 0 || stderr != "" || n != 5 || strings.Count(stdout, "\n") != 5 {
		t.Fatalf("status: exit status %d\n%s%s", code, stdout, stderr)
	}
}

// wantNone checks that no process of the cluster is left. A command that a daemon had just started, such as
// df, may end a moment after it.
func (u *user) wantNone(t *testing.T) {
	t.Helper()
	must.Until(t, func() bool { return u.runs() == "" }, func() string { return "a process is left: " + u.runs() })
}

// runs returns the number and the command line of a process, other than this test's own, whose command line or
// environment names the cluster's folder; "" if there is none.
func (u *user) runs() string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && strings.Contains(string(cmdline)+string(environ), u.cluster) {
			return e.Name() + " " + strings.ReplaceAll(string(cmdline), "\x00", " ")
		}
	}
	return ""
}
