// Package emrtest is an Amazon EMR for tests, on loopback: the service's JSON protocol,
// clusters that start, wait, run steps and end as those of the service do, and whatever
// goes wrong there, by script. It really runs the steps that it is given, on a Hadoop of
// this machine (see minicluster), and S3 is a real server besides (see s3test). It knows
// nothing of games or of jobs.
//
// command-runner.jar is done as there: it runs a command on the master, with hadoop and
// aws in its PATH. What stands in for something:
//
//   - s3:// in a streaming step. On EMR the S3A connector reads it, which is several hundred
//     megabytes with its SDK. Here hadoop-streaming reads and writes the directory ObjectsDir
//     of HDFS in its place: s3://bucket/key is ObjectsDir/bucket/key. The test puts there what
//     the step reads.
//   - Machines. The master is this process's machine; one cluster at a time has the
//     Hadoop, and what it has in HDFS goes when it ends. SpotTaken takes the node
//     manager away. sudo shutdown on the master ends the cluster.
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

	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// A Config says what an EMR is made of.
type Config struct {
	// Hadoop is the cluster on which the steps run; nil: Run has them.
	Hadoop *minicluster.Cluster
	// Run stands in for the commands of steps where there is no Hadoop: what it returns
	// is how the step ends. nil: they succeed at once.
	Run func(ctx context.Context, args []string) error

	// S3 is the address of the server that has the objects, http://host:port; "": there
	// is none, and logs go nowhere.
	S3 string
	// Tools is a folder of programs that the master has besides Hadoop's: aws.
	Tools string
	// Env is what the commands on the master find in their environment of AWS, in place
	// of what this process has.
	Env []string
	// Dir is a folder for the files of the master.
	Dir string

	// Second is how long a second of the service takes here; 0: as long as anywhere.
	Second time.Duration
	// Start and Bootstrap are how many seconds a cluster is in these states, LogDelay how
	// many pass until the logs of a step that has ended are in S3.
	Start, Bootstrap, LogDelay int
}

// A Server is an EMR at work.
type Server struct {
	URL string // http://127.0.0.1:PORT

	config  Config
	objects *objects
	http    *http.Server
	hadoop  sync.Mutex     // held by the cluster that has the Hadoop
	alive   sync.WaitGroup // clusters

	mu       sync.Mutex // of all that follows
	clusters []*cluster // the oldest first
	faults   []*Fault
	calls    []Call
	number   int // of what was made last
}

// A Call is a request that came.
type Call struct {
	Op   string // RunJobFlow, …
	Body json.RawMessage
}

