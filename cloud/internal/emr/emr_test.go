package emr

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// An answer is the service's answer to a call.
type answer struct {
	status int    // 0 means 200
	body   string // JSON
	cut    bool   // close the connection instead
}

// refused returns an error of the service.
func refused(status int, code, text string) answer {
	body, _ := json.Marshal(map[string]string{"__type": code, "message": text})
	return answer{status: status, body: string(body)}
}

// A fake is a service that knows only the form of calls. Package emrtest has a complete one.
type fake struct {
	mu    sync.Mutex
	calls []string // RunJobFlow …
	ask   func(call string, n int, in map[string]any) answer
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "ElasticMapReduce.")
	var in map[string]any
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	n := f.count(call)
	f.calls = append(f.calls, call)
	a := f.ask(call, n, in)
	f.mu.Unlock()
	if a.cut {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	io.WriteString(w, a.body)
}

// count returns the number of calls of an operation.
func (f *fake) count(call string) (n int) {
	for _, c := range f.calls {
		if c == call {
			n++
		}
	}
	return n
}

// serve returns a Service whose calls are answered by ask.
func serve(t *testing.T, o Options, ask func(call string, n int, in map[string]any) answer) (*Service, *fake) {
	t.Helper()
	f := &fake{ask: ask}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	if o.Poll == 0 {
		o.Poll = time.Millisecond
	}
	return New(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL),
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}, o), f
}

// spec returns a small cluster.
func spec() *Spec {
	return &Spec{
		Name: "treereduce test", Release: DefaultRelease, Master: "m6g.xlarge", Worker: "r6g.4xlarge", Core: 2,
		Service: DefaultService, Profile: DefaultProfile, LogURI: "s3://bucket/logs/",
		Limit: 3 * time.Hour, LimitScript: "s3://bucket/limit.sh", Tags: map[string]string{"b": "2", "a": "1"},
		Steps: []Step{{Name: "solve", Args: []string{"bash", "-c", "echo 'it is' >x"}}},
	}
}

// TestMakeOnce checks that a cluster is requested only once, whatever the answer.
func TestMakeOnce(t *testing.T) {
	const made = `{"JobFlowId":"j-NEW"}`
	for _, test := range []struct {
		name    string
		answers []answer // to RunJobFlow
		exists  bool     // the cluster exists after a lost answer
		want    string   // the identifier, or a part of the error
		calls   int
	}{
		{"at once", []answer{{body: made}}, true, "j-NEW", 1},
		{"throttled", []answer{refused(400, "ThrottlingException", "Rate exceeded"), {body: made}}, true, "j-NEW", 2},
		{"lost", []answer{{cut: true}}, true, "j-LISTED", 1},
		{"an inner fault", []answer{refused(500, "InternalServerError", "oops")}, true, "j-LISTED", 1},
		{"never came", []answer{{cut: true}}, false, "EMR RunJobFlow", 1},
		{"refused", []answer{refused(400, "ValidationException", "no such subnet")}, false, "no such subnet", 1},
		{"expired", []answer{refused(400, "ExpiredTokenException", "The security token is expired")}, false, "the credentials have expired", 1},
	} {
		name := ""
		s, f := serve(t, Options{}, func(call string, n int, in map[string]any) answer {
			switch {
			case call == "RunJobFlow":
				name, _ = in["Name"].(string)
				return test.answers[min(n, len(test.answers)-1)]
			case call == "ListClusters" && test.exists:
				if after, _ := in["CreatedAfter"].(float64); after > float64(time.Now().Add(-30*time.Minute).Unix()) {
					t.Errorf("%s: only clusters created after %v are listed, but clocks differ", test.name, after)
				}
				return answer{body: fmt.Sprintf(`{"Clusters":[{"Id":"j-OTHER","Name":"treereduce test #OTHER"},{"Id":"j-LISTED","Name":%q}]}`, name)}
			}
			return answer{body: `{"Clusters":[]}`}
		})
		c, err := s.Make(t.Context(), spec())
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = c.ID
		}
		if !strings.Contains(got, test.want) || f.count("RunJobFlow") != test.calls {
			t.Errorf("%s: %q after %d calls, want %q after %d", test.name, got, f.count("RunJobFlow"), test.want, test.calls)
		}
		if !strings.HasPrefix(name, "treereduce test #") {
			t.Errorf("%s: the cluster's name is %q", test.name, name)
		}
	}
}

