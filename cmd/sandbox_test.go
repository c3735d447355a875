package cmd_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestProgramLimits plays matches against programs that eat memory, read a file of the referee and
// leave a child behind. With a limit they cannot, and the match goes on.
func TestProgramLimits(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "answers")
	if err := os.WriteFile(secret, []byte("forty-two\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		genmove, flag string
		free, limited string // parts of the reason
		left          int    // processes that are left without the limit
	}{
		{"head -c 300M /dev/zero | tail -n 1 | wc -c; exit 7", "--memory-limit 200M", `found \"314572800\"`, "--memory-limit is 200M", 0},
		{"cat " + secret + "; exit 7", "--read-only", `found \"forty-two\"`, "No such file", 0},
		{"rm -f left; setsid sh -c 'echo $$ >>pids; echo >left; exec sleep 1000' >/dev/null 2>&1 </dev/null & while ! [ -e left ]; do sleep 0.01; done; exit 7", "--no-network", "exit status 7", "exit status 7", 1},
	} {
		for _, flag := range []string{"", tt.flag} {
			dir := t.TempDir()
			if err := cmp.Or(os.WriteFile(filepath.Join(dir, "bad.sh"), []byte(answering(tt.genmove)), 0o666), os.Chmod(dir, 0o755)); err != nil {
				t.Fatal(err)
			}
			mark := "TREEREDUCE_LIMITS=" + dir
			cmd := command(dir, "play match connectn --games 2 --openings 0 --seed 1 --time 1m --json --csv table.csv --html page.html "+flag+" random bad=program:sh")
			cmd.Args[len(cmd.Args)-1] += " bad.sh"
			cmd.Env = append(cmd.Environ(), mark)
			status, stdout, stderr := process.Run(cmd)
			want, left := tt.limited, 0
			if flag == "" {
				want, left = tt.free, 2*tt.left
			}
			found := running(mark)
			if flag == "" {
				pids, _ := os.ReadFile(filepath.Join(dir, "pids"))
				for _, word := range strings.Fields(string(pids)) {
					if pid, err := strconv.Atoi(word); err == nil {
						syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
			csv, _ := os.ReadFile(filepath.Join(dir, "table.csv"))
			page, _ := os.ReadFile(filepath.Join(dir, "page.html"))
			if status != 0 || len(found) != left || strings.Count(stdout, want) != 2 || !strings.Contains(string(csv), "2,bad,") || !strings.Contains(string(page), want) {
				t.Errorf("%s %s: exit status %d, %s, %q are left, %s\n%s", tt.genmove, flag, status, stderr, found, stdout, csv)
			}
		}
	}
}

// TestNoLimits checks that a machine without user namespaces plays, and says what is not enforced.
func TestNoLimits(t *testing.T) {
	t.Parallel()
	cmd := command(t.TempDir(), "play")
	line := fmt.Sprintf("echo 0 >/proc/sys/user/max_user_namespaces; exec %s match connectn -q --memory-limit 1G --read-only random random", cmd.Path)
	cmd.Path, cmd.Args = "/usr/bin/unshare", []string{"unshare", "--map-root-user", "sh", "-c", line}
	status, stdout, stderr := process.Run(cmd)
	if status != 0 || !strings.Contains(stdout, "1 game") || !strings.HasPrefix(stderr, "play: not enforced on this machine: --memory-limit, --read-only: ") {
		t.Errorf("exit status %d, %s, %s", status, stdout, stderr)
	}
}
