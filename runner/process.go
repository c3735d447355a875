package runner

import "syscall"

// OwnGroup keeps a Ctrl-C, which a terminal sends to the driver's whole group,
// from a process: the driver ends it, and says that it was stopped.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
