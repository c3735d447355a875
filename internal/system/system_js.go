package system

import (
	"errors"
	"os"
	"os/exec"
)

// A browser has neither locks nor processes.

// Lock returns an error.
func Lock(*os.File, bool) error { return errors.ErrUnsupported }

// Shell returns a command that cannot be started.
func Shell(string, ...string) *exec.Cmd { return exec.Command("sh") }

// start returns an error.
func start(*exec.Cmd) (func() error, error) { return nil, errors.ErrUnsupported }

// isShared reports that an open file can be renamed and deleted.
func isShared(error) bool { return false }
