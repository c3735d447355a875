package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// dial returns a bucket of a server, in an environment that contains only that server.
func dial(t *testing.T, env []string, name string) (*FS, string) {
	t.Helper()
	s3test.Use(t, env)
	f, dir, err := Dial(t.Context(), name, aws.Options{})
	must.OK(t, err)
	return f, dir
}

// started starts a fake, and returns it with its bucket.
func started(t *testing.T) (*s3test.Fake, *FS) {
	t.Helper()
	fake := s3test.StartFake(t, "bucket")
	f, _ := dial(t, fake.Env(), "s3://bucket/x")
	return fake, f
}

// all contains the tests that any server must pass: the fake here, and moto in emr_test.go.
var all = map[string]func(t *testing.T, f *FS){
	"read":    testRead,
	"dir":     testDir,
	"put dir": testPutDir,
	"claim":   testClaim,
	"changed": testChanged,
	"uploads": testUploads,
	"has":     testHas,
}

func TestFake(t *testing.T) {
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			_, f := started(t)
			test(t, f)
		})
	}
}

// always is a may function that always permits.
func always(context.Context) error { return nil }

// someBytes returns n pseudorandom bytes, the same at each call.
func someBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// testRead checks that objects of all sizes are read as they were written, completely and at
// any offset: of one request, of several windows, of several parts.
func testRead(t *testing.T, f *FS) {
	for _, size := range []int{0, 1, 1000, wholeFile - 1, wholeFile, wholeFile + 1, 3 * windowMost, partSize, partSize + 100_000} {
		content := someBytes(size)
		w, err := f.Create("dir/file")
		must.OK(t, err)
		for b := range slices.Chunk(content, 1_000_003) {
			if n, err := w.Write(b); n != len(b) || err != nil {
				t.Fatal(n, err)
			}
		}
		must.OK(t, w.Close())
		in, err := f.Open("/dir/file")
		must.OK(t, err)
		if i, err := in.Stat(); err != nil || i.Size() != int64(size) || i.Name() != "file" || i.IsDir() || time.Since(i.ModTime()) > time.Hour {
			t.Errorf("%d bytes: %+v, %v", size, i, err)
		}
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %d were read, %v", size, len(got), err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			at, n := random.Int64N(int64(size)+1), 1+random.IntN(size/3+1)
			b := make([]byte, n)
			got, err := in.ReadAt(b, at)
			want := content[at:min(int64(size), at+int64(n))]
			if (err == io.EOF) != (len(want) < n) || err != nil && err != io.EOF || !bytes.Equal(b[:got], want) {
				t.Fatalf("%d bytes, %d at %d: %d, %v", size, n, at, got, err)
			}
		}
		must.OK(t, in.Close())
	}
	// Several readers continue in turn, as in a merge.
	content := someBytes(5 << 20)
	must.OK(t, f.Put(t.Context(), "turns", bytes.NewReader(content), int64(len(content))))
	in, err := f.Open("turns")
	must.OK(t, err)
	defer in.Close()
	const places = 3
	b := make([]byte, 50_000)
	for at := int64(0); at+int64(len(b)) < int64(len(content))/places; at += int64(len(b)) {
		for place := range int64(places) {
			from := at + place*int64(len(content))/places
			if n, err := in.ReadAt(b, from); err != nil || !bytes.Equal(b[:n], content[from:from+int64(n)]) {
				t.Fatal(from, n, err)
			}
		}
	}
}

