package amazon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestClocks checks that the cluster of an owner is found, or waited for, whatever the clocks of this machine and of
// the one that wrote the owner show: for S3 and Amazon EMR, the year is 2000.
func TestClocks(t *testing.T) {
	wrote := time.Date(2000, 1, 3, 10, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		lists bool          // Amazon EMR lists the cluster
		age   time.Duration // of the owner
		want  string
	}{
		"at work": {true, time.Minute, "cluster j-1: RUNNING"},
		"created": {false, time.Minute, "another driver has been creating a cluster there since"},
		"gone":    {false, creation + time.Minute, "no cluster"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			const state = `"Id": "j-1", "Name": "treereduce #1", "Status": {"State": "RUNNING"}`
			target := r.Header.Get(faults.Target)
			if target != "" {
				w.Header().Set("Content-Type", faults.JSON)
			}
			var in struct{ CreatedAfter float64 }
			json.NewDecoder(r.Body).Decode(&in)
			switch {
			case strings.HasSuffix(target, ".ListClusters") && test.lists && int64(in.CreatedAfter) < wrote.Unix():
				fmt.Fprintf(w, `{"Clusters": [{%s}]}`, state)
			case strings.HasSuffix(target, ".DescribeCluster"):
				fmt.Fprintf(w, `{"Cluster": {%s}}`, state)
			case target != "":
				io.WriteString(w, "{}")
			default:
				w.Header().Set("Last-Modified", wrote.Format(http.TimeFormat))
				w.Header().Set("Date", wrote.Add(test.age).Format(http.TimeFormat))
				io.WriteString(w, `{"cluster": "treereduce #1", "by": "another driver", "since": "2100-01-01T00:00:00Z"}`)
			}
		}))
		defer server.Close()
		conf := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
		r := &run{fs: must.Get(s3.New(t.Context(), conf, "bucket"))(t), service: emr.New(conf, time.Millisecond, func(string) {})}
		c, err := r.clusterOf(t.Context(), must.Get(r.readOwner(t.Context()))(t))
		got := "no cluster"
		switch {
		case err != nil:
			got = err.Error()
		case c != nil:
			got = c.String()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
