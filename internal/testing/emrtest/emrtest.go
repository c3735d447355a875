// Package emrtest is an Amazon EMR for tests, on loopback. It implements the service's JSON
// protocol, and clusters that start, wait, run steps and end like those of the service. Faults can
// be put before it (see faults). It really runs the steps, on a Hadoop on this machine (see
// minicluster), and S3 is a real server (see s3test). It knows nothing of games or of jobs.
//
// command-runner.jar works as in the service: it runs a command on the master, with hadoop
// and aws in its PATH. These parts are simulated:
//
//   - s3:// in a streaming step. On EMR the S3A connector reads it, which with its SDK has several
//     hundred megabytes. Here hadoop-streaming uses the directory ObjectsDir of HDFS instead:
//     s3://bucket/key is ObjectsDir/bucket/key. The test puts the step's input there.
//   - Machines. The master is the machine of this process. One cluster at a time uses the Hadoop,
//     and its files in HDFS are deleted when it ends. SpotTaken takes the node manager away. sudo
//     shutdown on the master ends the cluster.
//   - Time. A second of the service can be shorter (see Config.Second).
package emrtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// A Config configures a Server.
type Config struct {
	// Hadoop is the cluster on which the steps run; nil: Run runs them.
	Hadoop *minicluster.Cluster
	// Run runs the commands of steps if there is no Hadoop; its error is that of the step.
	// nil: steps succeed at once.
	Run func(ctx context.Context, args []string) error

	// S3 is the address of the server for objects, http://host:port; "": none, and logs are
	// not stored.
	S3 string
	// Tools is a folder of programs on the master in addition to Hadoop's: aws.
	Tools string
	// Env replaces the AWS variables of this process in the environment of commands on the
	// master.
	Env []string
	// Dir is a folder for the files of the master.
	Dir string

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
	hadoop sync.Mutex     // locked by the cluster that uses the Hadoop
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
	if config.Hadoop != nil || config.S3 != "" {
		if err := s.writeTools(); err != nil {
			return nil, fmt.Errorf("emrtest: %w", err)
		}
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

// invalid returns the error for a request that the service cannot perform in the current
// state, and unfit the error for one that it never accepts.
func invalid(format string, args ...any) error {
	return &apiError{code: "InvalidRequestException", message: fmt.Sprintf(format, args...)}
}

func unfit(format string, args ...any) error {
	return &apiError{code: "ValidationException", message: fmt.Sprintf(format, args...)}
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

// writeTools writes programs of the master that replace those of the machine: sudo;
// shutdown, which writes its arguments to a file that the cluster reads; a grep that finds
// the description of a master of the service, see instanceFile; and hadoop-streaming.
func (s *Server) writeTools() error {
	dir := s.toolsDir()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"sudo":     "#!/bin/sh\nexec \"$@\"\n",
		"shutdown": "#!/bin/sh\necho \"$@\" >\"$" + masterVariable + "/" + shutdownFile + "\"\n",
		"grep": "#!/bin/sh\nfor a; do shift; [ \"$a\" != " + instanceFile + " ] || a=$" + masterVariable + "/" + path.Base(instanceFile) + "; set -- \"$@\" \"$a\"; done\n" +
			"PATH=/usr/bin:/bin exec grep \"$@\"\n",
		"hadoop-streaming": "#!/bin/bash\nexec hadoop jar \"$HADOOP_STREAMING_JAR\" \"${@//s3:\\/\\//hdfs://" + ObjectsDir + "/}\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			return err
		}
	}
	return nil
}

// ObjectsDir is the directory of HDFS that streaming steps use instead of S3.
const ObjectsDir = "/s3"

// instanceFile is the file in which an instance of the service finds its description.
const instanceFile = "/mnt/var/lib/info/instance.json"

func (s *Server) toolsDir() string { return filepath.Join(s.config.Dir, "tools") }