// testDir checks that directories contain what is below a name, sorted by name, and that
// missing names are fs.ErrNotExist.
func testDir(t *testing.T, f *FS) {
	for _, key := range []string{"d/b", "d/a.x", "d/a/1", "d/a/2", "d/a-/3", "de/4", "d/z"} {
		must.OK(t, f.Put(t.Context(), key, strings.NewReader(key), int64(len(key))))
	}
	names := func(dir string) string {
		entries, err := f.ReadDir(dir)
		if err != nil {
			return err.Error()
		}
		var text []string
		for _, e := range entries {
			i, err := e.Info()
			if err != nil || i.IsDir() != e.IsDir() || !e.IsDir() && i.Size() != int64(len(dir+"/"+e.Name())) {
				t.Errorf("%s: %+v, %v", e.Name(), i, err)
			}
			name := e.Name()
			if e.IsDir() {
				name += "/"
			}
			text = append(text, name)
		}
		return strings.Join(text, " ")
	}
	if got := names("d"); got != "a/ a-/ a.x b z" {
		t.Error(got)
	}
	if got, want := names("nothing"), "readdir s3://bucket/nothing: file does not exist"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	for _, dir := range []string{"d", "d/a", "d/", "/d"} {
		if i, err := f.Stat(dir); err != nil || !i.IsDir() || i.Name() != path.Base(dir) {
			t.Errorf("%s: %+v, %v", dir, i, err)
		}
		if _, err := f.Open(dir); !errors.Is(err, store.ErrNotRegular) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, name := range []string{"nothing", "d/nothing", "d/a.x/y", "D"} {
		_, err := f.Stat(name)
		_, openErr := f.Open(name)
		if !errors.Is(err, fs.ErrNotExist) || !errors.Is(openErr, fs.ErrNotExist) || !store.Damaged(openErr) {
			t.Errorf("%s: %v, %v", name, err, openErr)
		}
	}
	must.OK(t, f.RemoveAll("d/a"))
	if got := names("d"); got != "a-/ a.x b z" {
		t.Error(got)
	}
	must.OK(t, errors.Join(f.RemoveAll("d"), f.RemoveAll("d")))
	if got := names("de"); got != "4" {
		t.Error(got)
	}
	for _, name := range []string{"", "/", "."} {
		if err := f.RemoveAll(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("all of the bucket: %v", err)
		}
	}
	if err := f.Rename("de", "df"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// local creates a local directory.
func local(t *testing.T, files ...string) string {
	dir := t.TempDir()
	for _, name := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("of "+name), 0o666))
	}
	return dir
}

// TestRemoveSeal checks that a directory loses its seal first, so that it counts as incomplete if
// the removal is interrupted.
func TestRemoveSeal(t *testing.T) {
	fake, f := started(t)
	for _, name := range []string{"d/part-00000", "d/_SUCCESS"} {
		fake.Put("bucket", name, []byte("of "+name))
	}
	removals := 0
	fake.Set(faults.Denied.If(func(r *http.Request) bool {
		if r.Method == http.MethodPost {
			removals++
		}
		return removals > 1
	}))
	if err := f.RemoveAll("d"); err == nil {
		t.Error("no error")
	}
	if keys := fake.Keys("bucket"); !slices.Equal(keys, []string{"d/part-00000"}) {
		t.Errorf("left %v, want the part without the seal", keys)
	}
}

// TestNotRemoved checks that an object that S3 does not delete is an error, although the answer to
// the request is not.
func TestNotRemoved(t *testing.T) {
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			io.WriteString(w, "<DeleteResult><Error><Key>d/part-00000</Key><Code>AccessDenied</Code><Message>refused</Message></Error></DeleteResult>")
		}
	})
	f, err := New(t.Context(), (&s3test.Direct{Server: server}).Config(), "bucket")
	must.OK(t, err)
	if err := f.RemoveAll("d"); err == nil || !strings.Contains(err.Error(), "d/part-00000: AccessDenied: refused") {
		t.Error(err)
	}
	lost := func(context.Context) error { return ErrLost }
	if err := f.RemoveObjects(t.Context(), []string{"d/part-00000"}, lost); !errors.Is(err, ErrLost) {
		t.Errorf("without a claim: %v", err)
	}
}

