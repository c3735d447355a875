package amazon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/testing/faults"
)

// TestStartStopped checks that Ctrl-C ends the creation of a cluster: if an answer still comes, the
// cluster is recorded and its step followed, and otherwise the error describes what may have been
// created, and how to find and end it.
func TestStartStopped(t *testing.T) {
	for _, answers := range []bool{true, false} {
		ctx, stop := context.WithCancel(t.Context())
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // the server notices the end of the connection only after it
			stop()
			if !answers {
				<-r.Context().Done()
				return
			}
			w.Header().Set("Content-Type", faults.JSON)
			if strings.HasSuffix(r.Header.Get(faults.Target), ".ListSteps") {
				io.WriteString(w, `{"Steps": [{"Id": "s-NEW", "Name": "solve"}]}`)
			} else {
				io.WriteString(w, `{"JobFlowId": "j-NEW"}`)
			}
		})
		home := t.TempDir()
		t.Setenv("XDG_CONFIG_HOME", home)
		onEMR(t, s3test.StartFake(t, "bucket"), service, func(r *emrSolve) {
			r.spec.Name, r.answerTime = "name", time.Hour
			if !answers {
				r.answerTime = time.Millisecond
			}
			cluster, step, err := r.start(ctx)
			err = interrupted(ctx, err)
			names, _ := filepath.Glob(filepath.Join(home, "treereduce", "emr", "j-NEW.json"))
			switch {
			case answers && (err != nil || cluster.ID != "j-NEW" || step != "s-NEW" || len(names) != 1):
				t.Errorf("cluster %+v, step %s, %v, recorded %v", cluster, step, err, names)
			case !answers && (!errors.Is(err, command.ErrInterrupted) || !strings.Contains(err.Error(), `a cluster named "name #`) || !strings.Contains(err.Error(), "driver-aws emr down")):
				t.Errorf("%v, expected what may have been created", err)
			}
		})
	}
}

// TestStoppedBefore checks that Ctrl-C before the cluster is requested ends a run whose server is
// silent.
func TestStoppedBefore(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "_owner") {
			io.Copy(io.Discard, r.Body)
			stop()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	s3test.Use(t, append(s3test.Environ(), "AWS_ENDPOINT_URL="+server.URL))
	parsed(t, emrLine, func(s *driver.Solve, f *emrFlags) error {
		s.Context.Context = ctx
		if err := f.solve(s); !errors.Is(err, command.ErrInterrupted) || !strings.Contains(err.Error(), "before anything was started") {
			t.Errorf("%v, expected that nothing was started", err)
		}
		return nil
	})
}