// TestAddOnce checks that after a lost answer, Add looks for the steps several times, because
// the request may still be executed, and never repeats the request.
func TestAddOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		first answer
		at    int    // the poll that finds the step; -1: none
		want  string // an identifier, or a part of the error
		calls int
	}{
		{"done", answer{body: `{"StepIds":["s-FIRST"]}`}, -1, "s-FIRST", 1},
		{"throttled", refused(400, "ThrottlingException", "Rate exceeded"), -1, "s-SECOND", 2},
		{"lost", answer{cut: true}, 0, "s-FOUND", 1},
		{"on its way", answer{cut: true}, 2, "s-FOUND", 1},
		{"never came", answer{cut: true}, -1, `no step named "one #`, 1},
		{"an inner fault", refused(500, "InternalServerError", "oops"), -1, `no step named "one #`, 1},
	} {
		name := ""
		s, f := serve(t, Options{}, func(call string, n int, in map[string]any) answer {
			switch {
			case call == "AddJobFlowSteps" && n == 0:
				step, _ := in["Steps"].([]any)[0].(map[string]any)
				name, _ = step["Name"].(string)
				return test.first
			case call == "AddJobFlowSteps":
				return answer{body: `{"StepIds":["s-SECOND"]}`}
			case n == test.at:
				return answer{body: fmt.Sprintf(`{"Steps":[{"Id":"s-FOUND","Name":%q}]}`, name)}
			}
			return answer{body: `{"Steps":[]}`}
		})
		got, err := s.Cluster("j-A").Add(t.Context(), Step{Name: "one", Args: []string{"true"}})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) || f.count("AddJobFlowSteps") != test.calls {
			t.Errorf("%s: %s after %d calls, want %s after %d", test.name, got, f.count("AddJobFlowSteps"), test.want, test.calls)
		}
	}
}

// unreachable is a network on which no server can be reached.
type unreachable struct{ tries int }

func (u *unreachable) Do(*http.Request) (*http.Response, error) {
	u.tries++
	return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
}

// TestAddPatience checks that a request that cannot be sent is retried, with pauses and for a
// limited time.
func TestAddPatience(t *testing.T) {
	network := new(unreachable)
	s := New(aws.Config{Region: "us-east-1", HTTPClient: network, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")},
		Options{Poll: 5 * time.Millisecond, Patience: 50 * time.Millisecond})
	_, err := s.Cluster("j-A").Add(t.Context(), Step{Name: "one", Args: []string{"true"}})
	if err == nil || !strings.Contains(err.Error(), "no answer for 50ms: EMR AddJobFlowSteps") || network.tries < 2 || network.tries > 50 {
		t.Errorf("%v after %d calls", err, network.tries)
	}
}

// TestLimitScript checks that the bootstrap action shuts down the master, and no other node.
func TestLimitScript(t *testing.T) {
	for info, want := range map[string]string{`{"isMaster": true}`: "-P +7 ", `{"isMaster": false}`: "", "": "failed"} {
		dir := t.TempDir()
		place := filepath.Join(dir, "instance.json")
		if info != "" {
			must.OK(t, os.WriteFile(place, []byte(info), 0o666))
		}
		for name, text := range map[string]string{"sudo": `exec "$@"`, "shutdown": `echo "$@"`} {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o777))
		}
		script := strings.ReplaceAll(string(LimitScript().Files[0].Content), "/mnt/var/lib/info/instance.json", place)
		cmd := exec.Command("bash", "-c", script, "limit.sh", "7")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if got := string(out); (err != nil) != (want == "failed") || want != "failed" && (!strings.HasPrefix(got, want) || want == "" && got != "") {
			t.Errorf("%s: %q, %v, want %q", info, got, err, want)
		}
	}
}

