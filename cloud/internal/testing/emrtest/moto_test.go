//go:build emr

package emrtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/mirror"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

const (
	bucket = "s3://bucket/test"
	// second is the length of a second of the service: clusters start within a few of these
	// seconds, and three real seconds of inactivity are an idle minute.
	second = 50 * time.Millisecond
	// waitTime limits every wait.
	waitTime = 10 * time.Minute
	poll     = 50 * time.Millisecond
)

// A board is a board of Connect 3, and the number of parts of its final.
type board struct{ width, height, reducers int }

var tiny, small, square, course, parted = board{2, 2, 1}, board{3, 3, 1}, board{4, 4, 1}, board{4, 5, 1}, board{4, 5, 2}

func (b board) flags() string {
	return fmt.Sprintf("connectn --width %d --height %d --connect %d --reducers %d", b.width, b.height, min(3, b.width), b.reducers)
}

// A site is an EMR, an S3, and the environment of their clients.
type site struct {
	emr    *Server
	hadoop *minicluster.Cluster
	root   string // of the module
	tools  string
	env    []string
	// uploads is a file with the directories into which nodes have copied, a line each.
	uploads string

	inlineDir string // parent of the data directories that one process solves

	mu   sync.Mutex
	want map[board]string // a data directory for each board that was solved inline
}

// TestEMR solves games on a simulated Amazon EMR with a real Hadoop, with and without
// failures. It compares the results with those of a run in one process.
func TestEMR(t *testing.T) {
	newSite(t).run(t, []siteTest{
		{"driver as a step", testDriverStep},
		{"step by hand", testStepByHand},
		{"step fails", testStepFails},
		{"job fails", testJobFails},
		{"cluster ends", testClusterEnds},
		{"spot nodes taken", testSpotTaken},
		{"second driver", testSecondDriver},
	})
}

// A siteTest is a test on a site.
type siteTest struct {
	name string
	do   func(*testing.T, *site)
}

// run runs tests, checks that each leaves no cluster behind, and validates all requests
// with botocore's model. A share of the tests may be empty.
func (s *site) run(t *testing.T, tests []siteTest) {
	ran := false
	for _, test := range tests {
		if !t.Run(test.name, func(t *testing.T) {
			longtest.Share(t)
			ran = true
			test.do(t, s)
			s.noneAlive(t)
		}) {
			// Clusters left running would disturb the next test.
			s.emr.EndCluster("")
			s.waitFor(t, "all clusters to end", s.allEnded)
		}
	}
	if ran {
		s.validate(t)
	}
}

// newSite starts all servers, and a Hadoop that runs the steps.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{want: make(map[board]string), tools: s3test.Bin(t), inlineDir: t.TempDir()}
	var err error
	if s.root, err = filepath.Abs("../../../.."); err != nil {
		t.Fatal(err)
	}
	objects := s3test.Start(t)
	s.hadoop = clustertest.Shared(t.Context(), t)
	s.emr, err = Start(Config{Run: s.master(t, objects), Ended: func() { s.clean(t) }, S3: objects.URL,
		Second: second, Start: 2, Bootstrap: 2, LogDelay: 40})
	must.OK(t, err)
	t.Cleanup(func() {
		if err := s.emr.Close(); err != nil {
			t.Error(err)
		}
	})
	s.env = append(objects.Env(), "AWS_ENDPOINT_URL_EMR="+s.emr.URL, "XDG_CONFIG_HOME="+t.TempDir())
	s.aws(t, "s3", "mb", "s3://bucket")
	return s
}

// objectsDir is the directory of HDFS that streaming steps use instead of S3, where Amazon EMR uses
// a connector of several hundred megabytes: s3://bucket/key is objectsDir/bucket/key.
const objectsDir = "/s3"

// distcp is a hadoop command whose distcp copies to HDFS, and from there to S3. It writes where to into a file.
const distcp = `#!/bin/bash
set -e
hadoop=%s
[ "$1" = distcp ] || exec $hadoop "$@"
here=$(mktemp -d)
trap "rm -r $here" EXIT
$hadoop "${@:1:$#-1}" hdfs:///s3-uploads/$$
$hadoop fs -get hdfs:///s3-uploads/$$ $here
$hadoop fs -rm -r -skipTrash hdfs:///s3-uploads
aws s3 cp --recursive $here/$$ "${!#}"
echo "${!#}" >>%s
`

