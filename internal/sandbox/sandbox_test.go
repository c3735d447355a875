//go:build linux

package sandbox_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/treereduce/treereduce/internal/sandbox"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestMain runs the tests, or is one of the hostile programs that they run. Such a program prints
// "done" if it could do what it tried.
func TestMain(m *testing.M) {
	if len(os.Args) != 3 || strings.HasPrefix(os.Args[1], "-") {
		os.Exit(m.Run())
	}
	if err := hostile(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// hostile tries to do something.
func hostile(what, arg string) error {
	switch what {
	case "read":
		_, err := os.ReadFile(arg)
		return err
	case "write":
		return os.WriteFile(arg, []byte("changed"), 0o666)
	case "environment":
		if os.Getenv(arg) == "" {
			return errors.New("not set")
		}
		return nil
	case "connect":
		_, err := net.Dial("tcp", arg)
		return err
	case "signal":
		pid, _ := strconv.Atoi(arg)
		return syscall.Kill(pid, 0)
	case "gain":
		text, _ := os.ReadFile("/proc/self/status")
		if bytes.Contains(text, []byte("\nNoNewPrivs:\t1\n")) && bytes.Contains(text, []byte("\nCapBnd:\t0000000000000000\n")) {
			return errors.New("no privileges can be gained")
		}
		return nil
	case "memfd": // memory that is not in its address space
		fd, err := unix.MemfdCreate("hidden", 0)
		for n := 0; n < 300 && err == nil; n++ {
			_, err = unix.Write(fd, make([]byte, 1<<20))
		}
		return err
	case "children": // in three processes
		var all []*exec.Cmd
		for range 3 {
			cmd := exec.Command(os.Args[0], "memfd", "")
			if err := cmd.Start(); err != nil {
				return err
			}
			all = append(all, cmd)
		}
		var err error
		for _, cmd := range all {
			err = cmp.Or(err, cmd.Wait())
		}
		return err
	case "burn": // CPU time, in children that it does not wait for
		signal.Ignore(syscall.SIGCHLD)
		begun := time.Now()
		r, w, err := os.Pipe()
		for n := 0; n < 4 && err == nil; n++ {
			cmd := exec.Command(os.Args[0], "spin", arg)
			cmd.Stdout, cmd.SysProcAttr = w, &syscall.SysProcAttr{Setsid: true}
			err = cmd.Start()
		}
		w.Close()
		io.Copy(io.Discard, r) // until they have ended
		if took := time.Since(begun); took > 3*time.Second {
			return fmt.Errorf("it took %v", took)
		}
		return err
	case "spin":
		d, err := time.ParseDuration(arg)
		for used := time.Duration(0); used < d; {
			used = system.CPU()
		}
		return err
	case "fork":
		var err error
		for range 300 {
			err = cmp.Or(err, exec.Command("sleep", arg).Start())
		}
		return err
	case "fill": // a file in memory
		name := filepath.Join(arg, fmt.Sprint("fill", os.Getpid()))
		defer os.Remove(name)
		return os.WriteFile(name, make([]byte, 100<<20), 0o600)
	case "namespace":
		cmd := exec.Command("true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	case "leave": // the process group and the session
		cmd := exec.Command("sleep", arg)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	case "referee", "careless":
		var l sandbox.Limits
		if what == "referee" {
			l.NoNetwork = true
		}
		box, err := sandbox.New(context.Background(), l)
		if err != nil {
			return err
		}
		cmd, _, err := box.Command("./bad leave "+arg+"; sleep "+arg, "")
		return cmp.Or(err, cmd.Run())
	}
	return fmt.Errorf("unknown: %s", what)
}

// newMark returns a number of seconds by which the processes of a test are found.
func newMark() string { return fmt.Sprint(1_000_000 + time.Now().UnixNano()%1_000_000_000) }

// sleepers returns the processes on this machine that sleep for that many seconds.
func sleepers(t *testing.T, mark string) (pids []int) {
	t.Helper()
	for _, name := range must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t) {
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
		err = cmp.Or(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777))
	}
	must.OK(t, err)
	return dir
}

// newBox makes a sandbox. It skips the test where the machine does not have what that needs, except as
// root with Bubblewrap, as make test installs it.
func newBox(t *testing.T, l sandbox.Limits) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.New(t.Context(), l)
	if err != nil {
		if _, missing := exec.LookPath("bwrap"); missing == nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return box
}

// TestNobody runs the tests again as another user, if root runs them.
func TestNobody(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	newBox(t, sandbox.Default)
	cmd := exec.Command("/proc/self/exe", "-test.run=^Test", "-test.v")
	cmd.Dir = place(t)
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestHostile/write")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHostile runs programs that do what they should not. Each can do it without limits, and neither with
// the limit that forbids it nor with all limits.
func TestHostile(t *testing.T) {
	above := place(t)
	alice, bob := filepath.Join(above, "alice"), filepath.Join(above, "bob")
	for _, dir := range []string{alice, bob} {
		must.OK(t, cmp.Or(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777), os.Link(filepath.Join(above, "bad"), filepath.Join(dir, "bad")), os.WriteFile(filepath.Join(dir, "key"), nil, 0o640)))
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	secret, grades := filepath.Join(bob, "bob.py"), filepath.Join(above, "grades")
	for _, name := range []string{secret, grades} {
		must.OK(t, cmp.Or(os.WriteFile(name, []byte("secret"), 0o666), os.Chmod(name, 0o666)))
	}
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	mark := newMark()
	// The shell expands the words, so that they do not name the files.
	hidden := func(name string) string { return "$(printf '" + strings.ReplaceAll(name, "/", `\057`) + "')" }
	files, network := sandbox.Limits{ReadOnly: true}, sandbox.Limits{NoNetwork: true}
	for _, tt := range []struct {
		do     string
		limits sandbox.Limits
		want   string // part of the output, or the reason, with limits
		root   bool   // only root can do it
	}{
		{"read " + hidden(secret), files, "no such file", false},
		{"read " + hidden(secret) + "; : " + above, files, "no such file", false}, // the command names the directory above
		{"read " + secret, files, "no such file", false},
		{"read " + hidden(grades), files, "no such file", false},
		{"write " + hidden(secret), files, "no such file", false},
		{"write " + filepath.Join(alice, "own"), files, "read-only file system", false},
		{"write /elsewhere", files, "read-only file system", true},
		{"write /usr/treereduce-test", files, "read-only file system", true},
		{"read key", files, "permission denied", true}, // root and its group can read it
		{"environment AWS_SECRET_ACCESS_KEY", files, "not set", false},
		{"fill /dev/shm", files, "no space left on device", false},
		{"fill /tmp", files, "no space left on device", false},
		{"namespace x", network, "no space left on device", false},
		{"gain x", network, "no privileges", false},
		{"read /proc/" + strconv.Itoa(os.Getpid()) + "/environ", network, "no such file", false},
		{"signal " + strconv.Itoa(os.Getpid()), network, "no such process", false},
		{"connect " + listener.Addr().String(), network, "connection refused", false},
		{"memfd x", sandbox.Limits{Memory: 100 << 20}, "more than 100 MB of memory", false},
		{"children x", sandbox.Limits{Memory: 400 << 20}, "more than 400 MB of memory", false},
		{"burn 100ms", sandbox.Limits{CPU: 0.1}, "it took", false},
		{"fork " + mark, sandbox.Limits{Processes: 100}, "resource temporarily unavailable", false},
		{"leave " + mark, network, "done", false},
	} {
		t.Run(strings.Fields(tt.do)[0], func(t *testing.T) {
			all := sandbox.Default
			all.Memory, all.CPU, all.Processes = cmp.Or(tt.limits.Memory, all.Memory), cmp.Or(tt.limits.CPU, all.CPU), cmp.Or(tt.limits.Processes, all.Processes)
			if failed := new(sandbox.UnenforcedError); os.Getuid() != 0 { // such a user may have no control groups
				if _, err := sandbox.New(t.Context(), all); errors.As(err, &failed) {
					all, _ = all.Without(failed.Names)
				}
			}
			for _, l := range []sandbox.Limits{{}, tt.limits, all} {
				if tt.root && os.Getuid() != 0 {
					t.Skip("only root can do it without limits")
				}
				box := newBox(t, l)
				want := "done"
				if box != nil {
					box.Private = []string{above, alice, bob}
					want = tt.want
				}
				do, repeat := "./bad "+tt.do, 1
				if box == nil && strings.HasPrefix(tt.do, "burn") {
					repeat = 5 // the machine may be busy
				}
				text, ok := "", false
				for n := 0; n < repeat && !ok; n++ {
					cmd, group, err := box.Command(do, alice)
					must.OK(t, err)
					out, _ := cmd.CombinedOutput()
					text = string(out) + group.Reason()
					ok = strings.Contains(text, want) && (want == "done" || !strings.Contains(text, "done"))
					left := sleepers(t, mark)
					if box != nil { // the kernel ends what is in the namespace soon after its first process
						group.Close()
						for begun := time.Now(); len(left) > 0 && time.Since(begun) < time.Minute; left = sleepers(t, mark) {
							time.Sleep(10 * time.Millisecond)
						}
					}
					kill(left)
					if box != nil && len(left) > 0 && strings.HasPrefix(tt.do, "leave") {
						t.Errorf("%+v: %d processes are left", l, len(left))
					}
					if box == nil && len(left) == 0 && strings.HasPrefix(tt.do, "leave") {
						t.Error("nothing is left without limits: the test shows nothing")
					}
				}
				if !ok {
					t.Errorf("%s, %+v: %q, want %q", tt.do, l, text, want)
				}
			}
			os.Remove("/elsewhere")
			os.Remove("/usr/treereduce-test")
		})
	}
	if left, _ := filepath.Glob("/sys/fs/cgroup/*/treereduce-" + strconv.Itoa(os.Getpid()) + "-*"); len(left) > 0 {
		t.Errorf("control groups are left: %q", left)
	}
}

// TestShared checks that a program in a directory that it shares with others sees the file that its command
// names, and no other.
func TestShared(t *testing.T) {
	box := newBox(t, sandbox.Limits{ReadOnly: true})
	dir := place(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o644))
	for _, private := range [][]string{nil, {dir}, {dir, dir}} {
		box.Private = private
		cmd, _, err := box.Command("./bad read bad; ls", dir)
		must.OK(t, err)
		want := "done\nbad\nother\n"
		if len(private) == 2 {
			want = "done\nbad\n"
		}
		if out, err := cmd.CombinedOutput(); string(out) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", private, out, err, want)
		}
	}
}

