package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// partSize is the maximum number of bytes in one request. Larger objects are uploaded in
	// parts. S3 requires at least 5 MB for each part but the last, and at most maxParts parts.
	partSize = 16 << 20
	maxParts = 10_000
	// growEvery is the number of parts after which the part size doubles if the size of the
	// object is not known in advance. It doubles nine times until maxParts, so the total is
	// more than S3 allows.
	growEvery = 1000
	// together is the number of concurrent requests.
	together = 8
	// abortWait bounds the time for aborting an upload.
	abortWait = 20 * time.Second
)

// Put creates or replaces an object with the first size bytes of in. The object appears
// complete, or not at all.
func (f *FS) Put(ctx context.Context, name string, in io.ReaderAt, size int64) error {
	if size <= partSize {
		return f.put(ctx, name, io.NewSectionReader(in, 0, size))
	}
	u, err := f.begin(ctx, name)
	if err != nil {
		return err
	}
	n := max(partSize, (size+maxParts-1)/maxParts)
	for at := int64(0); at < size; at += n {
		u.send(io.NewSectionReader(in, at, min(n, size-at)))
	}
	return u.end(nil)
}

// put creates an object with one request.
func (f *FS) put(ctx context.Context, name string, body io.ReadSeeker) error {
	if _, err := f.client.PutObject(ctx, &service.PutObjectInput{Bucket: &f.bucket, Key: sdk.String(keyOf(name)), Body: body}); err != nil {
		return f.failed("put", name, err)
	}
	return nil
}

// An upload is a multipart upload.
type upload struct {
	f      *FS
	ctx    context.Context
	cancel context.CancelFunc
	name   string
	id     *string
	slots  chan struct{}
	going  sync.WaitGroup
	n      int32 // number of parts sent

	mu    sync.Mutex
	parts []types.CompletedPart
	err   error // first error
}

func (f *FS) begin(ctx context.Context, name string) (*upload, error) {
	out, err := f.client.CreateMultipartUpload(ctx, &service.CreateMultipartUploadInput{Bucket: &f.bucket, Key: sdk.String(keyOf(name))})
	if err != nil {
		return nil, f.failed("put", name, err)
	}
	u := &upload{f: f, name: name, id: out.UploadId, slots: make(chan struct{}, together)}
	u.ctx, u.cancel = context.WithCancel(ctx)
	return u, nil
}

// send uploads a part as soon as fewer than together parts are being uploaded. After an error
// it does nothing.
func (u *upload) send(body io.ReadSeeker) {
	u.n++
	number := u.n
	select {
	case u.slots <- struct{}{}:
	case <-u.ctx.Done():
		u.fail(u.ctx.Err())
		return
	}
	u.going.Go(func() {
		defer func() { <-u.slots }()
		out, err := u.f.client.UploadPart(u.ctx, &service.UploadPartInput{
			Bucket: &u.f.bucket, Key: sdk.String(keyOf(u.name)), UploadId: u.id, PartNumber: &number, Body: body,
		})
		if err != nil {
			u.fail(err)
			return
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.parts = append(u.parts, types.CompletedPart{
			PartNumber: &number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC64NVME: out.ChecksumCRC64NVME,
		})
	})
}

// fail records the first error, and cancels the other parts.
func (u *upload) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = err
	}
	u.cancel()
}

// end completes the upload, or aborts it if a part failed or err is not nil.
func (u *upload) end(err error) error {
	if err != nil {
		u.fail(err)
	}
	u.going.Wait()
	defer u.cancel()
	key := keyOf(u.name)
	if u.err == nil {
		slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return int(*a.PartNumber - *b.PartNumber) })
		_, u.err = u.f.client.CompleteMultipartUpload(u.ctx, &service.CompleteMultipartUploadInput{
			Bucket: &u.f.bucket, Key: &key, UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
		})
	}
	if u.err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortWait)
	defer cancel()
	// If this fails, the parts cost money until they are deleted, but do no other harm.
	u.f.client.AbortMultipartUpload(ctx, &service.AbortMultipartUploadInput{Bucket: &u.f.bucket, Key: &key, UploadId: u.id})
	return u.f.failed("put", u.name, u.err)
}

// Create returns a writer for an object. The object is created when the writer is closed.
func (f *FS) Create(name string) (io.WriteCloser, error) {
	return &writer{f: f, name: name}, nil
}

// A writer is an object that is being written.
type writer struct {
	f      *FS
	name   string
	buf    []byte
	up     *upload // nil before the first complete part
	failed error
}

func (w *writer) Write(b []byte) (n int, err error) {
	for len(b) > 0 && w.failed == nil {
		size := partSize
		if w.up != nil {
			size <<= w.up.n / growEvery
		}
		some := min(len(b), size-len(w.buf))
		w.buf, b, n = append(w.buf, b[:some]...), b[some:], n+some
		if len(w.buf) < size {
			continue
		}
		if w.up == nil {
			if w.up, w.failed = w.f.begin(w.f.ctx, w.name); w.failed != nil {
				break
			}
		}
		w.up.send(bytes.NewReader(w.buf))
		w.buf = nil
	}
	return n, w.failed
}

// Close creates the object, unless a Write has failed.
func (w *writer) Close() error {
	if w.up == nil {
		if w.failed != nil {
			return w.failed
		}
		return w.f.put(w.f.ctx, w.name, bytes.NewReader(w.buf))
	}
	if len(w.buf) > 0 {
		w.up.send(bytes.NewReader(w.buf))
	}
	return w.up.end(nil)
}

// PutDir copies a directory of another file system: its files, and then its store.Success, if
// it has one. It replaces a directory that exists: it deletes the old store.Success first, and
// deletes files that are not in the new directory before it writes the new store.Success. It
// skips subdirectories and names for which store.IsTemporary is true. It calls may before each
// deletion and each file, and stops if may returns an error; Claim.Held is such a function.
func (f *FS) PutDir(ctx context.Context, from store.FS, dir, to string, may func(context.Context) error) error {
	there, err := f.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := from.ReadDir(dir)
	if err != nil {
		return err
	}
	var names, gone []string
	sealed := false
	for _, e := range entries {
		switch {
		case e.IsDir():
		case e.Name() == store.Success:
			sealed = true
		case store.IsTemporary(e.Name()):
		default:
			names = append(names, e.Name())
		}
	}
	remove := func(ctx context.Context, name string) error {
		if err := may(ctx); err != nil {
			return err
		}
		return f.Remove(ctx, path.Join(to, name))
	}
	for _, e := range there {
		switch {
		case e.Name() == store.Success:
			if err := remove(ctx, store.Success); err != nil {
				return err
			}
		case !slices.Contains(names, e.Name()):
			gone = append(gone, e.Name())
		}
	}
	put := func(ctx context.Context, name string) error {
		if err := may(ctx); err != nil {
			return err
		}
		return f.PutFile(ctx, from, path.Join(dir, name), path.Join(to, name))
	}
	if err := each(ctx, names, put); err != nil {
		return err
	}
	if err := each(ctx, gone, remove); err != nil || !sealed {
		return err
	}
	return put(ctx, store.Success)
}

// PutFile copies a file of another file system.
func (f *FS) PutFile(ctx context.Context, from store.FS, name, to string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return f.Put(ctx, to, in, info.Size())
}

// each calls do for all names, up to together at a time, until one call fails.
func each(ctx context.Context, names []string, do func(context.Context, string) error) error {
	return parallel.Each(ctx, together, len(names), 1, func() func(int) error {
		return func(i int) error { return do(ctx, names[i]) }
	})
}
