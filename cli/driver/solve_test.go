package driver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestSolveRefuses checks that wrong or contradictory options are refused before any file is
// created.
func TestSolveRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	data := " --data " + dir
	refused(t, map[string]string{
		"solve connectn --runner none" + data:                      `--runner "none": expected inline, pipe, hadoop`,
		"solve connectn --resume --overwrite" + data:               "--resume and --overwrite exclude each other",
		"solve connectn --keep some" + data:                        `--keep "some": expected final or all`,
		"solve connectn --final maybe" + data:                      `--final "maybe": expected yes, no or auto`,
		"solve connectn --until-tier -2" + data:                    "--until-tier -2: expected 0 or more",
		"solve connectn --reducers 0" + data:                       "--reducers 0: expected 1 or more",
		"solve connectn --reducers 100001" + data:                  "--reducers 100001: expected 100000 at most",
		"solve connectn --runner hadoop --cluster-above -1" + data: "--cluster-above -1: expected 0 or more",
		"solve connectn --memory 1M" + data:                        "--memory 1M: at least 64M are needed",
		"solve connectn --memory much" + data:                      `--memory: size "much": expected a number of bytes, optionally with suffix K, M, G or T`,
		"solve connectn --runner pipe --data hdfs://h:1/d":         "--runner pipe writes only on this machine: for --data hdfs://h:1/d use --runner hadoop or inline",
	})
	line, want := "solve connectn --runner pipe --reducers 9 --memory 64M"+data, "driver: --memory 64M: connectn width=3 height=3 connect=3 needs at least "
	if status, _, stderr := runLine(some(), line, ""); status != 2 || !strings.HasPrefix(stderr, want) || !strings.Contains(stderr, "M with 9 reducers\n") {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", dir, err)
	}
}

// TestForeignFlags checks that a flag of a runner that is not chosen is refused, by all commands, and that those of a
// login are if no file is in HDFS. Nothing is created.
func TestForeignFlags(t *testing.T) {
	here, lines := t.TempDir(), make(map[string]string)
	t.Chdir(here)
	for name, value := range map[string]string{"program": "possible_map=cat", "compare": "true", "queue": "q", "D": "a=b", "files": "none",
		"hadoop": "none", "streaming-jar": "none", "cluster-bin": "none", "cluster-above": "0"} {
		owner := plan.Hadoop
		if name == "program" || name == "compare" {
			owner = plan.Pipe
		}
		for _, runner := range []string{plan.Inline, plan.Pipe, plan.Hadoop} {
			if runner != owner {
				lines["solve connectn --runner "+runner+" --"+name+"="+value] = "--" + name + " is an option of --runner " + owner
			}
		}
	}
	for _, name := range []string{"keytab", "principal"} {
		t.Setenv(map[string]string{"keytab": kerberos.Keytab, "principal": kerberos.Principal}[name], "") // the flag sets it
		for _, line := range []string{"solve connectn", "solve connectn --runner pipe", "solve mnk --resume", "lookup --start", "stats", "stats --svg x",
			"export", "verify", "status"} {
			lines[line+" --"+name+" x"] = "--" + name + " is an option of a data directory in HDFS"
		}
		// A driver that gets as far as the file system takes the flag.
		for _, line := range []string{"solve connectn --runner hadoop --data ", "solve connectn --data ", "status --data ", "verify --data "} {
			if status, _, stderr := runLine(some(), line+"hdfs://127.0.0.1:1/d --"+name+" x", ""); status != 1 || strings.Contains(stderr, "is an option of") {
				t.Errorf("%s: status %d, %s", line, status, stderr)
			}
		}
	}
	refused(t, lines)
	if made := must.Get(os.ReadDir(here))(t); len(made) > 0 {
		t.Errorf("%v", made)
	}
}

// TestMisnamed checks that every command rejects a name with an unsupported scheme. Nothing is created.
func TestMisnamed(t *testing.T) {
	here, lines := t.TempDir(), make(map[string]string)
	t.Chdir(here)
	for _, name := range []string{"x:/y", "s3a://bucket/y", "file:/y", "hdfs:/y", "hdfs://127.0.0.1:1/", "./x:/y"} {
		for _, line := range []string{"solve connectn --data", "solve connectn --runner pipe --data", "solve connectn --runner hadoop --data",
			"solve quickcross --overwrite --data", "solve connectn --runner pipe --resume --data", "status --json --data",
			"lookup --start --data", "stats --data", "verify --data", "ranges connectn --tier 1 --reducers 1 --out"} {
			want := line[strings.LastIndex(line, " ")+1:] + ` "` + name + `": expected a path, or hdfs://host:port/path, or hdfs:///path`
			if strings.HasPrefix(line, "verify") {
				want = "verify: " + want
			}
			lines[line+" "+name] = want
		}
	}
	refused(t, lines)
	if made := must.Get(os.ReadDir(here))(t); len(made) > 0 {
		t.Errorf("%v", made)
	}
}

// ourRunner returns one of our runners.
func ourRunner(t *testing.T, name string) *Runner {
	t.Helper()
	return must.Get(runnerNamed(ours(), name))(t)
}

// TestChoices checks which names of data directories each runner accepts.
func TestChoices(t *testing.T) {
	t.Setenv("HADOOP_USER_NAME", "ada")
	for _, test := range []struct{ runner, name, want string }{
		{plan.Inline, "d", "d"}, {plan.Inline, "hdfs:///d", "hdfs:///d"},
		{plan.Pipe, "d", "d"}, {plan.Pipe, "hdfs:///d", ""},
		{plan.Hadoop, "d", "hdfs:///user/ada/d"}, {plan.Hadoop, "/d", "hdfs:///d"}, {plan.Hadoop, "hdfs://h:1/d", "hdfs://h:1/d"},
	} {
		got, err := test.name, error(nil)
		if r := ourRunner(t, test.runner); r.Directory != nil {
			got, err = r.Directory(test.name)
		}
		if (err == nil) != (test.want != "") || err == nil && got != test.want {
			t.Errorf("%s, %s: %q, %v, want %q", test.runner, test.name, got, err, test.want)
		}
	}
	for _, name := range []string{plan.Pipe, plan.Hadoop} {
		if _, err := ourRunner(t, name).Directory("x:/d"); !errors.As(err, new(*hadoop.NameError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