// testPutDir checks that a copied directory equals its source, whatever was there before.
func testPutDir(t *testing.T, f *FS) {
	names := func() (text string) {
		entries, err := f.ReadDir("data/d")
		if err != nil {
			return err.Error()
		}
		for _, e := range entries {
			b, err := store.ReadFile(f, "data/d/"+e.Name())
			if err != nil || string(b) != "of "+e.Name() {
				t.Errorf("%s: %q, %v", e.Name(), b, err)
			}
			text += e.Name() + " "
		}
		return text
	}
	for _, files := range [][]string{
		{"part-00000", "part-00001", store.Success},
		{"part-00000", "part-00002", store.Success},
		{"part-00000"},
	} {
		must.OK(t, putDir(t.Context(), f, local(t, files...), "data/d", always))
		slices.Sort(files)
		if got := names(); got != strings.Join(files, " ")+" " {
			t.Errorf("%s, expected %s", got, files)
		}
	}
	if err := putDir(t.Context(), f, "/no/such", "data/d", always); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestPutDirRefused checks that a directory has no seal if one of its files is not uploaded.
func TestPutDirRefused(t *testing.T) {
	fake, f := started(t)
	fake.Set(faults.Denied.If(func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/part-00001")
	}))
	if err := putDir(t.Context(), f, local(t, "part-00000", "part-00001", store.Success), "d", always); err == nil {
		t.Error("no error")
	}
	if fake.Set(nil); slices.Contains(fake.Keys("bucket"), "d/"+store.Success) {
		t.Error("the directory has a seal")
	}
}

// TestPutDirMay checks that may is called before each change of a directory that is replaced,
// including deletions.
func TestPutDirMay(t *testing.T) {
	for allowed := 0; ; allowed++ {
		fake, f := started(t)
		must.OK(t, putDir(t.Context(), f, local(t, "part-00000", "part-00009", store.Success), "d", always))
		before := len(fake.Asked())
		var asked atomic.Int32
		err := putDir(t.Context(), f, local(t, "part-00000", "part-00001", store.Success), "d", func(context.Context) error {
			if int(asked.Add(1)) > allowed {
				return ErrLost
			}
			return nil
		})
		changes := 0
		for _, request := range fake.Asked()[before:] {
			if !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, "HEAD ") {
				changes++
			}
		}
		if changes > allowed || err != nil && !errors.Is(err, ErrLost) {
			t.Errorf("%d changes after %d were allowed: %v", changes, allowed, err)
		}
		if err == nil {
			if want := 5; allowed != want { // _SUCCESS and part-00009 deleted, three files written
				t.Errorf("done with %d changes, want %d", allowed, want)
			}
			return
		}
	}
}

// testClaim checks that one of two claims is refused, until the other is released or has
// expired.
func testClaim(t *testing.T, f *FS) {
	ctx := t.Context()
	a, from, err := f.Claim(ctx, "data/_owner", "a", time.Hour)
	if err != nil || from != "" {
		t.Fatal(from, err)
	}
	var claimed *ClaimedError
	if _, _, err := f.Claim(ctx, "data/_owner", "b", time.Hour); !errors.As(err, &claimed) || claimed.Who != "a" || claimed.Left < 50*time.Minute {
		t.Fatal(err)
	}
	must.OK(t, errors.Join(a.Held(ctx), a.renew(ctx), a.Held(ctx)))
	// Held renews a claim after half its validity.
	since := func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.renewed
	}
	a.mu.Lock()
	a.renewed = a.renewed.Add(-31 * time.Minute)
	a.mu.Unlock()
	if err := a.Held(ctx); err != nil || time.Since(since()) > 30*time.Minute {
		t.Errorf("Held, half an hour after the last renewal: renewed %v, %v", since(), err)
	}
	must.OK(t, a.Release(ctx))
	if _, err := f.Stat("data/_owner"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	// A claim that was not renewed in time is taken over, and Held returns that.
	b, _, err := f.Claim(ctx, "data/_owner", "b", time.Hour)
	must.OK(t, err)
	b.text.Seconds = 0
	must.OK(t, b.renew(ctx))
	c, from, err := f.Claim(ctx, "data/_owner", "c", time.Hour)
	if err != nil || from != "b" {
		t.Fatal(from, err)
	}
	if err := b.Held(ctx); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	must.OK(t, b.Release(ctx))
	if err := errors.Join(c.renew(ctx), c.Release(ctx)); err != nil {
		t.Error("what is another's was taken away:", err)
	}
}