// TestWait checks that Wait follows a step through temporary errors, and returns how it ended.
func TestWait(t *testing.T) {
	cluster := func(state string) string {
		return fmt.Sprintf(`{"Cluster":{"Id":"j-A","Name":"a","Status":{"State":%q,"StateChangeReason":{"Message":"because"}}}}`, state)
	}
	step := func(state string) string {
		return fmt.Sprintf(`{"Step":{"Id":"s-1","Name":"one","Status":{"State":%q,"FailureDetails":{"Reason":"Unknown Error."}}}}`, state)
	}
	for _, test := range []struct {
		name     string
		clusters []answer
		steps    []answer
		want     string
		is       error
	}{
		{"done", []answer{{body: cluster("RUNNING")}}, []answer{{body: step("PENDING")}, {body: step("RUNNING")}, {body: step("COMPLETED")}}, "<nil>", nil},
		{"lost polls", []answer{{body: cluster("RUNNING")}, {cut: true}, refused(500, "InternalServerError", "x"), {body: cluster("RUNNING")}},
			[]answer{{body: step("RUNNING")}, {cut: true}, {body: step("COMPLETED")}}, "<nil>", nil},
		{"lost for longer than the SDK tries", append(slices.Repeat([]answer{{cut: true}}, attempts+2), answer{body: cluster("RUNNING")}), []answer{{body: step("COMPLETED")}}, "<nil>", nil},
		{"throttled", []answer{refused(400, "ThrottlingException", "Rate exceeded"), {body: cluster("RUNNING")}}, []answer{{body: step("COMPLETED")}}, "<nil>", nil},
		{"failed", []answer{{body: cluster("RUNNING")}}, []answer{{body: step("FAILED")}}, "step s-1 (one) of cluster j-A: FAILED: Unknown Error.", nil},
		{"cluster gone", []answer{{body: cluster("TERMINATED_WITH_ERRORS")}}, []answer{{body: step("RUNNING")}}, "the cluster has ended: j-A: TERMINATED_WITH_ERRORS (because)", ErrEnded},
		{"cluster ends", []answer{{body: cluster("TERMINATING")}}, []answer{{body: step("RUNNING")}, {body: step("CANCELLED")}}, "the cluster has ended: j-A: TERMINATING (because)", ErrEnded},
		{"interrupted", []answer{{body: cluster("RUNNING")}, {body: cluster("RUNNING")}, {body: cluster("TERMINATED_WITH_ERRORS")}}, []answer{{body: step("INTERRUPTED")}}, "step s-1 (one) of cluster j-A: INTERRUPTED: Unknown Error.", nil},
		{"interrupted by its end", []answer{{body: cluster("TERMINATING")}, {body: cluster("TERMINATED_WITH_ERRORS")}}, []answer{{body: step("INTERRUPTED")}}, "the cluster has ended: j-A: TERMINATING (because); step s-1 (one) of cluster j-A: INTERRUPTED", ErrEnded},
		{"failed, and ends the cluster", []answer{{body: cluster("TERMINATING")}}, []answer{{body: step("FAILED")}}, "step s-1 (one) of cluster j-A: FAILED: Unknown Error.", nil},
		{"done while the cluster ends", []answer{{body: cluster("TERMINATING")}}, []answer{{body: step("RUNNING")}, {body: step("COMPLETED")}}, "<nil>", nil},
		{"expired", []answer{{body: cluster("RUNNING")}}, []answer{refused(400, "ExpiredTokenException", "expired")}, "the credentials have expired", nil},
		{"denied", []answer{refused(400, "AccessDeniedException", "not allowed")}, nil, "AccessDeniedException: not allowed", fs.ErrPermission},
	} {
		s, _ := serve(t, Options{}, func(call string, n int, _ map[string]any) answer {
			answers := test.clusters
			if call == "DescribeStep" {
				answers = test.steps
			}
			return answers[min(n, len(answers)-1)]
		})
		err := s.Cluster("j-A").Wait(t.Context(), "s-1", nil)
		if !strings.Contains(fmt.Sprint(err), test.want) || test.is != nil && !errors.Is(err, test.is) || test.is != ErrEnded && errors.Is(err, ErrEnded) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if ok := errors.As(err, new(*StepError)); ok != (strings.Contains(fmt.Sprint(err), "step s-1")) {
			t.Errorf("%s: %v is of a step: %v", test.name, err, ok)
		}
	}
}

