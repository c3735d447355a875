package amazon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// alive is a service with one cluster, j-A, if steps lists its steps, and otherwise with none.
func alive(steps string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", faults.JSON)
		clusters := ""
		if steps != "" {
			clusters = `{"Id": "j-A", "Name": "treereduce s3://bucket/games/all_data #1", "Status": {"State": "WAITING"}}`
		}
		fmt.Fprintf(w, `{"Clusters": [%s], "Steps": [%s]}`, clusters, steps) // for ListClusters, and for ListSteps
	})
}

// onEMR calls do with a run whose bucket and service are fakes.
func onEMR(t *testing.T, fake *s3test.Fake, service http.Handler, do func(r *emrSolve)) {
	t.Helper()
	server := httptest.NewServer(service)
	defer server.Close()
	s3test.Use(t, append(fake.Env(), "AWS_ENDPOINT_URL_EMR="+server.URL))
	planned(t, emrLine, func(r *emrSolve) {
		must.OK(t, r.connect(t.Context()))
		must.OK(t, r.openBucket(t.Context()))
		do(r)
	})
}

// TestAtWork checks which steps count as a run on the same directory that is active: it is followed
// with --resume, and otherwise refuses the run.
func TestAtWork(t *testing.T) {
	for name, test := range map[string]struct {
		step   string
		active bool
	}{
		"active":            {`{"Id": "s-1", "Name": "treereduce s3://bucket/games/all_data", "Status": {"State": "RUNNING"}}`, true},
		"ended":             {`{"Id": "s-1", "Name": "treereduce s3://bucket/games/all_data", "Status": {"State": "FAILED"}}`, false},
		"another directory": {`{"Id": "s-1", "Name": "treereduce s3://bucket/games/all_data2", "Status": {"State": "RUNNING"}}`, false},
	} {
		onEMR(t, s3test.StartFake(t, "bucket"), alive(test.step), func(r *emrSolve) {
			_, step, err := r.atWork(t.Context(), store.Resume)
			if err != nil || step == "s-1" != test.active {
				t.Errorf("%s, resumed: step %q, %v", name, step, err)
			}
			if _, _, err := r.atWork(t.Context(), store.Fresh); err != nil != test.active {
				t.Errorf("%s, fresh: %v", name, err)
			}
		})
	}
}
