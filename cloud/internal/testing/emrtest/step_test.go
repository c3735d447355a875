package emrtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A step is a step of a cluster. The server's lock protects the fields that change.
type step struct {
	c      *cluster
	config stepConfig
	id     string
	ctx    context.Context    // done when the step must end
	done   context.CancelFunc //

	state    string
	reason   reason
	timeline timeline
}

func newStep(c *cluster, config stepConfig) *step {
	if config.ActionOnFailure == "" {
		config.ActionOnFailure = "TERMINATE_CLUSTER"
	}
	s := &step{c: c, config: config, id: c.s.newID("s"), state: "PENDING", timeline: make(timeline)}
	s.ctx, s.done = context.WithCancel(c.ctx)
	s.timeline.set("CreationDateTime")
	return s
}

func (s *step) out() stepOut {
	jar := s.config.HadoopJarStep
	return stepOut{
		Id: s.id, Name: s.config.Name, ActionOnFailure: s.config.ActionOnFailure,
		Config: map[string]any{"Jar": jar.Jar, "Args": append([]string{}, jar.Args...), "Properties": map[string]string{}},
		Status: status{State: s.state, StateChangeReason: s.reason, Timeline: s.timeline},
	}
}

// ended reports whether the step has ended.
func (s *step) ended() bool {
	return !slices.Contains([]string{"PENDING", "RUNNING", "CANCEL_PENDING"}, s.state)
}

func (s *step) begin() {
	s.state = "RUNNING"
	s.timeline.set("StartDateTime")
}

func (s *step) end(state, message string) {
	s.state, s.reason = state, reason{Message: message}
	s.timeline.set("EndDateTime")
	s.done()
}

// cancelled handles a request to cancel the step.
func (s *step) cancelled() {
	if s.state == "PENDING" {
		s.end("CANCELLED", "Job terminated")
		return
	}
	s.state = "CANCEL_PENDING"
	s.done()
}

// run runs a step to its end and, if the step has failed, performs its action on failure.
func (s *step) run() {
	jar := s.config.HadoopJarStep
	var err error
	if jar.Jar != "command-runner.jar" || len(jar.Args) == 0 {
		err = fmt.Errorf("emrtest: jar %q with %d arguments: only command-runner.jar is known", jar.Jar, len(jar.Args))
	} else {
		err = s.c.s.config.Run(s.ctx, jar.Args)
	}
	s.c.s.mu.Lock()
	defer s.c.s.mu.Unlock()
	switch {
	case s.c.ctx.Err() != nil: // the step ended with its cluster
		state := "CANCELLED"
		if s.c.last != "TERMINATED" {
			state = "INTERRUPTED"
		}
		s.end(state, "Job terminated")
	case s.ctx.Err() != nil:
		s.end("CANCELLED", "Job terminated")
	case err == nil:
		s.end("COMPLETED", "")
	default:
		s.end("FAILED", "Unknown Error.")
		if s.config.ActionOnFailure != "CONTINUE" {
			s.c.end("TERMINATED_WITH_ERRORS", "STEP_FAILURE", "Shut down as step failed")
		}
	}
	s.putLogs(err)
}

// putLogs stores the compressed logs of a step in S3 after LogDelay, even if the cluster has
// ended by then.
func (s *step) putLogs(failure error) {
	server := s.c.s
	if s.c.in.LogUri == "" || server.config.S3 == "" {
		return
	}
	server.alive.Go(func() {
		// When the cluster ends, the delay is cut short, so that the end of a test does not
		// wait.
		s.c.sleep(server.seconds(server.config.LogDelay))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		texts := map[string]string{"controller": "INFO the step has ended\n"}
		if failure != nil {
			texts["stderr"] = failure.Error() + "\n"
		}
		bucket, dir, err := server.bucket(ctx, s.c.in.LogUri)
		for name, text := range texts {
			var packed bytes.Buffer
			if w := gzip.NewWriter(&packed); err == nil {
				_, err = io.WriteString(w, text)
				err = errors.Join(err, w.Close())
			}
			if err == nil {
				err = store.WriteFile(bucket, path.Join(dir, s.c.id, "steps", s.id, name+".gz"), packed.Bytes())
			}
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "emrtest: logs of %s: %v\n", s.id, err)
		}
	})
}

// bucket returns the bucket and the path that an address in S3 refers to.
func (s *Server) bucket(ctx context.Context, uri string) (*s3.FS, string, error) {
	bucket, dir, err := s3.Split(uri)
	if err != nil {
		return nil, "", err
	}
	f, err := s3.New(ctx, aws.Config{
		BaseEndpoint: &s.config.S3, Region: s3.HomeRegion, Credentials: credentials.NewStaticCredentialsProvider("testing", "testing", ""),
	}, bucket)
	return f, dir, err
}