// master returns a function that runs the commands of steps as on the master of a cluster, with
// hadoop, hadoop-streaming and aws in the PATH.
func (s *site) master(t *testing.T, objects *s3test.Server) func(context.Context, []string) error {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/bash\nexec hadoop jar " + s.hadoop.StreamingJar() + " \"${@//s3:\\/\\//hdfs://" + objectsDir + "/}\"\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, "hadoop-streaming"), []byte(script), 0o777))
	s.uploads = filepath.Join(dir, "uploads")
	upload := fmt.Sprintf(distcp, filepath.Join(s.hadoop.Dir(), "bin", "hadoop"), s.uploads)
	must.OK(t, os.WriteFile(filepath.Join(dir, "hadoop"), []byte(upload), 0o777))
	env := append(s.hadoop.Env(), slices.DeleteFunc(objects.Env(), func(v string) bool { return !strings.HasPrefix(v, "AWS_") })...)
	env = append(env, "PATH="+strings.Join([]string{dir, s.tools, filepath.Join(s.hadoop.Dir(), "bin"), os.Getenv("PATH")}, ":"))
	return func(ctx context.Context, args []string) error {
		cmd := exec.CommandContext(ctx, "env", args...) // env finds the command in its own PATH
		cmd.Env, cmd.Dir = env, dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		// The processes of a master end with it.
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			return errors.New(stderr.String())
		}
		return nil
	}
}

// clean kills the remaining applications of a cluster that has ended, and deletes its files in
// HDFS, because nothing remains of a cluster of Amazon EMR either.
func (s *site) clean(t *testing.T) {
	const script = `apps=$(yarn application -list | awk '/^application_/ { print $1 }')
[ -z "$apps" ] || yarn application -kill $apps
hadoop fs -rm -r -f -skipTrash '/user/*/*' ` + objectsDir
	cmd := exec.Command("bash", "-c", script)
	cmd.Env = s.hadoop.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// aws runs the AWS command line.
func (s *site) aws(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.tools, "aws"), args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("aws %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A driver is a running driver.
type driver struct {
	*exec.Cmd
	output *bytes.Buffer // read only after Wait
}

// start starts a driver.
func (s *site) start(t *testing.T, line string) *driver {
	t.Helper()
	d := &driver{Cmd: exec.Command(filepath.Join(s.root, "bin", "driver-aws"), strings.Fields(line)...), output: new(bytes.Buffer)}
	d.Env, d.Dir = s.env, s.root
	d.Stdout, d.Stderr = d.output, d.output
	must.OK(t, d.Start())
	t.Cleanup(func() { _ = d.Process.Kill() }) // no effect if it has ended
	return d
}

// startEMR starts a driver that solves a board on EMR.
func (s *site) startEMR(t *testing.T, b board, data, more string) *driver {
	t.Helper()
	return s.start(t, fmt.Sprintf("solve %s --runner emr --bucket %s --binaries bin --data %s --yes --poll 200ms --max-hours 100 --final yes %s", b.flags(), bucket, data, more))
}

// done checks that a driver succeeds.
func (d *driver) done(t *testing.T) {
	t.Helper()
	if err := d.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(d.Args, " "), err, d.output)
	}
}

// fails checks that a driver fails, with these words in its output.
func (d *driver) fails(t *testing.T, words ...string) {
	t.Helper()
	if err := d.Wait(); err == nil {
		t.Fatalf("%s: it has not failed\n%s", strings.Join(d.Args, " "), d.output)
	}
	for _, word := range words {
		if !strings.Contains(d.output.String(), word) {
			t.Errorf("%s does not say %q, but\n%s", strings.Join(d.Args, " "), word, d.output)
		}
	}
}

// fetched copies a data directory from S3 to a local folder.
func (s *site) fetched(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	s.aws(t, "s3", "cp", "--recursive", "--only-show-errors", bucket+"/"+name, dir)
	return dir
}

// same checks that a data directory has the same result as that of a run in one process.
func (s *site) same(t *testing.T, b board, data string) {
	t.Helper()
	solved.Same(t, store.Local{}, data, s.inline(t, b))
}

// inline returns the data directory of a board solved in one process.
func (s *site) inline(t *testing.T, b board) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir := s.want[b]; dir != "" {
		return dir
	}
	dir := filepath.Join(s.inlineDir, fmt.Sprintf("%dx%d-%d", b.width, b.height, b.reducers))
	s.start(t, fmt.Sprintf("solve %s --data %s --final yes", b.flags(), dir)).done(t)
	s.want[b] = dir
	return dir
}

// waitFor waits until a condition is true.
func (s *site) waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(poll) {
		if time.Since(begun) > waitTime {
			t.Fatalf("waited for %s for %v: %+v", what, waitTime, s.emr.Clusters())
		}
	}
}

func (s *site) allEnded() bool {
	return !slices.ContainsFunc(s.emr.Clusters(), func(c State) bool { return !c.Ended() })
}

