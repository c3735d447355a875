//go:build linux && !race

package play_test

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// TestProgramLimits plays matches against programs that eat memory, read a file of the referee and
// leave a child behind. With a limit they cannot, and the match goes on.
func TestProgramLimits(t *testing.T) {
	t.Parallel()
	programs.NeedLimits(t)
	secret := filepath.Join(t.TempDir(), "answers")
	must.OK(t, os.WriteFile(secret, []byte("forty-two\n"), 0o666))
	for _, tt := range []struct {
		genmove, flag string
		free, limited string // parts of the reason
		left          int    // processes that are left without the limit
	}{
		{"head -c 300M /dev/zero | tail -n 1 | wc -c; exit 7", "--memory-limit 200M", `found \"314572800\"`, "more than 200 MB of memory", 0},
		{"cat " + secret + "; exit 7", "--read-only", `found \"forty-two\"`, "No such file", 0},
		{"rm -f left; setsid sh -c 'echo $$ >>pids; echo >left; exec sleep 1000' >/dev/null 2>&1 </dev/null & while ! [ -e left ]; do sleep 0.01; done; exit 7", "--no-network", "exit status 7", "exit status 7", 1},
	} {
		for _, flag := range []string{"", tt.flag} {
			dir := t.TempDir()
			must.OK(t, cmp.Or(os.WriteFile(filepath.Join(dir, "bad.sh"), []byte(answering(tt.genmove)), 0o666), os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)))
			mark := "TREEREDUCE_LIMITS=" + dir
			cmd := programs.Command(dir, "play match connectn --games 2 --openings 0 --seed 1 --time 1m --json --csv table.csv --html page.html "+flag+" random bad=program:sh")
			cmd.Args[len(cmd.Args)-1] += " bad.sh"
			cmd.Env = append(cmd.Environ(), mark)
			status, stdout, stderr := process.Run(cmd)
			want, left := tt.limited, 0
			if flag == "" {
				want, left = tt.free, 2*tt.left
			}
			found := running(mark)
			for begun := time.Now(); len(found) > left && time.Since(begun) < time.Minute; found = running(mark) {
				time.Sleep(10 * time.Millisecond) // the kernel ends a namespace soon after its first process
			}
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

// TestRosterLimits plays a tournament of a roster: each program has the default limits, and sees neither the
// directory of another nor the files beside the roster. With --unlimited it does.
func TestRosterLimits(t *testing.T) {
	t.Parallel()
	programs.NeedLimits(t)
	dir := t.TempDir()
	files := map[string]string{
		"roster.csv": "eve,sh eve.sh ..,eve\nbob,sh bob.sh,bob\n",
		"grades":     "grade\n",
		"bob/secret": "forty-two\n",
		"eve/eve.sh": answering(`was="$(cat ../bob/secret) $(cat ../grades)"; (echo changed >../bob/secret) 2>/dev/null; echo "$was"; exit 7`),
		"bob/bob.sh": answering("exit 7"),
	}
	must.OK(t, os.Chmod(filepath.Dir(dir), 0o755))
	for name, text := range files {
		name = filepath.Join(dir, name)
		must.OK(t, cmp.Or(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o666), os.Chmod(name, 0o666), os.Chmod(filepath.Dir(name), 0o777)))
	}
	for flag, want := range map[string][2]string{"": {`No such file or directory`, "forty-two\n"}, "--unlimited files,network": {`found \"forty-two grade\"`, "changed\n"}} {
		must.OK(t, os.WriteFile(filepath.Join(dir, "bob", "secret"), []byte("forty-two\n"), 0o666))
		status, stdout, stderr := process.Run(programs.Command(dir, "play tournament connectn --games 2 --openings 0 --seed 1 --time 1m --json --roster roster.csv "+flag))
		secret, err := os.ReadFile(filepath.Join(dir, "bob", "secret"))
		if status != 0 || err != nil || !strings.Contains(stdout, want[0]) || string(secret) != want[1] {
			t.Errorf("%s: exit status %d, %q, %v, %s%s", flag, status, secret, err, stdout, stderr)
		}
	}
}

// TestRosterClosed checks that a directory that the user nobody cannot enter is named before the first game, if root plays.
func TestRosterClosed(t *testing.T) {
	t.Parallel()
	programs.NeedLimits(t)
	if os.Getuid() != 0 {
		t.Skip("only root's programs run as another user")
	}
	dir := t.TempDir()
	must.OK(t, cmp.Or(os.WriteFile(filepath.Join(dir, "roster.csv"), []byte("a,b\nc,d\n"), 0o666), os.Chmod(dir, 0o700)))
	status, stdout, stderr := process.Run(programs.Command(dir, "play tournament connectn --roster roster.csv"))
	if status != 1 || stdout != "" || !strings.Contains(stderr, "play: --roster: a: directory "+dir) || !strings.Contains(stderr, "chmod o+rx") {
		t.Errorf("exit status %d, %s%s", status, stdout, stderr)
	}
}

// TestRefusesLimits checks that a machine without the tools refuses a tournament of a roster, and names each
// limit, the package and the option that accepts it, which is then enough.
func TestRefusesLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, cmp.Or(os.WriteFile(filepath.Join(dir, "roster.csv"), []byte("a,b\nc,d\n"), 0o666), os.Symlink("/bin/sh", filepath.Join(dir, "sh"))))
	play := func(more string) (int, string, string) {
		cmd := programs.Command(dir, "play tournament connectn -q --roster roster.csv"+more)
		cmd.Env = append(cmd.Environ(), "PATH="+dir)
		return process.Run(cmd)
	}
	status, _, stderr := play("")
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	_, accept, ok := strings.Cut(stderr, "; or accept that with ")
	if status != 1 || len(lines) != 1 || !ok || !strings.Contains(stderr, "network, files cannot be limited on this machine (install the package bubblewrap") {
		t.Fatalf("exit status %d, %s", status, stderr)
	}
	status, stdout, stderr := play(" --memory-limit 1G " + strings.TrimSpace(accept))
	if status != 0 || !strings.Contains(stdout, "; programs were not limited in ") {
		t.Errorf("exit status %d, %s%s", status, stdout, stderr)
	}
}

