//go:build emr

package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	service "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/testing/moto"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestMoto runs the tests of a bucket, each with one of its own, on moto's server.
func TestMoto(t *testing.T) {
	server := moto.Start(t)
	for name, test := range map[string]func(*testing.T, *moto.Front, *FS){
		"read": testRead, "dir": testDir, "many": testMany, "changed": testChanged, "replace": testReplace,
		"cut": testCut, "answers": testAnswers, "new": testNew, "prefix": testOnePrefix,
	} {
		t.Run(name, func(t *testing.T) {
			server.S3.Set(nil)
			moto.Use(t, server.Env())
			conf, err := aws.Load(t.Context())
			must.OK(t, err)
			bucket := "bucket-" + name
			must.Get(newClient(conf).CreateBucket(t.Context(), &service.CreateBucketInput{Bucket: &bucket}))(t)
			test(t, server.S3, dial(t, server.Env(), "s3://"+bucket+"/x"))
		})
	}
}

// someBytes returns n pseudorandom bytes, the same at each call.
func someBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// remove deletes an object.
func remove(t *testing.T, f *FS, key string) {
	t.Helper()
	must.Get(f.client.DeleteObject(t.Context(), &service.DeleteObjectInput{Bucket: &f.bucket, Key: &key}))(t)
}

