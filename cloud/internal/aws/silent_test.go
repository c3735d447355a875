package aws

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// TestSilent checks, with simulated time, that a request fails when the server is silent for the
// limit, in each phase of the request, and that slow requests and answers of many times the limit
// are not cut off.
func TestSilent(t *testing.T) {
	const limit = time.Minute
	const size = 100 // bytes of the body and of the answer, of which each takes half the limit
	slowly := func(copy func() error) error {
		for range size {
			time.Sleep(limit / 2)
			if err := copy(); err != nil {
				return err
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		serve func(c net.Conn) // answers a request, after which the server is silent
		took  time.Duration
		ok    bool
	}{
		"reads nothing":   {func(net.Conn) {}, limit, false},
		"reads a part":    {func(c net.Conn) { io.CopyN(io.Discard, c, 150) }, limit, false},
		"answers nothing": {func(c net.Conn) { io.CopyN(io.Discard, c, 1<<20) }, limit, false},
		"answers a part": {func(c net.Conn) {
			r, _ := http.ReadRequest(bufio.NewReader(c))
			io.Copy(io.Discard, r.Body)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12345")
		}, limit, false},
		"slow": {func(c net.Conn) {
			r, _ := http.ReadRequest(bufio.NewReaderSize(c, 16))
			slowly(func() error { _, err := r.Body.Read(make([]byte, 1)); return err })
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
			slowly(func() error { _, err := c.Write([]byte("x")); return err })
		}, 2 * size * limit / 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var server net.Conn
				client := limited(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
					t.DialContext = func(context.Context, string, string) (net.Conn, error) {
						var c net.Conn
						c, server = net.Pipe()
						go test.serve(server)
						return c, nil
					}
				}), limit).Freeze()
				begun := time.Now()
				// Each byte of the body is a write of its own.
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://server/", iotest.OneByteReader(strings.NewReader(strings.Repeat("x", size))))
				if err != nil {
					t.Fatal(err)
				}
				request.ContentLength = size
				answer, err := client.Do(request)
				if err == nil {
					_, err = io.ReadAll(answer.Body)
					answer.Body.Close()
				}
				if took := time.Since(begun); took != test.took || (err == nil) != test.ok {
					t.Errorf("%v after %v, expected success %v after %v", err, took, test.ok, test.took)
				}
				if !test.ok && (!errors.Is(err, os.ErrDeadlineExceeded) || !IsTransient(err)) {
					t.Errorf("%v: expected a temporary error of a silent server", err)
				}
				server.Close()
				client.(*http.Client).CloseIdleConnections()
			})
		})
	}
	if err := Explain(os.ErrDeadlineExceeded); err == nil || !strings.Contains(err.Error(), "the server is silent (check the network and AWS_ENDPOINT_URL)") {
		t.Error(err)
	}
}
