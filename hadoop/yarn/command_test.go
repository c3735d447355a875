package yarn

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// The files testdata/*.txt are what commands of Hadoop 3.4.2 printed.

// recording returns the text of a recording.
func recording(t *testing.T, name string) string {
	return string(must.Get(os.ReadFile(filepath.Join("testdata", name)))(t))
}

// commanding returns a client whose hadoop command is a script.
func commanding(t *testing.T, script string) *Client {
	name := filepath.Join(t.TempDir(), "hadoop")
	must.OK(t, os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return New(name, nil, "")
}

// TestRun checks what a command prints, and its errors.
func TestRun(t *testing.T) {
	t.Setenv("HADOOP_CLIENT_OPTS", "-Dmine")
	c := commanding(t, `echo "$*" "$HADOOP_CLIENT_OPTS"; echo noise >&2`)
	if out, err := c.Run(t.Context(), "a", "b"); string(out) != "a b "+clientOptions+" -Dmine\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	c = commanding(t, "echo 'log4j:WARN noise' >&2; echo 'no such job' >&2; exit 3")
	if err := c.Kill(t.Context(), "application_1_0001"); err == nil || !strings.HasSuffix(err.Error(), "/hadoop org.apache.hadoop.mapred.JobClient -kill job_1_0001: exit status 3: no such job") {
		t.Error(err)
	}
	if _, err := New("/none/hadoop", nil, "").Running(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "/none/hadoop") {
		t.Error(err)
	}
}

// TestComplaint checks that the error is found, and whether Java is the cause.
func TestComplaint(t *testing.T) {
	t.Setenv("JAVA_HOME", "/java")
	const another = ` (this Hadoop wants another Java; JAVA_HOME is "/java")`
	for _, test := range []struct{ stderr, want string }{
		{"", ""},
		{"ERROR: JAVA_HOME is not set and could not be found.\n", ": ERROR: JAVA_HOME is not set and could not be found."},
		// Java 25.
		{"WARNING: A restricted method in java.lang.System has been called\n\n-ls: Fatal internal error\n" +
			"java.lang.UnsupportedOperationException: getSubject is not supported\n\tat java.base/javax.security.auth.Subject.getSubject(Subject.java:277)\n",
			": java.lang.UnsupportedOperationException: getSubject is not supported" + another},
		// Java 8, with options of later ones and without.
		{"Unrecognized option: --add-opens=java.base/java.io=ALL-UNNAMED\nError: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.\n",
			": Unrecognized option: --add-opens=java.base/java.io=ALL-UNNAMED" + another},
		{"Exception in thread \"main\" java.lang.UnsupportedClassVersionError: A has been compiled by a more recent version\n\tat java.lang.ClassLoader.defineClass1(Native Method)\n",
			": java.lang.UnsupportedClassVersionError: A has been compiled by a more recent version" + another},
		// An error of Hadoop, after a warning in its log.
		{"2026-11-21 19:01:11,528 WARN util.NativeCodeLoader: Unable to load native-hadoop library\ntest: Unknown protocol: ClientProtocol\n",
			": test: Unknown protocol: ClientProtocol"},
	} {
		if got := Complaint(test.stderr); got != test.want {
			t.Errorf("%q\nis %q, want %q", test.stderr, got, test.want)
		}
	}
}

// TestRunning lists the applications with a tag.
func TestRunning(t *testing.T) {
	c := commanding(t, `case "$*" in
*"application -list -appTags mine -appStates NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING") cat <<'END'
`+recording(t, "list.txt")+`
END
esac`)
	var want []string
	for n := range 5 {
		want = append(want, fmt.Sprintf("application_1795936819899_%04d", n+1))
	}
	if ids, err := c.Running(t.Context(), "mine"); !slices.Equal(ids, want) || err != nil {
		t.Errorf("%q, %v, want %q", ids, err, want)
	}
	if ids, err := c.Running(t.Context(), "other"); len(ids) > 0 || err != nil {
		t.Errorf("%q, %v", ids, err)
	}
}

// TestRecordings reads what Hadoop printed.
func TestRecordings(t *testing.T) {
	read := func(name string) (r Report) {
		r.Read(strings.NewReader(recording(t, name)), func() {})
		return r
	}
	const id = "application_1795936819899_000"
	good := read("good.txt")
	if !good.Running || good.App != id+"1" || good.Map != 1 || good.Reduce != 1 || good.TrackingURL != "http://localhost:22169/proxy/"+id+"1/" || len(good.Messages) > 0 {
		t.Errorf("%+v", good)
	}
	n := 0
	for _, group := range good.Counters {
		n += len(group)
	}
	if n != 55 || good.Counters["treereduce map"]["keys"] != 7 || good.Counters["Map-Reduce Framework"]["CPU time spent (ms)"] != 620 {
		t.Errorf("%d counters: %v", n, good.Counters)
	}
	if r := read("fails.txt"); r.App != id+"2" || r.Counters["Job Counters"]["Failed map tasks"] != 2 {
		t.Errorf("%+v", r)
	}
	if r := read("queue.txt"); r.App != "" || !strings.Contains(r.Messages[0], "unknown queue: nosuch") {
		t.Errorf("%+v", r)
	}
}

// TestReport checks that all output of a client is read, even if a line is longer than any of
// Hadoop's: a client whose output is not read blocks.
func TestReport(t *testing.T) {
	read, write := io.Pipe()
	parsed := make(chan struct{})
	var r Report
	var states []string
	go func() {
		r.Read(read, func() { states = append(states, fmt.Sprint(r.Running, r.Map, r.Reduce)) })
		close(parsed)
	}()
	fmt.Fprint(write, "Submitted application application_1_0001\nThe url to track the job: http://x\n map 50% reduce 0%\n\tJob Counters \n\t\tFailed map tasks=2\n")
	fmt.Fprintf(write, "\tgroup\n\t\ta=9223372036854775807\n\t\tb=9007199254740993\n%s\n%s\n", strings.Repeat("x", 1<<20), "more")
	write.Close()
	<-parsed
	if r.App != "application_1_0001" || r.TrackingURL != "http://x" {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(states, ", "); got != "false 0 0, true 0.5 0" {
		t.Errorf("states %s", got)
	}
	if group := r.Counters["group"]; group["a"] != math.MaxInt64 || group["b"] != 1<<53+1 || r.Counters["Job Counters"]["Failed map tasks"] != 2 {
		t.Errorf("counters %v", r.Counters)
	}
}

// FuzzReport reads the output of a client: shares are at most 1, and messages are lines.
func FuzzReport(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(" map 101% reduce 99999999999999999999999%\n\t\ta=99999999999999999999\n")
	f.Fuzz(func(t *testing.T, text string) {
		var r Report
		r.Read(strings.NewReader(text), func() {
			if r.Map > 1 || r.Reduce > 1 {
				t.Errorf("map %v, reduce %v", r.Map, r.Reduce)
			}
		})
		if len(r.Messages) > maxMessages || strings.Contains(strings.Join(r.Messages, ""), "\n") {
			t.Errorf("messages %q", r.Messages)
		}
	})
}
