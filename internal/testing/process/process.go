// Package process runs commands in tests. It does not know what they are.
package process

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
)

// ExitStatus returns the exit status of a process as a shell reports it.
func ExitStatus(cmd *exec.Cmd) int {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// Run runs a command to its end, and returns its output unless cmd sends it elsewhere. The status of
// a command that cannot be started is -1, and stderr is the reason.
func Run(cmd *exec.Cmd) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	if err := cmd.Run(); cmd.ProcessState == nil {
		return -1, "", err.Error()
	}
	return ExitStatus(cmd), out.String(), errs.String()
}

// Output runs a command, and returns all its output. If it fails, it ends the test.
func Output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}
