package hadoop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// callTimeout bounds how long a name node may be silent during a call, unless
	// ipc.client.rpc-timeout.ms is set. It is Hadoop's default.
	callTimeout = 2 * time.Minute
	// socketTimeout bounds how long a data node may take to accept a connection, or to continue,
	// unless dfs.client.socket-timeout is set. It is Hadoop's default.
	socketTimeout = time.Minute
	// interruptWait bounds both after an interrupt: a lock is still released, if the name node answers.
	interruptWait = 2 * time.Second
)

// limits are the time limits of the connections of a file system.
type limits struct {
	call      atomic.Int64    // how long a name node may be silent, in ns
	ctx       context.Context // ends at an interrupt
	interrupt context.CancelFunc
}

// A silentError is the error of a call that a name node did not answer in time.
type silentError struct {
	address string
	wait    time.Duration
	cause   error // context.Canceled after an interrupt; else nil
}

func (e *silentError) Error() string {
	return fmt.Sprintf("no answer from name node %s within %v", e.address, e.wait)
}

func (e *silentError) Unwrap() error { return e.cause }

// isSilent reports whether an error means that a name node did not answer in time.
func isSilent(err error) bool { return errors.As(err, new(*silentError)) }

// within returns a limit, which is shorter after an interrupt.
func (l *limits) within(wait time.Duration) time.Duration {
	if l.ctx.Err() != nil {
		return min(wait, interruptWait)
	}
	return wait
}

// sleep waits. It returns false at once after an interrupt.
func (l *limits) sleep(wait time.Duration) bool {
	select {
	case <-l.ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// dial connects to a node. An interrupt ends it.
func (l *limits) dial(ctx context.Context, network, address string, wait time.Duration) (net.Conn, error) {
	if l.ctx.Err() == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)()
	}
	return (&net.Dialer{Timeout: l.within(wait)}).DialContext(ctx, network, address)
}

// limit returns the connection with a limit for each read and write.
func (l *limits) limit(conn net.Conn, wait func() time.Duration) *limitedConn {
	c := &limitedConn{Conn: conn, limits: l, wait: wait}
	c.stop = context.AfterFunc(l.ctx, func() { conn.SetDeadline(time.Now().Add(interruptWait)) })
	return c
}

// A limitedConn is a connection whose reads and writes have a time limit.
type limitedConn struct {
	net.Conn
	limits   *limits
	wait     func() time.Duration
	stop     func() bool
	received *atomic.Int64 // the number of bytes that are read; nil: they are not counted
}

func (c *limitedConn) Read(b []byte) (int, error) {
	if err := c.within(c.SetReadDeadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if c.received != nil {
		c.received.Add(int64(n))
	}
	return n, c.interrupted(err)
}

func (c *limitedConn) Write(b []byte) (int, error) {
	if err := c.within(c.SetWriteDeadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	return n, c.interrupted(err)
}

// interrupted returns the error, or context.Canceled if the limit was that after an interrupt.
func (c *limitedConn) interrupted(err error) error {
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) && c.limits.ctx.Err() != nil {
		return c.limits.ctx.Err()
	}
	return err
}

func (c *limitedConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// within sets a deadline, again if an interrupt came before the first one was set.
func (c *limitedConn) within(set func(time.Time) error) error {
	wait := c.wait()
	err := set(time.Now().Add(wait))
	if short := c.limits.within(wait); err == nil && short < wait {
		err = set(time.Now().Add(short))
	}
	return err
}

// A nameConn is a connection to a name node. It is closed after a read that fails: a client would
// take a late answer for that to its next call, and dials the next address only if it cannot write.
type nameConn struct {
	*limitedConn
	address string
}

func (c *nameConn) Read(b []byte) (int, error) {
	n, err := c.limitedConn.Read(b)
	if err == nil {
		return n, nil
	}
	c.Close()
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = &silentError{c.address, c.limits.within(time.Duration(c.limits.call.Load())), c.limits.ctx.Err()}
	}
	return n, err
}
