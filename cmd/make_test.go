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
)

// TestMakeProj2 solves as a user of the course does: by make, in the module's root.
func TestMakeProj2(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, test := range []struct {
		variables, says string
	}{
		{"WIDTH=4 HEIGHT=3 RUNNER=pipe", "Connect 3 on 4×3: X wins in 9 moves\n7157 positions in N s\n"},
		{"", "Connect 3 on 3×3: tie in 9 moves\n694 positions in N s\n"},
	} {
		stdout, stderr, code := makes(t, "proj2 DATA="+data+" "+test.variables)
		want := test.says + "table: " + data + "/table\nfinal: " + data + "/final\n"
		if got := regexp.MustCompile(`in \d+\.\d+ s`).ReplaceAllString(stdout, "in N s"); got != want || stderr != "" || code != 0 {
			t.Errorf("make proj2 %s: exit status %d\n%s%s\nwant\n%s", test.variables, code, got, stderr, want)
		}
	}
	got, err := os.ReadFile(filepath.Join(data, "final", "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("..", "ref_out", "3x3_connect3.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("final is not that of the course")
	}

	for variable, says := range map[string]string{"CONNECT=0": "connect", "RUNNER=none": "--runner"} {
		stdout, stderr, code := makes(t, "proj2 DATA="+data+" "+variable)
		if code == 0 || stdout != "" || !strings.HasPrefix(stderr, "driver: ") || !strings.Contains(stderr, says) {
			t.Errorf("make proj2 %s: exit status %d\n%s%s", variable, code, stdout, stderr)
		}
	}
}

// makes runs make, of which this test may be a part.
func makes(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("make", append([]string{"-s"}, strings.Fields(line)...)...)
	cmd.Dir = ".."
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAKE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}
