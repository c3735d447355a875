//go:build hadoop

package streaming_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// A board is a game with its parameters.
type board struct {
	game                   string
	width, height, connect int
}

func (b board) String() string {
	return fmt.Sprintf("%s-%dx%d-connect-%d", b.game, b.width, b.height, b.connect)
}

// flags returns the name of the game and its parameters.
func (b board) flags() string {
	switch b.game {
	case "mills":
		return fmt.Sprintf("%s --men %d", b.game, b.width)
	case "mancala":
		return fmt.Sprintf("%s --pits %d --stones %d", b.game, b.width, b.height)
	}
	return fmt.Sprintf("%s --width %d --height %d --connect %d", b.game, b.width, b.height, b.connect)
}

var (
	small, course = board{"connectn", 3, 3, 3}, board{"connectn", 4, 5, 3}
	men           = board{"mills", 3, 0, 0} // some of its tiers have inner moves
)

const (
	// twoJobs runs only the jobs of small that read tier 7 on the cluster: data_first8 and
	// data_second6.
	twoJobs = " --cluster-above 150"

	// threePasses runs only the forward passes over tier 6 of men on the cluster, if no retrograde ones follow;
	// backJobs runs only data_second4 and data_second5, and the largest retrograde pass over tier 6.
	threePasses = " --cluster-above 170"
	backJobs    = " --cluster-above 200"

	// waitTime limits every wait, except for the end of a driver, which may have forty jobs to
	// run.
	waitTime   = 15 * time.Minute
	driverTime = time.Hour
	poll       = 200 * time.Millisecond
)

// TestHadoop solves games on a real cluster: with every job there, with those in the middle,
// or with a few; also with failures and killed processes. The text in final must be, byte for
// byte, that of a run on one machine.
func TestHadoop(t *testing.T) {
	s := newSite(t, clustertest.Shared(t.Context(), t))
	// These kill daemons of the cluster.
	s.run(t, "node manager killed", testNodeManagerKilled)
	s.run(t, "data node killed", testDataNodeKilled)
	s.parallel(t, map[string]func(*testing.T, *site){
		"tiers in the middle":         testMiddle,
		"passes":                      testPasses,
		"all kept":                    testKeepAll,
		"rules only":                  testRulesOnly,
		"tasks that fail":             testTasksFail,
		"twins":                       testTwins,
		"interrupted":                 testInterrupted,
		"client lost":                 testClientLost,
		"block lost":                  testBlockLost,
		"driver killed":               testDriverKilled,
		"submitted late":              testSubmittedLate,
		"passes with tasks that fail": testPassTasksFail,
		"passes with drivers killed":  testPassDriverKilled,
	})
}

// testMiddle runs the small tiers at both ends locally, and the large ones on the cluster.
func testMiddle(t *testing.T, s *site) {
	data := s.dataDir(course.String())
	s.start(t, course, data, "--cluster-above 28000").wantDone(t)
	s.reads(t, data, map[string]string{
		"lookup 1 1 2 --parents": "O to move: you lose in 2",
		"stats":                  "total    195,472  111,687   57.1%",
		"verify":                 "195,472 positions verified, all correct",
		"export --tier 3":        "\t16512\tlose\t2\tX wins",
	})
	// Tiers 13 and 14 have more than 28,000 positions.
	s.wantJobs(t, map[string]int{"data_first14": 1, "data_first15": 1, "data_second13": 1, "data_second12": 1})
	s.wantFinal(t, course, data)
}

// testKeepAll keeps the directories of all tiers, with their lines. The job with the largest input of each step
// runs on the cluster.
func testKeepAll(t *testing.T, s *site) {
	data := s.dataDir(small.String())
	s.start(t, small, data, "--keep all --reducers 3 --until-tier 8"+twoJobs).wantDone(t)
	s.resume(t, small, data, "--keep all --reducers 3"+twoJobs)
	s.wantJobs(t, onceEach)
}