// TestBubblewrapHangs plays where Bubblewrap does not end: an error names it, and a signal ends play at once.
func TestBubblewrapHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "bwrap"), []byte("#!/bin/sh\n: >"+dir+"/started\nexec sleep 1000\n"), 0o755))
	play := func() *exec.Cmd {
		cmd := programs.Command(dir, "play match connectn --no-network random random")
		cmd.Env = append(cmd.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		return cmd
	}
	cmd := play()
	programs.Start(t, cmd)
	programs.WaitFor(t, filepath.Join(dir, "started"))
	begun := time.Now()
	must.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	if took := time.Since(begun); process.ExitStatus(cmd) != 143 || took > 20*time.Second {
		t.Errorf("a signal: exit status %d after %v", process.ExitStatus(cmd), took)
	}
	status, stdout, stderr := process.Run(play())
	if want := "play: network cannot be limited on this machine (" + dir + "/bwrap --help: it did not end within 30s); or leave the options out\n"; status != 1 || stdout != "" || stderr != want {
		t.Errorf("exit status %d, %s%s, want %s", status, stdout, stderr, want)
	}
}

// TestSaveLock checks that a tournament is refused whose file of games another one is writing.
func TestSaveLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := "play tournament connectn --games 1000000 --seed 1 --save games --resume random random"
	first := programs.Command(dir, line)
	out := must.Get(first.StdoutPipe())(t)
	programs.Start(t, first)
	defer func() { first.Process.Kill(); first.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if status, stdout, stderr := process.Run(programs.Command(dir, line)); status != 1 || stdout != "" || !strings.HasPrefix(stderr, "play: --resume: games: another match or tournament writes to it: ") {
		t.Errorf("exit status %d, %.200s, %s", status, stdout, stderr)
	}
	first.Process.Kill()
	io.Copy(io.Discard, out)
	first.Wait()
	if status, stdout, stderr := process.Run(programs.Command(dir, "play replay games")); status != 0 && !strings.Contains(stderr, "the file is truncated") {
		t.Errorf("exit status %d, %.200s, %s", status, stdout, stderr)
	}
}
