package metrics

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of the server.
const (
	connections = 8 // at a time: clients must not use up the files that a solve may open
	requestTime = 5 * time.Second
	maxRequest  = 16 << 10
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
// the hosts that HostAllowed allows with names.
func Serve(l net.Listener, names []string, write func(io.Writer) error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !HostAllowed(r.Host, names) {
			http.Error(w, "this host is not served here", http.StatusMisdirectedRequest)
			return
		}
		var body bytes.Buffer
		if err := write(&body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", ContentType)
		w.Write(body.Bytes())
	})
	var open atomic.Int32
	limit := func(c net.Conn, state http.ConnState) {
		switch {
		case state == http.StateClosed:
			open.Add(-1)
		case state == http.StateNew && open.Add(1) > connections:
			c.Close()
		}
	}
	server := &http.Server{Handler: mux, ReadTimeout: requestTime, WriteTimeout: requestTime, MaxHeaderBytes: maxRequest, ConnState: limit,
		ErrorLog: log.New(io.Discard, "", 0)}
	go server.Serve(l)
}
