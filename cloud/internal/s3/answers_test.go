package s3

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/moto"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// dial returns a bucket of a server, in an environment that contains only that server.
func dial(t *testing.T, env []string, name string) *FS {
	t.Helper()
	moto.Use(t, env)
	f, _, err := Dial(t.Context(), name)
	must.OK(t, err)
	return f
}

// serve starts a server that answers HeadBucket, and calls handle for all other requests.
func serve(t *testing.T, handle http.HandlerFunc) *FS {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			handle(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return dial(t, append(moto.Environ(), "AWS_ENDPOINT_URL_S3="+server.URL, "AWS_MAX_ATTEMPTS=1"), "s3://bucket/x")
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
		first, last, size := 0, windowFirst-1, 10*windowFirst
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
	if _, err := in.ReadAt(make([]byte, 10), 5*windowFirst); err == nil || !strings.Contains(err.Error(), "found \"bytes") {
		t.Errorf("another size: %v", err)
	}
}

// TestSplit checks that Split accepts names of a bucket and a path, and refuses all others
// that begin with Scheme.
func TestSplit(t *testing.T) {
	for name, want := range map[string][2]string{
		"s3://bucket/dir":          {"bucket", "dir"},
		"s3://my.bucket-1/a/b//c/": {"my.bucket-1", "a/b/c"},
		"s3://bucket/a/../b":       {"bucket", "b"},
		"s3://bucket//dir":         {"bucket", "dir"},
		"s3://bucket":              {},
		"s3://bucket/":             {},
		"s3://bucket/.":            {},
		"s3://bucket/..":           {},
		"s3:///dir":                {},
		"s3://-x/dir":              {},
		"s3://a b/dir":             {},
		"s3a://bucket/dir":         {},
		"bucket/dir":               {},
		"s3://bucket.host:9000/x":  {},
		"s3://" + strings.Repeat("a", 300) + "/dir": {},
	} {
		bucket, dir, err := Split(name)
		if bucket != want[0] || dir != want[1] || (err != nil) != (want[0] == "") {
			t.Errorf("%s: %q, %q, %v", name, bucket, dir, err)
		}
	}
}

// FuzzSplit checks that bucket and path, put together, are a name that splits into the same.
func FuzzSplit(f *testing.F) {
	f.Add("s3://bucket/dir/../x//y/")
	f.Fuzz(func(t *testing.T, name string) {
		bucket, dir, err := Split(name)
		if err != nil {
			return
		}
		again, dirAgain, err := Split(Scheme + bucket + "/" + dir)
		if err != nil || again != bucket || dirAgain != dir || dir == "" {
			t.Errorf("%q: %q, %q, then %q, %q, %v", name, bucket, dir, again, dirAgain, err)
		}
	})
}
