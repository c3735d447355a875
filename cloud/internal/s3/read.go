package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/window"
)

const (
	// windowFirst is the number of bytes that Open reads, and of the first read at an offset: a block or two. A request
	// takes about 30 ms, in which windowMost could be transferred.
	windowFirst = 128 << 10
	windowMost  = 2 << 20
	// readTries is the number of retries after an answer that ends too early. readPause is the
	// pause before the first one; it doubles each time.
	readTries = 5
	readPause = 50 * time.Millisecond
)

// An object is an open object. It is the window.Source of all places in it.
type object struct {
	fs   *FS
	name string
	key  string
	etag *string // identifies the version of the object
	info info
}

// Open opens an object for reading, also at several offsets concurrently. If the object is replaced
// meanwhile, reads fail with ErrChanged.
func (f *FS) Open(name string) (store.File, error) {
	o := &object{fs: f, name: name, key: keyOf(name)}
	o.info.name = path.Base(o.key)
	head, err := o.fetch(0, windowFirst)
	if err != nil && statusOf(err) == http.StatusRequestedRangeNotSatisfiable { // an empty object has no valid range
		var i fs.FileInfo
		if i, err = f.Stat(name); err == nil {
			o.info.changed = i.ModTime()
		}
	}
	if err != nil && (o.key == "" || errors.Is(known(err), fs.ErrNotExist)) {
		// As in a local file system, a directory exists, but is not a file.
		if i, e := f.Stat(name); e == nil && i.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: f.Name(name), Err: store.ErrNotRegular}
		}
	}
	if err != nil {
		return nil, f.failed("open", name, err)
	}
	return window.Open(f.Name(name), &o.info, head, o, func() window.Source { return o }, window.Sizes{First: windowFirst, Max: windowMost, Ahead: true})
}

// ReadWindow implements window.Source.
func (o *object) ReadWindow(b []byte, at int64) error {
	got, err := o.fetch(at, int64(len(b)))
	copy(b, got)
	// A process that replaces an object may have deleted it first.
	if is := known(err); errors.Is(is, ErrTaken) || errors.Is(is, fs.ErrNotExist) {
		err = ErrChanged
	}
	if err != nil {
		err = &fs.PathError{Op: "read", Path: o.fs.Name(o.name), Err: aws.Explain(err)}
	}
	return err
}

// Close implements window.Source.
func (o *object) Close() error { return nil }

// fetch reads up to n bytes at an offset. If an answer ends too early, it requests the rest.
func (o *object) fetch(at, n int64) (b []byte, err error) {
	for try := 0; ; try++ {
		var part []byte
		part, n, err = o.ask(at, n)
		b, at, n = append(b, part...), at+int64(len(part)), n-int64(len(part))
		if err == nil && n == 0 {
			return b, nil
		}
		if err == nil || !errors.As(err, new(*cutError)) || try == readTries || o.fs.ctx.Err() != nil {
			return b, err
		}
		aws.Sleep(o.fs.ctx, readPause<<try)
	}
}

// A cutError is the error for an answer that ended too early.
type cutError struct{ err error }

func (e *cutError) Error() string { return fmt.Sprintf("the answer was cut off: %v", e.err) }
func (e *cutError) Unwrap() error { return e.err }

// ask requests n bytes at an offset. If the object has fewer, it returns their number as the
// new n. With an error, it returns the bytes that have been received.
func (o *object) ask(at, n int64) ([]byte, int64, error) {
	out, err := o.fs.client.GetObject(o.fs.ctx, &service.GetObjectInput{
		Bucket: &o.fs.bucket, Key: &o.key, IfMatch: o.etag,
		Range: sdk.String(fmt.Sprintf("bytes=%d-%d", at, at+n-1)),
	})
	if err != nil {
		return nil, n, o.fs.orMissing(o.key, err)
	}
	defer out.Body.Close()
	size, ok := sizeIn(sdk.ToString(out.ContentRange), at)
	if !ok || out.ETag == nil || o.etag != nil && size != o.info.size {
		return nil, n, fmt.Errorf("expected bytes from %d on, of an object with an ETag, found %q", at, sdk.ToString(out.ContentRange))
	}
	if o.etag == nil { // the first request, from Open
		o.etag, o.info.size, o.info.changed = out.ETag, size, sdk.ToTime(out.LastModified)
	}
	n = min(n, o.info.size-at)
	b := make([]byte, n)
	got, err := io.ReadFull(out.Body, b)
	if err != nil && n > 0 {
		return b[:got], n, &cutError{err}
	}
	return b, n, nil
}

// sizeIn returns the size of the object from a Content-Range that begins at an offset: "bytes
// AT-LAST/SIZE".
func sizeIn(contentRange string, at int64) (size int64, ok bool) {
	rest, ok := strings.CutPrefix(contentRange, fmt.Sprintf("bytes %d-", at))
	last, all, _ := strings.Cut(rest, "/")
	end, err := strconv.ParseInt(last, 10, 64)
	size, sizeErr := strconv.ParseInt(all, 10, 64)
	return size, ok && err == nil && sizeErr == nil && at <= end && end < size
}
