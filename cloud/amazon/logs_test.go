package amazon

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestLogBucket checks that the cause of a failed step is found in the logs of its cluster, in
// whatever bucket and directory the cluster writes them.
func TestLogBucket(t *testing.T) {
	for uri, key := range map[string]string{
		"s3n://bucket/games/logs/": "games/logs/",
		"s3n://other/logs/":        "logs/",
		"s3n://other/":             "",
		"":                         "",
	} {
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", faults.JSON)
			io.WriteString(w, `{"Cluster": {"Id": "j-A", "LogUri": "`+uri+`"}}`)
		})
		fake := s3test.StartFake(t, "bucket", "other")
		if bucket, _, _ := strings.Cut(strings.TrimPrefix(uri, "s3n://"), "/"); bucket != "" {
			fake.Put(bucket, key+"j-A/steps/s-A/stderr", []byte("driver: no space left\n"))
		}
		onEMR(t, fake, service, func(r *emrSolve) {
			want := "no space left"
			if uri == "" {
				want = "cluster j-A writes none"
			}
			// The journal is of an earlier run, which failed for another reason.
			journal, err := store.MarshalSummed(&solve.Journal{Game: r.g.Spec(), State: solve.Failed, Error: "an earlier error", Begun: time.Now().Add(-time.Hour)})
			must.OK(t, err)
			fake.Put("bucket", "games/all_data/"+store.JournalFile, journal)
			failed := &emr.StepError{Cluster: "j-A", Step: emr.StepState{ID: "s-A", State: "FAILED", Started: time.Now()}}
			if err := r.why(t.Context(), r.service.Cluster("j-A"), failed, failed); !errors.Is(err, failed) || !strings.Contains(err.Error(), want) {
				t.Errorf("logs in %q: %v, want %q", uri, err, want)
			}
		})
	}
}
