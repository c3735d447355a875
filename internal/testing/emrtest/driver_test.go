package emrtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/s3test"
)

// A cloud is an Amazon EMR and an S3 in this process, and a client of both. The driver of a
// step runs on this machine with --runner inline; TestEMR tests it on a cluster.
type cloud struct {
	emr *Server
	s3  *s3test.Fake
	dir string   // working directory of the client
	env []string // environment of the client

	mu      sync.Mutex
	runs    []string // the scripts of the steps that have started
	hold    chan struct{}
	stopped chan struct{} // closed when a step that is held is asked to stop
	fail    error
}

// newCloud starts both services.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	return newFastCloud(t, 20*time.Millisecond)
}

// newFastCloud is newCloud with the given duration for a second of the service.
func newFastCloud(t *testing.T, second time.Duration) *cloud {
	t.Helper()
	if testing.Short() {
		t.Skip("it tests processes")
	}
	c := &cloud{s3: s3test.StartFake(t, "bucket"), dir: t.TempDir()}
	programs, master := filepath.Join(c.dir, "programs"), t.TempDir()
	must.OK(t, os.Mkdir(programs, 0o777))
	write := func(name, text string) {
		t.Helper()
		must.OK(t, os.WriteFile(name, []byte("#!/bin/bash\n"+text+"\n"), 0o777))
	}
	for _, name := range []string{"mapper", "reducer"} {
		write(filepath.Join(programs, name), "")
	}
	write(filepath.Join(programs, "driver-aws"), `words=()
while (($#)); do
	case $1 in
	--runner) words+=(--runner inline); shift ;;
	--data) words+=(--data "`+master+`/$2"); mkdir -p "`+master+`/${2%/*}"; shift ;;
	*) words+=("$1") ;;
	esac
	shift
done
exec `+bin+`/driver-aws "${words[@]}"`)
	tools := t.TempDir()
	write(filepath.Join(tools, "aws"), "exec cp "+programs+`/* "$6"`)
	env := append(os.Environ(), c.s3.Env()...)
	env = append(env, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := func(ctx context.Context, args []string) error {
		c.mu.Lock()
		c.runs = append(c.runs, strings.Join(args, " "))
		hold, stopped, fail := c.hold, c.stopped, c.fail
		c.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
				close(stopped)
				return ctx.Err()
			}
		}
		if fail != nil {
			return fail
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			return errors.New(strings.TrimSpace(string(out)))
		}
		return nil
	}
	c.emr = must.Get(Start(Config{Run: run, S3: c.s3.URL, Second: second, Start: 1, Bootstrap: 1, LogDelay: 60}))(t)
	t.Cleanup(func() {
		if err := c.emr.Close(); err != nil {
			t.Error(err)
		}
	})
	c.env = append(c.s3.Env(), "AWS_ENDPOINT_URL_EMR="+c.emr.URL, "XDG_CONFIG_HOME="+filepath.Join(c.dir, "config"), "HOME="+c.dir)
	return c
}

// driver returns a command of driver.
func (c *cloud) driver(words string) *exec.Cmd {
	cmd := command(c.dir, "driver-aws "+words)
	cmd.Env = append(os.Environ(), c.env...)
	return cmd
}

// onCloud solves a small board.
const onCloud = "solve connectn --width 3 --height 3 --connect 3 --runner emr --bucket s3://bucket/games --binaries programs --poll 30ms --instance m5.xlarge"

// holding makes steps wait until release is called.
func (c *cloud) holding() (release func()) {
	hold := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold, c.stopped = hold, make(chan struct{})
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hold = nil
		close(hold)
	})
}

// calls returns the number of calls of an operation.
func (c *cloud) calls(op string) (n int) {
	for _, call := range c.emr.Calls() {
		if call.Op == op {
			n++
		}
	}
	return n
}

// begun waits until n steps have started.
func (c *cloud) begun(t *testing.T, n int) {
	t.Helper()
	wait(t, "a step to begin", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.runs) >= n
	})
}

