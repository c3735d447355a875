package metrics

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Limits of the server.
const (
	workers     = 4 // requests at a time: a client must not use up the files that a solve may open
	requestTime = 5 * time.Second
	maxRequest  = 16 << 10
	acceptPause = 100 * time.Millisecond
)

// Listen listens at an address: HOST:PORT, or PORT or :PORT for this machine alone.
func Listen(address string) (net.Listener, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		address = "localhost" + address
	}
	return net.Listen("tcp", address)
}

// HostAllowed reports whether a request may name this host, with or without a port: an address, localhost, or one of
// names. Other names are refused, so that a page elsewhere cannot reach the server by a name of its own that leads to
// this machine.
func HostAllowed(host string, names []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	return net.ParseIP(name) != nil || strings.EqualFold(name, "localhost") ||
		slices.ContainsFunc(names, func(allowed string) bool { return allowed != "" && strings.EqualFold(allowed, name) })
}

// Serve begins to answer requests for /metrics at l with what write writes, until l is closed. The requests may name
// the hosts that HostAllowed allows with names. A server of package net/http would make the program 370 kB larger.
func Serve(l net.Listener, names []string, write func(io.Writer) error) {
	for range workers {
		go func() {
			for {
				c, err := l.Accept()
				switch {
				case err == nil:
					answer(c, names, write) // the client notices an error
				case errors.Is(err, net.ErrClosed):
					return
				default: // e.g. too many open files
					time.Sleep(acceptPause)
				}
			}
		}()
	}
}

// answer answers one request, and closes the connection.
func answer(c net.Conn, names []string, write func(io.Writer) error) error {
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(requestTime)); err != nil {
		return err
	}
	r, err := http.ReadRequest(bufio.NewReader(io.LimitReader(c, maxRequest)))
	if err != nil {
		return err
	}
	var body bytes.Buffer
	status := http.StatusOK
	switch {
	case !HostAllowed(r.Host, names):
		status = http.StatusMisdirectedRequest
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		status = http.StatusMethodNotAllowed
	case r.URL.Path != "/metrics":
		status = http.StatusNotFound
	default:
		err = write(&body)
	}
	if err != nil {
		return err
	}
	answer := &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {ContentType}}, Request: r, Close: true,
		ContentLength: int64(body.Len()), Body: io.NopCloser(&body)}
	return answer.Write(c)
}
