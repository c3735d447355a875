//go:build linux

package cmd_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// TestMakeProj2 solves as a user of the course does: with make, in the module's root directory.
func TestMakeProj2(t *testing.T) {
	makes(t, "build") // the first build says that it takes time
	data := filepath.Join(t.TempDir(), "data")
	for _, test := range []struct {
		variables, says, replaced string
	}{
		{"WIDTH=4 HEIGHT=3 RUNNER=pipe", "Connect 3 on 4×3: X wins in 9 moves\n7,157 positions in N s\n", ""},
		{"WIDTH=4 HEIGHT=3", "Connect 3 on 4×3: X wins in 9 moves\n7,157 positions, solved by an earlier run\n", ""},
		{"", "Connect 3 on 3×3: tie in 9 moves\n694 positions in N s\n", "driver: " + data + ": connectn width=4 height=3 connect=3, solved in N s, is replaced\n"},
		{"OVERWRITE=1", "Connect 3 on 3×3: tie in 9 moves\n694 positions in N s\n", ""},
	} {
		stdout, stderr, code := makes(t, "proj2 DATA="+data+" "+test.variables)
		want := test.says + "table: " + data + "/table\nfinal: " + data + "/final\n"
		timed := regexp.MustCompile(`in [\d.]+ (µs|ms|s|min)`)
		got, replaced := timed.ReplaceAllString(stdout, "in N s"), timed.ReplaceAllString(stderr, "in N s")
		if got != want || replaced != test.replaced || code != 0 {
			t.Errorf("make proj2 %s: exit status %d\n%s%s\nwant\n%s%s", test.variables, code, got, stderr, want, test.replaced)
		}
	}
	got := must.Get(os.ReadFile(filepath.Join(data, "final", "part-r-00000")))(t)
	want := must.Get(os.ReadFile(filepath.Join("..", "ref_out", "3x3_connect3.txt")))(t)
	if !bytes.Equal(got, want) {
		t.Error("final is not that of the course")
	}

	stdout, stderr, code := makes(t, "proj2 RESUME=1 DATA="+data)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "694 positions, solved by an earlier run\n") {
		t.Errorf("make proj2 RESUME=1: exit status %d\n%s%s", code, stdout, stderr)
	}

	// A value is one word of the shell, also if it is empty.
	quoted := filepath.Join(t.TempDir(), "it's;")
	if stdout, stderr, code := makes(t, "proj2 DATA="+quoted); code != 0 || stderr != "" || !strings.HasSuffix(stdout, "table: "+quoted+"/table\nfinal: "+quoted+"/final\n") {
		t.Errorf("make proj2 DATA=%s: exit status %d\n%s%s", quoted, code, stdout, stderr)
	}
	for variable, says := range map[string]string{"CONNECT=0": "connect", "RUNNER=none": "--runner", "WIDTH=": `--width "": expected a number`, "RUNNER=": `--runner ""`} {
		stdout, stderr, code := makes(t, "proj2 DATA="+data+" "+variable)
		if code == 0 || stdout != "" || !strings.HasPrefix(stderr, "driver: ") || !strings.Contains(stderr, says) {
			t.Errorf("make proj2 %s: exit status %d\n%s%s", variable, code, stdout, stderr)
		}
	}
}

// TestMakePipe runs the loop of jobs by hand, with each command printed. The result is the
// course's, and running the printed commands gives it again.
func TestMakePipe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pipe")
	stdout, stderr, code := makes(t, "pipe WIDTH=2 HEIGHT=2 CONNECT=2 PIPE_DATA="+dir)
	final := filepath.Join(dir, "final", "part-r-00000")
	if code != 0 || stderr != "" || !strings.HasSuffix(stdout, "\n12 lines in "+final+"\n") {
		t.Fatalf("make pipe: exit status %d\n%s%s", code, stdout, stderr)
	}
	want := must.Get(os.ReadFile(filepath.Join("..", "ref_out", "2x2_connect2.txt")))(t)
	if got, err := os.ReadFile(final); err != nil || !bytes.Equal(got, want) {
		t.Errorf("final is not that of the course, %v", err)
	}
	var script strings.Builder
	for line := range strings.Lines(stdout) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			script.WriteString(command)
		}
	}
	os.Truncate(final, 0)
	cmd := exec.Command("bash", "-ec", script.String())
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the printed commands: %v\n%s", err, out)
	}
	if got, err := os.ReadFile(final); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the printed commands make something else, %v", err)
	}
	// A second run works, too; a folder that belongs to someone else is left alone.
	if _, stderr, code := makes(t, "pipe WIDTH=2 HEIGHT=2 CONNECT=2 PIPE_DATA="+dir); code != 0 {
		t.Errorf("again: exit status %d, %s", code, stderr)
	}
	if _, stderr, code := makes(t, "pipe PIPE_DATA="+filepath.Dir(dir)); code == 0 || !strings.Contains(stderr, "this script did not create it") {
		t.Errorf("a folder of somebody else: exit status %d, %s", code, stderr)
	}
	if _, stderr, code := makes(t, "pipe WIDTH=0 PIPE_DATA="+dir); code == 0 || !strings.Contains(stderr, "init_map: connectn: width") {
		t.Errorf("WIDTH=0: exit status %d, %s", code, stderr)
	}
	// The name of the folder is data, not a part of the commands.
	above := t.TempDir()
	for _, name := range []string{"x;touch y", "a b", "o'clock", "$(touch y)"} {
		cmd := exec.Command("scripts/pipe.sh", "2", "2", "2", filepath.Join(above, name))
		cmd.Dir = ".."
		out, err := cmd.CombinedOutput()
		got, missing := os.ReadFile(filepath.Join(above, name, "final", "part-r-00000"))
		if err != nil || missing != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %v\n%s", name, err, missing, out)
		}
	}
	for _, dir := range []string{above, ".."} {
		if _, err := os.Stat(filepath.Join(dir, "y")); err == nil {
			t.Errorf("the name of a folder was executed in %s", dir)
		}
	}
}

