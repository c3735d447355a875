package s3

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestSilent checks that no request waits for ever for a server that accepts connections and is
// silent, or that is silent after a part of its answer.
func TestSilent(t *testing.T) {
	for name, answers := range map[string]bool{"nothing": false, "a part": true} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if answers {
					io.Copy(io.Discard, r.Body)
					w.Header().Set("ETag", `"x"`)
					w.Header().Set("Content-Range", "bytes 0-999/1000")
					w.Header().Set("Content-Length", "1000")
					w.WriteHeader(http.StatusPartialContent)
					w.(http.Flusher).Flush()
				}
				<-ended
			}))
			defer server.Close()
			defer close(ended)
			s3test.Use(t, append(s3test.Environ(), "AWS_ENDPOINT_URL_S3="+server.URL, "AWS_MAX_ATTEMPTS=1", "AWS_DEFAULTS_MODE=standard"))
			conf, err := aws.Load(t.Context(), aws.Options{Silence: 10 * time.Millisecond})
			must.OK(t, err)
			f := &FS{ctx: t.Context(), bucket: "bucket", client: newClient(conf)}
			large := bytes.NewReader(make([]byte, partSize))
			for name, request := range map[string]func() error{
				"open":   func() error { _, err := f.Open("x"); return err },
				"list":   func() error { _, err := f.ReadDir("x"); return err },
				"put":    func() error { return f.Put(t.Context(), "x", strings.NewReader("x"), 1) },
				"large":  func() error { return f.Put(t.Context(), "x", large, large.Size()) },
				"parts":  func() error { return f.Put(t.Context(), "x", large, large.Size()+1) },
				"remove": func() error { return f.RemoveAll("x") },
				"claim":  func() error { _, _, err := f.Claim(t.Context(), "x", "me", time.Minute); return err },
				"bucket": func() error { return MakeBucket(t.Context(), conf, "bucket", "logs") },
			} {
				// A request without a result may succeed without the body of the answer. The SDK may
				// close the connection of an answer early.
				err := request()
				if silent := (*aws.SilentError)(nil); !errors.As(err, &silent) && (!answers || err != nil && !aws.IsTransient(err)) {
					t.Errorf("%s: %v, expected a SilentError", name, err)
				}
			}
		})
	}
}
