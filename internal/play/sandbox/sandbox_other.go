//go:build !linux

package sandbox

import (
	"errors"
	"os/exec"
)

// A Control is the connection to a program with limits.
type Control struct{}

// Command returns a command for the shell that is to be started in a process group of its own.
// There are no limits on this system.
func Command(command string, l Limits) (*exec.Cmd, *Control, error) {
	if l != (Limits{}) {
		return nil, nil, errors.New("only Linux can enforce limits")
	}
	return shell(command), &Control{}, nil
}

// Limited returns false: there are no limits.
func (*Control) Limited() bool { return false }

// Reset does nothing.
func (*Control) Reset() {}

// Reason returns "".
func (*Control) Reason() string { return "" }

// Close does nothing.
func (*Control) Close() {}