// testRulesOnly solves a game by layers, with all jobs that have an input on the cluster: the
// forward ones with one reducer, the retrograde ones with three. The directories in HDFS have lines,
// too, and the table is that of a run on one machine.
func testRulesOnly(t *testing.T, s *site) {
	b := board{"mnk", 2, 2, 2}
	data := s.dataDir(b.String())
	s.start(t, b, data, "--keep all --reducers 1 --until-tier 4 --cluster-above 0").wantDone(t)
	s.resume(t, b, data, "--reducers 3 --cluster-above 0")
	jobs := map[string]int{"data_second0": 1}
	for tier := 1; tier <= 3; tier++ { // no move leads to tier 4
		jobs[fmt.Sprintf("data_first%d", tier)] = 1
		jobs[fmt.Sprintf("data_second%d", tier)] = 1
	}
	s.wantJobs(t, jobs)
	for _, name := range []string{"data_first2/part-00000", "data_first2/to-00003-00000", "data_second2/part-00002"} {
		if _, err := s.files.Stat(path.Join(data, name)); err != nil {
			t.Error(err)
		}
	}
	local := s.localOf(t, b)
	// Values, moves and positions must be counted as on one machine.
	there := must.Get(solve.ReadJournal(s.files, data))(t)
	here := must.Get(solve.ReadJournal(store.Local{}, local))(t)
	type counts struct{ records, positions, finished, messages int64 }
	want := make(map[string]counts)
	for _, j := range here.Jobs {
		want[j.Job] = counts{j.Records, j.Positions, j.Finished, j.Messages}
	}
	for _, j := range there.Jobs {
		if got := (counts{j.Records, j.Positions, j.Finished, j.Messages}); got != want[j.Job] {
			t.Errorf("%s counted %+v, want %+v", j.Job, got, want[j.Job])
		}
	}
}

// onceEach is the jobs on the cluster with twoJobs.
var onceEach = map[string]int{"data_first8": 1, "data_second6": 1}

// testTasksFail uses a mapper that fails at once, and a reducer that dies after it has written
// its part.
func testTasksFail(t *testing.T, s *site) {
	bin := s.programs(t,
		`"treereduce data_first8 "*_m_000000_0) echo failed by the test >&2; exit 1 ;;`,
		`"treereduce data_second6 "*_r_000001_0) `+s.bin+`/${0##*/}; kill -9 $$ ;;`)
	s.solve(t, small, "--reducers 3 --cluster-bin "+bin+twoJobs)
	apps := s.wantJobs(t, onceEach)
	s.wantFailed(t, apps["data_first8"], 1, 0)
	s.wantFailed(t, apps["data_second6"], 0, 1)
}

// testTwins makes the first attempt of a map, and of a reduce, sleep until Hadoop starts a
// second one for the same task.
func testTwins(t *testing.T, s *site) {
	bin := s.programs(t,
		`"treereduce data_first8 "*_m_000001_0) sleep 600 ;;`,
		`"treereduce data_second6 "*_r_000001_0) sleep 600 ;;`)
	s.solve(t, small, "--reducers 3 --cluster-bin "+bin+twoJobs+
		// Reducers that start early would take the place of the second attempts.
		" -D mapreduce.job.reduce.slowstart.completedmaps=1.0"+
		" -D mapreduce.map.speculative=true -D mapreduce.reduce.speculative=true"+
		" -D mapreduce.job.speculative.retry-after-no-speculate=500"+
		" -D mapreduce.job.speculative.retry-after-speculate=500")
	apps := s.wantJobs(t, onceEach)
	for name, task := range map[string]string{"data_first8": "m_000001", "data_second6": "r_000001"} {
		// On a busy machine Hadoop may start a third attempt before the second one succeeds.
		attempts := s.attempts(t, apps[name], task)
		states := make(map[string]int)
		for _, state := range attempts {
			states[state]++
		}
		if len(attempts) < 2 || attempts[0] != "KILLED" || states["SUCCEEDED"] != 1 || states["KILLED"] != len(attempts)-1 {
			t.Errorf("%s, %s: attempts %q, want the first one killed, one that succeeded, and any others killed", name, task, attempts)
		}
	}
}

