package sandbox

import "syscall"

// In a browser, no process can be started.

func writable(string) bool { return false }

func ownProcesses() *syscall.SysProcAttr { return nil }