// TestClaimKept checks that a claim is renewed as long as its process lives.
func TestClaimKept(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	synctest.Test(t, func(t *testing.T) {
		f, err := New(t.Context(), (&s3test.Direct{Server: fake}).Config(), "bucket")
		must.OK(t, err)
		const hold = time.Hour
		a, _, err := f.Claim(t.Context(), "data/_owner", "a", hold)
		must.OK(t, err)
		var claimed *ClaimedError
		for range 10 {
			time.Sleep(hold / 3)
			if _, _, err := f.Claim(t.Context(), "data/_owner", "b", hold); !errors.As(err, &claimed) || claimed.Left < hold/2 {
				t.Error(err)
			}
		}
		must.OK(t, a.Release(t.Context()))
	})
}

// TestUnconditional checks that a server that ignores the conditions of a write is refused,
// that no claim remains there, and that a valid claim of another driver is not replaced.
func TestUnconditional(t *testing.T) {
	for _, ignored := range [][]string{{"If-None-Match"}, {"If-Match"}, {"If-Match", "If-None-Match"}} {
		fake, f := started(t)
		strip := func(r *http.Request) *faults.Fault {
			for _, name := range ignored {
				r.Header.Del(name)
			}
			return nil
		}
		fake.Set(strip)
		if _, _, err := f.Claim(t.Context(), "data/_owner", "a", time.Hour); !errors.Is(err, ErrUnconditional) {
			t.Errorf("without %v: %v, want %v", ignored, err, ErrUnconditional)
		}
		if keys := fake.Keys("bucket"); len(keys) > 0 {
			t.Errorf("without %v: left %v", ignored, keys)
		}
		fake.Set(nil)
		a, _, err := f.Claim(t.Context(), "data/_owner", "a", time.Hour)
		must.OK(t, err)
		fake.Set(strip)
		var claimed *ClaimedError
		if _, _, err := f.Claim(t.Context(), "data/_owner", "b", time.Hour); !errors.As(err, &claimed) {
			t.Errorf("without %v: %v, want a ClaimedError", ignored, err)
		}
		if text := string(fake.Get("bucket", "data/_owner")); !strings.Contains(text, a.text.Token) {
			t.Errorf("without %v: the claim was replaced by %s", ignored, text)
		}
		must.OK(t, a.Release(t.Context()))
	}
}

// testChanged checks that an object that is replaced while it is read is an error, and not a
// mixture of the two.
func testChanged(t *testing.T, f *FS) {
	for name, change := range map[string]func(key string) error{
		"replaced": func(key string) error {
			return f.Put(t.Context(), key, bytes.NewReader(make([]byte, 4*wholeFile)), 4*wholeFile)
		},
		"removed": f.RemoveAll,
	} {
		content := someBytes(4 * wholeFile)
		must.OK(t, f.Put(t.Context(), "file", bytes.NewReader(content), int64(len(content))))
		in, err := f.Open("file")
		must.OK(t, err)
		must.OK(t, change("file"))
		n, err := io.Copy(io.Discard, in)
		if n != wholeFile || !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		in.Close()
	}
}