// testInterrupted sends an interrupt while a job runs.
func testInterrupted(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "000000")
	s.forward(t, small, g.data, "")
	d := s.start(t, small, g.data, "--resume --cluster-bin "+s.programs(t, g.hold, "")+twoJobs)
	g.wait(t, d)
	begun := time.Now()
	must.OK(t, d.cmd.Process.Signal(os.Interrupt))
	out, code := d.wait(t)
	took := time.Since(begun)
	t.Logf("it ended after %.1f s", took.Seconds())
	s.wantLine(t, out, code, 130)
	if took > 10*time.Minute {
		t.Errorf("it took %v, want ten minutes at most", took)
	}
	apps := s.wantJobs(t, map[string]int{"data_second6": 1})
	if app := apps["data_second6"]; app.FinalStatus != "KILLED" {
		t.Errorf("%s is %s", app.ID, app.State)
	}
	s.resume(t, small, g.data, twoJobs)
	s.wantJobs(t, map[string]int{"data_second6": 2})
}

// testClientLost kills Hadoop's client while a job runs: the job is killed, and the driver fails.
func testClientLost(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "000000")
	s.forward(t, small, g.data, "")
	d := s.start(t, small, g.data, "--resume --cluster-bin "+s.programs(t, g.hold, "")+twoJobs)
	g.wait(t, d)
	for _, client := range children(t, d.cmd.Process.Pid) {
		must.OK(t, syscall.Kill(-client, syscall.SIGKILL))
	}
	out, code := d.wait(t)
	s.wantLine(t, out, code, 1)
	if !regexp.MustCompile(`data_second6: application_\d+_\d+: hadoop: signal: killed\n`).MatchString(out) {
		t.Errorf("the line does not say that the client was killed: %s", out)
	}
	apps := s.wantJobs(t, map[string]int{"data_second6": 1})
	if app := apps["data_second6"]; app.FinalStatus != "KILLED" {
		t.Errorf("%s is %s", app.ID, app.State)
	}
	s.resume(t, small, g.data, twoJobs)
	s.wantJobs(t, map[string]int{"data_second6": 2})
}

// testDriverKilled kills drivers between two jobs, and while a job of either step runs, of which one ends before the next
// driver begins. The locks are leases, which expire a minute later; so all drivers are killed before the first one is resumed.
func testDriverKilled(t *testing.T, s *site) {
	const keep = "--keep all --compress"
	const flags = keep + twoJobs

	between := s.dataDir("between")
	command := filepath.Join(t.TempDir(), "hadoop")
	script(t, command, `case "$*" in *"treereduce data_second6"*) kill -9 $PPID; exit 1 ;; esac
exec `+filepath.Join(s.Dir(), "bin", "hadoop")+` "$@"`)
	d := s.start(t, small, between, flags+" --hadoop "+command)
	if out, code := d.wait(t); code != -1 {
		t.Fatalf("exit status %d, want one that was killed: %s", code, out)
	}
	possible, solving := s.newGate(t, "data_first8", "000000"), s.newGate(t, "data_second6", "000000")
	s.forward(t, small, solving.data, keep)
	s.kill(t, small, possible, flags)
	s.kill(t, small, solving, flags+" --resume")
	solving.open() // so its job ends without a driver
	done := s.done(t, between, possible.data, solving.data)
	if _, early := done[possible.data]["data_first8"]; early {
		t.Error("data_first8 was done before its driver was killed")
	}

	s.resume(t, small, between, flags)
	s.resume(t, small, possible.data, flags)
	s.resume(t, small, solving.data, flags)
	s.wantJobs(t, map[string]int{"data_first8": 3, "data_second6": 4})
	s.wantKilled(t, "data_first8")
	s.wantKept(t, done)
}

