//go:build !js

package runner

import "syscall"

// OwnGroup puts a process into its own process group. A terminal sends Ctrl-C to the complete
// group of the driver; the driver itself then ends the process and reports that it was
// stopped. Use Wait to wait for the process.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
