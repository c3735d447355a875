// Package child runs processes that answer on stdout what they are asked on stdin.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/tail"
)

// QuitTime is the time in which a process may exit at the end of its input.
const QuitTime = time.Second

// A Child is a process with a process group of its own.
type Child struct {
	Stdin  io.WriteCloser
	Stdout *os.File
	Stderr tail.Tail

	cmd    *exec.Cmd
	group  *system.Group
	ended  chan struct{} // closed when the process has ended
	killed sync.Once
}

// Start starts a command, which is killed at the end of ctx.
func Start(ctx context.Context, cmd *exec.Cmd) (*Child, error) {
	c := &Child{cmd: cmd, ended: make(chan struct{})}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.Stdout, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stdout, &c.Stderr, QuitTime
	if c.Stdin, err = cmd.StdinPipe(); err == nil {
		c.group, err = system.Start(ctx, cmd)
	}
	if err = errors.Join(err, stdout.Close()); err != nil {
		out.Close()
		return nil, err
	}
	go func() {
		defer close(c.ended)
		cmd.Wait() // ProcessState has the exit status
	}()
	return c, nil
}

// Wait waits until the process has ended, at most for a time.
func (c *Child) Wait(most time.Duration) {
	select {
	case <-c.ended:
	case <-time.After(most):
	}
}

// Kill ends the process and its process group, once. It describes how the process ended, if it had ended by itself, and
// quotes up to maxLine bytes of the line of its stderr that says why.
func (c *Child) Kill(maxLine int) (how string) {
	c.killed.Do(func() {
		select {
		case <-c.ended:
			how = fmt.Sprintf(" (%v)", c.cmd.ProcessState)
		default:
		}
		c.Stdin.Close()
		c.group.Kill() // its processes may outlive it
		<-c.ended
		c.Stdout.Close()
	})
	if cause := c.Stderr.Cause(maxLine); cause != "" {
		how += "; on stderr: " + strconv.Quote(cause)
	}
	return how
}

// Quit ends the input of the process, and kills it if it does not exit.
func (c *Child) Quit() {
	c.Stdin.Close()
	c.Wait(QuitTime)
	c.Kill(0)
}