// testSubmittedLate kills a driver, but not Hadoop's client, which has not submitted the job yet. It tries to when the next driver
// has solved the game: then it must fail, as its plan is gone, and change nothing.
func testSubmittedLate(t *testing.T, s *site) {
	const flags = "--keep all" + twoJobs
	data, dir := s.dataDir(small.String()), t.TempDir()
	command, closed, ended := filepath.Join(dir, "hadoop"), filepath.Join(dir, "closed"), filepath.Join(dir, "ended")
	must.OK(t, os.WriteFile(closed, nil, 0o600))
	own := filepath.Join(s.Dir(), "bin", "hadoop")
	script(t, command, `case "$*" in *"treereduce data_second6"*)
	setsid sh -c 'while test -e `+closed+`; do sleep 0.1; done; `+own+` "$@"; echo $? >`+ended+`.new; mv `+ended+`.new `+ended+`' late "$@" </dev/null >/dev/null 2>&1 &
	kill -9 $PPID ;;
esac
exec `+own+` "$@"`)
	d := s.start(t, small, data, flags+" --hadoop "+command)
	if out, code := d.wait(t); code != -1 {
		t.Fatalf("exit status %d, want one that was killed: %s", code, out)
	}
	s.resume(t, small, data, flags)
	s.wantJobs(t, onceEach)
	before := s.list(t, data)
	must.OK(t, os.Remove(closed))
	var status []byte
	for begun := time.Now(); status == nil; time.Sleep(poll) {
		if time.Since(begun) > waitTime {
			t.Fatal("the late client does not end")
		}
		status, _ = os.ReadFile(ended)
	}
	if apps := s.apps(t); string(status) == "0\n" || len(apps) != len(onceEach) {
		t.Errorf("the late client has exit status %q: %+v", status, apps)
	}
	if after := s.list(t, data); !maps.Equal(after, before) {
		t.Errorf("there was\n%v\nand is\n%v", before, after)
	}
	s.resume(t, small, data, flags)
	entries := must.Get(s.files.ReadDir(data))(t)
	for _, e := range entries {
		if temporary.MatchString(e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// testNodeManagerKilled kills the node manager while the maps of a job run, and restarts it.
// The maps and the application master are lost then. (If maps had ended, their output would be
// lost with the only node, and Hadoop would give up the job.)
func testNodeManagerKilled(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "*")
	testDaemonKilled(t, s, g, minicluster.NodeManager)
}

// testDataNodeKilled kills the data node while a job runs, and restarts it.
func testDataNodeKilled(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "000000")
	testDaemonKilled(t, s, g, minicluster.DataNode)
}

// testDaemonKilled kills a daemon while maps wait at a gate, and restarts it. The maps of a node
// manager are lost, so the gate opens for their next attempts; those of a data node continue.
func testDaemonKilled(t *testing.T, s *site, g *gate, daemon minicluster.Daemon) {
	s.forward(t, small, g.data, "--reducers 3")
	d := s.start(t, small, g.data, "--resume --reducers 3 --cluster-bin "+s.programs(t, g.hold, "")+twoJobs)
	g.wait(t, d)
	must.OK(t, s.Kill(daemon))
	if daemon == minicluster.DataNode {
		g.open()
	}
	time.Sleep(3 * time.Second)
	must.OK(t, s.Start(t.Context(), daemon))
	g.open()
	d.wantDone(t)
	s.wantFinal(t, small, g.data)
	if daemon == minicluster.DataNode && len(s.apps(t)) == 2 { // its client may not learn that it has succeeded
		s.wantJobs(t, map[string]int{"data_second6": 2})
		return
	}
	s.wantJobs(t, map[string]int{"data_second6": 1})
}

// testBlockLost deletes the only replica of a file that the maps of a job are about to read. The
// error must name the file and the block, and --resume must make its directory again.
func testBlockLost(t *testing.T, s *site) {
	g := s.newGate(t, "data_second6", "*")
	s.forward(t, small, g.data, "--reducers 3")
	d := s.start(t, small, g.data, "--resume --reducers 3 --cluster-bin "+s.programs(t, g.hold, "")+twoJobs)
	g.wait(t, d)
	s.loseBlocks(t, g.data+"/data_first6/_part-00000.pack")
	g.open()
	out, code := d.wait(t)
	want := regexp.MustCompile(`(?m)^driver: data_second6: application_\d+_\d+: .*/data_first6/_part-00000\.pack: block 1 of 1 is lost: no data node has it`)
	if code != 1 || !want.MatchString(out) {
		t.Errorf("exit status %d, want 1 and the block: %s", code, out)
	}
	again := s.resume(t, small, g.data, twoJobs)
	if !regexp.MustCompile(`/data_first6/_part-00000\.pack: block 1 of 1 is lost: no data node has it: the job runs again\n`).MatchString(again) {
		t.Errorf("the second run does not say that it made data_first6 again: %s", again)
	}
}

// loseBlocks deletes the blocks of a file on all data nodes.
func (s *site) loseBlocks(t *testing.T, name string) {
	t.Helper()
	owner := must.Get(user.Current())(t)
	answer, err := http.Get(s.Web(minicluster.NameNode) + "/fsck?files=1&blocks=1&ugi=" + owner.Username + "&path=" + name)
	must.OK(t, err)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(t)
	lost := 0
	for _, block := range regexp.MustCompile(`blk_\d+`).FindAllString(string(text), -1) {
		files, err := filepath.Glob(filepath.Join(s.Dir(), "*", "data", "current", "*", "current", "finalized", "*", "*", block+"*"))
		must.OK(t, err)
		for _, name := range files {
			must.OK(t, os.Remove(name))
			lost++
		}
	}
	if lost == 0 {
		t.Fatalf("%s has no blocks: %s", name, text)
	}
}

// testPasses runs the passes on the cluster that read the most rows, and checks the results.
func testPasses(t *testing.T, s *site) {
	data := s.dataDir(men.String())
	s.start(t, men, data, "--reducers 3 --until-tier 7"+threePasses).wantDone(t)
	s.resume(t, men, data, "--reducers 3"+backJobs)
	s.reads(t, data, map[string]string{
		"lookup --start": "you win in 9\n",
		"verify":         "731 positions verified, all correct\n",
	})
	s.wantJobs(t, map[string]int{"data_first6": 1, "data_first6.1": 1, "data_first6.2": 1,
		"data_second5": 1, "data_second4": 1, "data_second6.2": 1})
}

// testPassTasksFail uses a reducer of a forward pass and one of a retrograde pass that die after they have written
// states, and a mapper that fails at once.
func testPassTasksFail(t *testing.T, s *site) {
	bin := s.programs(t,
		`"treereduce data_second5 "*_m_000000_0) echo failed by the test >&2; exit 1 ;;`,
		`"treereduce data_first6.1 "*_r_000001_0|"treereduce data_second6.2 "*_r_000002_0) `+s.bin+`/${0##*/}; kill -9 $$ ;;`)
	data := s.dataDir(men.String())
	s.start(t, men, data, "--reducers 3 --until-tier 7 --cluster-bin "+bin+threePasses).wantDone(t)
	s.resume(t, men, data, "--reducers 3 --cluster-bin "+bin+backJobs)
	apps := s.wantJobs(t, map[string]int{"data_first6": 1, "data_first6.1": 1, "data_first6.2": 1,
		"data_second5": 1, "data_second4": 1, "data_second6.2": 1})
	s.wantFailed(t, apps["data_first6.1"], 0, 1)
	s.wantFailed(t, apps["data_second5"], 1, 0)
	s.wantFailed(t, apps["data_second6.2"], 0, 1)
}

// testPassDriverKilled kills a driver while a retrograde pass runs on the cluster.
func testPassDriverKilled(t *testing.T, s *site) {
	const flags = "--keep all --reducers 3" + backJobs
	g := s.newGate(t, "data_second6.2", "000000")
	s.kill(t, men, g, flags)
	done := s.done(t, g.data)
	s.resume(t, men, g.data, flags)
	s.wantJobs(t, map[string]int{"data_second5": 1, "data_second4": 1, "data_second6.2": 2})
	s.wantKilled(t, "data_second6.2")
	s.wantKept(t, done)
}

// reads runs commands of the driver on a data directory. Each must print the text that follows it.
func (s *site) reads(t *testing.T, data string, wants map[string]string) {
	t.Helper()
	for command, want := range wants {
		args := strings.Fields(command + " --data " + s.DefaultFS() + data)
		out, err := exec.Command(filepath.Join(s.bin, "driver"), args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("driver %s: %v: %s", command, err, out)
		}
	}
}

// A site is a cluster, with its clients. Each test has a user of its own, whose jobs are those
// of the test.
type site struct {
	*minicluster.Cluster
	files *hadoop.FS
	bin   string // the directory of the commands
	local *localRuns
	user  string
}

// localRuns has the data directories of runs on one machine.
type localRuns struct {
	sync.Mutex
	dir string
}

func newSite(t *testing.T, c *minicluster.Cluster) *site {
	s := &site{Cluster: c, local: &localRuns{dir: t.TempDir()}}
	var err error
	s.bin = must.Get(filepath.Abs(filepath.Join("..", "..", "..", "..", "bin")))(t) // built by make test-hadoop
	t.Setenv("HADOOP_CONF_DIR", s.ConfDir())                                        // for clients of several nodes
	if s.files, _, err = hadoop.Dial(s.DefaultFS() + "/tmp"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.files.Close() })
	return s
}

