//go:build unix

package streaming

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/store"
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

// copyBy returns a copy whose command hadoop is a script, of a data directory with one directory and one seal. calls returns
// the command lines that it got.
func copyBy(t *testing.T, script string) (c *Copy, calls func() string) {
	t.Helper()
	dir := t.TempDir()
	name, log := filepath.Join(dir, "hadoop"), filepath.Join(dir, "log")
	must.OK(t, os.WriteFile(name, fmt.Appendf(nil, "#!/bin/sh\nprintf '%%s\\n' \"$*\" >>'%s'\n%s", log, script), 0o777))
	c = must.Get(NewCopy(&Runner{FS: new(hadoop.FS), Yarn: yarn.New(name, nil, "")}, "s3a://bucket/d/", "/data"))(t)
	c.fsys = named{&storetest.Memory{HDFS: true}}
	for _, name := range []string{"/data/data_first1/part-00000", "/data/_attempt-copy-1/table"} {
		must.OK(t, store.WriteFile(c.fsys, name, []byte("text")))
	}
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
	must.OK(t, errors.Join(c.Make(t.Context(), "table"), c.Remove(t.Context(), []string{"x", "table/y"})))
	must.OK(t, errors.Join(c.copy(t.Context(), []string{"hdfs://n/a", "hdfs://n/b"}, c.uri), c.copy(t.Context(), []string{c.uri}, "hdfs://n/d")))
	want := `fs -ls -R s3a://bucket/d
fs -cat s3a://bucket/d/a s3a://bucket/d/b
fs -mkdir -p s3a://bucket/d/table
fs -rm -r -f -skipTrash s3a://bucket/d/x s3a://bucket/d/table/y
fs -cp -f -d hdfs://n/a hdfs://n/b s3a://bucket/d
fs -cp -f s3a://bucket/d hdfs://n/d
`
	if got := calls(); got != want {
		t.Errorf("commands:\n%swant\n%s", got, want)
	}
}

// TestManyNames checks that names which do not fit on a command line are given to several commands.
func TestManyNames(t *testing.T) {
	c, calls := copyBy(t, "")
	var names []string
	for i := range 3 * wordsLimit / 40 {
		names = append(names, fmt.Sprintf("data_first%05d/to-00000-00000", i))
	}
	must.OK(t, c.Remove(t.Context(), names))
	if n := strings.Count(calls(), "\n"); n < 3 || n > 6 {
		t.Errorf("%d commands", n)
	}
	want := " " + strings.Join(c.there(names), " ")
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
	const want = "hadoop fs -ls: exit status 1: ls: s3a://bucket/d: No AWS Credentials provided"
	if _, err := c.List(t.Context()); err == nil || err.Error() != want {
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
	if err := c.Make(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestCopyJobs checks the arguments of jobs that copy: in a store, nothing is tried again; elsewhere,
// files keep the size of their blocks.
func TestCopyJobs(t *testing.T) {
	once := "-D mapreduce.map.maxattempts=1 -D mapreduce.am.max-attempts=1 -direct "
	for uri, want := range map[string][]string{
		"s3a://bucket/d": {once + "-f hdfs://n/list s3a://bucket/d", once + "-overwrite -f hdfs://n/list s3a://bucket/d/table", "-f hdfs://n/list hdfs://n/to"},
		"hdfs://m/d":     {"-pb -f hdfs://n/list hdfs://m/d", "-pb -overwrite -f hdfs://n/list hdfs://m/d/table", "-pb -f hdfs://n/list hdfs://n/to"},
	} {
		c, calls := copyBy(t, "")
		c.uri, c.Stage = uri, "/list"
		must.OK(t, c.Put(t.Context(), "", []string{"/data/data_first1"}, nil))
		must.OK(t, c.Put(t.Context(), "table", []string{"/data/data_first1/part-00000"}, nil))
		must.OK(t, c.Fetch(t.Context(), []string{"data_first1"}, 4, "/to"))
		lines := strings.Split(strings.TrimSpace(calls()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("commands %q", lines)
		}
		for i, line := range lines {
			_, got, _ := strings.Cut(strings.ReplaceAll(line, "/sources", ""), fmt.Sprintf("percent=%d ", avoidNodes))
			if got != want[i] {
				t.Errorf("job %d of %s: %q, want %q", i, uri, got, want[i])
			}
		}
	}
}

// TestCopyJobFails checks that the error of a job that copies is returned, and that the job has the tag by which the next
// driver finds it.
func TestCopyJobFails(t *testing.T) {
	c, calls := copyBy(t, "[ $1 != distcp ] || { echo 'ERROR: refused' >&2; exit 1; }")
	err := c.Put(t.Context(), "", []string{"/data/data_first1"}, nil)
	if err == nil || !strings.Contains(err.Error(), "ERROR: refused") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(calls(), "job.tags="+c.r.tag(c.Stage)+" ") {
		t.Errorf("the job lacks the tag of the stage:\n%s", calls())
	}
}

// TestPutFails checks that seals are not copied after an error of what they list, and come last otherwise.
func TestPutFails(t *testing.T) {
	for _, code := range []string{"0", "1"} {
		c, calls := copyBy(t, "exit "+code)
		c.r.Above = 1 << 20
		err := c.Put(t.Context(), "", []string{"/data/data_first1"}, []string{"/data/_attempt-copy-1/table"})
		want := "fs -cp -f -d hdfs://n/data/data_first1 s3a://bucket/d\n"
		if code == "0" {
			want += "fs -cp -f -d hdfs://n/data/_attempt-copy-1/table s3a://bucket/d\n"
		}
		if got := calls(); got != want || (err == nil) != (code == "0") {
			t.Errorf("exit code %s: commands\n%swant\n%s%v", code, got, want, err)
		}
	}
}
