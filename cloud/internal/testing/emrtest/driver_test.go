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

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
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
	--cluster-above=*) ;; # of a cluster
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
	var err error
	if c.emr, err = Start(Config{Run: run, S3: c.s3.URL, Second: second, Start: 1, Bootstrap: 1, LogDelay: 60}); err != nil {
		t.Fatal(err)
	}
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

// says runs a driver, and checks its exit status and that what it prints contains texts.
func (c *cloud) says(t *testing.T, status int, words string, texts ...string) (out, errs string) {
	t.Helper()
	got, out, errs := process.Run(c.driver(words))
	for _, text := range texts {
		if !strings.Contains(out+errs, text) {
			t.Errorf("driver-aws %s: no %q in\n%s%s", words, text, out, errs)
		}
	}
	if got != status {
		t.Fatalf("driver-aws %s: exit %d, want %d, %s%s", words, got, status, out, errs)
	}
	return out, errs
}

// has checks the number of clusters, and of those that are recorded.
func (c *cloud) has(t *testing.T, clusters, recorded int) {
	t.Helper()
	if n := len(c.emr.Clusters()); n != clusters || len(c.written(t)) != recorded {
		t.Errorf("%d clusters, written down %v, want %d and %d", n, c.written(t), clusters, recorded)
	}
}

// start starts a driver, and returns its output. It ends with the test.
func (c *cloud) start(t *testing.T, words string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd, output := c.driver(words), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	must.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, output
}

// follow starts a driver that follows a step, releases the step when it does, and checks that the driver
// succeeds and prints a text.
func (c *cloud) follow(t *testing.T, words string, release func(), text string) {
	t.Helper()
	looks := c.calls("DescribeStep")
	cmd, output := c.start(t, words)
	wait(t, "the step to be followed", func() bool { return c.calls("DescribeStep") > looks })
	release()
	cmd.Wait()
	if status := process.ExitStatus(cmd); status != 0 || !strings.Contains(output.String(), text) {
		t.Errorf("exit %d, %s, want %s", status, output, text)
	}
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

// ended waits until all clusters have terminated, and checks as has does.
func (c *cloud) ended(t *testing.T, clusters, recorded int) {
	t.Helper()
	wait(t, "all clusters to end", func() bool {
		return !slices.ContainsFunc(c.emr.Clusters(), func(s State) bool { return !s.Ended() })
	})
	c.has(t, clusters, recorded)
}

// written returns the files of the recorded clusters.
func (c *cloud) written(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "config", "treereduce", "emr", "*.json"))
	must.OK(t, err)
	return names
}

