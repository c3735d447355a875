//go:build linux && !race

package driver_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// TestProgramLeavesChild runs programs that leave a process behind with their stdin, stdout and
// stderr. The job ends nevertheless, and the processes of its group end with it.
func TestProgramLeavesChild(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("a process that leaves its group needs setsid")
	}
	for name, flags := range map[string][]string{
		"mapper":                          {"--program", "possible_map=sleep 4711 <&0 & possible_map"},
		"reducer":                         {"--program", "possible_reduce=sleep 4711 <&0 & possible_reduce"},
		"compared":                        {"--compare", "--program", "possible_map=sleep 4711 <&0 & possible_map"},
		"mapper, in a group of its own":   {"--program", "possible_map=setsid sleep 20 <&0 & possible_map"},
		"reducer, in a group of its own":  {"--program", "possible_reduce=setsid sleep 20 <&0 & possible_reduce"},
		"compared, in a group of its own": {"--compare", "--program", "possible_map=setsid sleep 20 <&0 & possible_map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := programs.Command(t.TempDir(), "driver solve connectn --width 2 --height 2 --connect 2 --runner pipe --reducers 1 --data d")
			cmd.Args = append(cmd.Args, flags...)
			status, stdout, stderr := ran(cmd)
			if status != 0 || !strings.HasPrefix(stdout, "Connect 2 on 2×2: X wins in 3 moves\n") || stderr != "" {
				t.Errorf("status %d, %s%s", status, stdout, stderr)
			}
		})
	}
	t.Cleanup(func() {
		if out, err := exec.Command("pgrep", "-f", "^sleep 4711").Output(); err == nil {
			t.Errorf("still there: %q", out)
		}
	})
}

// TestProgramIgnoresInput runs a program that passes its input to a child that does not read
// it: this is an error, and the driver does not hang.
func TestProgramIgnoresInput(t *testing.T) {
	cmd := programs.Command(t.TempDir(), "driver solve connectn --width 3 --height 3 --connect 3 --runner pipe --reducers 1 --data d")
	cmd.Args = append(cmd.Args, "--program", "possible_reduce=setsid sleep 30 <&0 & exit 0")
	status, stdout, stderr := ran(cmd)
	if status != 1 || stdout != "" || stderr != "driver: data_first1: possible_reduce (task 0) ended before its input\n" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// ran is process.Run; stderr is without programs.Progress.
func ran(cmd *exec.Cmd) (status int, stdout, stderr string) {
	status, stdout, stderr = process.Run(cmd)
	return status, stdout, programs.Progress.ReplaceAllString(stderr, "")
}

// TestRulesSandbox solves a game whose rules program writes a file. With --sandbox it cannot, nor in a mapper, and the
// result is the same; tasks on other machines are refused.
func TestRulesSandbox(t *testing.T) {
	t.Parallel()
	programs.NeedLimits(t)
	dir := t.TempDir()
	must.OK(t, cmp.Or(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "one.sh"), []byte(`(: >own) 2>/dev/null
printf 'treereduce rules 1\nname one\nbits 4\nstart 1\n\n'
while read -r n; do case $n in '') echo ;; 0) echo lose ;; *) echo 0 ;; esac; done
`), 0o644)))
	for _, tt := range []struct {
		flags, variable string
		writes          bool
		status          int
		want            string
	}{
		{"", "", true, 0, "one: the first player wins in 1 move"},
		{"--sandbox", "", false, 0, "one: the first player wins in 1 move"},
		{"--runner pipe --reducers 1 --sandbox", "", false, 0, "one: the first player wins in 1 move"},
		{"", "1", false, 0, "one: the first player wins in 1 move"},
		{"--runner hadoop --sandbox", "", false, 2, "driver: --sandbox: not with --runner hadoop, whose tasks run the rules program on other machines\n"},
	} {
		os.Remove(filepath.Join(dir, "own"))
		cmd := programs.Command(dir, "driver solve one --data d --overwrite "+tt.flags+" --rules-program")
		cmd.Args, cmd.Env = append(cmd.Args, "sh one.sh"), append(cmd.Environ(), "TREEREDUCE_SANDBOX="+tt.variable)
		status, stdout, stderr := process.Run(cmd)
		_, err := os.Stat(filepath.Join(dir, "own"))
		if status != tt.status || !strings.Contains(stdout+stderr, tt.want) || (err == nil) != tt.writes {
			t.Errorf("%s %s: exit status %d, it writes: %t, %s%s", tt.flags, tt.variable, status, err == nil, stdout, stderr)
		}
	}
	other := filepath.Join(t.TempDir(), "other dir")
	must.OK(t, cmp.Or(os.Chmod(filepath.Dir(other), 0o755), os.Mkdir(other, 0o755), os.Link(filepath.Join(dir, "one.sh"), filepath.Join(other, "one.sh"))))
	cmd := programs.Command(dir, "driver solve one --data d --overwrite --sandbox --rules-program")
	cmd.Args = append(cmd.Args, "sh '"+other+"/one.sh'")
	if status, stdout, stderr := process.Run(cmd); status != 0 {
		t.Errorf("a program in another directory: exit status %d, %s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := process.Run(programs.Command(dir, "driver solve connectn --sandbox")); status != 2 || stdout != "" || !strings.HasPrefix(stderr, "driver: --sandbox: expected --rules-program as well") {
		t.Errorf("without a program: exit status %d, %s%s", status, stdout, stderr)
	}
}
