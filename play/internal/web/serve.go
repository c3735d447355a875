//go:build !js

package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Limits of a connection.
const (
	headerTime  = 10 * time.Second
	idleTime    = 2 * time.Minute
	maxHeader   = 32 << 10
	closingTime = 5 * time.Second
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