// requests checks the last request for a cluster.
func (c *cloud) requests(t *testing.T, wants ...string) {
	t.Helper()
	calls := slices.DeleteFunc(c.emr.Calls(), func(call Call) bool { return call.Op != "RunJobFlow" })
	body := string(calls[len(calls)-1].Body)
	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// TestEMRSolve solves a game on a cluster that is created for the run and terminated after it, and
// reads the table in S3. What is requested cannot outlive its limit, and is found again by its tag.
func TestEMRSolve(t *testing.T) {
	c := newCloud(t)
	c.says(t, 1, onCloud, "--yes (make: YES=1) starts", "the cluster terminates after")
	c.has(t, 0, 0)
	out, errs := c.says(t, 0, onCloud+" --yes --max-hours 3")
	c.requests(t, `"ActionOnFailure":"TERMINATE_CLUSTER"`, `"KeepJobFlowAliveWhenNoSteps":false`, `{"Key":"treereduce","Value":"s3://bucket/games/all_data"}`,
		`"Args":["180"]`, "timeout -s TERM -k 300 9900 ") // the limit, and 15 minutes less
	want := "Connect 3 on 3×3: tie in 9 moves\n694 positions\ntable: s3://bucket/games/all_data/table\nfinal: s3://bucket/games/all_data/final\n"
	if out != want {
		t.Fatalf("%s, want %s%s", out, want, errs)
	}
	if !regexp.MustCompile(`driver-aws: creating cluster (j-\w+); driver-aws emr down --cluster-id j-\w+ terminates it\n`).MatchString(errs) {
		t.Error(errs)
	}
	c.ended(t, 1, 0)
	c.says(t, 0, "lookup --data s3://bucket/games/all_data --start --line", "tie in 9")
	c.says(t, 1, onCloud+" --yes", "s3://bucket/games/all_data: already contains a run of this game: --resume continues it, --overwrite starts over")
	c.says(t, 1, strings.Replace(onCloud, "--width 3", "--width 4", 1)+" --yes --resume",
		`all_data: of another game: expected "connectn width=4 height=3 connect=3", found "connectn width=3`)
	c.says(t, 1, onCloud+" --yes --resume --data other", "s3://bucket/games/other: no run to resume")
	c.has(t, 1, 0)
	c.says(t, 0, "emr rm --bucket s3://bucket/games --yes")
	if left := c.s3.Keys("bucket"); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	// A place without a prefix is the bucket, which is deleted if it is empty otherwise.
	out, _ = c.says(t, 0, "emr rm --bucket s3://bucket --yes")
	if out != "s3://bucket  0 objects  0 B  the bucket, which is otherwise empty\ndeleted 0 objects, 0 B, and the bucket\n" {
		t.Error(out)
	}
	c.says(t, 1, "emr rm --bucket s3://bucket --yes", "s3://bucket: no such bucket")
}

// TestEMRUntilTier checks that a run with --until-tier stops early on the cluster, and that a
// resumed run keeps its options.
func TestEMRUntilTier(t *testing.T) {
	c := newCloud(t)
	c.says(t, 0, onCloud+" --yes --until-tier 3 --final no", "reached tier 3")
	var keys []string
	for _, key := range c.s3.Keys("bucket") {
		if strings.HasPrefix(key, "games/all_data/table/") || strings.HasPrefix(key, "games/all_data/data_first4/") {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 || c.s3.Get("bucket", "games/all_data/data_first3/_SUCCESS") == nil {
		t.Errorf("the run went on to %v", keys)
	}
	out, _ := c.says(t, 0, onCloud+" --yes --resume", "694 positions\n")
	if strings.Contains(out, "final: ") || !strings.Contains(c.runs[1], "--final=no") {
		t.Errorf("%s, %s", out, c.runs[1])
	}
}

// TestEMRRemove checks that driver-aws emr rm lists and then deletes what treereduce created below
// the place, and nothing else, and that it refuses while a driver holds a directory.
func TestEMRRemove(t *testing.T) {
	c := newCloud(t)
	c.says(t, 0, onCloud+" --yes")
	c.ended(t, 1, 0)
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
	out, _ := c.says(t, 1, rm, "--yes deletes them")
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
	c.says(t, 1, rm+" --yes", "s3://bucket/games/all_data/_owner: in use by driver on host h")
	unchanged("a claim")
	c.s3.Age("bucket", "games/all_data/_owner", time.Hour) // the driver died
	// A driver finished its run between the list and the claim.
	c.s3.Set(func(r *http.Request) *faults.Fault {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/_owner") && r.Header.Get("If-Match") != "" {
			c.s3.Put("bucket", "games/all_data/table/tier-10.blocks", []byte("new"))
		}
		return nil
	})
	c.says(t, 1, rm+" --yes", "have changed since they were listed; list them again")
	if left := c.s3.Keys("bucket"); len(left) != len(before) || !slices.Contains(left, "games/all_data/table/tier-10.blocks") {
		t.Errorf("a change: left %v", left)
	}
	c.s3.Set(nil)
	// Parts of multipart uploads that were not completed.
	for _, key := range []string{"games/all_data/table/part", "games/photos/video"} {
		begun, err := http.Post(c.s3.URL+"/bucket/"+key+"?uploads", "", nil)
		must.OK(t, err)
		begun.Body.Close()
	}
	c.says(t, 0, rm+" --yes")
	before = foreign
	unchanged("deleted")
	if n := c.s3.Uploads(); n != 1 {
		t.Errorf("%d uploads are left", n)
	}
	for _, place := range []string{"s3://bucket/games", "s3://bucket"} {
		c.says(t, 0, "emr rm --yes --bucket "+place, "treereduce has created nothing below "+place)
		unchanged("again")
	}
}

// TestEMRPlace checks that a place in S3 that the driver on the cluster would refuse is refused
// before a cluster is created.
func TestEMRPlace(t *testing.T) {
	c := newCloud(t)
	refused := func(flags, want string) {
		t.Helper()
		c.says(t, 1, onCloud+" --yes"+flags, want)
		c.has(t, 0, 0)
	}
	c.s3.Put("bucket", "games/all_data/notes.txt", []byte("mine"))
	for _, flags := range []string{"", " --overwrite"} {
		refused(flags, "s3://bucket/games/all_data: not empty, and not treereduce's: it has no treereduce.json: name another place")
	}
	c.s3.Put("bucket", "games/claimed/_owner", []byte(`{"who": "another driver", "since": "now", "seconds": 3600}`))
	refused(" --data claimed --overwrite", "s3://bucket/games/claimed/_owner: in use by another driver")
	c.s3.Set(func(r *http.Request) *faults.Fault {
		r.Header.Del("If-None-Match")
		return nil
	})
	refused(" --data new", "ignores If-Match or If-None-Match")
	if c.s3.Get("bucket", "games/new/_owner") != nil {
		t.Error("a claim is left")
	}
	// The driver waits for the claim of a dead driver to expire.
	c.s3.Set(nil)
	c.s3.Put("bucket", "games/dead/_owner", []byte(`{"who": "a dead driver", "since": "now", "seconds": 3}`))
	c.says(t, 0, onCloud+" --yes --data dead", "waiting until then")
}

// TestEMRBucket checks that a new bucket gets its lifecycle rules, and that a bucket in another region causes a message with the costs.
func TestEMRBucket(t *testing.T) {
	c := newCloud(t)
	c.says(t, 0, "emr up --bucket s3://new-bucket/games --bucket-only")
	if rules := c.s3.Rules("new-bucket"); !regexp.MustCompile(`<DaysAfterInitiation>7</DaysAfterInitiation>`).MatchString(rules) ||
		!regexp.MustCompile(`<Rule>(<ID>treereduce-logs</ID>|<Expiration><Days>30</Days></Expiration>|<Filter><Prefix>games/logs/</Prefix></Filter>|<Status>Enabled</Status>){4}</Rule>`).MatchString(rules) {
		t.Errorf("rules %s", rules)
	}
	// An existing bucket keeps its own rules.
	c.says(t, 0, "emr up --bucket s3://bucket/games --bucket-only")
	if rules := c.s3.Rules("bucket"); rules != "" {
		t.Errorf("rules %s", rules)
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
	_, errs := c.says(t, 1, onCloud+" --yes", cause)
	if !strings.HasSuffix(errs, "; nothing was copied to s3://bucket/games/all_data yet\n") {
		t.Error(errs)
	}
	c.ended(t, 1, 0)
	// The logs of a cluster that terminates arrive then; otherwise they arrive later.
	c.says(t, 1, onCloud+" --yes --keep-cluster", "come to S3 minutes late: waiting", cause)
	c.requests(t, `"ActionOnFailure":"CONTINUE"`, `"KeepJobFlowAliveWhenNoSteps":true`)
	c.has(t, 2, 1)
	c.says(t, 0, "emr down --all", " ends\n")
	c.ended(t, 2, 0)
}

// TestEMRLeave checks that, without a terminal, Ctrl-C leaves the step running, --resume
// follows it, a second driver is refused, and driver-aws emr down terminates it.
func TestEMRLeave(t *testing.T) {
	c := newCloud(t)
	release := c.holding()
	cmd, errs := c.start(t, onCloud+" --yes")
	c.begun(t, 1)
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if status := process.ExitStatus(cmd); status != 130 || !strings.Contains(errs.String(), "the step keeps running: driver-aws solve … --resume follows it, driver-aws status --data s3://bucket/games/all_data shows it, driver-aws emr down --cluster-id j-") {
		t.Fatalf("exit %d, %s", status, errs)
	}
	c.has(t, 1, 1)
	id := strings.TrimSuffix(filepath.Base(c.written(t)[0]), ".json")
	c.says(t, 0, "emr status", id+"  RUNNING")
	c.says(t, 0, "emr status --cluster-id "+id, "for s3://bucket/games/all_data\n", "RUNNING")
	c.says(t, 1, onCloud+" --yes", "cluster "+id+" is already solving s3://bucket/games/all_data: --resume follows it")
	c.says(t, 1, "emr rm --bucket s3://bucket/games --yes", "cluster "+id+" may still write there")
	// The user comes back.
	c.follow(t, onCloud+" --resume", release, "Connect 3 on 3×3: tie in 9 moves\n")
	c.ended(t, 1, 0)
	// A cluster that was left can be terminated by its id.
	defer c.holding()()
	cmd, _ = c.start(t, onCloud+" --yes --data second")
	c.begun(t, 2)
	cmd.Process.Kill()
	cmd.Wait()
	c.says(t, 0, "emr down --all", " ends\n")
	c.ended(t, 2, 0)
}

// TestEMRExpired checks that answers that are lost, and requests that are refused temporarily,
// create no second cluster. Credentials that expire while a run is followed are reported; the
// run goes on, and can be followed with new ones.
func TestEMRExpired(t *testing.T) {
	c := newCloud(t)
	release := c.holding()
	defer release()
	c.emr.Set(faults.InTurn("RunJobFlow", faults.Throttled, faults.Lost))
	cmd, errs := c.start(t, onCloud+" --yes")
	c.begun(t, 1)
	c.emr.Set(func(*http.Request) *faults.Fault { return faults.Expired })
	cmd.Wait()
	if status, output := process.ExitStatus(cmd), errs.String(); status != 1 || !strings.Contains(output, "the credentials have expired") ||
		!strings.Contains(output, "driver-aws solve … --resume follows it") || !strings.Contains(output, "the answer of Amazon EMR was lost") {
		t.Errorf("exit %d, %s", status, output)
	}
	// If the service does not answer, the cluster is not assumed to have terminated.
	c.says(t, 1, "emr status")
	c.has(t, 1, 1)
	c.emr.Set(nil)
	other := filepath.Join(filepath.Dir(c.written(t)[0]), "j-OTHER.json")
	record := fmt.Sprintf(`{"id":"j-OTHER","region":"us-east-1","ends":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
	must.OK(t, os.WriteFile(other, []byte(record), 0o666))
	c.says(t, 0, "emr status", "cluster j-OTHER was created from this machine, and may run until ")
	c.has(t, 1, 2)
	must.OK(t, os.Remove(other))
	c.follow(t, onCloud+" --resume", release, "")
	c.ended(t, 1, 0)
}

// TestEMRLimit checks that a cluster whose driver has died shuts itself down at its limit, even
// if a step runs.
func TestEMRLimit(t *testing.T) {
	c := newFastCloud(t, time.Millisecond)
	defer c.holding()()
	cmd, _ := c.start(t, onCloud+" --yes --max-hours 1")
	c.begun(t, 1)
	cmd.Process.Kill()
	cmd.Wait()
	c.ended(t, 1, 1)
	id := strings.TrimSuffix(filepath.Base(c.written(t)[0]), ".json")
	c.says(t, 0, "emr status --cluster-id "+id, "TERMINATED_WITH_ERRORS (The master node was terminated)", "INTERRUPTED")
	c.says(t, 0, "emr status", "no cluster in ")
	c.has(t, 1, 0)
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
	c.ended(t, 1, 0)
}

// TestEMRPage checks that every command in docs/cloud/emr.md exists, with the flags that it has
// there.
func TestEMRPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "cloud", "emr.md"))
	must.OK(t, err)
	lines := regexp.MustCompile(`(?m)^    \$? ?(?:bin/)?driver(?:-aws)? ((?:.*\\\n)*.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 8 {
		t.Fatalf("docs/cloud/emr.md has %d commands", len(lines))
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
	out, _ := c.says(t, 0, "emr up --bucket s3://bucket/games --yes --poll 30ms --idle 15m --instance m5.xlarge", "terminates when idle for 15m0s; it terminates after")
	id := strings.TrimSpace(out)
	if !strings.HasPrefix(id, "j-") {
		t.Fatal(out)
	}
	c.says(t, 0, onCloud+" --yes --cluster-id "+id, "Connect 3 on 3×3: tie in 9 moves\n", "cluster "+id+" keeps running")
	if slices.ContainsFunc(c.emr.Clusters(), State.Ended) {
		t.Error("the cluster has ended with its run")
	}
	// A second driver without --cluster-id finds the run on this cluster. Following it does not
	// terminate the cluster.
	release := c.holding()
	defer release()
	first, _ := c.start(t, onCloud+" --yes --data busy --cluster-id "+id)
	c.begun(t, 2)
	c.says(t, 1, onCloud+" --yes --data busy", "cluster "+id+" is already solving s3://bucket/games/busy: --resume follows it")
	c.has(t, 1, 1)
	first.Process.Kill()
	first.Wait()
	c.follow(t, onCloud+" --yes --data busy --resume", release, "cluster "+id+" keeps running")
	if slices.ContainsFunc(c.emr.Clusters(), State.Ended) {
		t.Error("the cluster has ended with a driver that followed its step")
	}
	if out, _ := c.says(t, 0, "emr down --cluster-id "+id); out != id+" ends\n" {
		t.Error(out)
	}
	c.ended(t, 1, 0)
	if out, _ := c.says(t, 0, "emr status"); out != "no cluster in us-east-1\n" {
		t.Error(out)
	}
	c.says(t, 1, onCloud+" --yes --data other --cluster-id "+id, "does not accept steps")
}