// run runs a test.
func (s *site) run(t *testing.T, name string, test func(*testing.T, *site)) {
	t.Run(name, func(t *testing.T) { test(t, s.of(t)) })
}

// parallel runs tests in parallel.
func (s *site) parallel(t *testing.T, tests map[string]func(*testing.T, *site)) {
	for name, test := range tests {
		s.run(t, name, func(t *testing.T, s *site) {
			longtest.Share(t)
			t.Parallel()
			test(t, s)
		})
	}
}

// of returns the site with the user of a test.
func (s *site) of(t *testing.T) *site {
	own := *s
	own.user = fmt.Sprintf("%s-%d", strings.ReplaceAll(path.Base(t.Name()), "_", "-"), os.Getpid())
	return &own
}

// dataDir returns a data directory in HDFS that no other test uses.
func (s *site) dataDir(name string) string { return "/tmp/" + s.user + "/" + name }

// A driver is a process that solves a game on the cluster.
type driver struct {
	cmd *exec.Cmd
	out bytes.Buffer
	err chan error // receives when the process ends
}

// start starts a driver.
func (s *site) start(t *testing.T, b board, data, flags string) *driver {
	t.Helper()
	args := strings.Fields("solve " + b.flags() + " --runner hadoop --streaming-jar " + s.StreamingJar() +
		" --data " + s.DefaultFS() + data + " " + flags)
	d := &driver{cmd: exec.Command(filepath.Join(s.bin, "driver"), args...), err: make(chan error, 1)}
	d.cmd.Env = append(s.Env(), "HADOOP_USER_NAME="+s.user)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.out
	must.OK(t, d.cmd.Start())
	go func() { d.err <- d.cmd.Wait() }()
	t.Cleanup(func() { d.cmd.Process.Kill() })
	return d
}

