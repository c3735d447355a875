//go:build !js

package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Handler returns the handler of all requests over HTTP.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := Request{Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Accept: r.Header.Get("Accept")}
		var a *Answer
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			a = s.failed(&request, problem{http.StatusMethodNotAllowed, fmt.Errorf("method %s: expected GET or HEAD", r.Method)})
		case s.o.HostAllowed != nil && !s.o.HostAllowed(r.Host):
			a = s.failed(&request, problem{http.StatusMisdirectedRequest, fmt.Errorf("host %q is not served here; --host allows a name", r.Host)})
		default:
			a = s.Answer(r.Context(), request)
		}
		for name, value := range a.Header {
			w.Header().Set(name, value)
		}
		if s.o.AllowOrigin != "" && isAPI(&request) {
			w.Header().Set("Access-Control-Allow-Origin", s.o.AllowOrigin)
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
			if s.o.AllowOrigin != "*" {
				w.Header().Set("Vary", "Origin")
			}
		}
		w.WriteHeader(a.Status)
		if a.Stream == nil {
			w.Write(a.Body)
			return
		}
		c := http.NewResponseController(w)
		a.Stream(r.Context(), func(text string) error {
			c.SetWriteDeadline(time.Now().Add(sendTime))
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return c.Flush()
		})
	})
}

// Limits of a connection.
const (
	headerTime  = 10 * time.Second
	idleTime    = 2 * time.Minute
	maxHeader   = 32 << 10
	closingTime = 5 * time.Second
	sendTime    = 10 * time.Second // in which a client must take an event
)

// Serve answers requests that arrive at l until ctx ends; then it finishes those that it has
// begun, and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	streams, end := context.WithCancel(context.Background())
	defer end()
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime + headerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return streams },
		ErrorLog: s.o.Log,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("web: %w", err)
	case <-ctx.Done():
	}
	end() // ends the event streams
	closing, cancel := context.WithTimeout(context.Background(), closingTime)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		server.Close()
	}
	return nil
}
