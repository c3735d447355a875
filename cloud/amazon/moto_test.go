//go:build emr && linux && !race

package amazon_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/treereduce/treereduce/cloud/internal/testing/moto"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// onMaster is the program driver on the master of a cluster without Hadoop: it solves the game in one process, and
// copies the data directory with the AWS command line, from S3 before and to S3 after. It waits while the file hold
// exists, and fails if the file fail does. ROOT and BIN are replaced.
const onMaster = `#!/bin/bash
set -e
touch ROOT/begun
while [ -e ROOT/hold ]; do sleep 0.02; done
echo the driver begins >&2
[ ! -e ROOT/fail ] || { echo 'driver: no such queue: nowhere' >&2; exit 1; }
words=()
while (($#)); do
	case $1 in
	--runner | --data) shift ;;
	--copy-to) to=$2; shift ;;
	--cluster-above=*) ;;
	*) words+=("$1") ;;
	esac
	shift
done
data=$(mktemp -d)/data
[[ " ${words[*]} " != *' --resume=true '* ]] || aws s3 sync --only-show-errors "$to" "$data"
BIN/driver "${words[@]}" --data "$data" || status=$?
aws s3 sync --only-show-errors --delete "$data" "$to"
exit ${status:-0}
`

// A site is an S3 and an EMR, with the environment of a client.
type site struct {
	*moto.Server
	dir  string // working directory of the client, with the directory programs
	work string // of the master, with a Hadoop
	env  []string
}

// newSite starts both services.
func newSite(t *testing.T, env ...string) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	must.OK(t, os.Mkdir(filepath.Join(s.dir, "programs"), 0o777))
	master := strings.NewReplacer("ROOT", s.dir, "BIN", programs.Dir(t)).Replace(onMaster)
	for name, text := range map[string]string{"driver": master, "mapper": "", "reducer": ""} {
		must.OK(t, os.WriteFile(filepath.Join(s.dir, "programs", name), []byte(text), 0o777))
	}
	s.Server = moto.Start(t, append([]string{"STEP_PATH=" + moto.Bin(t) + ":" + os.Getenv("PATH")}, env...)...)
	s.env = append(s.Env(), "HOME="+s.dir)
	s.aws(t, "s3", "mb", "s3://bucket")
	return s
}

// aws runs the AWS command line.
func (s *site) aws(t *testing.T, words ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(moto.Bin(t), "aws"), words...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return process.Output(t, cmd)
}

// file creates a file that the program on the master looks for, and returns a function that deletes it.
func (s *site) file(t *testing.T, name string) (remove func()) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(s.dir, name), nil, 0o666))
	return func() { os.Remove(filepath.Join(s.dir, name)) }
}

