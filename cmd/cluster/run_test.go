//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestMain runs the command itself if the test is started under its name.
func TestMain(m *testing.M) {
	if os.Args[0] == "cluster" {
		main()
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"--help"}, command.ExitDone, ""},
		{nil, command.ExitUsage, "expected a command"},
		{[]string{"sideways"}, command.ExitUsage, `unknown command "sideways"`},
		{[]string{"up", "--nonsense"}, command.ExitUsage, "nonsense"},
		{[]string{"up", "now"}, command.ExitUsage, `unexpected argument "now"`},
		{[]string{"status", "--dir", dir}, command.ExitFailed, "no cluster here"},
		{[]string{"down", "--dir", dir}, command.ExitDone, ""},
		{[]string{"up", "--nodes", "10", "--dir", filepath.Join(dir, "ten")}, command.ExitFailed, "10 nodes: expected 1 to 9"},
		{[]string{"kill-node"}, command.ExitUsage, "expected the number of a node"},
		{[]string{"start-node", "1", "2"}, command.ExitUsage, `found "1 2"`},
		{[]string{"kill-node", "2", "--dir", dir}, command.ExitFailed, "no cluster here"},
		{[]string{"up", "--dir", dir + "/a b"}, command.ExitFailed, "Hadoop needs a path"},
	} {
		var stdout, stderr strings.Builder
		code := run(append([]string{"cluster"}, test.args...), &stdout, &stderr)
		if code != test.code || !strings.Contains(stderr.String(), test.stderr) || test.stderr == "" && stderr.Len() > 0 {
			t.Errorf("cluster %v: exit %d, stderr %q, want %d, %q", test.args, code, stderr.String(), test.code, test.stderr)
		}
	}
}

// TestInterrupted presses Ctrl-C while up waits for the lock that another process holds.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "run", "lock")
	must.OK(t, os.Mkdir(filepath.Dir(name), 0o777))
	lock := must.Get(os.Create(name))(t)
	defer lock.Close()
	must.OK(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	self := must.Get(os.Executable())(t)
	var stderr strings.Builder
	cmd := &exec.Cmd{Path: self, Args: []string{"cluster", "up", "--dir", dir}, Stderr: &stderr}
	must.OK(t, cmd.Start())
	must.Until(t, func() bool { return opened(cmd.Process.Pid, name) }, func() string { return "it does not come to the lock" })
	must.OK(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != command.ExitInterrupted || stderr.String() != "cluster: stopped\n" {
		t.Errorf("exit status %d, stderr %q, want %d and that it was stopped", code, stderr.String(), command.ExitInterrupted)
	}
}

// opened reports whether a process has opened a file.
func opened(pid int, name string) bool {
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && to == name {
			return true
		}
	}
	return false
}
