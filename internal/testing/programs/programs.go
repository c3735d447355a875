// Package programs lets the tests of a package run its programs as processes: the test binary is each of them.
package programs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/treereduce/treereduce/cli/stream"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/sandbox"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// Main is the TestMain of a package. Started under the name of one of the programs, or of mapper, reducer or a step, the
// test binary runs that. Otherwise it runs the tests; a directory with the programs is then the first in PATH.
func Main(m *testing.M, programs map[string]func()) {
	kinds := append(all.Kinds(), testgames.TieredKind())
	mains := map[string]func(){"mapper": func() { stream.Mapper(kinds...) }, "reducer": func() { stream.Reducer(kinds...) }}
	for _, name := range step.AllNames() {
		mains[name+"_map"], mains[name+"_reduce"] = mains["mapper"], mains["reducer"]
	}
	maps.Copy(mains, programs)
	if run := mains[filepath.Base(os.Args[0])]; run != nil {
		run()
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "treereduce-bin-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = link(dir, mains)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// link puts links to the test binary in dir/bin, which all users may read, and in PATH. The links are hard ones, so that a
// program finds the others in its directory.
func link(dir string, mains map[string]func()) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := cmp.Or(os.Mkdir(bin, 0o755), os.Chmod(dir, 0o755)); err != nil {
		return err
	}
	for name := range mains {
		if err := os.Link(self, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Dir returns the directory of the programs.
func Dir(t *testing.T) string {
	t.Helper()
	return filepath.Dir(must.Get(exec.LookPath("mapper"))(t))
}

// Command returns a command with its arguments; quotes have no special meaning.
func Command(dir, line string) *exec.Cmd {
	words := strings.Fields(line)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	return cmd
}

// Start starts a command, and kills it at the end of the test.
func Start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill() // no effect on a process that has been waited for
		cmd.Wait()
	})
}

// WaitFor waits until a file exists.
func WaitFor(t *testing.T, name string) {
	t.Helper()
	must.Until(t, func() bool { _, err := os.Stat(name); return err == nil }, func() string { return name + " did not come" })
}

// Progress matches the lines that a driver prints every ten seconds, as it does on a busy machine.
var Progress = regexp.MustCompile(`(?m)^driver: \[.*\n`)

// Scripts runs the command lines of testdata/script. In them, events FILE prints the event and the job of each line of a
// log, which must be JSON.
func Scripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:  filepath.Join("testdata", "script"),
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"events": events},
	})
}

func events(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("expected events FILE")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var e struct {
			Time       time.Time
			Level, Msg string
			Job        string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time.IsZero() || e.Level == "" {
			ts.Fatalf("%s: %v: %s", args[0], err, line)
		}
		fmt.Fprintln(ts.Stdout(), strings.TrimSpace(e.Msg+" "+e.Job))
	}
}

// NeedLimits skips a test where the machine cannot limit programs: make test installs what that needs as root.
func NeedLimits(t *testing.T) {
	t.Helper()
	if _, err := sandbox.New(t.Context(), sandbox.Default); err != nil {
		if _, missing := exec.LookPath("bwrap"); missing == nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
