//go:build unix

package sandbox

import "syscall"

// writable reports whether we may create files in a directory.
func writable(dir string) bool { return syscall.Access(dir, 2) == nil }

// ended reports whether there is no process with a number.
func ended(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// kill ends a process.
func kill(pid int) { syscall.Kill(pid, syscall.SIGKILL) }
