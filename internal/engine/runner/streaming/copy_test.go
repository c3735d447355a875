//go:build unix

package streaming

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// TestCheckCopy checks which URIs are refused.
func TestCheckCopy(t *testing.T) {
	for _, uri := range []string{"s3a://bucket/d", "hdfs:///user/me/d/", "abfs://container@account.dfs.core.windows.net/a/b", "file:///d"} {
		if err := CheckCopy(uri); err != nil {
			t.Error(err)
		}
	}
	for _, uri := range []string{"", "/d", "d", "s3a://bucket", "s3a://bucket/", "s3a:/d", "s3a://bucket/a/../b", "s3a://bucket/a//b", "s3a://bucket/a,b", "s3a://bucket/%zz", "file:///"} {
		if err := CheckCopy(uri); err == nil {
			t.Errorf("%q is not refused", uri)
		}
	}
}

// A named is a file system with the name of one in HDFS.
type named struct{ *storetest.Memory }

func (named) Name() string { return "hdfs://n" }

// copyBy returns a copy whose command hadoop is a script, of the data directory /data. calls returns the command lines that it got.
func copyBy(t *testing.T, script string) (c *Copy, calls func() string) {
	t.Helper()
	dir := t.TempDir()
	name, log := filepath.Join(dir, "hadoop"), filepath.Join(dir, "log")
	must.OK(t, os.WriteFile(name, fmt.Appendf(nil, "#!/bin/sh\nprintf '%%s\\n' \"$*\" >>'%s'\n%s", log, script), 0o777))
	c = must.Get(NewCopy(&Runner{FS: new(hadoop.FS), Yarn: yarn.New(name, nil, "")}, "s3a://bucket/d/", "/data"))(t)
	c.fsys = named{&storetest.Memory{HDFS: true}}
	return c, func() string { return string(must.Get(os.ReadFile(log))(t)) }
}

// TestCopyCommands checks the command lines of a copy, and what is made of their output.
func TestCopyCommands(t *testing.T) {
	c, calls := copyBy(t, `case $2 in
-ls) cat <<E
drwxrwxrwx   - me me          0 2026-11-29 06:49 s3a://bucket/d/table
-rw-rw-rw-   1 me me          7 2026-11-29 06:49 s3a://bucket/d/table/tier-0.pack
-rw-rw-rw-   1 me domain users 8 2026-11-29 06:49 s3a://bucket/d/my 100% notes
-rw-rw-rw-   1             5000000000 2026-11-29 06:49 s3a://bucket/d/treereduce.json
-rw-rw-rw-   1 me me          3 2026-11-29 06:49 s3a://bucket/d/table/tier-1.pack._COPYING_
-rw-rw-rw-   1 me me          3 2026-11-29 06:49 s3a://bucket/d/.distcp.tmp.attempt_1
E
;;
-cat) printf onetwo ;;
esac
echo '2026-11-21 19:01:11,528 WARN util.NativeCodeLoader: Unable to load native-hadoop library' >&2
`)
	files := must.Get(c.List(t.Context()))(t)
	if want := (map[string]int64{"table/tier-0.pack": 7, "treereduce.json": 5000000000, "my 100% notes": 8}); !maps.Equal(files, want) {
		t.Errorf("files %v, want %v", files, want)
	}
	if text := must.Get(c.Read(t.Context(), []string{"a", "b"}))(t); string(text) != "onetwo" {
		t.Errorf("read %q", text)
	}
	must.OK(t, errors.Join(c.Make(t.Context()), c.Remove(t.Context(), []string{"x", "table/y"})))
	must.OK(t, c.Write(t.Context(), []string{"table/_tiers", "data_first1/_SUCCESS", "data_first1/_index", "jobs.json"}, []string{"1", "2", "3", "4"}))
	c.uri = "hdfs://m/d"
	must.OK(t, c.Write(t.Context(), []string{"jobs.json"}, []string{"5"}))
	want := `fs -ls -R s3a://bucket/d
fs -cat s3a://bucket/d/a s3a://bucket/d/b
fs -mkdir -p s3a://bucket/d
fs -rm -r -f -skipTrash s3a://bucket/d/x s3a://bucket/d/table/y
fs -put -f -d DIR/table DIR/data_first1 DIR/jobs.json s3a://bucket/d
fs -put -f DIR/jobs.json hdfs://m/d
`
	if got := regexp.MustCompile(`\S*/treereduce-copy-\d+`).ReplaceAllString(calls(), "DIR"); got != want {
		t.Errorf("commands:\n%swant\n%s", got, want)
	}
}

