package system

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// A browser has neither locks nor processes.

// Lock returns an error.
func Lock(*os.File, bool) error { return errors.ErrUnsupported }

// Shell returns a command that cannot be started.
func Shell(string, ...string) *exec.Cmd { return exec.Command("sh") }

// OwnGroup returns nil.
func OwnGroup() *syscall.SysProcAttr { return nil }

// A Group is empty.
type Group struct{}

// GroupOf returns an empty group.
func GroupOf(*os.Process) *Group { return &Group{} }

// Kill does nothing.
func (*Group) Kill() error { return nil }

// isShared reports that an open file can be renamed and deleted.
func isShared(error) bool { return false }
