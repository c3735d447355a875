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
	// wholeFile is the number of bytes that Open reads. A smaller object is read completely.
	wholeFile = 128 << 10
	// windowFirst is the number of bytes of the first read at an offset: a block or two. Each
	// sequential read after it doubles the size, up to windowMost, because a request takes
	// about 30 ms, in which 2 MB could be transferred.
	windowFirst = 128 << 10
	windowMost  = 2 << 20
	// maxIdleReaders is the number of positions in an object for which a reader is kept.
	maxIdleReaders = 16
	// readTries is the number of retries after an answer that ends too early. readPause is the
	// pause before the first one; it doubles each time.
	readTries = 5
	readPause = 50 * time.Millisecond
)

// Open opens an object for reading, also at several offsets concurrently. Sequential readers
// get read-ahead. If the object is replaced meanwhile, reads fail with ErrChanged.
func (f *FS) Open(name string) (store.File, error) {
	ctx, cancel := context.WithCancel(f.ctx)
	o := &file{fs: f, ctx: ctx, cancel: cancel, name: name, key: keyOf(name)}
	window, err := o.begin()
	if err != nil {
		cancel()
		return nil, err
	}
	if int64(len(window)) == o.info.size {
		cancel()
		return &smallFile{bytes.NewReader(window), &o.info}, nil
	}
	o.Reader = io.NewSectionReader(o, 0, o.info.size)
	o.idle = []*reader{{file: o, window: window, next: windowFirst}}
	return o, nil
}

// A smallFile is an object whose contents are in memory.
type smallFile struct {
	*bytes.Reader
	info *info
}

func (f *smallFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *smallFile) Close() error               { return nil }

// A file is a large object with several readers, each at its own offset.
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
	idle []*reader // least recently used first
}

// begin reads the beginning of the object, and its size.
func (f *file) begin() ([]byte, error) {
	f.info.name = path.Base(f.key)
	window, err := f.fetch(0, wholeFile)
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
		return window, nil
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
		return nil, n, f.fs.orMissing(f.ctx, f.key, err)
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

// A reader reads an object sequentially from an offset, and keeps the window that it read
// last.
type reader struct {
	file   *file
	window []byte
	start  int64
	next   int64      // number of bytes of the next sequential read
	ahead  chan ahead // receives the window that is being read ahead; nil: none
}

// An ahead is a window that was read ahead.
type ahead struct {
	window []byte
	err    error
}

func (r *reader) end() int64 { return r.start + int64(len(r.window)) }

// fill reads the window that begins at offset at.
func (r *reader) fill(at int64) error {
	var got ahead
	on := at == r.end() && at > 0
	switch {
	case on && r.ahead != nil:
		got = <-r.ahead
	case on:
		got.window, got.err = r.file.fetch(at, r.next)
	default:
		r.next = windowFirst
		got.window, got.err = r.file.fetch(at, r.next)
	}
	r.ahead = nil
	if got.err != nil {
		r.window = nil
		return got.err
	}
	r.window, r.start = got.window, at
	if !on {
		return nil
	}
	r.next = min(2*r.next, windowMost)
	if end := r.end(); end < r.file.info.size {
		coming, n := make(chan ahead, 1), r.next
		go func() {
			window, err := r.file.fetch(end, n)
			coming <- ahead{window, err}
		}()
		r.ahead = coming
	}
	return nil
}

// readAt reads at an offset.
func (r *reader) readAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		place := at + int64(n)
		if place >= r.file.info.size {
			return n, io.EOF
		}
		if place < r.start || place >= r.end() {
			if err := r.fill(place); err != nil {
				return n, err
			}
		}
		n += copy(b[n:], r.window[place-r.start:])
	}
	return n, nil
}

// take returns an idle reader, preferably one whose window includes or ends at the offset at,
// or a new one.
func (f *file) take(at int64) *reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.idle, func(r *reader) bool { return r.start <= at && at <= r.end() })
	if i < 0 && len(f.idle) < maxIdleReaders {
		return &reader{file: f, next: windowFirst}
	}
	i = max(i, 0)
	r := f.idle[i]
	f.idle = slices.Delete(f.idle, i, i+1)
	return r
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.fs.Name(f.name), Err: fs.ErrInvalid}
	}
	r := f.take(at)
	n, err = r.readAt(b, at)
	f.mu.Lock()
	f.idle = append(f.idle, r)
	f.mu.Unlock()
	if err == nil || err == io.EOF {
		return n, err
	}
	// A process that replaces an object may have deleted it first.
	if is := known(err); errors.Is(is, errTaken) || errors.Is(is, fs.ErrNotExist) {
		return n, &fs.PathError{Op: "read", Path: f.fs.Name(f.name), Err: ErrChanged}
	}
	return n, &fs.PathError{Op: "read", Path: f.fs.Name(f.name), Err: aws.Explain(err)}
}

// Close cancels all requests.
func (f *file) Close() error {
	f.cancel()
	return nil
}
