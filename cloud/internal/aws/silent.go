package aws

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// silence is the default of Options.Silence.
const silence = time.Minute

// limited returns a client whose requests fail if the server is silent for a time, while it
// connects, while it receives a request, before it answers, and within its answer. A request or
// answer that progresses is never cut off, however long it takes. The SDK's own limit,
// WithReadTimeout, counts only what is received, and cuts off long uploads.
func limited(c *awshttp.BuildableClient, silence time.Duration) *awshttp.BuildableClient {
	return c.WithTransportOptions(func(t *http.Transport) {
		dial := t.DialContext
		t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c, limit: silence}, nil
		}
	})
}

// A conn is a connection on which a read or write fails when the time is over. A write extends a read that waits for
// the answer.
type conn struct {
	net.Conn
	limit  time.Duration
	silent atomic.Bool
}

func (c *conn) Read(b []byte) (int, error) {
	c.SetReadDeadline(time.Now().Add(c.limit)) // if this fails, Read fails, too
	n, err := c.Conn.Read(b)
	return n, c.explain(err)
}

func (c *conn) Write(b []byte) (int, error) {
	c.SetDeadline(time.Now().Add(c.limit))
	n, err := c.Conn.Write(b)
	return n, c.explain(err)
}

// explain returns os.ErrDeadlineExceeded if the time is over. The other direction then fails because the connection is
// closed, which is for the same reason.
func (c *conn) explain(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.silent.Store(true)
	}
	if err != nil && c.silent.Load() {
		return os.ErrDeadlineExceeded
	}
	return err
}