// driver returns a command of driver-aws.
func (s *site) driver(words string) *exec.Cmd {
	cmd := exec.Command("driver-aws", strings.Fields(words)...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// onEMR solves a small board.
const onEMR = "solve connectn --width 3 --height 3 --connect 3 --runner emr --bucket s3://bucket/games --binaries programs --poll 30ms --instance m5.xlarge --yes"

// says runs driver-aws, and checks its exit status and that what it prints contains texts.
func (s *site) says(t *testing.T, status int, words string, texts ...string) (out, errs string) {
	t.Helper()
	got, out, errs := process.Run(s.driver(words))
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

// start starts driver-aws, and returns its output, to be read after Wait. It ends with the test.
func (s *site) start(t *testing.T, words string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd, output := s.driver(words), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	must.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, output
}

// begun waits until a step has begun.
func (s *site) begun(t *testing.T) {
	t.Helper()
	wait(t, "a step", func() bool { return os.Remove(filepath.Join(s.dir, "begun")) == nil })
}

// wait waits until done returns true.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 30_000 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("waiting for %s", what)
}

// ended waits until no cluster is left, and checks their states, the oldest first.
func (s *site) ended(t *testing.T, want string) {
	t.Helper()
	client := emr.New(emr.Options{Region: moto.Region, BaseEndpoint: &s.EMR.URL, Credentials: credentials.NewStaticCredentialsProvider("testing", "testing", "")})
	var states string
	wait(t, "all clusters to end", func() bool {
		out := must.Get(client.ListClusters(t.Context(), nil))(t)
		slices.SortFunc(out.Clusters, func(a, b types.ClusterSummary) int {
			return a.Status.Timeline.CreationDateTime.Compare(*b.Status.Timeline.CreationDateTime)
		})
		states = ""
		for _, c := range out.Clusters {
			states += string(c.Status.State) + " "
		}
		return !regexp.MustCompile(`ING `).MatchString(states)
	})
	if strings.TrimSpace(states) != strings.TrimSpace(want) {
		t.Errorf("clusters: %s, want %s", states, want)
	}
}

// cluster is the line about a new cluster.
var cluster = regexp.MustCompile(`driver-aws: creating cluster (j-\w+); driver-aws emr down j-\w+ ends it\n`)

// TestMotoSolve creates a cluster for a run, follows it to its end, and reads the table in S3. What is requested
// cannot outlive its limit, and is found by its tag.
func TestMotoSolve(t *testing.T) {
	s := newSite(t)
	s.says(t, 1, strings.TrimSuffix(onEMR, " --yes"), "--yes (make: YES=1) starts", "$0.74 per hour", "at the latest after 4 h, at $3.03")
	out, errs := s.says(t, 0, onEMR+" --max-hours 3", "sending ", "about $0.0")
	want := "Connect 3 on 3×3: tie in 9 moves\n694 positions\ntable: s3://bucket/games/all_data/table\nfinal: s3://bucket/games/all_data/final\n"
	found := cluster.FindStringSubmatch(errs)
	if out != want || found == nil {
		t.Fatalf("%s, want %s%s", out, want, errs)
	}
	s.ended(t, "TERMINATED")
	described := s.aws(t, "emr", "describe-cluster", "--cluster-id", found[1])
	for _, want := range []string{`"AutoTerminate": true`, `"TerminationProtected": false`, `"Value": "s3://bucket/games/all_data"`, `"Key": "treereduce-ends"`, "s3://bucket/games/logs/", `/limit.sh"`, `"180"`} {
		if !strings.Contains(described, want) {
			t.Errorf("no %s in %s", want, described)
		}
	}
	s.says(t, 0, "lookup --data s3://bucket/games/all_data --start --line", "tie in 9")
	s.says(t, 0, "verify --data s3://bucket/games/all_data")
	s.says(t, 0, "emr status", "no cluster of driver-aws costs money in this region")
	s.says(t, 1, onEMR, "s3://bucket/games/all_data: already contains a run of this game: --resume continues it, --overwrite starts over")
	s.says(t, 1, strings.Replace(onEMR, "--width 3", "--width 4", 1)+" --resume", `all_data: of another game: expected "connectn width=4 height=3 connect=3", found "connectn width=3`)
	s.says(t, 1, onEMR+" --resume --data other", "s3://bucket/games/other: no run to resume")
	s.says(t, 1, onEMR+" --bucket s3://none/games", "s3://none: no such bucket")
	s.ended(t, "TERMINATED")
}

// TestMotoUntilTier checks that a run with --until-tier stops early on the cluster, and that a resumed run on a
// new cluster keeps its options. The programs are sent once.
func TestMotoUntilTier(t *testing.T) {
	s := newSite(t)
	s.says(t, 0, onEMR+" --until-tier 3 --final no", "reached tier 3")
	if tables := s.aws(t, "s3", "ls", "s3://bucket/games/all_data/"); strings.Contains(tables, "PRE table/") || !strings.Contains(tables, "PRE data_first3/") {
		t.Errorf("after --until-tier 3: %s", tables)
	}
	out, errs := s.says(t, 0, onEMR+" --resume", "694 positions\n")
	if strings.Contains(out, "final: ") || strings.Contains(errs, "sending ") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestMotoAnswers checks what a driver does after each kind of answer to RunJobFlow: it follows the cluster if there
// is one, says that there may be one if it finds none, and names no cluster only if the service has refused.
func TestMotoAnswers(t *testing.T) {
	const maybe, refused = "may have been created, and would cost money: driver-aws emr status lists clusters, driver-aws emr down CLUSTER ends one", "no cluster was created"
	const html = "<html>Bad Gateway</html>"
	s, clusters := newSite(t), 0
	s.file(t, "fail")
	for name, test := range map[string]struct {
		faults []*faults.Fault
		says   string // "": it follows the cluster
		found  bool   // it looks for the cluster, and finds it
	}{
		"lost":                  {faults: []*faults.Fault{faults.Lost}, found: true},
		"cut off":               {faults: []*faults.Fault{{Cut: 10}}, found: true},
		"HTML, created":         {faults: []*faults.Fault{{Lost: true, Text: html}}, found: true},
		"HTML error, created":   {faults: []*faults.Fault{{Lost: true, Text: html, Status: 502}}, found: true},
		"HTML refusal, created": {faults: []*faults.Fault{{Lost: true, Text: html, Status: 403}}, found: true},
		"no id, created":        {faults: []*faults.Fault{{Lost: true, Text: `{"JobFlowId": ""}`}}, found: true},
		"HTML":                  {faults: []*faults.Fault{{Text: html, Status: 403}}, says: maybe},
		"no code":               {faults: []*faults.Fault{{Text: "{}", Status: 403}}, says: maybe},
		"internal error":        {faults: []*faults.Fault{{Code: "InternalServerException", Status: 500}}, says: maybe},
		"throttled":             {faults: []*faults.Fault{faults.Throttled, faults.Throttled}},
		"expired":               {faults: []*faults.Fault{faults.Expired}, says: refused},
		"refused":               {faults: []*faults.Fault{{Code: "AccessDeniedException", Status: 400}}, says: refused},
	} {
		t.Run(name, func(t *testing.T) {
			s.EMR.Set(faults.InTurn("RunJobFlow", test.faults...))
			if test.says == "" {
				test.says = "no such queue: nowhere" // of the step that it has followed
				clusters++
			}
			line := onEMR + " --data " + strings.NewReplacer(" ", "-", ",", "").Replace(name)
			_, errs := s.says(t, 1, line, test.says)
			if looked := strings.Contains(errs, "checking whether the cluster is being created"); looked != (test.found || test.says == maybe) {
				t.Errorf("looked for a cluster: %v, %s", looked, errs)
			}
			s.ended(t, strings.Repeat("TERMINATED_WITH_ERRORS ", clusters))
			switch test.says {
			case refused: // the owner is free again
				s.says(t, 1, line, "no such queue: nowhere")
				clusters++
			case maybe:
				s.says(t, 1, line, "has been creating a cluster there since ")
			}
		})
	}
}

// TestMotoOwners checks that a second driver does not work on the same data: it is refused, or follows the first
// one's cluster. A cluster that another one has replaced does not begin.
func TestMotoOwners(t *testing.T) {
	s := newSite(t)
	release := s.file(t, "hold")
	first, firstSays := s.start(t, onEMR)
	s.begun(t)
	_, errs := s.says(t, 1, onEMR, "is already solving s3://bucket/games/all_data: --resume follows it, driver-aws emr down j-")
	if strings.Contains(errs, "creating") {
		t.Error(errs)
	}
	second, secondSays := s.start(t, onEMR+" --resume")
	calls := s.calls("DescribeCluster")
	wait(t, "the second driver to follow", func() bool { return calls() > 5 })
	release()
	for cmd, says := range map[*exec.Cmd]*bytes.Buffer{first: firstSays, second: secondSays} {
		if err := cmd.Wait(); err != nil || !strings.Contains(says.String(), "694 positions") {
			t.Errorf("%v: %s", err, says)
		}
	}
	if !strings.Contains(secondSays.String(), "is already solving s3://bucket/games/all_data: following it") {
		t.Error(secondSays)
	}
	// The next one takes over at once, when the cluster has ended.
	s.says(t, 0, onEMR+" --overwrite", "694 positions")

	// Another driver has become the owner while this one's cluster starts.
	s.EMR.Set(func(r *http.Request) *faults.Fault {
		if strings.HasSuffix(r.Header.Get(faults.Target), ".RunJobFlow") {
			other := filepath.Join(s.dir, "other")
			must.OK(t, os.WriteFile(other, []byte(`{"cluster": "another"}`), 0o666))
			s.aws(t, "s3", "cp", other, "s3://bucket/games/owners/all_data")
		}
		return nil
	})
	s.says(t, 1, onEMR+" --overwrite", "another cluster has taken over: s3://bucket/games/owners/all_data names it", "FAILED")
}

// calls returns a function that returns the number of calls of an operation since then.
func (s *site) calls(operation string) func() int {
	var mu sync.Mutex
	n := 0
	s.EMR.Set(func(r *http.Request) *faults.Fault {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasSuffix(r.Header.Get(faults.Target), "."+operation) {
			n++
		}
		return nil
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// TestMotoFails checks that the cause of a failed step is printed, from its log, and that the next run continues.
func TestMotoFails(t *testing.T) {
	s := newSite(t)
	succeed := s.file(t, "fail")
	s.says(t, 1, onEMR, "driver-aws: driver: no such queue: nowhere; cluster j-", "FAILED", "nothing was copied to s3://bucket/games/all_data yet")
	succeed()
	s.ended(t, "TERMINATED_WITH_ERRORS")
	s.says(t, 0, onEMR, "694 positions")
	// A program that was replaced in the bucket by one of another length is sent again.
	programs := s.aws(t, "s3", "ls", "--recursive", "s3://bucket/games/bin/")
	key := regexp.MustCompile(`\S+/mapper\n`).FindString(programs)
	must.OK(t, os.WriteFile(filepath.Join(s.dir, "programs", "mapper"), []byte("1"), 0o777))
	s.aws(t, "s3", "cp", "programs/mapper", "s3://bucket/"+strings.TrimSpace(key))
	must.OK(t, os.WriteFile(filepath.Join(s.dir, "programs", "mapper"), []byte(""), 0o777))
	s.says(t, 0, onEMR+" --overwrite", "sending 0 B")
}

// TestMotoLimit checks that a cluster ends at its limit, whatever hangs.
func TestMotoLimit(t *testing.T) {
	s := newSite(t, "MINUTE=0.05")
	s.file(t, "hold")
	s.says(t, 1, onEMR+" --max-hours 0.5", "The master node was terminated", "nothing was copied")
	s.ended(t, "TERMINATED_WITH_ERRORS")
}

// TestMotoDown checks that emr status and emr down find clusters by their tag, from any machine, and leave others.
func TestMotoDown(t *testing.T) {
	s := newSite(t)
	s.file(t, "hold")
	first, says := s.start(t, onEMR)
	s.begun(t)
	second, _ := s.start(t, onEMR+" --data b")
	s.begun(t)
	other := strings.TrimSpace(s.aws(t, "emr", "create-cluster", "--name", "treereduce s3://other", "--release-label", "emr-7.12.0", "--instance-type", "m5.xlarge", "--instance-count", "1",
		"--steps", "Type=CUSTOM_JAR,Jar=command-runner.jar,Args=[sleep,1000]", "--query", "ClusterId", "--output", "text", "--service-role", "s", "--ec2-attributes", "InstanceProfile=p"))
	out, _ := s.says(t, 0, "emr status", "s3://bucket/games/all_data", "s3://bucket/games/b", "RUNNING")
	if strings.Contains(out, other) || strings.Count(out, "\n") != 3 {
		t.Errorf("status: %s", out)
	}
	// The policy of another user does not allow to describe them.
	s.EMR.Set((&faults.Fault{Code: "AccessDeniedException", Status: 400}).If(func(r *http.Request) bool {
		return strings.HasSuffix(r.Header.Get(faults.Target), ".DescribeCluster") && strings.Contains(r.Header.Get("Authorization"), "Credential=another/")
	}))
	s.env = append(s.env, "AWS_ACCESS_KEY_ID=another")
	s.says(t, 0, "emr status", "is of another user: ", "no cluster of driver-aws costs money")
	s.env = append(s.env, "AWS_ACCESS_KEY_ID=testing")
	ids := regexp.MustCompile(`j-\w+`).FindAllString(out, -1)
	s.says(t, 1, "emr down "+other+" --poll 30ms", "was not created by driver-aws: it has no tag treereduce")
	s.says(t, 0, "emr down "+ids[0]+" --poll 30ms", ids[0]+" ends\n")
	first.Wait()
	if text := says.String(); process.ExitStatus(first) != 1 || !strings.Contains(text, "Terminated by user request") {
		t.Errorf("followed: %s", text)
	}
	s.says(t, 1, "emr down --all --poll 30ms", ids[1], "(s3://bucket/games/b)", "--yes")
	s.says(t, 0, "emr down --all --yes --poll 30ms", ids[1]+" ends\n")
	second.Wait()
	s.aws(t, "emr", "terminate-clusters", "--cluster-ids", other)
	s.ended(t, "TERMINATED TERMINATED TERMINATED")
}

// TestMotoFollow checks that a driver repeats requests that are throttled or lost while it follows, that it says what
// goes on if it has to stop, and that --resume follows again.
func TestMotoFollow(t *testing.T) {
	s := newSite(t)
	release := s.file(t, "hold")
	s.EMR.Set(faults.InTurn("DescribeCluster", faults.Throttled, faults.Lost, &faults.Fault{Cut: 5}, nil, nil, faults.Expired))
	s.says(t, 1, onEMR, "ExpiredTokenException", "the run goes on, and its cluster will end: --resume follows it", "driver-aws emr down j-")
	s.begun(t)
	cmd, says := s.start(t, onEMR+" --resume")
	calls := s.calls("ListSteps")
	wait(t, "the driver to follow", func() bool { return calls() > 3 })
	must.OK(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait()
	if text := says.String(); !strings.Contains(text, "stopped following; the run goes on") {
		t.Error(text)
	}
	release()
	s.says(t, 0, onEMR+" --resume", "694 positions")
	s.ended(t, "TERMINATED")
}

// TestMotoRead checks that every command that reads prints the same for a data directory in S3 as for a local one,
// and that a missing or damaged file causes an error that contains its name.
func TestMotoRead(t *testing.T) {
	s := newSite(t)
	for _, game := range []string{"connectn --width 2 --height 2 --connect 2", "quickcross --width 2 --height 2 --connect 2", "mnk --width 2 --height 2 --connect 2"} {
		name, _, _ := strings.Cut(game, " ")
		s.says(t, 0, "solve "+game+" --data "+name)
		s.aws(t, "s3", "cp", "--recursive", name, "s3://bucket/solved/"+name)
		there := "s3://bucket/solved/" + name
		for _, line := range []string{"lookup --data DIR --start --line --parents", "stats --data DIR", "stats --data DIR --svg -", "verify --data DIR", "verify --data DIR --rules", "export --data DIR", "status --data DIR --all"} {
			here, _ := s.says(t, 0, strings.ReplaceAll(line, "DIR", name))
			if got, _ := s.says(t, 0, strings.ReplaceAll(line, "DIR", there)); got != here || got == "" {
				t.Errorf("%s: %s\nexpected\n%s", line, got, here)
			}
		}
		s.says(t, 0, "compare "+there+" "+name+"/final", " are the same: ")
	}
	for line, want := range map[string]string{
		"lookup --data s3://bucket/solved/mnkk --start": "s3://bucket/solved/mnkk: no such directory: did you mean s3://bucket/solved/mnk?",
		"lookup --data s3://nothing/d --start":          "s3://nothing: no such bucket",
		"status s3://bucket/solved/mnkk":                "s3://bucket/solved/mnkk: no such directory: did you mean s3://bucket/solved/mnk?",
	} {
		s.says(t, 1, line, want)
	}
	s.says(t, 2, "stats --data s3://bucket/solved/mnk --svg s3://bucket/x.svg", `--svg "s3://bucket/x.svg": expected a path, or hdfs://`)
	s.says(t, 2, "lookup --data s3://bucket --start", `--data "s3://bucket": expected s3://bucket/path`)
	must.OK(t, os.WriteFile(filepath.Join(s.dir, "damaged"), []byte(" {}"), 0o666))
	s.aws(t, "s3", "cp", "damaged", "s3://bucket/solved/connectn/table/_SUCCESS")
	s.says(t, 1, "lookup --data s3://bucket/solved/connectn --start", "connectn/table/_SUCCESS: damaged")
}

// TestMotoPolicies checks that the policy of docs/cloud/policies allows the user each request of a run.
func TestMotoPolicies(t *testing.T) {
	s := newSite(t)
	policy := string(must.Get(os.ReadFile("../../docs/cloud/policies/user.json"))(t))
	var mu sync.Mutex
	needs := make(map[string]bool)
	s.EMR.Set(func(r *http.Request) *faults.Fault {
		mu.Lock()
		defer mu.Unlock()
		_, operation, _ := strings.Cut(r.Header.Get(faults.Target), ".")
		needs["elasticmapreduce:"+operation] = true
		return nil
	})
	s.S3.Set(func(r *http.Request) *faults.Fault {
		mu.Lock()
		defer mu.Unlock()
		switch _, key, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/"); {
		case key == "":
			needs["s3:ListBucket"] = true
		case r.Method == http.MethodHead:
			needs["s3:GetObject"] = true
		default:
			needs["s3:"+r.Method[:1]+strings.ToLower(r.Method[1:])+"Object"] = true
		}
		return nil
	})
	s.file(t, "fail")
	s.says(t, 1, onEMR, "nowhere")
	s.says(t, 0, "emr status")
	s.EMR.Set(nil)
	s.S3.Set(nil)
	if len(needs) < 7 {
		t.Errorf("only %v", needs)
	}
	for action := range needs {
		if !strings.Contains(policy, `"`+action+`"`) {
			t.Errorf("user.json does not allow %s", action)
		}
	}
}