// wait waits until done returns true.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("waiting for %s", what)
}

// ended waits until all clusters have terminated, and returns their number.
func (c *cloud) ended(t *testing.T) int {
	t.Helper()
	wait(t, "all clusters to end", func() bool {
		return !slices.ContainsFunc(c.emr.Clusters(), func(s State) bool { return !s.Ended() })
	})
	return len(c.emr.Clusters())
}

// written returns the files of the recorded clusters.
func (c *cloud) written(t *testing.T) []string {
	t.Helper()
	return must.Get(filepath.Glob(filepath.Join(c.dir, "config", "treereduce", "emr", "*.json")))(t)
}

// TestEMRSolve solves a game on a cluster that is created for the run and terminated after it,
// and reads the table in S3.
func TestEMRSolve(t *testing.T) {
	c := newCloud(t)
	status, out, errs := process.Run(c.driver(onCloud))
	if status != 1 || !strings.Contains(errs, "--yes starts") || !strings.Contains(errs, "the cluster terminates after") || len(c.emr.Clusters()) != 0 {
		t.Fatalf("without a yes: exit %d, %s%s", status, out, errs)
	}
	status, out, errs = process.Run(c.driver(onCloud + " --yes"))
	want := "Connect 3 on 3×3: tie in 9 moves\n694 positions\ntable: s3://bucket/games/all_data/table\nfinal: s3://bucket/games/all_data/final\n"
	if status != 0 || out != want {
		t.Fatalf("exit %d, %s, want %s%s", status, out, want, errs)
	}
	if !regexp.MustCompile(`driver-aws: creating cluster (j-\w+); driver-aws emr down --cluster-id j-\w+ terminates it\n`).MatchString(errs) {
		t.Error(errs)
	}
	if n := c.ended(t); n != 1 || len(c.written(t)) != 0 {
		t.Errorf("%d clusters, written down %v", n, c.written(t))
	}
	if status, out, errs := process.Run(c.driver("lookup --data s3://bucket/games/all_data --start --line")); status != 0 || !strings.Contains(out, "tie in 9") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	status, _, errs = process.Run(c.driver(onCloud + " --yes"))
	if status != 1 || !strings.Contains(errs, "s3://bucket/games/all_data: already contains a run of this game: --resume continues it, --overwrite starts over") || len(c.emr.Clusters()) != 1 {
		t.Errorf("again: exit %d, %s", status, errs)
	}
	status, _, errs = process.Run(c.driver(strings.Replace(onCloud, "--width 3", "--width 4", 1) + " --yes --resume"))
	if status != 1 || !strings.Contains(errs, `all_data: of another game: expected "connectn width=4 height=3 connect=3", found "connectn width=3`) || len(c.emr.Clusters()) != 1 {
		t.Errorf("another game: exit %d, %s", status, errs)
	}
	status, _, errs = process.Run(c.driver(onCloud + " --yes --resume --data other"))
	if status != 1 || !strings.Contains(errs, "s3://bucket/games/other: no run to resume") || len(c.emr.Clusters()) != 1 {
		t.Errorf("nothing to resume: exit %d, %s", status, errs)
	}
	if status, out, errs := process.Run(c.driver("emr rm --bucket s3://bucket/games --yes")); status != 0 || len(c.s3.Keys("bucket")) != 0 {
		t.Errorf("exit %d, %s%s, left %v", status, out, errs, c.s3.Keys("bucket"))
	}
	// A place without a prefix is the bucket, which is deleted if it is empty otherwise.
	if status, out, errs := process.Run(c.driver("emr rm --bucket s3://bucket --yes")); status != 0 || out != "s3://bucket  0 objects  0 B  the bucket, which is otherwise empty\ndeleted 0 objects, 0 B, and the bucket\n" {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	if status, out, errs := process.Run(c.driver("emr rm --bucket s3://bucket --yes")); status != 1 || !strings.Contains(errs, "s3://bucket: no such bucket") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}

// TestEMRUntilTier checks that a run with --until-tier stops early on the cluster, and that a
// resumed run keeps its options.
func TestEMRUntilTier(t *testing.T) {
	c := newCloud(t)
	status, out, errs := process.Run(c.driver(onCloud + " --yes --until-tier 3 --final no"))
	if status != 0 || !strings.Contains(out, "reached tier 3") {
		t.Fatalf("exit %d, %s%s", status, out, errs)
	}
	var keys []string
	for _, key := range c.s3.Keys("bucket") {
		if strings.HasPrefix(key, "games/all_data/table/") || strings.HasPrefix(key, "games/all_data/data_first4/") {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 || c.s3.Get("bucket", "games/all_data/data_first3/_SUCCESS") == nil {
		t.Errorf("the run went on to %v", keys)
	}
	status, out, errs = process.Run(c.driver(onCloud + " --yes --resume"))
	if status != 0 || !strings.Contains(out, "694 positions\n") || strings.Contains(out, "final: ") || !strings.Contains(c.runs[1], "--final=no") {
		t.Errorf("exit %d, %s%s, %s", status, out, errs, c.runs[1])
	}
}

// TestEMRRemove checks that driver-aws emr rm lists and then deletes what treereduce created below
// the place, and nothing else, and that it refuses while a driver holds a directory.
func TestEMRRemove(t *testing.T) {
	c := newCloud(t)
	if status, out, errs := process.Run(c.driver(onCloud + " --yes")); status != 0 {
		t.Fatalf("exit %d, %s%s", status, out, errs)
	}
	c.ended(t)
	wait(t, "the logs", func() bool {
		return slices.ContainsFunc(c.s3.Keys("bucket"), func(key string) bool { return strings.HasSuffix(key, "/controller.gz") })
	})
	foreign := []string{
		"elsewhere/treereduce.txt",
		"games/all_data/notes.txt",
		"games/bin/0123456789abcdef0123456789abcdef/tool", // not a program of ours
		"games/bin/tool",
		"games/large/treereduce.json", // too large for a manifest
		"games/logs/app.log",
		"games/logs/j-FOREIGN/node/i-1/log.gz", // a cluster of someone else
		"games/notes.txt",
		"games/other/table/tier-00.blocks", // no manifest
		"games/other/treereduce.json",      // not a manifest
		"games/photos/2024/a.jpg",
		"games/steps/plan.md",
	}
	for _, key := range foreign {
		c.s3.Put("bucket", key, []byte("{}"))
	}
	c.s3.Put("bucket", "games/large/treereduce.json", bytes.Repeat([]byte("{}"), 1<<20))
	before := c.s3.Keys("bucket")
	const rm = "emr rm --bucket s3://bucket/games"
	unchanged := func(what string) {
		t.Helper()
		if left := c.s3.Keys("bucket"); !slices.Equal(left, before) {
			t.Errorf("%s: left %v\nof %v", what, left, before)
		}
	}
	status, out, errs := process.Run(c.driver(rm))
	if status != 1 || !strings.Contains(errs, "--yes deletes them") {
		t.Errorf("without a terminal: exit %d, %s%s", status, out, errs)
	}
	for _, line := range []string{
		`(?m)^s3://bucket/games/all_data +\d+ objects +\S+ \S*B +connectn width=3 height=3 connect=3$`,
		`(?m)^s3://bucket/games/bin +4 objects +\S+ \S*B +programs$`,
		`(?m)^s3://bucket/games/logs +\d+ objects? +\S+ \S*B +logs of clusters$`,
		`(?m)^kept: 11 other objects, such as s3://bucket/games/all_data/notes.txt$`,
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("%s\nexpected %s", out, line)
		}
	}
	unchanged("no terminal")
	// A driver works in the directory, such as a run with --copy.
	c.s3.Put("bucket", "games/all_data/_owner", []byte(`{"who": "driver on host h", "since": "now", "seconds": 120, "token": "t"}`))
	before = c.s3.Keys("bucket")
	status, out, errs = process.Run(c.driver(rm + " --yes"))
	if status != 1 || !strings.Contains(errs, "s3://bucket/games/all_data/_owner: in use by driver on host h") {
		t.Errorf("a claim: exit %d, %s%s", status, out, errs)
	}
	unchanged("a claim")
	c.s3.Age("bucket", "games/all_data/_owner", time.Hour) // the driver died
	// A driver finished its run between the list and the claim.
	c.s3.Set(func(r *http.Request) *faults.Fault {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/_owner") && r.Header.Get("If-Match") != "" {
			c.s3.Put("bucket", "games/all_data/table/tier-10.blocks", []byte("new"))
		}
		return nil
	})
	status, out, errs = process.Run(c.driver(rm + " --yes"))
	if left := c.s3.Keys("bucket"); status != 1 || !strings.Contains(errs, "have changed since they were listed; list them again") || len(left) != len(before) || !slices.Contains(left, "games/all_data/table/tier-10.blocks") {
		t.Errorf("a change: exit %d, %s%s, left %v", status, out, errs, left)
	}
	c.s3.Set(nil)
	// Parts of multipart uploads that were not completed.
	for _, key := range []string{"games/all_data/table/part", "games/photos/video"} {
		begun := must.Get(http.Post(c.s3.URL+"/bucket/"+key+"?uploads", "", nil))(t)
		begun.Body.Close()
	}
	status, out, errs = process.Run(c.driver(rm + " --yes"))
	if left := c.s3.Keys("bucket"); status != 0 || !slices.Equal(left, foreign) || c.s3.Uploads() != 1 {
		t.Errorf("exit %d, %s%s, left %v, %d uploads", status, out, errs, left, c.s3.Uploads())
	}
	for _, place := range []string{"s3://bucket/games", "s3://bucket"} {
		status, out, errs = process.Run(c.driver("emr rm --yes --bucket " + place))
		if left := c.s3.Keys("bucket"); status != 0 || !slices.Equal(left, foreign) || !strings.Contains(out, "treereduce has created nothing below "+place) {
			t.Errorf("again: exit %d, %s%s, left %v", status, out, errs, left)
		}
	}
}

// TestEMRPlace checks that a place in S3 that the driver on the cluster would refuse is refused
// before a cluster is created.
func TestEMRPlace(t *testing.T) {
	c := newCloud(t)
	refused := func(what, flags, want string) {
		t.Helper()
		status, _, errs := process.Run(c.driver(onCloud + " --yes" + flags))
		if status != 1 || !strings.Contains(errs, want) || len(c.emr.Clusters()) != 0 {
			t.Errorf("%s: exit %d, %s, %d clusters, want %s", what, status, errs, len(c.emr.Clusters()), want)
		}
	}
	c.s3.Put("bucket", "games/all_data/notes.txt", []byte("mine"))
	for _, flags := range []string{"", " --overwrite"} {
		refused("foreign data"+flags, flags, "s3://bucket/games/all_data: not empty, and not treereduce's: it has no treereduce.json: name another place")
	}
	c.s3.Put("bucket", "games/claimed/_owner", []byte(`{"who": "another driver", "since": "now", "seconds": 3600}`))
	refused("claimed", " --data claimed --overwrite", "s3://bucket/games/claimed/_owner: in use by another driver")
	c.s3.Set(func(r *http.Request) *faults.Fault {
		r.Header.Del("If-None-Match")
		return nil
	})
	refused("no conditional writes", " --data new", "ignores If-Match or If-None-Match")
	if c.s3.Get("bucket", "games/new/_owner") != nil {
		t.Error("a claim is left")
	}
	// The driver waits for the claim of a dead driver to expire.
	c.s3.Set(nil)
	c.s3.Put("bucket", "games/dead/_owner", []byte(`{"who": "a dead driver", "since": "now", "seconds": 3}`))
	if status, _, errs := process.Run(c.driver(onCloud + " --yes --data dead")); status != 0 || !strings.Contains(errs, "waiting until then") {
		t.Errorf("a dead driver's claim: exit %d, %s", status, errs)
	}
}

// TestEMRBucket checks that a new bucket gets its lifecycle rules, and that a bucket in another region causes a message with the costs.
func TestEMRBucket(t *testing.T) {
	c := newCloud(t)
	const up = "emr up --bucket s3://new-bucket/games --bucket-only"
	status, out, errs := process.Run(c.driver(up))
	if rules := c.s3.Rules("new-bucket"); status != 0 || !regexp.MustCompile(`<DaysAfterInitiation>7</DaysAfterInitiation>`).MatchString(rules) ||
		!regexp.MustCompile(`<Rule>(<ID>treereduce-logs</ID>|<Expiration><Days>30</Days></Expiration>|<Filter><Prefix>games/logs/</Prefix></Filter>|<Status>Enabled</Status>){4}</Rule>`).MatchString(rules) {
		t.Errorf("exit %d, %s%s, rules %s", status, out, errs, rules)
	}
	// An existing bucket keeps its own rules.
	if status, _, errs := process.Run(c.driver("emr up --bucket s3://bucket/games --bucket-only")); status != 0 || c.s3.Rules("bucket") != "" {
		t.Errorf("exit %d, %s, rules %s", status, errs, c.s3.Rules("bucket"))
	}
	c.s3.Set(func(r *http.Request) *faults.Fault {
		if !strings.Contains(r.Header.Get("Authorization"), "/eu-north-1/s3/") {
			return &faults.Fault{Status: http.StatusMovedPermanently, Code: "PermanentRedirect", Header: map[string]string{"X-Amz-Bucket-Region": "eu-north-1"}}
		}
		return nil
	})
	for _, line := range []string{onCloud, "emr up --bucket s3://bucket/games"} {
		if _, _, errs := process.Run(c.driver(line)); !strings.Contains(errs, "bucket s3://bucket is in eu-north-1, the cluster in us-east-1: about $0.02 per GB between them, and slower (--region eu-north-1 starts the cluster there)") {
			t.Errorf("%s: %s", line, errs)
		}
	}
}

// TestEMRFails checks that the cause of a failed step is found in its logs, which arrive late.
func TestEMRFails(t *testing.T) {
	c := newCloud(t)
	c.fail = errors.New("SLF4J: noise\ndriver: no streaming jar")
	const cause = "\ndriver-aws: the step: driver: no streaming jar; step s-"
	status, _, errs := process.Run(c.driver(onCloud + " --yes"))
	if status != 1 || !strings.Contains(errs, cause) || !strings.HasSuffix(errs, "; nothing was copied to s3://bucket/games/all_data yet\n") {
		t.Errorf("exit %d, %s", status, errs)
	}
	if n := c.ended(t); n != 1 || len(c.written(t)) != 0 {
		t.Errorf("%d clusters, written down %v", n, c.written(t))
	}
	// The logs of a cluster that terminates arrive then; otherwise they arrive later.
	status, _, errs = process.Run(c.driver(onCloud + " --yes --keep-cluster"))
	if status != 1 || !strings.Contains(errs, "come to S3 minutes late: waiting") || !strings.Contains(errs, cause) || len(c.written(t)) != 1 {
		t.Errorf("exit %d, %s", status, errs)
	}
	if status, out, errs := process.Run(c.driver("emr down --all")); status != 0 || !strings.HasSuffix(out, " ends\n") || len(c.written(t)) != 0 {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	c.ended(t)
}

// TestEMRLeave checks that, without a terminal, Ctrl-C leaves the step running, --resume
// follows it, a second driver is refused, and driver-aws emr down terminates it.
func TestEMRLeave(t *testing.T) {
	c := newCloud(t)
	release := c.holding()
	cmd := c.driver(onCloud + " --yes")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.OK(t, cmd.Start())
	c.begun(t, 1)
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if status := process.ExitStatus(cmd); status != 130 || !strings.Contains(errs.String(), "the step keeps running: driver-aws solve … --resume follows it, driver-aws status --data s3://bucket/games/all_data shows it, driver-aws emr down --cluster-id j-") {
		t.Fatalf("exit %d, %s", status, errs.String())
	}
	if len(c.written(t)) != 1 {
		t.Errorf("written down: %v", c.written(t))
	}
	id := strings.TrimSuffix(filepath.Base(c.written(t)[0]), ".json")
	status, out, text := process.Run(c.driver("emr status"))
	if status != 0 || !strings.Contains(out, id+"  RUNNING") {
		t.Errorf("exit %d, %s%s", status, out, text)
	}
	status, out, text = process.Run(c.driver("emr status --cluster-id " + id))
	if status != 0 || !strings.Contains(out, "for s3://bucket/games/all_data\n") || !strings.Contains(out, "RUNNING") {
		t.Errorf("exit %d, %s%s", status, out, text)
	}
	status, _, text = process.Run(c.driver(onCloud + " --yes"))
	if status != 1 || !strings.Contains(text, "cluster "+id+" is already solving s3://bucket/games/all_data: --resume follows it") {
		t.Errorf("a second driver: exit %d, %s", status, text)
	}
	status, _, text = process.Run(c.driver("emr rm --bucket s3://bucket/games --yes"))
	if status != 1 || !strings.Contains(text, "cluster "+id+" may still write there") {
		t.Errorf("exit %d, %s", status, text)
	}
	// The user comes back.
	looks := c.calls("DescribeStep")
	follow := c.driver(onCloud + " --resume")
	var found, more bytes.Buffer
	follow.Stdout, follow.Stderr = &found, &more
	must.OK(t, follow.Start())
	wait(t, "the step to be followed", func() bool { return c.calls("DescribeStep") > looks })
	release()
	follow.Wait()
	if status := process.ExitStatus(follow); status != 0 || !strings.HasPrefix(found.String(), "Connect 3 on 3×3: tie in 9 moves\n") {
		t.Errorf("exit %d, %s%s", status, found.String(), more.String())
	}
	if n := c.ended(t); n != 1 || len(c.written(t)) != 0 {
		t.Errorf("%d clusters, written down %v", n, c.written(t))
	}
	// A cluster that was left can be terminated by its id.
	defer c.holding()()
	cmd = c.driver(onCloud + " --yes --data second")
	must.OK(t, cmd.Start())
	c.begun(t, 2)
	cmd.Process.Kill()
	cmd.Wait()
	if status, out, errs := process.Run(c.driver("emr down --all")); status != 0 || !strings.HasSuffix(out, " ends\n") || len(c.written(t)) != 0 {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	c.ended(t)
}

// TestEMRExpired checks that answers that are lost, and requests that are refused temporarily,
// create no second cluster. Credentials that expire while a run is followed are reported; the
// run goes on, and can be followed with new ones.
func TestEMRExpired(t *testing.T) {
	c := newCloud(t)
	release := c.holding()
	defer release()
	c.emr.Set(faults.InTurn("RunJobFlow", faults.Throttled, faults.Lost))
	cmd := c.driver(onCloud + " --yes")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.OK(t, cmd.Start())
	c.begun(t, 1)
	c.emr.Set(func(*http.Request) *faults.Fault { return faults.Expired })
	cmd.Wait()
	if status, output := process.ExitStatus(cmd), errs.String(); status != 1 || !strings.Contains(output, "the credentials have expired") ||
		!strings.Contains(output, "driver-aws solve … --resume follows it") || !strings.Contains(output, "the answer of Amazon EMR was lost") {
		t.Errorf("exit %d, %s", status, output)
	}
	// If the service does not answer, the cluster is not assumed to have terminated.
	if status, _, _ := process.Run(c.driver("emr status")); status != 1 || len(c.written(t)) != 1 {
		t.Errorf("exit %d, written down %v", status, c.written(t))
	}
	c.emr.Set(nil)
	other := filepath.Join(filepath.Dir(c.written(t)[0]), "j-OTHER.json")
	record := fmt.Sprintf(`{"id":"j-OTHER","region":"us-east-1","ends":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
	must.OK(t, os.WriteFile(other, []byte(record), 0o666))
	if status, _, errs := process.Run(c.driver("emr status")); status != 0 || !strings.Contains(errs, "cluster j-OTHER was created from this machine, and may run until ") || len(c.written(t)) != 2 {
		t.Errorf("exit %d, %s, written down %v", status, errs, c.written(t))
	}
	must.OK(t, os.Remove(other))
	looks := c.calls("DescribeStep")
	follow := c.driver(onCloud + " --resume")
	must.OK(t, follow.Start())
	wait(t, "the step to be followed", func() bool { return c.calls("DescribeStep") > looks })
	release()
	follow.Wait()
	if status := process.ExitStatus(follow); status != 0 {
		t.Errorf("exit %d", status)
	}
	if n := c.ended(t); n != 1 || len(c.written(t)) != 0 {
		t.Errorf("%d clusters, written down %v", n, c.written(t))
	}
}

// TestEMRLimit checks that a cluster whose driver has died shuts itself down at its limit, even
// if a step runs.
func TestEMRLimit(t *testing.T) {
	c := newFastCloud(t, time.Millisecond)
	defer c.holding()()
	cmd := c.driver(onCloud + " --yes --max-hours 1")
	must.OK(t, cmd.Start())
	c.begun(t, 1)
	cmd.Process.Kill()
	cmd.Wait()
	if n := c.ended(t); n != 1 {
		t.Errorf("%d clusters", n)
	}
	id := strings.TrimSuffix(filepath.Base(c.written(t)[0]), ".json")
	status, out, errs := process.Run(c.driver("emr status --cluster-id " + id))
	if status != 0 || !strings.Contains(out, "TERMINATED_WITH_ERRORS (The master node was terminated)") || !strings.Contains(out, "INTERRUPTED") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	if status, out, errs := process.Run(c.driver("emr status")); status != 0 || !strings.HasPrefix(out, "no cluster in ") || len(c.written(t)) != 0 {
		t.Errorf("exit %d, %s%s, written down %v", status, out, errs, c.written(t))
	}
}

// TestEMRAsk checks that, at a terminal, the driver asks before it starts, and after Ctrl-C
// whether to leave the run or to cancel it.
func TestEMRAsk(t *testing.T) {
	c := newCloud(t)
	term := inTerminal(t, c.driver(onCloud))
	term.shows("Start, yes or no?")
	term.types("no\r")
	term.shows("nothing was started")
	term.cmd.Wait()
	if status := process.ExitStatus(term.cmd); status != 1 || len(c.emr.Clusters()) != 0 {
		t.Errorf("exit %d:\n%s", status, term.text())
	}
	term = inTerminal(t, c.driver(onCloud))
	term.shows("Start, yes or no?")
	term.types("\x03")
	term.cmd.Wait()
	if status := process.ExitStatus(term.cmd); status != 130 || len(c.emr.Clusters()) != 0 {
		t.Errorf("exit %d:\n%s", status, term.text())
	}
	defer c.holding()()
	term = inTerminal(t, c.driver(onCloud))
	term.shows("Start, yes or no?")
	term.types("yes\r")
	c.begun(t, 1)
	term.types("\x03")
	term.shows("Leave the run, or cancel it? [leave]")
	term.types("cancel\r")
	term.cmd.Wait()
	if status := process.ExitStatus(term.cmd); status != 130 || !strings.Contains(term.text(), "terminates") {
		t.Errorf("exit %d:\n%s", status, term.text())
	}
	select {
	case <-c.stopped:
	case <-time.After(time.Minute):
		t.Error("the step was not asked to stop")
	}
	if n := c.ended(t); n != 1 || len(c.written(t)) != 0 {
		t.Errorf("%d clusters, written down %v", n, c.written(t))
	}
}

// TestEMRPage checks that every command in docs/emr.md exists, with the flags that it has
// there.
func TestEMRPage(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "emr.md")))(t)
	lines := regexp.MustCompile(`(?m)^    \$? ?(?:bin/)?driver(?:-aws)? ((?:.*\\\n)*.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 8 {
		t.Fatalf("docs/emr.md has %d commands", len(lines))
	}
	for _, line := range lines {
		words := strings.Fields(strings.ReplaceAll(line[1], "\\\n", " "))
		var path []string
		for _, w := range words {
			if strings.HasPrefix(w, "-") || len(path) > 0 && !slices.Contains([]string{"emr", "solve", "plan"}, path[0]) || len(path) == 2 {
				break
			}
			path = append(path, w)
		}
		status, help, errs := process.Run(command(t.TempDir(), "driver-aws "+strings.Join(path, " ")+" --help"))
		if status != 0 {
			t.Errorf("driver %s: %s", line[1], errs)
		}
		for _, w := range words {
			if flag, _, _ := strings.Cut(w, "="); strings.HasPrefix(flag, "--") && !strings.Contains(help, flag+" ") {
				t.Errorf("driver %s: there is no %s", line[1], flag)
			}
		}
	}
}

// TestEMRUp checks that a cluster of driver-aws emr up accepts runs, and is not terminated with
// them.
func TestEMRUp(t *testing.T) {
	c := newCloud(t)
	status, out, errs := process.Run(c.driver("emr up --bucket s3://bucket/games --yes --poll 30ms --idle 15m --instance m5.xlarge"))
	id := strings.TrimSpace(out)
	if status != 0 || !strings.HasPrefix(id, "j-") || !strings.Contains(errs, "terminates when idle for 15m0s; it terminates after") {
		t.Fatalf("exit %d, %s%s", status, out, errs)
	}
	status, out, errs = process.Run(c.driver(onCloud + " --yes --cluster-id " + id))
	if status != 0 || !strings.HasPrefix(out, "Connect 3 on 3×3: tie in 9 moves\n") || !strings.Contains(errs, "cluster "+id+" keeps running") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	if slices.ContainsFunc(c.emr.Clusters(), State.Ended) {
		t.Error("the cluster has ended with its run")
	}
	// A second driver without --cluster-id finds the run on this cluster. Following it does not
	// terminate the cluster.
	release := c.holding()
	defer release()
	first := c.driver(onCloud + " --yes --data busy --cluster-id " + id)
	must.OK(t, first.Start())
	c.begun(t, 2)
	status, _, errs = process.Run(c.driver(onCloud + " --yes --data busy"))
	if status != 1 || !strings.Contains(errs, "cluster "+id+" is already solving s3://bucket/games/busy: --resume follows it") || len(c.emr.Clusters()) != 1 {
		t.Errorf("a second driver: exit %d, %s", status, errs)
	}
	first.Process.Kill()
	first.Wait()
	follow := c.driver(onCloud + " --yes --data busy --resume")
	var more bytes.Buffer
	follow.Stderr = &more
	looks := c.calls("DescribeStep")
	must.OK(t, follow.Start())
	wait(t, "the step to be followed", func() bool { return c.calls("DescribeStep") > looks })
	release()
	follow.Wait()
	if status := process.ExitStatus(follow); status != 0 || !strings.Contains(more.String(), "cluster "+id+" keeps running") || slices.ContainsFunc(c.emr.Clusters(), State.Ended) {
		t.Errorf("exit %d, %s", status, more.String())
	}
	if status, out, errs := process.Run(c.driver("emr down --cluster-id " + id)); status != 0 || out != id+" ends\n" {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	if n := c.ended(t); n != 1 {
		t.Errorf("%d clusters", n)
	}
	status, out, _ = process.Run(c.driver("emr status"))
	if want := fmt.Sprintf("no cluster in %s\n", "us-east-1"); status != 0 || out != want {
		t.Errorf("exit %d, %s, want %s", status, out, want)
	}
	status, _, errs = process.Run(c.driver(onCloud + " --yes --data other --cluster-id " + id))
	if status != 1 || !strings.Contains(errs, "does not accept steps") {
		t.Errorf("exit %d, %s", status, errs)
	}
}