// TestLink checks that a symbolic link in the directory of a program of a roster shows no other directory.
func TestLink(t *testing.T) {
	box := newBox(t, sandbox.Limits{ReadOnly: true})
	dir, elsewhere := place(t), place(t)
	must.OK(t, os.Symlink(filepath.Join(elsewhere, "bad"), filepath.Join(dir, "link")))
	for _, tt := range []struct {
		private []string
		want    string
	}{{nil, "done"}, {[]string{dir}, "no such file"}} {
		box.Private = tt.private
		cmd, _, err := box.Command("./bad read link", dir)
		must.OK(t, err)
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), tt.want) {
			t.Errorf("%q: %q, want %q", tt.private, out, tt.want)
		}
	}
}

// TestReferee checks that a program with limits, and what it leaves behind, ends with the process
// that started it, even if that is killed.
func TestReferee(t *testing.T) {
	newBox(t, sandbox.Limits{NoNetwork: true})
	dir := place(t)
	for referee, left := range map[string]int{"careless": 2, "referee": 0} {
		mark := newMark()
		cmd := exec.Command("./bad", referee, mark)
		cmd.Dir = dir
		must.OK(t, cmd.Start())
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

// TestSweep checks that the control groups of a process that was killed are removed.
func TestSweep(t *testing.T) {
	l := sandbox.Limits{Memory: 100 << 20}
	box := newBox(t, l)
	ended := exec.Command("true")
	must.OK(t, ended.Run())
	_, group, err := box.Command("true", "")
	must.OK(t, err)
	defer group.Close()
	if group == nil {
		t.Skip("systemd makes the control groups")
	}
	made := sandbox.Dirs(group)
	left := filepath.Join(filepath.Dir(made[0]), fmt.Sprintf("treereduce-%d-1", ended.Process.Pid))
	must.OK(t, os.Mkdir(left, 0o755))
	_, next, err := box.Command("true", "")
	must.OK(t, err)
	defer next.Close()
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		os.Remove(left)
		t.Errorf("%s: %v", left, err)
	}
	if _, err := os.Stat(made[0]); err != nil {
		t.Errorf("that of a running process is removed: %v", err)
	}
}

// TestUnenforced checks that each limit that cannot be enforced is named, with the package to install.
func TestUnenforced(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := sandbox.New(t.Context(), sandbox.Limits{NoNetwork: true, ReadOnly: true})
	failed := new(sandbox.UnenforcedError)
	if !errors.As(err, &failed) || !slices.Equal(failed.Names, []string{"network", "files"}) || !strings.Contains(err.Error(), "install the package bubblewrap") {
		t.Errorf("%v", err)
	}
	if _, err := sandbox.New(t.Context(), sandbox.Default); !errors.As(err, &failed) || len(failed.Names) < 2 {
		t.Errorf("%v", err)
	}
	if _, err := sandbox.New(t.Context(), sandbox.Limits{Memory: 1 << 30}); os.Geteuid() == 0 && (!errors.As(err, &failed) || !slices.Equal(failed.Names, []string{"memory"})) {
		t.Errorf("root could leave its control group: %v", err)
	}
	if box, err := sandbox.New(t.Context(), sandbox.Limits{}); box != nil || err != nil {
		t.Errorf("%v, %v", box, err)
	}
}