// wait returns the output of a driver and its exit status, -1 if it was killed.
func (d *driver) wait(t *testing.T) (out string, code int) {
	t.Helper()
	select {
	case <-d.err:
	case <-time.After(driverTime):
		t.Fatal("the driver does not end")
	}
	return d.out.String(), d.cmd.ProcessState.ExitCode()
}

func (d *driver) wantDone(t *testing.T) {
	t.Helper()
	if out, code := d.wait(t); code != 0 {
		t.Fatalf("exit status %d: %s", code, out)
	}
}

// solve solves a board in a new data directory.
func (s *site) solve(t *testing.T, b board, flags string) {
	t.Helper()
	data := s.dataDir(b.String())
	s.start(t, b, data, flags).wantDone(t)
	s.wantFinal(t, b, data)
}

// forward runs the forward jobs or passes of a board, none of them on the cluster.
func (s *site) forward(t *testing.T, b board, data, flags string) {
	t.Helper()
	s.start(t, b, data, flags+" --until-tier 20").wantDone(t)
}

// kill starts a driver, and kills it once its job waits at a gate.
func (s *site) kill(t *testing.T, b board, g *gate, flags string) {
	t.Helper()
	d := s.start(t, b, g.data, flags+" --cluster-bin "+s.programs(t, g.hold, ""))
	g.wait(t, d)
	must.OK(t, d.cmd.Process.Kill())
	d.wait(t)
}

// resume resumes a data directory, whose lock the driver waits for, and runs it to the end. It returns the
// output of that run.
func (s *site) resume(t *testing.T, b board, data, flags string) (out string) {
	t.Helper()
	out, code := s.start(t, b, data, flags+" --resume").wait(t)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, out)
	}
	s.wantFinal(t, b, data)
	return out
}

// wantFinal checks that final, and the files of the table, are those of a run on one machine.
func (s *site) wantFinal(t *testing.T, b board, data string) {
	t.Helper()
	solved.SameText(t, s.files, data, s.localOf(t, b))
}

