package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
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
	// maxRequests is the maximum number of concurrent requests.
	maxRequests = 8
	// abortWait bounds the time for aborting an upload.
	abortWait = 20 * time.Second
)

// partOf returns the size of the parts in which an object of this size is uploaded.
func partOf(size int64) int64 { return max(partSize, (size+maxParts-1)/maxParts) }

// Put creates or replaces an object with the first size bytes of in. The object appears
// complete, or not at all.
func (f *FS) Put(ctx context.Context, name string, in io.ReaderAt, size int64) (err error) {
	key := keyOf(name)
	if size <= partSize {
		_, err = f.client.PutObject(ctx, &service.PutObjectInput{Bucket: &f.bucket, Key: &key, Body: io.NewSectionReader(in, 0, size)})
	} else {
		err = f.putParts(ctx, key, in, size)
	}
	return f.failed("put", name, err)
}

// putParts creates an object by a multipart upload. If a part fails, it aborts the upload.
func (f *FS) putParts(ctx context.Context, key string, in io.ReaderAt, size int64) error {
	made, err := f.client.CreateMultipartUpload(ctx, &service.CreateMultipartUploadInput{Bucket: &f.bucket, Key: &key})
	if err != nil {
		return err
	}
	n := partOf(size)
	parts := make([]types.CompletedPart, (size+n-1)/n)
	sending, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = parallel.Each(sending, maxRequests, len(parts), 1, func() func(int) error {
		return func(i int) error {
			at, number := int64(i)*n, int32(i+1)
			out, err := f.client.UploadPart(sending, &service.UploadPartInput{
				Bucket: &f.bucket, Key: &key, UploadId: made.UploadId, PartNumber: &number, Body: io.NewSectionReader(in, at, min(n, size-at)),
			})
			if err != nil {
				cancel(err) // the other parts need not be sent
				return context.Cause(sending)
			}
			parts[i] = types.CompletedPart{PartNumber: &number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC64NVME: out.ChecksumCRC64NVME}
			return nil
		}
	})
	if err == nil {
		_, err = f.client.CompleteMultipartUpload(ctx, &service.CompleteMultipartUploadInput{
			Bucket: &f.bucket, Key: &key, UploadId: made.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortWait)
		defer cancel()
		// If this fails, the parts cost money until they are deleted, but do no other harm.
		f.client.AbortMultipartUpload(ctx, &service.AbortMultipartUploadInput{Bucket: &f.bucket, Key: &key, UploadId: made.UploadId})
	}
	return err
}

// HasContent reports whether an object has this content and was uploaded by Put. It compares the length
// and the ETag, which S3 makes from the MD5 sums of the parts. With another ETag, as for objects
// that are encrypted with a KMS key, it returns false.
func (f *FS) HasContent(name string, content []byte) (bool, error) {
	key := keyOf(name)
	head, err := f.client.HeadObject(f.ctx, &service.HeadObjectInput{Bucket: &f.bucket, Key: &key})
	if err = f.orMissing(f.ctx, key, err); err != nil {
		if errors.Is(known(err), fs.ErrNotExist) {
			return false, nil
		}
		return false, f.failed("stat", name, err)
	}
	sum, suffix := md5.Sum(content), ""
	if size := int64(len(content)); size > partSize {
		var sums []byte
		n := 0
		for part := range slices.Chunk(content, int(partOf(size))) {
			sum := md5.Sum(part)
			sums = append(sums, sum[:]...)
			n++
		}
		sum, suffix = md5.Sum(sums), fmt.Sprintf("-%d", n)
	}
	return sdk.ToInt64(head.ContentLength) == int64(len(content)) && sdk.ToString(head.ETag) == fmt.Sprintf(`"%x%s"`, sum, suffix), nil
}

// Create returns a writer for an object, which keeps the content in memory. The object is created
// when the writer is closed; PutFile copies large files.
func (f *FS) Create(name string) (io.WriteCloser, error) { return &writer{f: f, name: name}, nil }

// A writer is an object that is being written.
type writer struct {
	bytes.Buffer
	f    *FS
	name string
}

// Close creates the object.
func (w *writer) Close() error {
	return w.f.Put(w.f.ctx, w.name, bytes.NewReader(w.Bytes()), int64(w.Len()))
}

// PutDir copies a directory of another file system: its files, and then its store.Success, if
// it has one. It replaces a directory that exists: it deletes the old store.Success first, and
// deletes files that are not in the new directory before it writes the new store.Success. It
// skips subdirectories and names for which store.IsTemporary is true. put copies files of the directory,
// by their names in it. PutDir calls may before each deletion, and stops if may returns an error;
// Claim.Held is such a function.
func (f *FS) PutDir(ctx context.Context, from store.FS, dir, to string, may func(context.Context) error, put func(context.Context, ...string) error) error {
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
	if err := put(ctx, names...); err != nil {
		return err
	}
	if err := each(ctx, gone, remove); err != nil || !sealed {
		return err
	}
	return put(ctx, store.Success)
}

// PutFiles copies files of a directory of another file system. It calls may before each file, and stops if may
// returns an error.
func (f *FS) PutFiles(ctx context.Context, from store.FS, dir string, names []string, to string, may func(context.Context) error) error {
	return each(ctx, names, func(ctx context.Context, name string) error {
		if err := may(ctx); err != nil {
			return err
		}
		return f.putFile(ctx, from, path.Join(dir, name), path.Join(to, name))
	})
}

// putFile copies a file of another file system.
func (f *FS) putFile(ctx context.Context, from store.FS, name, to string) error {
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

// each calls do for all names, up to maxRequests at a time, until one call fails.
func each(ctx context.Context, names []string, do func(context.Context, string) error) error {
	return parallel.Each(ctx, maxRequests, len(names), 1, func() func(int) error {
		return func(i int) error { return do(ctx, names[i]) }
	})
}