// noneAlive waits for clusters that are ending, and checks that no other cluster is left.
func (s *site) noneAlive(t *testing.T) {
	t.Helper()
	s.waitFor(t, "clusters that end", func() bool {
		return !slices.ContainsFunc(s.emr.Clusters(), func(c State) bool { return c.State == "TERMINATING" })
	})
	if !s.allEnded() {
		t.Errorf("a cluster is left: %+v", s.emr.Clusters())
	}
}

// last returns the state of the newest cluster.
func (s *site) last() State {
	all := s.emr.Clusters()
	if len(all) == 0 {
		return State{}
	}
	return all[len(all)-1]
}

// testDriverStep runs the driver as a step, with some jobs on the cluster, whose nodes copy the final of the larger board.
func testDriverStep(t *testing.T, s *site) {
	for b, more := range map[board]string{square: "--cluster-above 3000", parted: "--cluster-above 30000"} {
		name := fmt.Sprintf("step-%dx%d", b.width, b.height)
		d := s.startEMR(t, b, name, more)
		d.done(t)
		s.noneAlive(t)
		if !strings.Contains(d.output.String(), "positions") {
			t.Errorf("it says\n%s", d.output)
		}
		s.same(t, b, s.fetched(t, name))
	}
	if uploads := string(must.Get(os.ReadFile(s.uploads))(t)); !strings.Contains(uploads, bucket+"/step-4x5/final\n") {
		t.Errorf("the nodes have copied %q", uploads)
	}
}

// binaries returns a directory with the programs of bin, one of which is replaced by a
// script.
func (s *site) binaries(t *testing.T, replaced, script string) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"driver-aws", "mapper", "reducer"} {
		var err error
		if to := filepath.Join(bin, name); name == replaced {
			err = os.WriteFile(to, []byte("#!/bin/sh\n"+script+"\n"), 0o777)
		} else {
			err = os.Symlink(filepath.Join(s.root, "bin", name), to)
		}
		must.OK(t, err)
	}
	return bin
}

// testStepFails checks that if the driver on the cluster fails at once, its error is
// printed.
func testStepFails(t *testing.T, s *site) {
	bin := s.binaries(t, "driver-aws", "echo 'driver: no such queue: nowhere' >&2; exit 1")
	s.startEMR(t, small, "fails", "--cluster-above 0 --binaries "+bin).fails(t, "nowhere", "nothing was copied")
	s.noneAlive(t)
	s.startEMR(t, small, "fails", "--cluster-above 1000000").done(t)
	s.same(t, small, s.fetched(t, "fails"))
}

// testJobFails checks that if a mapper fails, the driver prints its error.
func testJobFails(t *testing.T, s *site) {
	bin := s.binaries(t, "mapper", `echo "$0: input:3: expected a key, found 'x'" >&2; exit 1`)
	s.startEMR(t, tiny, "job", "--cluster-above 0 --binaries "+bin).fails(t, "input:3: expected a key, found 'x'", "--resume")
	s.noneAlive(t)
	s.startEMR(t, tiny, "job", "--resume --cluster-above 1000000").done(t)
	s.same(t, tiny, s.fetched(t, "job"))
}

// byHand returns the block of docs/cloud/emr.md that submits a job as a step, split into the
// commands that prepare it and the one that submits it to a cluster.
func (s *site) byHand(t *testing.T, cluster string) (prepare, submit string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, "docs", "cloud", "emr.md"))
	must.OK(t, err)
	const command = "aws emr add-steps"
	for block := range strings.SplitSeq(string(text), "\n\n") {
		if i := strings.Index(block, command); i >= 0 && strings.HasPrefix(block, "    ") {
			filled := strings.NewReplacer("BUCKET", "bucket", "j-…", cluster)
			return filled.Replace(block[:i]), filled.Replace(block[i:])
		}
	}
	t.Fatalf("docs/cloud/emr.md has no block with %s", command)
	return "", ""
}

