package emr

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/treereduce/treereduce/internal/testing/faults"
)

// TestInterrupted checks that Create looks for its cluster if the user interrupts it and the answer is lost.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := spec()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get(faults.Target), ".RunJobFlow") {
			interrupt()
			panic(http.ErrAbortHandler) // which closes the connection
		}
		w.Header().Set("Content-Type", faults.JSON)
		fmt.Fprintf(w, `{"Clusters": [{"Id": "j-1", "Name": %q}]}`, s.Name)
	}))
	defer server.Close()
	service := New(aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, time.Millisecond, func(string) {})
	if id, err := service.Create(ctx, s); id != "j-1" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
}

// TestOver checks in which states nothing is left to wait for.
func TestOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cluster, step string
		want          bool
	}{
		{"STARTING", "PENDING", false},
		{"RUNNING", "RUNNING", false},
		{"RUNNING", "COMPLETED", true},
		{"RUNNING", "FAILED", true},
		{"RUNNING", "CANCELLED", false}, // the reason is still to come
		{"RUNNING", "INTERRUPTED", false},
		{"TERMINATING", "RUNNING", false},
		{"TERMINATING", "CANCELLED", true},
		{"TERMINATED", "PENDING", true},
		{"TERMINATED_WITH_ERRORS", "", true},
	} {
		cluster := Cluster{State: c.cluster, Step: Step{State: c.step}}
		if got := cluster.Over(); got != c.want {
			t.Errorf("%s, %s: over %v, expected %v", c.cluster, c.step, got, c.want)
		}
	}
}