// TestManyNames checks that names which do not fit on a command line are given to several commands.
func TestManyNames(t *testing.T) {
	c, calls := copyBy(t, "")
	var names []string
	for i := range 3*maxNames - 1 {
		names = append(names, fmt.Sprintf("data_first%05d/to-00000-00000", i))
	}
	must.OK(t, c.Remove(t.Context(), names))
	if n := strings.Count(calls(), "\n"); n != 3 {
		t.Errorf("%d commands", n)
	}
	want := " s3a://bucket/d/" + strings.Join(names, " s3a://bucket/d/")
	if got := strings.ReplaceAll(strings.ReplaceAll(calls(), "fs -rm -r -f -skipTrash", ""), "\n", ""); got != want {
		t.Errorf("%d bytes of names, want %d", len(got), len(want))
	}
}

// TestCopyFails checks that a missing copy has no files, and the errors of commands.
func TestCopyFails(t *testing.T) {
	c, _ := copyBy(t, "echo \"ls: \\`s3a://bucket/d': No such file or directory\" >&2\nexit 1\n")
	if files, err := c.List(t.Context()); err != nil || len(files) > 0 {
		t.Errorf("a missing copy: %v, %v", files, err)
	}
	c, _ = copyBy(t, "echo 'ls: s3a://bucket/d: No AWS Credentials provided' >&2\nexit 1\n")
	const want = "/hadoop fs -ls -R: exit status 1: ls: s3a://bucket/d: No AWS Credentials provided"
	if _, err := c.List(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	for _, line := range []string{"ls: \\`s3a://bucket/d/table': No such file or directory", "/usr/bin/hadoop: line 3: exec: java: No such file or directory"} {
		c, _ = copyBy(t, "echo \""+line+"\" >&2\nexit 1\n")
		if files, err := c.List(t.Context()); err == nil {
			t.Errorf("%s: the copy counts as missing: %v", line, files)
		}
	}
	c, _ = copyBy(t, "echo 'Found 3 items'\n")
	if _, err := c.List(t.Context()); err == nil || !strings.Contains(err.Error(), `"Found 3 items\n"`) {
		t.Errorf("error %v", err)
	}
	c, _ = copyBy(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Make(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestDistCp checks the arguments of DistCp and what it copies: in a store, files get their names at once; elsewhere, they
// keep the size of their blocks. One process copies few bytes.
func TestDistCp(t *testing.T) {
	for uri, options := range map[string][]string{"s3a://bucket/d": {"-direct ", ""}, "hdfs://m/d": {"-pb ", "-pb "}} {
		c, calls := copyBy(t, `while [ "$1" != -filters ]; do shift; done; cat "$2" >>"$0.filters"`)
		c.uri, c.Stage, c.r.Above = uri, "/data/_attempt-copy-1", 100
		must.OK(t, c.Put(t.Context(), []string{"data_first1/_part-00000.pack", "table/_tiers"}, 201))
		must.OK(t, c.Fetch(t.Context(), []string{"data_first1"}, 200, "/to"))
		want := []string{
			options[0] + "-overwrite -filters FILE hdfs://n/data " + uri,
			"-D mapreduce.framework.name=local " + options[1] + "-overwrite -filters FILE " + uri + " hdfs://n/to",
		}
		lines := strings.Split(strings.TrimSpace(calls()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("commands %q", lines)
		}
		for i, line := range lines {
			_, got, _ := strings.Cut(regexp.MustCompile(`-filters \S+`).ReplaceAllString(line, "-filters FILE"), fmt.Sprintf("percent=%d ", avoidNodes))
			if got != want[i] {
				t.Errorf("command %d of %s: %q, want %q", i, uri, got, want[i])
			}
		}
		filters := string(must.Get(os.ReadFile(c.r.Yarn.Command().Path + ".filters"))(t))
		if want := `(?!.*/data/(data_first1/_part-00000\.pack|table/_tiers)(/.*)?$).*` + "\n" + `(?!.*/d/(data_first1)(/.*)?$).*` + "\n"; filters != want {
			t.Errorf("filters %q, want %q", filters, want)
		}
	}
}

// TestDistCpFails checks the error of a job that copies, and that a job which goes on is ended by the tag by which
// the next driver finds it.
func TestDistCpFails(t *testing.T) {
	c, calls := copyBy(t, `case $* in
distcp*) echo 'java.io.IOException: refused' >&2; exit 1;;
*-list*) echo '`+listing+`';;
esac
`)
	err := c.Put(t.Context(), []string{"data_first1/part-00000"}, 4)
	if err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
	text := calls()
	if tag := c.r.tag(c.Stage); !strings.Contains(text, "job.tags="+tag+" ") || !strings.Contains(text, "-list") || strings.Count(text, tag) < 2 || !strings.Contains(text, "-kill") {
		t.Errorf("commands:\n%s", text)
	}
	if _, err := c.fsys.Stat(c.Stage); err != nil {
		t.Error(err)
	}
}