// TestMany checks that a directory with several pages is listed and deleted completely.
func TestMany(t *testing.T) {
	_, f := started(t)
	for i := range 1100 {
		must.OK(t, f.Put(t.Context(), path.Join("many", time.Unix(int64(i), 0).UTC().Format("150405")), strings.NewReader(""), 0))
	}
	if entries, err := f.ReadDir("many"); err != nil || len(entries) != 1100 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	must.OK(t, f.RemoveAll("many"))
	if _, err := f.Stat("many"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of 1100 some are left: %v", err)
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

// TestSealLast checks that the seal is written after the files and deleted before them: an
// interruption never leaves an incomplete directory with a seal.
func TestSealLast(t *testing.T) {
	fake, f := started(t)
	dir := local(t, "part-00000", "part-00001", "part-00002", store.Success)
	stopAt := func(n int) error {
		var puts atomic.Int64
		fake.Set(faults.Denied.If(func(r *http.Request) bool {
			return (r.Method == http.MethodPut || r.Method == http.MethodPost) && puts.Add(1) > int64(n)
		}))
		defer fake.Set(nil)
		return putDir(t.Context(), f, dir, "d", always)
	}
	whole := func() bool {
		for _, name := range []string{"part-00000", "part-00001", "part-00002"} {
			if string(fake.Get("bucket", "d/"+name)) != "of "+name {
				return false
			}
		}
		return true
	}
	for old := range 2 {
		for n := 0; ; n++ {
			fake.Set(nil)
			must.OK(t, f.RemoveAll("d"))
			if old == 1 {
				fake.Put("bucket", "d/part-00000", []byte("old"))
				fake.Put("bucket", "d/part-00009", []byte("old"))
				fake.Put("bucket", "d/"+store.Success, []byte("old"))
			}
			err := stopAt(n)
			seal := string(fake.Get("bucket", "d/"+store.Success))
			if seal == "of "+store.Success && (!whole() || fake.Get("bucket", "d/part-00009") != nil) {
				t.Errorf("after %d requests: %v", n, fake.Keys("bucket"))
			}
			if seal == "old" && string(fake.Get("bucket", "d/part-00000")) != "old" {
				t.Errorf("after %d requests the old seal is that of new parts", n)
			}
			if err == nil {
				if !whole() || seal == "" {
					t.Error("done, but not whole")
				}
				break
			}
			if !errors.Is(err, fs.ErrPermission) {
				t.Fatal(err)
			}
		}
	}
	asked := fake.Asked()
	must.OK(t, f.RemoveAll("d"))
	if next := fake.Asked()[len(asked):]; len(next) != 3 { // delete the seal, list the others, delete them
		t.Error(next)
	}
}

// TestCut checks that a read continues after a connection was closed in the middle of an
// answer. If every connection is, it returns an error and no data.
func TestCut(t *testing.T) {
	fake, f := started(t)
	content := someBytes(3 << 20)
	fake.Put("bucket", "file", content)
	times := 0
	fake.Set((&faults.Fault{Cut: 50_000}).If(func(*http.Request) bool {
		times++
		return times%3 != 0
	}))
	in, err := f.Open("file")
	must.OK(t, err)
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	fake.Set(func(r *http.Request) *faults.Fault { return &faults.Fault{Cut: 1} })
	b := make([]byte, 1000)
	if n, err := in.ReadAt(b, 1<<20); err == nil || n != 0 || !strings.Contains(err.Error(), "read s3://bucket/file: the answer was cut off") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestAnswers checks that errors of S3 are explained with advice, and that temporary ones are
// retried.
func TestAnswers(t *testing.T) {
	fake, f := started(t)
	fake.Put("bucket", "file", []byte("content"))
	for code, want := range map[string]string{
		"AccessDenied":   "open s3://bucket/file: S3 GetObject: AccessDenied (aws sts get-caller-identity shows the identity, whose policy must allow it)",
		"ExpiredToken":   "open s3://bucket/file: S3 GetObject: ExpiredToken (the credentials have expired: aws sso login renews those of single sign-on; request others again, including AWS_SESSION_TOKEN)",
		"NoSuchBucket":   "s3://bucket: no such bucket",
		"InternalWhat":   "open s3://bucket/file: S3 GetObject: InternalWhat",
		"InvalidRequest": "open s3://bucket/file: S3 GetObject: InvalidRequest",
	} {
		fake.Set(func(*http.Request) *faults.Fault { return &faults.Fault{Status: http.StatusForbidden, Code: code} })
		if _, err := f.Open("file"); err == nil || err.Error() != want {
			t.Errorf("%v\nexpected\n%s", err, want)
		}
	}
	times := 0
	fake.Set(faults.Busy.If(func(*http.Request) bool {
		times++
		return times <= 2
	}))
	if b, err := store.ReadFile(f, "file"); err != nil || string(b) != "content" || times != 3 {
		t.Errorf("%q, %v, after %d requests", b, err, times)
	}
	// A canceled context ends the waiting for an answer.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Put(ctx, "file", strings.NewReader("x"), 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestNew checks that a bucket is found in any region, and that a missing one, or another
// user's, is an error.
func TestNew(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	dial := func(name string) error {
		_, _, err := Dial(t.Context(), name, aws.Options{})
		return err
	}
	if err := dial("s3://nothing/x"); !errors.Is(err, ErrNoBucket) || err.Error() != "s3://nothing: no such bucket" {
		t.Error(err)
	}
	if err := dial("s3://bucket"); !errors.As(err, new(*NameError)) {
		t.Error(err)
	}
	var regions []string
	fake.Set(func(r *http.Request) *faults.Fault {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		regions = append(regions, strings.Split(scope, "/")[2])
		if regions[len(regions)-1] != "eu-north-1" {
			return &faults.Fault{Status: http.StatusMovedPermanently, Code: "PermanentRedirect", Header: map[string]string{"X-Amz-Bucket-Region": "eu-north-1"}}
		}
		return nil
	})
	if err := dial("s3://bucket/x"); err != nil || !slices.Equal(regions, []string{s3test.Region, "eu-north-1"}) {
		t.Error(regions, err)
	}
	fake.Set(func(r *http.Request) *faults.Fault {
		return &faults.Fault{Status: http.StatusBadRequest, Code: "BadRequest"}
	})
	if err := dial("s3://bucket/x"); err == nil || err.Error() != "s3://bucket: not found from region us-east-1: set AWS_REGION to the region of the bucket" {
		t.Error(err)
	}
	fake.Set(func(r *http.Request) *faults.Fault { return &faults.Fault{Status: http.StatusForbidden} })
	if err := dial("s3://bucket/x"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	s3test.Use(t, append(s3test.Environ(), "AWS_ACCESS_KEY_ID="))
	if err := dial("s3://bucket/x"); !errors.Is(err, aws.ErrNoCredentials) || !strings.HasPrefix(err.Error(), "s3://bucket/x: ") {
		t.Error(err)
	}
}

// TestMissingPart checks that an object is not created if one of its parts fails, and that no
// parts that cost money remain.
func TestMissingPart(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	f, _ := dial(t, append(fake.Env(), "AWS_MAX_ATTEMPTS=1"), "s3://bucket/x")
	content := someBytes(2*partSize + 1)
	fake.Set(faults.Denied.If(func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" }))
	if err := f.Put(t.Context(), "file", bytes.NewReader(content), int64(len(content))); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	w, err := f.Create("file")
	must.OK(t, err)
	io.Copy(w, bytes.NewReader(content))
	if err := w.Close(); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if keys := fake.Keys("bucket"); len(keys) > 0 || fake.Uploads() > 0 {
		t.Errorf("%v, %d uploads are left", keys, fake.Uploads())
	}
	// The same applies to a file that is truncated meanwhile.
	fake.Set(nil)
	if err := f.Put(t.Context(), "file", bytes.NewReader(content[:2*partSize]), int64(len(content))); err == nil {
		t.Error("a file was put that had ended too early")
	}
	if keys := fake.Keys("bucket"); len(keys) > 0 || fake.Uploads() > 0 {
		t.Errorf("%v, %d uploads are left", keys, fake.Uploads())
	}
}

// testUploads checks that uploads of a killed process are aborted for the requested keys and
// no others, and that only an empty bucket can be deleted.
func testUploads(t *testing.T, f *FS) {
	begin := func(key string) *service.CompleteMultipartUploadInput {
		made, err := f.client.CreateMultipartUpload(t.Context(), &service.CreateMultipartUploadInput{Bucket: &f.bucket, Key: &key})
		must.OK(t, err)
		number := sdk.Int32(1)
		part, err := f.client.UploadPart(t.Context(), &service.UploadPartInput{
			Bucket: &f.bucket, Key: &key, UploadId: made.UploadId, PartNumber: number, Body: bytes.NewReader(someBytes(1000)),
		})
		must.OK(t, err)
		parts := []types.CompletedPart{{PartNumber: number, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32}}
		return &service.CompleteMultipartUploadInput{Bucket: &f.bucket, Key: &key, UploadId: made.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}}
	}
	begin("dir/below/file")
	stays := begin("dir2/file")
	must.OK(t, f.RemoveUploads(t.Context(), "", func(key string) bool { return strings.HasPrefix(key, "dir/") }))
	list, err := f.client.ListMultipartUploads(t.Context(), &service.ListMultipartUploadsInput{Bucket: &f.bucket})
	if err != nil || len(list.Uploads) != 1 || *list.Uploads[0].Key != "dir2/file" {
		t.Errorf("uploads that are left: %+v, %v", list, err)
	}
	if _, err := f.client.CompleteMultipartUpload(t.Context(), stays); err != nil {
		t.Errorf("an upload beside the directory: %v", err)
	}
	if err := f.RemoveBucket(t.Context()); err == nil {
		t.Error("a bucket with an object was removed")
	}
	must.OK(t, f.RemoveObjects(t.Context(), []string{"dir2/file"}, always))
	if err := f.RemoveBucket(t.Context()); err != nil {
		t.Errorf("a bucket without objects: %v", err)
	}
	if _, err := f.ReadDir("x"); !errors.Is(err, ErrNoBucket) {
		t.Errorf("a bucket that was removed: %v", err)
	}
}

// testHas checks that Has distinguishes objects of one part and of several from objects with
// other contents, also of the same length.
func testHas(t *testing.T, f *FS) {
	for _, n := range []int{0, 1000, partSize, 2*partSize + 1} {
		content, other := someBytes(n), someBytes(n)
		has := func(want bool) {
			t.Helper()
			if got, err := f.HasContent("dir/file", content); err != nil || got != want {
				t.Errorf("%d bytes: %v, %v, want %v", n, got, err, want)
			}
		}
		put := func(content []byte) {
			t.Helper()
			must.OK(t, f.Put(t.Context(), "dir/file", bytes.NewReader(content), int64(len(content))))
		}
		has(false)
		put(content)
		has(true)
		if n > 0 {
			other[n/2]++
			put(other)
			has(false)
			put(content[1:])
			has(false)
		}
		must.OK(t, f.RemoveAll("dir"))
	}
}

// TestMakeBucket checks the rules of a new bucket: incomplete uploads and logs do not cost money for ever.
func TestMakeBucket(t *testing.T) {
	fake := s3test.StartFake(t)
	must.OK(t, MakeBucket(t.Context(), (&s3test.Direct{Server: fake}).Config(), "bucket", "games/logs"))
	for _, want := range []string{"<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation>", "<Expiration><Days>30</Days>", "<Prefix>games/logs/</Prefix>"} {
		if rules := fake.Rules("bucket"); !strings.Contains(rules, want) {
			t.Errorf("%s: no %s", rules, want)
		}
	}
}

// putDir copies a directory of this machine.
func putDir(ctx context.Context, f *FS, dir, to string, may func(context.Context) error) error {
	return f.PutDir(ctx, store.Local{}, dir, to, may, func(ctx context.Context, names ...string) error {
		return f.PutFiles(ctx, store.Local{}, dir, names, to, may)
	})
}
