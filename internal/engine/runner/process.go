package runner

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// stopWait is how long after a process a driver may learn that it is to stop.
const stopWait = 5 * time.Second

// CodeMemory is about what the driver's program itself takes of --memory, in bytes: its
// collector knows nothing of it. Nothing is refused for it, as the system takes such
// memory back where it must.
const CodeMemory = 12 << 20

// OwnGroup keeps a Ctrl-C, which a terminal sends to the driver's whole group,
// from a process: the driver ends it, and says that it was stopped. Wait is for
// its end.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Wait waits for the end of a process. One that a Ctrl-C met before it had a
// group of its own has died of it; then the driver is met too, and Wait returns
// only when ctx, which tells that, has ended, so that nobody takes for a failure
// what was a wish.
func Wait(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	// A process that exits has no signal, -1.
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM) {
		select {
		case <-ctx.Done():
		case <-time.After(stopWait):
		}
	}
	return err
}