// testRead checks that objects of all sizes are read as they were written, completely and at
// any offset: of one request, of several windows.
func testRead(t *testing.T, _ *moto.Front, f *FS) {
	for _, size := range []int{0, 1, 1000, windowFirst - 1, windowFirst, windowFirst + 1, 3 * windowMost} {
		content := someBytes(size)
		must.OK(t, f.Put("dir/file", content))
		in := must.Get(f.Open("/dir/file"))(t)
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
	must.OK(t, f.Put("turns", content))
	in := must.Get(f.Open("turns"))(t)
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

// testDir checks that directories contain what is below a name, sorted by name, that missing names are
// fs.ErrNotExist, and that nothing can be changed.
func testDir(t *testing.T, _ *moto.Front, f *FS) {
	for _, key := range []string{"d/b", "d/a.x", "d/a/1", "d/a/2", "d/a-/3", "de/4", "d/z"} {
		must.OK(t, f.Put(key, []byte(key)))
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
	if got, want := names("nothing"), "readdir s3://bucket-dir/nothing: file does not exist"; got != want {
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
	_, created := f.Create("d/b")
	_, locked := f.Lock("d/b")
	for _, err := range []error{created, locked, f.Rename("de", "df"), f.RemoveAll("d"), f.MkdirAll("e"), f.Sync("d")} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}

// testMany checks that a directory with several pages is listed completely.
func testMany(t *testing.T, _ *moto.Front, f *FS) {
	for i := range 1100 {
		must.OK(t, f.Put("many/"+strconv.Itoa(i), nil))
	}
	if entries, err := f.ReadDir("many"); err != nil || len(entries) != 1100 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// testChanged checks that an object that is replaced while it is read is an error, and not a
// mixture of the two.
func testChanged(t *testing.T, _ *moto.Front, f *FS) {
	for name, change := range map[string]func(){
		"replaced": func() { must.OK(t, f.Put("file", make([]byte, 4*windowFirst))) },
		"removed":  func() { remove(t, f, "file") },
	} {
		must.OK(t, f.Put("file", someBytes(4*windowFirst)))
		in := must.Get(f.Open("file"))(t)
		change()
		n, err := io.Copy(io.Discard, in)
		if n != windowFirst || !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		in.Close()
	}
}

// testReplace checks that of two processes that have read the same version of an object, or none, one replaces it,
// also if the answer to its request is lost.
func testReplace(t *testing.T, front *moto.Front, f *FS) {
	ctx := t.Context()
	none := must.Get(f.Read(ctx, "owner"))(t)
	first := must.Get(f.Replace(ctx, "owner", []byte("first"), none))(t)
	if _, err := f.Replace(ctx, "owner", []byte("second"), none); !errors.Is(err, ErrTaken) {
		t.Errorf("two processes have created it: %v", err)
	}
	read := must.Get(f.Read(ctx, "owner"))(t)
	if string(read.Content) != "first" || time.Since(read.Changed) > time.Hour {
		t.Errorf("%+v", read)
	}
	third := must.Get(f.Replace(ctx, "owner", []byte("third"), first))(t)
	if _, err := f.Replace(ctx, "owner", []byte("fourth"), read); !errors.Is(err, ErrTaken) {
		t.Errorf("two processes have replaced it: %v", err)
	}
	lost := 0
	front.Set(faults.Lost.If(func(r *http.Request) bool {
		lost++
		return lost == 1
	}))
	fifth := must.Get(f.Replace(ctx, "owner", []byte("fifth"), third))(t)
	if lost < 3 {
		t.Errorf("%d requests: no answer was lost", lost)
	}
	must.Get(f.Replace(ctx, "owner", []byte("sixth"), fifth))(t)
	remove(t, f, "owner")
	if _, err := f.Replace(ctx, "owner", []byte("seventh"), fifth); !errors.Is(err, ErrTaken) {
		t.Errorf("another process has removed it: %v", err)
	}
}

// testCut checks that a read continues after a connection was closed in the middle of an
// answer. If every connection is, it returns an error and no data.
func testCut(t *testing.T, front *moto.Front, f *FS) {
	content := someBytes(3 << 20)
	must.OK(t, f.Put("file", content))
	times := 0
	front.Set((&faults.Fault{Cut: 50_000}).If(func(*http.Request) bool {
		times++
		return times%3 != 0
	}))
	in := must.Get(f.Open("file"))(t)
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	front.Set(func(*http.Request) *faults.Fault { return &faults.Fault{Cut: 1} })
	if n, err := in.ReadAt(make([]byte, 1000), 1<<20); err == nil || n != 0 || !strings.Contains(err.Error(), "read s3://bucket-cut/file: the answer was cut off") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// testAnswers checks that errors of S3 are explained with advice, and that temporary ones are
// retried.
func testAnswers(t *testing.T, front *moto.Front, f *FS) {
	must.OK(t, f.Put("file", []byte("content")))
	for code, want := range map[string]string{
		"AccessDenied": "open s3://bucket-answers/file: S3 GetObject: AccessDenied (aws sts get-caller-identity shows the identity, whose policy must allow it)",
		"ExpiredToken": "open s3://bucket-answers/file: S3 GetObject: ExpiredToken (the credentials have expired: aws sso login renews those of single sign-on; request others again, including AWS_SESSION_TOKEN)",
		"NoSuchBucket": "s3://bucket-answers: no such bucket",
		"InternalWhat": "open s3://bucket-answers/file: S3 GetObject: InternalWhat",
	} {
		front.Set(func(*http.Request) *faults.Fault { return &faults.Fault{Status: http.StatusForbidden, Code: code} })
		if _, err := f.Open("file"); err == nil || err.Error() != want {
			t.Errorf("%v\nexpected\n%s", err, want)
		}
	}
	times := 0
	front.Set(faults.Busy.If(func(*http.Request) bool {
		times++
		return times <= 2
	}))
	if b, err := store.ReadFile(f, "file"); err != nil || string(b) != "content" || times != 3 {
		t.Errorf("%q, %v, after %d requests", b, err, times)
	}
	// A canceled context ends the waiting for an answer.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Read(ctx, "file"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// testNew checks that a bucket is found in any region, and that a missing one, or another
// user's, is an error.
func testNew(t *testing.T, front *moto.Front, _ *FS) {
	dial := func(name string) error {
		_, _, err := Dial(t.Context(), name)
		return err
	}
	if err := dial("s3://nothing/x"); !errors.Is(err, ErrNoBucket) || err.Error() != "s3://nothing: no such bucket" {
		t.Error(err)
	}
	if err := dial("s3://bucket-new"); !errors.As(err, new(*NameError)) {
		t.Error(err)
	}
	var regions []string
	front.Set(func(r *http.Request) *faults.Fault {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		regions = append(regions, strings.Split(scope, "/")[2])
		if regions[len(regions)-1] != "eu-north-1" {
			return &faults.Fault{Status: http.StatusMovedPermanently, Code: "PermanentRedirect", Header: map[string]string{"X-Amz-Bucket-Region": "eu-north-1"}}
		}
		return nil
	})
	if err := dial("s3://bucket-new/x"); err != nil || !slices.Equal(regions, []string{moto.Region, "eu-north-1"}) {
		t.Error(regions, err)
	}
	front.Set(func(*http.Request) *faults.Fault {
		return &faults.Fault{Status: http.StatusBadRequest, Code: "BadRequest"}
	})
	if err := dial("s3://bucket-new/x"); err == nil || err.Error() != "s3://bucket-new: not found from region us-east-1: set AWS_REGION to the region of the bucket" {
		t.Error(err)
	}
	moto.Use(t, append(moto.Environ(), "AWS_ACCESS_KEY_ID="))
	if err := dial("s3://bucket-new/x"); !errors.Is(err, aws.ErrNoCredentials) || !strings.HasPrefix(err.Error(), "s3://bucket-new/x: ") {
		t.Error(err)
	}
}

// testOnePrefix checks that everything works for a caller who may list only one prefix: then
// S3 answers 403 to HeadBucket, and to requests for missing objects.
func testOnePrefix(t *testing.T, front *moto.Front, f *FS) {
	must.OK(t, f.Put("x/secret", []byte("secret")))
	must.OK(t, f.Put("x/data/table/part-00000", []byte("content")))
	there := map[string]bool{"x/data/table/part-00000": true}
	front.Set(func(r *http.Request) *faults.Fault {
		q := r.URL.Query()
		key := strings.Trim(strings.TrimPrefix(r.URL.Path, "/bucket-prefix"), "/")
		switch {
		case key == "" && r.Method == http.MethodHead,
			key == "" && !strings.HasPrefix(q.Get("prefix"), "x/"),
			key != "" && r.Method != http.MethodPut && !there[key], key != "" && !strings.HasPrefix(key, "x/"):
			return faults.Denied
		}
		return nil
	})
	f, _, err := Dial(t.Context(), "s3://bucket-prefix/x/data")
	must.OK(t, err)
	for _, name := range []string{"x/nothing", "x/data/tables"} {
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
	if i, err := f.Stat("x/data/table"); err != nil || !i.IsDir() {
		t.Errorf("a directory: %v, %v", i, err)
	}
	if b, err := store.ReadFile(f, "x/data/table/part-00000"); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	none := must.Get(f.Read(t.Context(), "x/owner"))(t)
	must.Get(f.Replace(t.Context(), "x/owner", []byte("me"), none))(t)
}
