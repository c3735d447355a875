package sandbox_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/play/sandbox"
)

// nobody is the user that runs the tests again if root runs them.
const nobody = 65534

// TestMain runs the tests, or is one of the programs that they run.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 {
		os.Exit(m.Run())
	}
	switch arg := os.Args[2]; os.Args[1] {
	default:
		os.Exit(m.Run())
	case "read":
		text, err := os.ReadFile(arg)
		fmt.Printf("%s%v\n", text, err)
	case "write":
		fmt.Println(os.WriteFile(arg, []byte("x"), 0o666))
	case "connect":
		_, err := net.Dial("tcp", arg)
		fmt.Println(err)
	case "fork":
		var err error
		for range 1000 {
			err = cmp.Or(err, exec.Command("sleep", arg).Start())
		}
		fmt.Println(err)
	case "child": // it leaves the process group, and the session
		cmd := exec.Command("sleep", arg)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		fmt.Println(cmd.Start())
	case "eat": // in three processes
		for range 3 {
			exec.Command(os.Args[0], "part", arg).Start()
		}
		time.Sleep(time.Hour)
	case "part":
		b := bytes.Repeat([]byte{1}, 200<<20)
		time.Sleep(time.Hour)
		fmt.Println(b[0])
	case "spin":
		for begun := time.Now(); time.Since(begun) < time.Hour; {
		}
	case "burn": // CPU time for each line
		d, _ := time.ParseDuration(arg)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			for end := used() + d; used() < end; {
			}
			fmt.Println()
		}
	case "referee", "careless":
		var l sandbox.Limits
		if os.Args[1] == "referee" {
			l.Memory = 1 << 30
		}
		cmd, _, err := sandbox.Command("./bad child "+arg+"; sleep "+arg, l)
		if err == nil {
			err = cmd.Run()
		}
		fmt.Println(err)
	}
}

// used returns the CPU time of this process.
func used() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// newMark returns a number of seconds by which the processes of a test are found.
func newMark() string { return fmt.Sprint(1_000_000 + time.Now().UnixNano()%1_000_000_000) }

// sleepers returns the processes on this machine that sleep for so many seconds.
func sleepers(t *testing.T, mark string) (pids []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && string(text) == "sleep\x00"+mark+"\x00" {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills processes.
func kill(pids []int) {
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// place returns a new directory that every user can enter, with this executable in it.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "bad"), text, 0o755)
	}
	if err == nil {
		err = cmp.Or(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestNobody runs the tests again as another user, if root runs them.
func TestNobody(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^Test", "-test.v")
	cmd.Dir = place(t)
	if err := os.Chmod(cmd.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestPrograms")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPrograms runs programs that do what they should not. Without limits, each does it.
func TestPrograms(t *testing.T) {
	all := sandbox.Limits{Memory: 300 << 20, CPU: time.Hour, NoNetwork: true, ReadOnly: true}
	if err := sandbox.Check(all); err != nil {
		t.Fatalf("this machine cannot enforce limits: %v", err)
	}
	dir := place(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	mark := newMark()
	for _, tt := range []struct {
		do      string
		limits  sandbox.Limits
		free    string // the output without limits; "": it does not end
		left    int    // processes that it leaves behind without limits
		limited string // the output with limits, or the reason
	}{
		{"read /proc/self/cmdline", sandbox.Limits{ReadOnly: true}, "<nil>", 0, "<nil>"},
		// The shell expands the words, so that they do not name the directory.
		{"read $(printf '" + strings.ReplaceAll(secret, "/", `\057`) + "')", sandbox.Limits{ReadOnly: true}, "secret<nil>", 0, "no such file"},
		{"read $(printf '\057')proc/" + fmt.Sprint(os.Getpid()) + "/environ", sandbox.Limits{Memory: 1 << 30}, "<nil>", 0, "no such file"},
		{"write " + filepath.Join(dir, "own"), sandbox.Limits{ReadOnly: true}, "<nil>", 0, "read-only file system"},
		{"write $(mktemp)", sandbox.Limits{ReadOnly: true}, "<nil>", 0, "<nil>"},
		{"connect " + listener.Addr().String(), sandbox.Limits{NoNetwork: true}, "<nil>", 0, "network is unreachable"},
		{"eat 1", sandbox.Limits{Memory: 300 << 20}, "", 0, "of memory in all its processes"},
		{"spin 1", sandbox.Limits{CPU: 300 * time.Millisecond}, "", 0, "of CPU time in a game, --cpu-limit is 300ms"},
		{"fork " + mark, sandbox.Limits{CPU: time.Hour}, "<nil>", 1000, "processes, the limit is 200"},
		{"child " + mark, sandbox.Limits{NoNetwork: true}, "<nil>", 1, "<nil>"},
	} {
		for _, l := range []sandbox.Limits{{}, tt.limits, all} {
			want, left := tt.limited, 0
			if l == (sandbox.Limits{}) {
				want, left = tt.free, tt.left
			}
			if want == "" || l == all && tt.limits.CPU == 300*time.Millisecond {
				continue
			}
			cmd, control, err := sandbox.Command("exec ./bad "+tt.do, l)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput()
			found := sleepers(t, mark)
			kill(found)
			if text := string(out) + control.Reason(); !strings.Contains(text, want) || len(found) != left {
				t.Errorf("%s, %+v: %q and %d processes are left, want %q and %d", tt.do, l, text, len(found), want, left)
			}
			control.Close()
		}
	}
}

// TestReset checks that CPU time is counted from the last Reset.
func TestReset(t *testing.T) {
	cmd, control, err := sandbox.Command("exec ./bad burn 200ms", sandbox.Limits{CPU: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	cmd.Dir = place(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for n := range 20 {
		if n < 4 {
			control.Reset()
		}
		fmt.Fprintln(in)
		if _, err := answers.ReadString('\n'); err != nil && n < 4 {
			t.Errorf("burn %d: %v, %q", n+1, err, control.Reason())
		}
	}
	in.Close()
	cmd.Wait()
	if reason := control.Reason(); !strings.Contains(reason, "--cpu-limit is 300ms") {
		t.Errorf("reason %q", reason)
	}
}

// TestReferee checks that a program with limits, and what it leaves behind, ends with the process
// that started it, even if that is killed.
func TestReferee(t *testing.T) {
	dir := place(t)
	for referee, left := range map[string]int{"careless": 2, "referee": 0} {
		mark := newMark()
		cmd := exec.Command("./bad", referee, mark)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait := func(n int) bool {
			for range 3000 {
				if len(sleepers(t, mark)) == n {
					return true
				}
				time.Sleep(10 * time.Millisecond)
			}
			return false
		}
		started := wait(2)
		cmd.Process.Kill()
		cmd.Wait()
		if !started || !wait(left) {
			t.Errorf("%s: %d processes are left, want %d", referee, len(sleepers(t, mark)), left)
		}
		kill(sleepers(t, mark))
	}
}
