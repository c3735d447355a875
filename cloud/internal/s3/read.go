package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// windowFirst is the number of bytes of the first read at an offset: a block or two. Each
	// sequential read after it doubles the size, up to windowMost, because a request takes
	// about 30 ms, in which 2 MB could be transferred.
	windowFirst = 128 << 10
	windowMost  = 4 << 20
	// maxWindows is the number of positions in an object for which a window is kept.
	maxWindows = 16
	// readTries is the number of retries after an answer that ends too early. readPause is the
	// pause before the first one; it doubles each time.
	readTries = 5
	readPause = 50 * time.Millisecond
)

// Open opens an object for reading, also at several offsets concurrently. If the object is replaced
// meanwhile, reads fail with ErrChanged.
func (f *FS) Open(name string) (store.File, error) {
	ctx, cancel := context.WithCancel(f.ctx)
	o := &file{fs: f, ctx: ctx, cancel: cancel, name: name, key: keyOf(name)}
	b, err := o.begin()
	if err != nil {
		cancel()
		return nil, err
	}
	if int64(len(b)) == o.info.size {
		cancel()
		return &smallFile{bytes.NewReader(b), &o.info}, nil
	}
	o.Reader = io.NewSectionReader(o, 0, o.info.size)
	o.idle = []*window{{b: b, next: windowFirst}}
	return o, nil
}

// A smallFile is an object whose contents are in memory.
type smallFile struct {
	*bytes.Reader
	info *info
}

func (f *smallFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *smallFile) Close() error               { return nil }

// A file is a large object.
type file struct {
	fs     *FS
	ctx    context.Context // canceled by Close
	cancel context.CancelFunc
	name   string
	key    string
	etag   *string // identifies the version of the object
	info   info
	io.Reader

	mu   sync.Mutex
	idle []*window // that no ReadAt uses, the least recently used first
}

// A window is a range of an object that was read.
type window struct {
	start int64
	b     []byte
	next  int64 // number of bytes of the next sequential read
}

func (w *window) end() int64 { return w.start + int64(len(w.b)) }

// begin reads the beginning of the object, and its size.
func (f *file) begin() ([]byte, error) {
	f.info.name = path.Base(f.key)
	b, err := f.fetch(0, windowFirst)
	// An empty object has no valid range.
	if err != nil && statusOf(err) == http.StatusRequestedRangeNotSatisfiable {
		head, err := f.fs.client.HeadObject(f.ctx, &service.HeadObjectInput{Bucket: &f.fs.bucket, Key: &f.key})
		if err != nil {
			return nil, f.fs.failed("open", f.name, err)
		}
		f.info.changed = sdk.ToTime(head.LastModified)
		return nil, nil
	}
	if err == nil {
		return b, nil
	}
	if f.key == "" || errors.Is(known(err), fs.ErrNotExist) {
		// As in a local file system, a directory exists, but is not a file.
		if i, e := f.fs.Stat(f.name); e == nil && i.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: f.fs.Name(f.name), Err: store.ErrNotRegular}
		}
	}
	return nil, f.fs.failed("open", f.name, err)
}

// fetch reads up to n bytes at an offset. If an answer ends too early, it requests the rest.
func (f *file) fetch(at, n int64) (b []byte, err error) {
	for try := 0; ; try++ {
		var part []byte
		part, n, err = f.ask(at, n)
		b, at, n = append(b, part...), at+int64(len(part)), n-int64(len(part))
		if err == nil && n == 0 {
			return b, nil
		}
		var answer *cutError
		if err == nil || !errors.As(err, &answer) || try == readTries || f.ctx.Err() != nil {
			return b, err
		}
		aws.Sleep(f.ctx, readPause<<try)
	}
}

// A cutError is the error for an answer that ended too early.
type cutError struct{ err error }

func (e *cutError) Error() string { return fmt.Sprintf("the answer was cut off: %v", e.err) }
func (e *cutError) Unwrap() error { return e.err }

// ask requests n bytes at an offset. If the object has fewer, it returns their number as the
// new n. With an error, it returns the bytes that have been received.
func (f *file) ask(at, n int64) ([]byte, int64, error) {
	out, err := f.fs.client.GetObject(f.ctx, &service.GetObjectInput{
		Bucket: &f.fs.bucket, Key: &f.key, IfMatch: f.etag,
		Range: sdk.String(fmt.Sprintf("bytes=%d-%d", at, at+n-1)),
	})
	if err != nil {
		return nil, n, f.fs.orMissing(f.key, err)
	}
	defer out.Body.Close()
	size, ok := sizeIn(sdk.ToString(out.ContentRange), at)
	if !ok || out.ETag == nil || f.etag != nil && size != f.info.size {
		return nil, n, fmt.Errorf("expected bytes from %d on, of an object with an ETag, found %q", at, sdk.ToString(out.ContentRange))
	}
	if f.etag == nil { // the first request, from Open
		f.etag, f.info.size, f.info.changed = out.ETag, size, sdk.ToTime(out.LastModified)
	}
	n = min(n, f.info.size-at)
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

func (f *file) Stat() (fs.FileInfo, error) { return &f.info, nil }

// take returns an idle window, preferably one that includes or ends at the offset at, or a new one.
func (f *file) take(at int64) *window {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.idle, func(w *window) bool { return w.start <= at && at <= w.end() })
	if i < 0 && len(f.idle) < maxWindows {
		return new(window)
	}
	i = max(i, 0)
	w := f.idle[i]
	f.idle = slices.Delete(f.idle, i, i+1)
	return w
}

// fill reads the window at an offset.
func (f *file) fill(w *window, at int64) (err error) {
	next := int64(windowFirst)
	if at == w.end() && at > 0 {
		next = min(max(2*w.next, windowFirst), windowMost)
	}
	w.start, w.next = at, next
	w.b, err = f.fetch(at, next)
	return err
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.fs.Name(f.name), Err: fs.ErrInvalid}
	}
	w := f.take(at)
	for n < len(b) && err == nil {
		switch place := at + int64(n); {
		case place >= f.info.size:
			err = io.EOF
		case place < w.start || place >= w.end():
			err = f.fill(w, place)
		default:
			n += copy(b[n:], w.b[place-w.start:])
		}
	}
	if err == nil || err == io.EOF {
		f.mu.Lock()
		f.idle = append(f.idle, w)
		f.mu.Unlock()
		return n, err
	}
	// A process that replaces an object may have deleted it first.
	if is := known(err); errors.Is(is, ErrTaken) || errors.Is(is, fs.ErrNotExist) {
		return n, &fs.PathError{Op: "read", Path: f.fs.Name(f.name), Err: ErrChanged}
	}
	return n, &fs.PathError{Op: "read", Path: f.fs.Name(f.name), Err: aws.Explain(err)}
}

// Close cancels all requests.
func (f *file) Close() error {
	f.cancel()
	return nil
}
