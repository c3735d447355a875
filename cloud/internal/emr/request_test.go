package emr

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// spec returns a valid Spec.
func spec() *Spec {
	return &Spec{Name: NewName("test"), Release: DefaultRelease, Master: "m5.xlarge", Worker: "m5.xlarge", Nodes: 2,
		LogURI: "s3://bucket/logs/", Service: "s", Profile: "p", Step: []string{"true"}, Limit: time.Hour, LimitScript: "s3://bucket/limit.sh"}
}

// TestRequest checks what a request contains that has no effect on moto: the groups of instances, and no empty strings.
func TestRequest(t *testing.T) {
	s := spec()
	s.Nodes, s.EBSGB, s.Limit = 3, 100, 90*time.Minute
	in := must.Get(s.Request())(t)
	groups := in.Instances.InstanceGroups
	if len(groups) != 2 || *groups[0].InstanceCount != 1 || *groups[1].InstanceCount != 3 || groups[0].InstanceRole != "MASTER" || groups[1].InstanceRole != "CORE" ||
		*groups[1].EbsConfiguration.EbsBlockDeviceConfigs[0].VolumeSpecification.SizeInGB != 100 {
		t.Errorf("%+v", groups)
	}
	if in.Instances.Ec2SubnetId != nil || in.Instances.Ec2KeyName != nil || in.BootstrapActions[0].ScriptBootstrapAction.Args[0] != "90" {
		t.Errorf("%+v, %+v", in.Instances, in.BootstrapActions)
	}
	if steps := in.Steps; len(steps) != 1 || steps[0].ActionOnFailure != "TERMINATE_CLUSTER" || *in.Instances.KeepJobFlowAliveWhenNoSteps {
		t.Errorf("the cluster may outlive its step: %+v", in)
	}
}

// TestCheck checks the limits of names and of commands, and the architectures of instances.
func TestCheck(t *testing.T) {
	s := spec()
	s.Step = []string{strings.Repeat("é", maxStepLetters+1-len(commandRunner))}
	if _, err := s.Request(); err == nil || !strings.HasPrefix(err.Error(), "the command of the step has 10241 c") {
		t.Error(err)
	}
	name := NewName(strings.Repeat("é", 300))
	if n := len([]rune(name)); n != maxName {
		t.Errorf("a name of %d characters", n)
	}
	if first, second := NewName("a"), NewName("a"); first == second {
		t.Errorf("two clusters have the name %s", first)
	}
	for instance, want := range map[string]string{"m6g.xlarge": "arm64", "c7gd.large": "arm64", "g5.xlarge": "amd64", "u-6tb1.metal": "", "i3en.24xlarge": "amd64", "xlarge": ""} {
		if got, err := Architecture(instance); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", instance, got, err)
		}
	}
}

// TestStep runs the script of a step, with a command aws that copies from a directory of this machine.
func TestStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it tests processes")
	}
	objects, tools := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must.OK(t, os.WriteFile(name, []byte(text), 0o777))
	}
	write(filepath.Join(tools, "aws"), "#!/bin/bash\nfrom=${@: -2:1}\ncp -r "+objects+`/"${from#s3://bucket/}". "${@: -1}" 2>/dev/null || cp `+objects+`/"${from#s3://bucket/}" "${@: -1}"`+"\n")
	const program = "#!/bin/sh\nfor a; do echo \"<$a>\"; done\n"
	words := []string{"program", "plain", "it's", "a b", "$HOME", "", "ä;&|"}
	c := Command{Files: []File{{"program", []byte(program)}}, At: "s3://bucket/bin/x", Words: words, Limit: time.Hour, Owner: "s3://bucket/owner", Name: "name #1"}
	for name, test := range map[string]struct {
		program, owner, out, err string
		limit                    time.Duration
	}{
		"good":     {program: program, owner: `{"cluster": "name #1"}`, out: "<plain>\n<it's>\n<a b>\n<$HOME>\n<>\n<ä;&|>\n"},
		"replaced": {program: program + "\n", owner: "name #1", err: "the programs in s3://bucket/bin/x are not those that were uploaded"},
		"owner":    {program: program, owner: `{"cluster": "name #2"}`, err: "another cluster has taken over: s3://bucket/owner names it"},
	} {
		t.Run(name, func(t *testing.T) {
			write(filepath.Join(objects, "bin", "x", "program"), test.program)
			write(filepath.Join(objects, "owner"), test.owner)
			step := c.Step()
			cmd := exec.Command(step[0], step[1:]...)
			cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir())
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); (err != nil) != (test.err != "") || out.String() != test.out || !strings.Contains(errs.String(), test.err) {
				t.Errorf("%v: %s, %s, want %s%s", err, out.String(), errs.String(), test.out, test.err)
			}
		})
	}
	if script := c.Step()[2]; !strings.Contains(script, "exec timeout -s TERM -k 300 3600 ") {
		t.Error(script)
	}
	if DirOf(c.Files) == DirOf([]File{{"program", []byte("x")}}) || DirOf(c.Files) == DirOf([]File{{"p", c.Files[0].Content}}) {
		t.Error("different files are in the same directory")
	}
}

// TestLimit runs the script that ends a cluster at its limit, with a command sudo that prints its arguments.
func TestLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it tests processes")
	}
	tools := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(tools, "sudo"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o777))
	const info = "/mnt/var/lib/info/instance.json"
	here := filepath.Join(tools, "instance.json")
	script := strings.ReplaceAll(LimitScript, info, here)
	if script == LimitScript {
		t.Fatalf("the script does not read %s", info)
	}
	for name, test := range map[string]struct {
		info, out string
		status    int
	}{
		"master":  {`{"isMaster": true, "isRunningNameNode": true}`, "shutdown -P +90 treereduce: the cluster has reached its limit of 90 minutes\n", 0},
		"worker":  {`{"isMaster": false, "isRunningNameNode": true}`, "", 0},
		"unknown": {"", "", 1},
	} {
		os.Remove(here)
		if test.info != "" {
			must.OK(t, os.WriteFile(here, []byte(test.info), 0o666))
		}
		cmd := exec.Command("bash", "-c", script, "limit.sh", "90")
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
		out, _ := cmd.Output()
		if string(out) != test.out || cmd.ProcessState.ExitCode() != test.status {
			t.Errorf("%s: exit %d, %q, want %d, %q", name, cmd.ProcessState.ExitCode(), out, test.status, test.out)
		}
	}
}

// TestLastLine checks that the cause of a failure is the last line of a log, of any length.
func TestLastLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stderr.gz")
	if _, err := lastLine(store.Local{}, name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"":                                   "",
		"\n \n":                              "",
		"one\ntwo\n\n":                       "two",
		strings.Repeat("a line\n", 1e5):      "a line",
		"x\n" + strings.Repeat("y", 1e5):     strings.Repeat("y", maxCause),
		"driver: \xff in the middle\nlast é": "last é",
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write([]byte(text))
		w.Close()
		must.OK(t, os.WriteFile(name, packed.Bytes(), 0o666))
		if got, err := lastLine(store.Local{}, name); err != nil || got != want {
			t.Errorf("%.20q: %q, %v, want %q", text, got, err, want)
		}
		must.OK(t, os.WriteFile(name, packed.Bytes()[:packed.Len()-3], 0o666))
		if _, err := lastLine(store.Local{}, name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.20q, cut off: %v", text, err)
		}
	}
}
