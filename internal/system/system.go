// Package system has what differs between operating systems: locks of files, shells, groups of processes, and the
// resources of a process.
package system

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"time"
)

// ErrLocked is returned by Lock when another process has the lock.
var ErrLocked = errors.New("another process has its lock")

// A Group is a process with a process group of its own, and all that it starts in the group.
type Group struct {
	kill func() error
	stop func() bool // ends the watch of the context
}

// Start starts a command in a process group of its own: a Ctrl-C does not reach it. The group is killed at the end of
// ctx. On Linux and Windows it also ends with this process, even if that is killed. The caller must call Kill when the
// process has ended.
func Start(ctx context.Context, cmd *exec.Cmd) (*Group, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	kill, err := start(cmd)
	if err != nil {
		return nil, err
	}
	g := &Group{kill: sync.OnceValue(kill)} // later, the number may be that of another group
	g.stop = context.AfterFunc(ctx, func() { g.kill() })
	return g, nil
}

// Run starts a command as Start does, and waits for its end.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	g, err := Start(ctx, cmd)
	if err != nil {
		return err
	}
	defer g.Kill()
	if err = cmd.Wait(); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Kill ends all processes of the group. The error is os.ErrProcessDone if there are none.
func (g *Group) Kill() error {
	g.stop()
	return g.kill()
}

// The time for which WhileShared repeats a call, and the pauses between two calls.
const (
	sharedTime              = 2 * time.Second
	sharedFirst, sharedMost = time.Millisecond, 50 * time.Millisecond
)

// WhileShared calls do, which opens, renames or deletes a file or a directory. On Windows, it repeats the call for up to
// two seconds while another process, such as a virus scanner, has the file open, or one in the directory.
func WhileShared(do func() error) error {
	err := do()
	for begun, wait := time.Now(), sharedFirst; isShared(err) && time.Since(begun) < sharedTime; wait = min(2*wait, sharedMost) {
		time.Sleep(wait)
		err = do()
	}
	return err
}