// TestMakeSite writes a site with the tables of two boards and of a further data directory. The solve of one
// board has begun. Then it has tables that are too large.
func TestMakeSite(t *testing.T) {
	makes(t, "site") // the first build says that it takes time
	above := t.TempDir()
	list, data := filepath.Join(above, "boards.txt"), filepath.Join(above, "data")
	must.OK(t, os.WriteFile(list, []byte("mnk --width 3 --height 3 --connect 3\nquixo --size 3\n"), 0o666))
	run := func(site string) (stdout, stderr string, code int) {
		return makes(t, "site-tables SITE="+filepath.Join(above, site)+" SITE_TABLES="+filepath.Join(above, "tables")+" SITE_BOARDS="+list+" SITE_DATA="+data)
	}
	solve := func(line string) error { return exec.Command("../bin/driver", strings.Fields(line)...).Run() }
	must.OK(t, solve("solve connectn --data "+data))
	must.OK(t, solve("solve quixo --size 3 --until-tier 3 --data "+filepath.Join(above, "tables", "quixo-3")))
	stdout, stderr, code := run("site")
	want := regexp.MustCompile(`^    0\.003 MB  Tic-tac-toe of 3 on 3×3: tie in 9 moves, 765 positions in .*
    0\.005 MB  Quixo on 3×3: the first player wins in 7 moves, 2,219 positions in .*
.*/site: \S+ MB and tables of 11.4 kB; copy it to a web server
$`)
	if code != 0 || stderr != "" || !want.MatchString(stdout) {
		t.Fatalf("exit status %d\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := run("site"); code == 0 || stdout != "" || !strings.HasPrefix(stderr, "site.sh: "+filepath.Join(above, "site")+": not empty") {
		t.Errorf("again: exit status %d\n%s%s", code, stdout, stderr)
	}
	large := filepath.Join(above, "tables", "mnk-3-3-3", "table", "large")
	must.OK(t, os.WriteFile(large, nil, 0o666))
	must.OK(t, os.Truncate(large, 25e6))
	stdout, stderr, code = run("other")
	says := regexp.MustCompile(`^site\.sh: the tables of ` + list + ` have 2500\d{4} bytes, but all tables of a site may have 25000000: delete a line there\. The largest:
   25\.003 MB  Tic-tac-toe of 3 on 3×3: .*, solved by an earlier run
    0\.005 MB  Quixo on 3×3`)
	if _, err := os.Stat(filepath.Join(above, "other")); code == 0 || !says.MatchString(stderr) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("too large: exit status %d, %v\n%s%s", code, err, stdout, stderr)
	}
}

// TestMakeAlone checks that make without arguments compiles and lists the targets, and that it
// warns of a variable that it does not use.
func TestMakeAlone(t *testing.T) {
	if stdout, stderr, code := makes(t, ""); code != 0 || stderr != "" || !strings.Contains(stdout, "\n  proj2 ") || !strings.Contains(stdout, "\n  pipe ") {
		t.Errorf("make: exit status %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join("..", "bin", "possible_map")); err != nil {
		t.Error(err)
	}
	if stdout, stderr, code := makes(t, "help WITDH=4"); code != 0 || stdout == "" || !strings.Contains(stderr, "WITDH: not used here; the variables are GO WIDTH HEIGHT ") {
		t.Errorf("make help WITDH=4: exit status %d\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := makes(t, "all"); code != 0 || stdout+stderr != "" {
		t.Errorf("make all: exit status %d\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := makes(t, "build GO=/nowhere/go"); code != 2 || stdout != "" || !strings.Contains(stderr, "/nowhere/go is not in PATH: install Go") {
		t.Errorf("make without Go: exit status %d\n%s%s", code, stdout, stderr)
	}
	if stdout, _, code := makes(t, "-n proj2 YES=1"); code != 0 || !strings.Contains(stdout, "--replace --yes") {
		t.Errorf("make proj2 YES=1: exit status %d\n%s", code, stdout)
	}
}

// TestPlatform checks that the compiler explains why a platform of 32 bits is refused.
func TestPlatform(t *testing.T) {
	cmd := exec.Command("go", "build", "../game")
	cmd.Env = append(os.Environ(), "GOARCH=386")
	if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("undefined: treereduce_needs_a_platform_of_64_bits")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// makes runs make, without the variables of a make that may run this test. stderr is without programs.Progress.
func makes(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("make", append([]string{"-s"}, strings.Fields(line)...)...)
	cmd.Dir = ".."
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAKE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var out, output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &output
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), programs.Progress.ReplaceAllString(output.String(), ""), cmd.ProcessState.ExitCode()
}
