package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// serve starts a server that answers HeadBucket, and calls handle for all other requests.
func serve(t *testing.T, handle http.HandlerFunc) *FS {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			handle(w, r)
		}
	}))
	t.Cleanup(server.Close)
	f, _ := dial(t, append(s3test.Environ(), "AWS_ENDPOINT_URL_S3="+server.URL, "AWS_MAX_ATTEMPTS=1"), "s3://bucket/x")
	return f
}

// TestContentRange checks that an answer with an impossible range is an error.
func TestContentRange(t *testing.T) {
	for _, found := range []string{
		"bytes 0-4/-5", "bytes 0-4/4", "bytes 0-4/*", "bytes 0--1/5", "bytes 0-4", "bytes 1-4/5", "0-4/5", "bytes 0-x/5", "",
	} {
		f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"x"`)
			w.Header().Set("Content-Range", found)
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "12345")
		})
		if _, err := f.Open("file"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("found %q", found)) {
			t.Errorf("Content-Range %q: %v", found, err)
		}
	}
	// The size changes while the object is read, but its ETag does not.
	asked := 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		first, last, size := 0, wholeFile-1, 10*wholeFile
		if asked++; asked > 1 {
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
			size = first + 1
		}
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, first, size))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(make([]byte, last-first+1))
	})
	in, err := f.Open("file")
	must.OK(t, err)
	defer in.Close()
	if _, err := in.ReadAt(make([]byte, 10), 5*wholeFile); err == nil || !strings.Contains(err.Error(), "found \"bytes") {
		t.Errorf("another size: %v", err)
	}
}

// TestPages checks that Walk lists the keys of all pages.
func TestPages(t *testing.T) {
	const keys = 5
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		n := 0
		fmt.Sscanf(q.Get("continuation-token"), "x/%d", &n)
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%t</IsTruncated><NextContinuationToken>x/%05d</NextContinuationToken><Contents><Key>x/%05[2]d</Key></Contents></ListBucketResult>", n+1 < keys, n+1)
	})
	n := 0
	if err := f.Walk(t.Context(), "x", func(string, int64) { n++ }); err != nil || n != keys {
		t.Errorf("%d keys, %v, want %d", n, err, keys)
	}
}

// TestUnreadableClaim checks that a claim that cannot be parsed, or states an unreasonable
// validity, is valid for a limited time, and is then taken over.
func TestUnreadableClaim(t *testing.T) {
	for _, text := range []string{"garbage", "", "{}", `{"seconds": "x"}`, `{"who": "other", "seconds": 1e300}`, strings.Repeat("x", 1<<20)} {
		fake, f := started(t)
		fake.Put("bucket", "data/_owner", []byte(text))
		var claimed *ClaimedError
		if _, _, err := f.Claim(t.Context(), "data/_owner", "me", time.Minute); !errors.As(err, &claimed) || claimed.Left > maxHold || strings.Contains(err.Error(), strings.Repeat("x", 100)) {
			t.Errorf("%.20q, new: %v", text, err)
		}
		fake.Age("bucket", "data/_owner", maxHold+time.Second)
		c, from, err := f.Claim(t.Context(), "data/_owner", "me", time.Minute)
		if err != nil || from == "" {
			t.Errorf("%.20q, old: from %q, %v", text, from, err)
			continue
		}
		must.OK(t, c.Release(t.Context()))
	}
}
