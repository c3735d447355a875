// Package emrtest tests driver-aws as a process, on an Amazon EMR of its own: a Server on loopback
// with the service's JSON protocol, and clusters that start, wait, run steps and end like those of
// the service. Faults can be put before it (see faults). S3 is a server of package s3test.
//
// command-runner.jar runs a command by Config.Run: the driver with --runner inline, or, with the
// tag emr, programs on a real Hadoop. A bootstrap action is not run: it must be in S3, and its first
// argument is the number of minutes after which the master shuts down. A second of the service can
// be shorter (see Config.Second).
package emrtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/testing/faults"
)

// A Config configures a Server.
type Config struct {
	// Run runs the commands of steps, until ctx is done; its error is what the step writes to
	// stderr. nil: steps succeed at once.
	Run func(ctx context.Context, args []string) error
	// Ended is called when a cluster has ended, before it is TERMINATED; nil: nothing.
	Ended func()
	// S3 is the address of the server for objects, http://host:port; "": none, logs are not
	// stored, and bootstrap actions are ignored.
	S3 string

	// Second is the length of a second of the service; 0: one second.
	Second time.Duration
	// Start and Bootstrap are the seconds that a cluster is in these states. LogDelay is
	// the number of seconds until the logs of a step that has ended are in S3.
	Start, Bootstrap, LogDelay int
}

// A Server is a running EMR.
type Server struct {
	faults.Handler
	URL string // http://127.0.0.1:PORT

	config Config
	http   *http.Server
	alive  sync.WaitGroup // one per cluster, and per upload of logs

	mu       sync.Mutex // protects the fields below
	clusters []*cluster // the oldest first
	calls    []Call
	number   int // number of the last identifier
}

// A Call is a request.
type Call struct {
	Op   string // RunJobFlow, …
	Body json.RawMessage
}

// Start starts an EMR without clusters.
func Start(config Config) (*Server, error) {
	if config.Second == 0 {
		config.Second = time.Second
	}
	s := &Server{config: config}
	s.Next = http.HandlerFunc(s.serve)
	if config.Run == nil {
		s.config.Run = func(context.Context, []string) error { return nil }
	}
	if config.Ended == nil {
		s.config.Ended = func() {}
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("emrtest: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// Close ends all clusters and the server.
func (s *Server) Close() error {
	s.mu.Lock()
	for _, c := range s.clusters {
		c.end("TERMINATED", "USER_REQUEST", "the test is over")
	}
	s.mu.Unlock()
	s.alive.Wait()
	return s.http.Close()
}

// Calls returns the requests received so far, in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// seconds returns the duration of n seconds of the service.
func (s *Server) seconds(n int) time.Duration { return time.Duration(n) * s.config.Second }

// newID returns an identifier in the service's format: a letter, a hyphen and 13
// characters.
func (s *Server) newID(kind string) string {
	s.number++
	return fmt.Sprintf("%s-TEST%09d", kind, s.number)
}

// An apiError is an error in the service's format.
type apiError struct {
	code, message string
	status        int // of HTTP; 0: 400
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

// invalid returns the error for a request that the service refuses.
func invalid(format string, args ...any) error {
	return &apiError{code: "InvalidRequestException", message: fmt.Sprintf(format, args...)}
}

const (
	targetPrefix = "ElasticMapReduce."
	// maxBody bounds a request.
	maxBody = 16 << 20
)

// serve handles a call.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	op, ours := strings.CutPrefix(r.Header.Get(faults.Target), targetPrefix)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client has disconnected
	}
	var answer []byte
	signature := r.Header.Get("Authorization")
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/":
		err = &apiError{code: "UnknownOperationException", message: r.Method + " " + r.URL.Path, status: http.StatusNotFound}
	case r.Header.Get("Content-Type") != faults.JSON:
		err = &apiError{code: "SerializationException", message: "the content is " + r.Header.Get("Content-Type")}
	case !strings.HasPrefix(signature, "AWS4-HMAC-SHA256 ") || !strings.Contains(signature, "/elasticmapreduce/aws4_request"):
		err = &apiError{code: "MissingAuthenticationTokenException", message: "Missing Authentication Token", status: http.StatusForbidden}
	case !ours:
		err = &apiError{code: "UnknownOperationException", message: r.Header.Get(faults.Target)}
	default:
		answer, err = s.call(op, body)
	}
	if err != nil {
		var e *apiError
		if !errors.As(err, &e) {
			e = &apiError{code: "InternalServerException", message: err.Error(), status: http.StatusInternalServerError}
		}
		faults.RefuseJSON(w, max(e.status, http.StatusBadRequest), e.code, e.message)
		return
	}
	w.Header().Set("Content-Type", faults.JSON)
	_, _ = w.Write(answer) // an error means that the client has disconnected
}

// call performs a call. It encodes the answer before it releases the lock.
func (s *Server) call(op string, body []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{op, body})
	do, known := operations[op]
	if !known {
		return nil, &apiError{code: "UnknownOperationException", message: op}
	}
	out, err := do(s, body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
