package runner

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// stopWait is how much later than a process a driver may receive the signal to stop.
const stopWait = 5 * time.Second

// Wait waits for the end of a process that is started with system.Start. A terminal sends Ctrl-C
// to the group of the driver, which then ends the process and reports that it was stopped. A Ctrl-C
// may have ended the process before it had a group of its own. Then the driver receives the signal
// too, and Wait returns only when ctx is done, so that an interrupt is not reported as a failure.
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