// Start starts an EMR without a cluster.
func Start(config Config) (*Server, error) {
	if config.Second == 0 {
		config.Second = time.Second
	}
	s := &Server{config: config}
	if config.S3 != "" {
		s.objects = newObjects(config.S3)
	}
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

// Close ends all clusters, and the server.
func (s *Server) Close() error {
	s.mu.Lock()
	for _, c := range s.clusters {
		c.end("TERMINATED", "USER_REQUEST", "the test is over")
	}
	s.mu.Unlock()
	s.alive.Wait()
	return s.http.Close()
}

// Calls are the requests that have come, the first first.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// seconds is so many of the service's.
func (s *Server) seconds(n int) time.Duration { return time.Duration(n) * s.config.Second }

// newID is an identifier as the service makes them: a letter and 13 more.
func (s *Server) newID(kind string) string {
	s.number++
	return fmt.Sprintf("%s-TEST%09d", kind, s.number)
}

// A Fault is something that goes wrong with a call.
type Fault struct {
	Op    string // of which call; "": of any
	After int    // how many such calls come through before
	Times int    // how many meet it then; 0: one, -1: all

	// Code and Message are the error that is answered in place of doing the call; Status
	// is that of HTTP, 400 if 0.
	Code, Message string
	Status        int
	// Lost has the connection cut in place of the answer, of a call that is done all the
	// same.
	Lost bool
}

// Faults of which clients must know.
var (
	Throttled = Fault{Code: "ThrottlingException", Message: "Rate exceeded"}
	Expired   = Fault{Code: "ExpiredTokenException", Message: "The security token included in the request is expired"}
	Internal  = Fault{Code: "InternalServerException", Message: "Internal error", Status: http.StatusInternalServerError}
	Lost      = Fault{Lost: true}
)

// Meet has calls meet a fault, besides those that were asked for before.
func (s *Server) Meet(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
}

// Mend takes all faults back.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// met is the fault that a call meets; nil if it meets none.
func (s *Server) met(op string) *Fault {
	for _, f := range s.faults {
		switch {
		case f.Op != "" && f.Op != op || f.Times == 0:
		case f.After > 0:
			f.After--
		default:
			if f.Times > 0 {
				f.Times--
			}
			return f
		}
	}
	return nil
}

// An apiError is an error in the service's own form.
type apiError struct {
	code, message string
	status        int // of HTTP; 0: 400
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

// invalid is the error of a request that the service cannot do as things stand, and
// unfit that of one that it would not do ever.
func invalid(format string, args ...any) error {
	return &apiError{code: "InvalidRequestException", message: fmt.Sprintf(format, args...)}
}

func unfit(format string, args ...any) error {
	return &apiError{code: "ValidationException", message: fmt.Sprintf(format, args...)}
}

const (
	targetPrefix = "ElasticMapReduce."
	contentType  = "application/x-amz-json-1.1"
	// maxBody bounds a request.
	maxBody = 16 << 20
)

// ServeHTTP answers a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, ours := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // nobody is there to hear it
	}
	var answer []byte
	lost := false
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/":
		err = &apiError{code: "UnknownOperationException", message: r.Method + " " + r.URL.Path, status: http.StatusNotFound}
	case r.Header.Get("Content-Type") != contentType:
		err = &apiError{code: "SerializationException", message: "the content is " + r.Header.Get("Content-Type")}
	case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") || !strings.Contains(r.Header.Get("Authorization"), "/elasticmapreduce/aws4_request"):
		err = &apiError{code: "MissingAuthenticationTokenException", message: "Missing Authentication Token", status: http.StatusForbidden}
	case !ours:
		err = &apiError{code: "UnknownOperationException", message: r.Header.Get("X-Amz-Target")}
	default:
		answer, lost, err = s.call(op, body)
	}
	if lost {
		panic(http.ErrAbortHandler) // which cuts the connection
	}
	w.Header().Set("Content-Type", contentType)
	status := http.StatusOK
	if err != nil {
		var e *apiError
		if !errors.As(err, &e) {
			e = &apiError{code: "InternalServerException", message: err.Error(), status: http.StatusInternalServerError}
		}
		status = max(e.status, http.StatusBadRequest)
		answer, _ = json.Marshal(map[string]string{"__type": e.code, "message": e.message, "Message": e.message})
	}
	w.WriteHeader(status)
	_, _ = w.Write(answer) // who has gone away does not hear it
}

// call does what is asked, unless the script has it otherwise. The answer is text before
// another changes what it is of.
func (s *Server) call(op string, body []byte) (answer []byte, lost bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{op, append([]byte(nil), body...)})
	fault := s.met(op)
	if fault != nil && !fault.Lost {
		return nil, false, &apiError{fault.Code, fault.Message, fault.Status}
	}
	do, known := operations[op]
	if !known {
		return nil, false, &apiError{code: "UnknownOperationException", message: op}
	}
	of, err := do(s, body)
	if err != nil {
		return nil, fault != nil, err
	}
	answer, err = json.Marshal(of)
	return answer, fault != nil, err
}

// writeTools writes the programs of the master that stand in for those of a machine:
// sudo; shutdown, which leaves word where the cluster looks for it; a grep that finds
// what a master of the service is told of itself, see instanceFile; and hadoop-streaming.
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

// ObjectsDir is the directory of HDFS that a streaming step has in place of S3.
const ObjectsDir = "/s3"

// instanceFile is where an instance of the service finds what it is.
const instanceFile = "/mnt/var/lib/info/instance.json"

func (s *Server) toolsDir() string { return filepath.Join(s.config.Dir, "tools") }
