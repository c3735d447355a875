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
