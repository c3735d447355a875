//go:build !js

package sandbox

import "syscall"

// writable reports whether we may create files in a directory.
func writable(dir string) bool { return syscall.Access(dir, 2) == nil }

// ownProcesses returns the attributes of a process with a process group of its own: a Ctrl-C does not
// reach it.
func ownProcesses() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
