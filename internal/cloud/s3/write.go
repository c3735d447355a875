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

	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// partSize is how much goes in one request; what is larger goes in parts, of which S3
	// wants at least 5 MB each but the last, and at most maxParts.
	partSize = 16 << 20
	maxParts = 10_000
	// growEvery is after how many parts they become twice as large, where it is not known
	// how many there will be: nine times until maxParts, to more than S3 takes.
	growEvery = 1000
	// together is how many requests go up at once.
	together = 8
	// abortWait bounds how long it may take to take back what has gone up.
	abortWait = 20 * time.Second
)

// Put makes an object, or replaces one that is there, with the first size bytes of a file.
// It is there whole at once, or not at all.
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

// put makes an object in one request.
func (f *FS) put(ctx context.Context, name string, body io.ReadSeeker) error {
	if _, err := f.client.PutObject(ctx, &service.PutObjectInput{Bucket: &f.bucket, Key: sdk.String(keyOf(name)), Body: body}); err != nil {
		return f.failed("put", name, err)
	}
	return nil
}

// An upload is an object that goes up in parts.
type upload struct {
	f      *FS
	ctx    context.Context
	cancel context.CancelFunc
	name   string
	id     *string
	slots  chan struct{}
	going  sync.WaitGroup
	n      int32 // parts that were sent

	mu    sync.Mutex
	parts []types.CompletedPart
	err   error // the first
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

// send has a part go up, once less than together do. After an error it does nothing.
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

// fail notes the first error, and ends the other parts.
func (u *upload) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = err
	}
	u.cancel()
}

// end makes the object of its parts; if one failed, or err says that one is missing, it
// takes them back.
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
	// What is left of it costs until somebody takes it away, but nobody reads it.
	u.f.client.AbortMultipartUpload(ctx, &service.AbortMultipartUploadInput{Bucket: &u.f.bucket, Key: &key, UploadId: u.id})
	return u.f.failed("put", u.name, u.err)
}

// Create makes an object of what is written to it, once it is closed.
func (f *FS) Create(name string) (io.WriteCloser, error) {
	return &writer{f: f, name: name}, nil
}

// A writer is an object that is being written.
type writer struct {
	f      *FS
	name   string
	buf    []byte
	up     *upload // nil before the first full part
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

// Close makes the object; after a Write that failed there is none.
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

// PutDir puts a directory of another file system: its files, then its store.Success, if
// it has one. What was there gives way: its store.Success goes first, and what the new one
// has not, before the new store.Success comes. Directories in it are left out, and what
// is store.Passing. Before each removal and each file, may is called: its error, as of
// Claim.Held, ends PutDir.
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
		case store.Passing(e.Name()):
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

// PutFile puts a file of another file system.
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

// each calls do with all names, together of them at once, until one fails.
func each(ctx context.Context, names []string, do func(context.Context, string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, together)
	var going sync.WaitGroup
	for _, name := range names {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		going.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, name); err != nil {
				cancel(err)
			}
		})
	}
	going.Wait()
	return context.Cause(ctx)
}
