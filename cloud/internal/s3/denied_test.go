package s3

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestOnePrefix checks that everything works for a caller who may list only one prefix: then
// S3 answers 403 to HeadBucket, and to requests for missing objects.
func TestOnePrefix(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	fake.Put("bucket", "x/secret", []byte("secret"))
	fake.Set(func(r *http.Request) *faults.Fault {
		q := r.URL.Query()
		key := strings.TrimPrefix(r.URL.Path, "/bucket/")
		switch object := strings.HasPrefix(r.URL.Path, "/bucket/") && key != ""; {
		case key == "x/secret", key == "x/readonly/_owner" && r.Method == http.MethodPut, object && !strings.HasPrefix(key, "x/"):
			return faults.Denied
		case object && (r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get("If-Match") != ""):
			if fake.Get("bucket", key) == nil {
				return faults.Denied
			}
		case !object && r.Method == http.MethodHead:
			return faults.Denied
		case !object && r.Method == http.MethodGet && !q.Has("location") && !q.Has("uploads"):
			if !strings.HasPrefix(q.Get("prefix"), "x/") {
				return faults.Denied
			}
		}
		return nil
	})
	f, dir := dial(t, fake.Env(), "s3://bucket/x/data")
	for _, name := range []string{dir, "x/nothing", "x/data/table"} {
		_, statErr := f.Stat(name)
		_, openErr := f.Open(name)
		if !errors.Is(statErr, fs.ErrNotExist) || !errors.Is(openErr, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", name, statErr, openErr)
		}
	}
	for _, name := range []string{"x/secret", "y/file"} {
		_, statErr := f.Stat(name)
		_, openErr := f.Open(name)
		if !errors.Is(statErr, fs.ErrPermission) || !errors.Is(openErr, fs.ErrPermission) {
			t.Errorf("%s: %v, %v", name, statErr, openErr)
		}
	}
	if _, _, err := f.Claim(t.Context(), "x/readonly/_owner", "me", time.Hour); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a claim that may not be written: %v", err)
	}
	c, _, err := f.Claim(t.Context(), "x/data/_owner", "me", time.Hour)
	must.OK(t, err)
	must.OK(t, putDir(t.Context(), f, local(t, "part-00000", store.Success), "x/data/table", c.Held))
	if i, err := f.Stat("x/data/table"); err != nil || !i.IsDir() {
		t.Errorf("a directory: %v, %v", i, err)
	}
	if _, err := f.Open("x/data/table"); !errors.Is(err, store.ErrNotRegular) {
		t.Errorf("a directory as a file: %v", err)
	}
	in, err := f.Open("x/data/table/part-00000")
	must.OK(t, err)
	if b, err := io.ReadAll(in); err != nil || string(b) != "of part-00000" {
		t.Errorf("%q, %v", b, err)
	}
	// Another process has deleted the claim.
	must.OK(t, f.RemoveAll("x/data/_owner"))
	if err := c.renew(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("a claim that is gone: %v", err)
	}
	must.OK(t, c.Release(t.Context()))
}