// localOf returns the data directory of a run on one machine.
func (s *site) localOf(t *testing.T, b board) string {
	t.Helper()
	s.local.Lock()
	defer s.local.Unlock()
	dir := filepath.Join(s.local.dir, b.String())
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	args := strings.Fields("solve " + b.flags() + " --data " + dir)
	if out, err := exec.Command(filepath.Join(s.bin, "driver"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// wantFailed checks the numbers of failed attempts of a job.
func (s *site) wantFailed(t *testing.T, app application, failedMaps, failedReduces int64) {
	t.Helper()
	n := s.counters(t, app)["org.apache.hadoop.mapreduce.JobCounter"]
	if maps, reduces := n["NUM_FAILED_MAPS"], n["NUM_FAILED_REDUCES"]; maps != failedMaps || reduces != failedReduces {
		t.Errorf("%s: %d maps and %d reduces failed, want %d and %d", app.Name, maps, reduces, failedMaps, failedReduces)
	}
}

// done returns the result of whole for each data directory.
func (s *site) done(t *testing.T, dirs ...string) map[string]map[string]time.Time {
	t.Helper()
	done := make(map[string]map[string]time.Time)
	for _, data := range dirs {
		done[data] = s.whole(t, data)
	}
	return done
}

// wantKept checks that none of the directories in done has been rebuilt.
func (s *site) wantKept(t *testing.T, done map[string]map[string]time.Time) {
	t.Helper()
	for data, before := range done {
		after := s.whole(t, data)
		for name, at := range before {
			if !after[name].Equal(at) {
				t.Errorf("%s/%s was made again", data, name)
			}
		}
	}
}

// whole returns the complete directories of jobs and passes, with the times of their seals.
func (s *site) whole(t *testing.T, data string) map[string]time.Time {
	t.Helper()
	entries := must.Get(s.files.ReadDir(data))(t)
	found := make(map[string]time.Time)
	for _, e := range entries {
		if info, err := s.files.Stat(path.Join(data, e.Name(), store.Success)); err == nil && !strings.HasPrefix(e.Name(), "_") {
			found[e.Name()] = info.ModTime()
		}
	}
	return found
}

// wantJobs checks that the cluster has run, in this test, exactly these jobs, each the given
// number of times. It returns one application for each.
func (s *site) wantJobs(t *testing.T, want map[string]int) map[string]application {
	t.Helper()
	got, apps := make(map[string]int), make(map[string]application)
	for _, app := range s.apps(t) {
		name := strings.TrimPrefix(app.Name, "treereduce ")
		got[name]++
		apps[name] = app
	}
	if !maps.Equal(got, want) {
		t.Errorf("applications %v, want %v: %+v", got, want, s.apps(t))
	}
	return apps
}

// wantKilled checks that exactly one application with the name of a job was killed: the next driver has ended it.
func (s *site) wantKilled(t *testing.T, job string) {
	t.Helper()
	killed := 0
	for _, app := range s.apps(t) {
		if app.Name == "treereduce "+job && app.FinalStatus == "KILLED" {
			killed++
		}
	}
	if killed != 1 {
		t.Errorf("%d applications of %s were killed, want 1: %+v", killed, job, s.apps(t))
	}
}

// An application is one in the JSON of the resource manager.
type application struct{ ID, Name, State, FinalStatus string }

// job returns the path of an application's job at the history server.
func (a application) job() string {
	return "/ws/v1/history/mapreduce/jobs/" + strings.Replace(a.ID, "application_", "job_", 1)
}

// apps returns the applications of this test.
func (s *site) apps(t *testing.T) []application {
	t.Helper()
	var answer struct {
		Apps struct{ App []application }
	}
	getJSON(t, s.Web(minicluster.ResourceManager)+"/ws/v1/cluster/apps?user="+s.user, &answer)
	return answer.Apps.App
}

// getJSON gets the answer of a web service.
func getJSON(t *testing.T, address string, to any) {
	t.Helper()
	answer := must.Get(http.Get(address))(t)
	defer answer.Body.Close()
	must.OK(t, json.NewDecoder(answer.Body).Decode(to))
}

// counters returns the counters of a finished job, by group and name, once the history server has them.
func (s *site) counters(t *testing.T, app application) map[string]map[string]int64 {
	t.Helper()
	var answer struct {
		JobCounters struct {
			CounterGroup []struct {
				CounterGroupName string
				Counter          []struct {
					Name              string
					TotalCounterValue int64
				}
			}
		}
	}
	for begun := time.Now(); len(answer.JobCounters.CounterGroup) == 0; time.Sleep(poll) {
		if time.Since(begun) > waitTime {
			t.Fatalf("the history server has no counters of %s", app.ID)
		}
		getJSON(t, s.Web(minicluster.JobHistoryServer)+app.job()+"/counters", &answer)
	}
	counters := make(map[string]map[string]int64)
	for _, group := range answer.JobCounters.CounterGroup {
		counters[group.CounterGroupName] = make(map[string]int64)
		for _, c := range group.Counter {
			counters[group.CounterGroupName][c.Name] = c.TotalCounterValue
		}
	}
	return counters
}

// attempts returns the states of the attempts of a task, in order, from the history server.
func (s *site) attempts(t *testing.T, app application, task string) (states []string) {
	t.Helper()
	s.counters(t, app) // wait until it is in the history
	id := strings.Replace(app.ID, "application_", "task_", 1) + "_" + task
	var list struct {
		TaskAttempts struct {
			TaskAttempt []struct{ ID, State string }
		}
	}
	getJSON(t, s.Web(minicluster.JobHistoryServer)+app.job()+"/tasks/"+id+"/attempts", &list)
	byID := make(map[string]string)
	for _, a := range list.TaskAttempts.TaskAttempt {
		byID[a.ID] = a.State
	}
	for n := range len(byID) {
		states = append(states, byID[strings.Replace(id, "task_", "attempt_", 1)+"_"+strconv.Itoa(n)])
	}
	return states
}

// A gate blocks the attempts of maps of a job until it is opened or the test ends. It has its
// own data directory.
type gate struct {
	data   string
	closed string // a file that exists while the gate is closed
	held   string // a file that exists once a map is blocked, with the host of its node
	hold   string // a case for the mapper, see programs
}

// newGate returns a gate for the maps of a job whose six-digit numbers match a shell pattern.
// It blocks every attempt: the first one is not always number 0, for example after a restart of
// the application master.
func (s *site) newGate(t *testing.T, job, maps string) *gate {
	dir := t.TempDir()
	g := &gate{data: s.dataDir(job), closed: filepath.Join(dir, "closed"), held: filepath.Join(dir, "held")}
	must.OK(t, os.WriteFile(g.closed, nil, 0o600))
	g.hold = fmt.Sprintf(`"treereduce %s "*_m_%s_*) echo "$NM_HOST" >%s; while test -e %s; do sleep 0.1; done ;;`, job, maps, g.held, g.closed)
	return g
}

// wait waits until a map is blocked.
func (g *gate) wait(t *testing.T, d *driver) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < waitTime; time.Sleep(poll) {
		if _, err := os.Stat(g.held); err == nil {
			return
		}
		if len(d.err) > 0 {
			t.Fatalf("the driver has ended: %s", &d.out)
		}
	}
	t.Fatal("no map comes to the gate")
}

// open unblocks the maps. It may be called again.
func (g *gate) open() { os.Remove(g.closed) }

// programs creates a directory for --cluster-bin. Its mapper and reducer first execute the
// given cases of a shell's case statement for job and attempt, "treereduce JOB attempt_…".
func (s *site) programs(t *testing.T, mapper, reducer string) string {
	t.Helper()
	dir := t.TempDir()
	for name, cases := range map[string]string{"mapper": mapper, "reducer": reducer} {
		script(t, filepath.Join(dir, name), `case "$mapreduce_job_name $mapreduce_task_attempt_id" in
`+cases+`
esac
exec `+s.bin+`/${0##*/}`)
	}
	return dir
}

// script writes a shell script.
func script(t *testing.T, name, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

// children returns the processes that a process has started.
func children(t *testing.T, parent int) (pids []int) {
	t.Helper()
	tasks := must.Get(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent)))(t)
	for _, name := range tasks {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			pid := must.Get(strconv.Atoi(field))(t)
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Fatalf("process %d has no children", parent)
	}
	return pids
}