// testStepByHand submits a job as described in docs/cloud/emr.md.
func testStepByHand(t *testing.T, s *site) {
	s.start(t, "emr up --bucket s3://bucket/games --yes --poll 200ms --idle 24h --max-hours 100").done(t)
	cluster, dir := s.last().ID, t.TempDir()
	prepare, submit := s.byHand(t, cluster)
	must.OK(t, os.Mkdir(filepath.Join(dir, "bin"), 0o777))
	must.OK(t, os.Symlink(filepath.Join(s.root, "bin"), filepath.Join(dir, "bin", "linux-arm64")))
	shell := func(env []string, line string) []byte {
		t.Helper()
		cmd := exec.Command("bash", "-ec", line)
		cmd.Dir, cmd.Env = dir, append(env, "PATH="+strings.Join([]string{filepath.Join(s.hadoop.Dir(), "bin"), filepath.Join(s.root, "bin"), s.tools, os.Getenv("PATH")}, ":"))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
		}
		return out
	}
	shell(s.env, prepare+"\naws s3 cp --recursive --only-show-errors s3://bucket/games/by-hand objects")
	objects := objectsDir + "/bucket/games"
	shell(s.hadoop.Env(), fmt.Sprintf("hadoop fs -mkdir -p %s; hadoop fs -put objects %[1]s/by-hand", objects))
	shell(s.env, submit)
	s.waitFor(t, "the step", func() bool {
		steps := s.last().Steps
		return len(steps) == 1 && steps[0].State != "PENDING" && steps[0].State != "RUNNING"
	})
	if step := s.last().Steps[0]; step.State != "COMPLETED" {
		t.Errorf("%+v", step)
	}
	want, err := os.ReadFile(filepath.Join(dir, "four", "data_first10", "part-00000"))
	must.OK(t, err)
	got := shell(s.hadoop.Env(), "hadoop fs -cat "+objects+"/by-hand/data_first10/part-00000")
	got = bytes.ReplaceAll(got, []byte("\t\n"), []byte("\n")) // Hadoop adds a tab to a key without a value
	if len(want) == 0 || !bytes.Equal(got, want) {
		t.Errorf("the step writes %d bytes that begin %.60q, want %d that begin %.60q", len(got), got, len(want), want)
	}
	s.start(t, "emr down --poll 200ms --cluster-id "+cluster).done(t)
}

// testClusterEnds ends a cluster while the driver is its step, and checks that the copied
// data is there, and that the run can be resumed on another cluster.
func testClusterEnds(t *testing.T, s *site) {
	d := s.startEMR(t, course, "ends", "--cluster-above 30000")
	s.waitFor(t, "a job", func() bool {
		return strings.Contains(s.aws(t, "s3", "ls", "--recursive", "s3://bucket/"), "test/ends/data_first9/_SUCCESS")
	})
	s.emr.EndCluster("")
	d.fails(t, "ended", "--resume")
	s.noneAlive(t)
	// The claim of the driver, which ended with its master, expires after two minutes.
	// Amazon needs that time to start the next cluster; ours starts at once.
	s.aws(t, "s3", "rm", "s3://bucket/test/ends/"+mirror.OwnerFile)
	s.startEMR(t, course, "ends", "--resume").done(t)
	s.same(t, course, s.fetched(t, "ends"))
}

// testSpotTaken takes away the nodes on which tasks run.
func testSpotTaken(t *testing.T, s *site) {
	d := s.startEMR(t, square, "spot", "--cluster-above 3000")
	s.waitFor(t, "a job", func() bool {
		dirs, err := filepath.Glob(filepath.Join(s.hadoop.Dir(), "local", "usercache", "*", "appcache", "application_*"))
		return err == nil && len(dirs) > 0
	})
	must.OK(t, s.hadoop.Kill(minicluster.NodeManager))
	// The tasks end with their machine.
	must.OK(t, s.hadoop.Stop(t.Context(), minicluster.NodeManager))
	time.Sleep(time.Second)
	must.OK(t, s.hadoop.Start(t.Context(), minicluster.NodeManager))
	if err := d.Wait(); err != nil {
		// A job whose only node was lost may fail. Then the driver suggests --resume.
		if !strings.Contains(d.output.String(), "--resume") {
			t.Fatalf("%v\n%s", err, d.output)
		}
		s.noneAlive(t)
		s.startEMR(t, square, "spot", "--resume").done(t)
	}
	s.same(t, square, s.fetched(t, "spot"))
}

// testSecondDriver starts a second driver on the data of a driver that runs as a step.
func testSecondDriver(t *testing.T, s *site) {
	before := len(s.emr.Clusters())
	d := s.startEMR(t, course, "second", "--cluster-above 30000")
	s.waitFor(t, "the cluster", func() bool { return len(s.emr.Clusters()) > before })
	s.startEMR(t, course, "second", "").fails(t, "already solving")
	d.done(t)
	s.same(t, course, s.fetched(t, "second"))
	if n := len(s.emr.Clusters()); n != before+1 {
		t.Errorf("%d clusters were made", n-before)
	}
}

// validate validates all received requests with botocore's model.
func (s *site) validate(t *testing.T) {
	var lines strings.Builder
	for _, call := range s.emr.Calls() {
		text, err := json.Marshal(map[string]any{"Service": "emr", "Operation": call.Op, "Parameters": call.Body})
		must.OK(t, err)
		lines.Write(append(text, '\n'))
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.tools, "python"), "validate.py")
	cmd.Env, cmd.Stdin = s.env, strings.NewReader(lines.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("validate.py: %v\n%s\nof\n%s", err, out, lines.String())
	}
	t.Logf("%s", bytes.TrimSpace(out))
}