// TestPatience checks that polls that fail for longer than Options.Patience are an error, and
// that the end of the context is another.
func TestPatience(t *testing.T) {
	var news []string
	s, _ := serve(t, Options{Patience: time.Millisecond, News: func(line string) { news = append(news, line) }}, func(string, int, map[string]any) answer {
		return answer{cut: true}
	})
	err := s.Cluster("j-A").Ready(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "no answer for 1ms: EMR DescribeCluster") || len(news) != 1 {
		t.Errorf("%v, news %q", err, news)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, _ = serve(t, Options{}, func(string, int, map[string]any) answer {
		cancel()
		return answer{cut: true}
	})
	if err := s.Cluster("j-A").Ready(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// TestRequest checks the RunJobFlow request that is sent for spec, with spot nodes.
func TestRequest(t *testing.T) {
	var got, want map[string]any
	s, _ := serve(t, Options{}, func(_ string, _ int, in map[string]any) answer {
		got = in
		return answer{body: `{"JobFlowId":"j-NEW"}`}
	})
	wanted := spec()
	wanted.Spot = 3
	if _, err := s.Make(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	must.OK(t, json.Unmarshal([]byte(wantRequest), &want))
	if name, _ := got["Name"].(string); !strings.HasPrefix(name, "treereduce test #") {
		t.Errorf("name %q", name)
	}
	if want["Name"] = got["Name"]; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want\n%v", got, want)
	}
}

// TestRequestVariants checks the parts of a request that depend on the Spec.
func TestRequestVariants(t *testing.T) {
	s := spec()
	s.Spot, s.EBSGB, s.Keep, s.Idle, s.Steps[0].EndsCluster = 1, 64, true, 2*time.Minute, true
	in, err := s.Request()
	must.OK(t, err)
	if len(in.Configurations) != 1 || in.Configurations[0].Properties["yarn.node-labels.enabled"] != "true" {
		t.Errorf("a spot node may run application masters: %+v", in.Configurations)
	}
	if action := in.Steps[0].ActionOnFailure; action != types.ActionOnFailureTerminateCluster {
		t.Errorf("a step that ends its cluster has the action %s", action)
	}
	if !*in.Instances.KeepJobFlowAliveWhenNoSteps || in.AutoTerminationPolicy == nil || *in.AutoTerminationPolicy.IdleTimeout != 120 {
		t.Errorf("a cluster that is kept ends after idling for %+v", in.AutoTerminationPolicy)
	}
	for _, g := range in.Instances.InstanceGroups {
		if g.EbsConfiguration == nil || *g.EbsConfiguration.EbsBlockDeviceConfigs[0].VolumeSpecification.SizeInGB != 64 {
			t.Errorf("group %s has no disk of 64 GB", *g.Name)
		}
	}
	s.Spot, s.Limit = 0, 0
	if in, err = s.Request(); err != nil || in.Configurations != nil || in.BootstrapActions != nil || len(in.Instances.InstanceGroups) != 2 {
		t.Errorf("without spot nodes and limit: %+v, %v", in, err)
	}
}

// TestCancel checks that a step which is cancelled can stop cleanly.
func TestCancel(t *testing.T) {
	s, _ := serve(t, Options{}, func(call string, _ int, in map[string]any) answer {
		if call != "CancelSteps" || in["StepCancellationOption"] != "SEND_INTERRUPT" || fmt.Sprint(in["StepIds"]) != "[s-1]" {
			t.Errorf("%s %v", call, in)
		}
		return answer{body: "{}"}
	})
	if err := s.Cluster("j-A").Cancel(t.Context(), "s-1"); err != nil {
		t.Error(err)
	}
}

// wantRequest is the RunJobFlow request for spec with three spot nodes.
const wantRequest = `{
	"Applications": [{"Name": "Hadoop"}],
	"BootstrapActions": [{"Name": "end after 3h0m0s", "ScriptBootstrapAction": {"Args": ["180"], "Path": "s3://bucket/limit.sh"}}],
	"Configurations": [{"Classification": "yarn-site", "Properties": {"yarn.node-labels.am.default-node-label-expression": "CORE", "yarn.node-labels.enabled": "true"}}],
	"Instances": {
		"InstanceGroups": [
			{"InstanceCount": 1, "InstanceRole": "MASTER", "InstanceType": "m6g.xlarge", "Market": "ON_DEMAND", "Name": "master"},
			{"InstanceCount": 2, "InstanceRole": "CORE", "InstanceType": "r6g.4xlarge", "Market": "ON_DEMAND", "Name": "core"},
			{"BidPrice": "OnDemandPrice", "InstanceCount": 3, "InstanceRole": "TASK", "InstanceType": "r6g.4xlarge", "Market": "SPOT", "Name": "spot"}],
		"KeepJobFlowAliveWhenNoSteps": false,
		"TerminationProtected": false},
	"JobFlowRole": "treereduce-emr-nodes",
	"LogUri": "s3://bucket/logs/",
	"Name": "N",
	"ReleaseLabel": "emr-7.12.0",
	"ScaleDownBehavior": "TERMINATE_AT_TASK_COMPLETION",
	"ServiceRole": "treereduce-emr-service",
	"Steps": [{"ActionOnFailure": "CONTINUE", "HadoopJarStep": {"Args": ["bash", "-c", "echo 'it is' >x"], "Jar": "command-runner.jar"}, "Name": "solve"}],
	"Tags": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]
}`

// TestCheck checks that requests that the service would refuse are not sent.
func TestCheck(t *testing.T) {
	if err := spec().Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Spec){
		"expected a name of 1 to 256 characters": func(s *Spec) { s.Name = strings.Repeat("n", 257) },
		`release "7.12": expected`:               func(s *Spec) { s.Release = "7.12" },
		"0 core nodes":                           func(s *Spec) { s.Core = 0 },
		"-1 spot nodes":                          func(s *Spec) { s.Spot = -1 },
		"4294967297 core nodes: expected 32768":  func(s *Spec) { s.Core = 1<<32 + 1 },
		"4294967296 spot nodes: expected 0 to":   func(s *Spec) { s.Spot = 1 << 32 },
		"65537 GB of disk: expected 0 to 65536":  func(s *Spec) { s.EBSGB = 1<<16 + 1 },
		`instance type "big"`:                    func(s *Spec) { s.Worker = "big" },
		"the master m5.xlarge has architecture amd64, r6g.4xlarge has arm64": func(s *Spec) { s.Master = "m5.xlarge" },
		"idle for 1s":                   func(s *Spec) { s.Keep, s.Idle = true, time.Second },
		"a limit of 3h0m0s: the script": func(s *Spec) { s.LimitScript = "" },
		"its arguments have 10241 characters, Amazon EMR accepts at most 10240": func(s *Spec) {
			s.Steps[0].Args = []string{strings.Repeat("ä", 10241-len(commandRunner))}
		},
	} {
		s := spec()
		spoil(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestArchitecture(t *testing.T) {
	for instance, want := range map[string]string{
		"m5.xlarge": "amd64", "m6g.xlarge": "arm64", "c7gd.16xlarge": "arm64", "g4dn.xlarge": "amd64", "g5g.xlarge": "arm64",
		"im4gn.large": "arm64", "m7i-flex.large": "amd64", "i3en.24xlarge": "amd64", "x2iedn.metal": "amd64", "m6": "", "": "",
	} {
		if got, err := Architecture(instance); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %s, %v, want %s", instance, got, err, want)
		}
	}
}

// TestToken checks that token returns different names within the service's limits.
func TestToken(t *testing.T) {
	long := strings.Repeat("ü", 300)
	a, b := token(long), token(long)
	if a == b || len([]rune(a)) != MaxName || !strings.HasPrefix(a, "üü") {
		t.Errorf("%q, %q", a, b)
	}
}

// TestBundle checks that programs are uploaded once, under a name that depends on their
// contents.
func TestBundle(t *testing.T) {
	if NewBundle(File{"a", []byte("bc")}).Dir("") == NewBundle(File{"ab", []byte("c")}).Dir("") {
		t.Error("two bundles have the same directory")
	}
	bin, s := t.TempDir(), s3test.StartFake(t, "bucket")
	s3test.Use(t, s.Env())
	to, dir, err := s3.Dial(t.Context(), "s3://bucket/dir", cloud.Options{})
	must.OK(t, err)
	for _, name := range []string{"driver", "mapper"} {
		must.OK(t, os.WriteFile(filepath.Join(bin, name), []byte(name), 0o666))
	}
	b, err := ReadBundle(bin, "driver", "mapper")
	must.OK(t, err)
	sent := 0
	for range 2 {
		got, err := b.Put(to, dir, func(string, int) { sent++ })
		if want := path.Join("dir/bin", b.hash); err != nil || got != want {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
	}
	if sent != 2 {
		t.Errorf("%d files were sent, want 2", sent)
	}
	// A file with other bytes does not count as the bundle's.
	for _, other := range []string{"other!", "longer than it was"} {
		name := path.Join("dir/bin", b.hash, "driver")
		s.Put("bucket", name, []byte(other))
		sent = 0
		if _, err := b.Put(to, dir, func(string, int) { sent++ }); err != nil {
			t.Fatal(err)
		}
		if text := s.Get("bucket", name); string(text) != "driver" || sent != 1 {
			t.Errorf("%q in place of the driver: %q, %d files sent", other, text, sent)
		}
	}
	// The hash depends on the names, and on where each file ends.
	for _, other := range []*Bundle{NewBundle(File{"driver", []byte("drivermapper")}), NewBundle(File{"driver", []byte("driver")}, File{"mappers", []byte("mapper")}), NewBundle(b.Files[1], b.Files[0])} {
		if other.hash == b.hash {
			t.Errorf("%v has the hash of another", other.Files)
		}
	}
	if _, err := ReadBundle(bin, "reducer"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
}

// TestProgram checks that the step of a program fetches it, passes the words unchanged, and
// stops it in time.
func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("no timeout here, as on a cluster of Linux machines")
	}
	bin, tools := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.OK(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o777))
	}
	// aws s3 cp --recursive --only-show-errors s3://bucket/bin/HASH/ DIR
	write(filepath.Join(tools, "aws"), `[ "$5" = s3://bucket/bin/HASH/ ] && cp `+bin+`/* "$6"`)
	write(filepath.Join(bin, "driver"), `[ "$1" = sleep ] && exec sleep 60; printf '<%s>' "$@"; exit 7`)
	programs, err := ReadBundle(bin, "driver")
	must.OK(t, err)
	run := func(words []string, limit time.Duration) (string, int) {
		t.Helper()
		step := Program("name", programs, "s3://bucket/bin/HASH", "driver", words, limit)
		must.OK(t, step.Check())
		cmd := exec.Command(step.Args[0], step.Args[1:]...)
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir())
		out, err := cmd.Output()
		code := 0
		if e := new(exec.ExitError); errors.As(err, &e) {
			code = e.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return string(out), code
	}
	words := []string{"solve", "--x=1", "it's", "a b", "$HOME", "`id`", "ä", "*", ""}
	if out, code := run(words, time.Hour); code != 7 || out != "<"+strings.Join(words, "><")+">" {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, code := run([]string{"sleep"}, time.Second); code != 124 {
		t.Errorf("exit %d, %s, want 124 at the limit", code, out)
	}
	// A program other than the one that was sent does not run.
	write(filepath.Join(bin, "driver"), "echo it runs")
	if out, code := run([]string{"solve"}, 0); code != 1 || out != "" {
		t.Errorf("another driver: exit %d, %s", code, out)
	}
}

// logsOf returns Logs that read from a local directory.
func logsOf(t *testing.T, files map[string]string) *Logs {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, "j-A", name)
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		io.WriteString(z, text)
		must.OK(t, z.Close())
		if !strings.HasSuffix(name, ".gz") {
			packed = *bytes.NewBufferString(text)
		}
		must.OK(t, os.WriteFile(name, packed.Bytes(), 0o666))
	}
	return &Logs{FS: store.Local{}, Dir: dir, Cluster: "j-A", Every: time.Millisecond, Patience: 20 * time.Millisecond, News: func(string) {}}
}

// TestLogs checks which logs of a step are read, and when they are waited for.
func TestLogs(t *testing.T) {
	for _, test := range []struct {
		name           string
		files          map[string]string
		stderr, syslog string
		err            string
		waits          bool
	}{
		{"compressed", map[string]string{"steps/s-1/stderr.gz": "driver: no room\n"}, "driver: no room\n", "", "", false},
		{"not compressed", map[string]string{"steps/s-1/stderr": "driver: no\n"}, "driver: no\n", "", "", false},
		{"of Hadoop", map[string]string{"steps/s-1/stderr.gz": "", "steps/s-1/syslog.gz": "ERROR\n"}, "", "ERROR\n", "", false},
		{"none", map[string]string{}, "", "", "the logs of step s-1 did not appear within 20ms", true},
		{"only a controller's", map[string]string{"steps/s-1/controller.gz": "INFO"}, "", "", "", true},
	} {
		l := logsOf(t, test.files)
		count := 0
		l.News = func(string) { count++ }
		var stderr, syslog string
		var err error
		synctest.Test(t, func(t *testing.T) { stderr, syslog, err = l.Step(t.Context(), "s-1") })
		if stderr != test.stderr || syslog != test.syslog || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %q, %q, %v, want %q, %q, %s", test.name, stderr, syslog, err, test.stderr, test.syslog, test.err)
		}
		if (count == 1) != test.waits {
			t.Errorf("%s: warned %d times that logs come late", test.name, count)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := logsOf(t, nil).Step(ctx, "s-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// TestTail checks that a long log is read to its end, and that the last part is kept.
func TestTail(t *testing.T) {
	long := strings.Repeat("0123456789", maxLog/4) + "end"
	got, err := tail(strings.NewReader(long))
	if err != nil || got != long[len(long)-maxLog:] {
		t.Errorf("%d letters, %v, want the last %d", len(got), err, maxLog)
	}
}
