package emr

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// silent returns a Service whose server accepts requests and is silent, and a channel that receives
// for each request.
func silent(t *testing.T, limit time.Duration) (*Service, <-chan bool) {
	t.Helper()
	asked, ended := make(chan bool, 1000), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- true
		<-ended
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(ended) })
	s3test.Use(t, append(s3test.Environ(), "AWS_ENDPOINT_URL_EMR="+server.URL))
	conf, err := cloud.Load(t.Context(), cloud.Options{Silence: limit})
	must.OK(t, err)
	return New(conf, Options{Poll: time.Millisecond, Patience: time.Millisecond}), asked
}

// TestSilent checks that no request waits for ever for a server that accepts connections and is
// silent.
func TestSilent(t *testing.T) {
	s, _ := silent(t, time.Millisecond)
	c := s.Cluster("j-A")
	for name, request := range map[string]func(context.Context) error{
		"make":   func(ctx context.Context) error { _, err := s.Make(ctx, spec()); return err },
		"alive":  func(ctx context.Context) error { _, err := s.Alive(ctx); return err },
		"state":  func(ctx context.Context) error { _, err := c.State(ctx); return err },
		"add":    func(ctx context.Context) error { _, err := c.Add(ctx, spec().Steps[0]); return err },
		"wait":   func(ctx context.Context) error { return c.Wait(ctx, "s-1", nil) },
		"cancel": func(ctx context.Context) error { return c.Cancel(ctx, "s-1") },
		"end":    c.End,
	} {
		var silent *cloud.SilentError
		if err := request(t.Context()); !errors.As(err, &silent) {
			t.Errorf("%s: %v, expected a SilentError", name, err)
		}
	}
}

// TestMakeStopped checks that Make and Add end with their context, and that the error describes
// what may have been created, and how to find and end it.
func TestMakeStopped(t *testing.T) {
	for want, send := range map[string]func(context.Context, *Service) error{
		`a cluster named "treereduce test #`: func(ctx context.Context, s *Service) error { _, err := s.Make(ctx, spec()); return err },
		`step "solve #`: func(ctx context.Context, s *Service) error {
			_, err := s.Cluster("j-A").Add(ctx, spec().Steps[0])
			return err
		},
	} {
		s, asked := silent(t, time.Hour) // one of its own, because a connection may be used again
		request := func(ctx context.Context) error { return send(ctx, s) }
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			<-asked
			stop()
		}()
		err := request(ctx)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "driver-aws emr status") || !strings.Contains(err.Error(), "driver-aws emr down") {
			t.Errorf("%v, expected %s, and how to end it", err, want)
		}
		if stop(); request(ctx) == nil || strings.Contains(request(ctx).Error(), want) {
			t.Errorf("before anything was sent: %v", request(ctx))
		}
	}
}
