package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
)

// Put creates or replaces an object. The object appears complete, or not at all.
func (f *FS) Put(name string, content []byte) error {
	_, err := f.client.PutObject(f.ctx, &service.PutObjectInput{Bucket: &f.bucket, Key: sdk.String(keyOf(name)), Body: bytes.NewReader(content)})
	return f.failed("put", name, err)
}

// A Version is one content of an object. The zero value stands for a missing object.
type Version struct {
	Content []byte
	Changed time.Time // set by Read
	etag    *string
}

// maxVersion is the maximum number of bytes that Read reads.
const maxVersion = 64 << 10

// Read returns the current version of a small object.
func (f *FS) Read(ctx context.Context, name string) (v Version, err error) {
	key := keyOf(name)
	out, err := f.client.GetObject(ctx, &service.GetObjectInput{Bucket: &f.bucket, Key: &key})
	if err = f.orMissing(key, err); errors.Is(known(err), fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return v, f.failed("read", name, err)
	}
	defer out.Body.Close()
	v.etag, v.Changed = out.ETag, sdk.ToTime(out.LastModified)
	v.Content, err = io.ReadAll(io.LimitReader(out.Body, maxVersion))
	return v, f.failed("read", name, err)
}

// ErrTaken is returned by Replace if another process has changed the object.
var ErrTaken = errors.New("another process was first")

// Replace writes an object whose current version is old, and returns the new one. The content must be unique
// to this call.
func (f *FS) Replace(ctx context.Context, name string, content []byte, old Version) (Version, error) {
	put := &service.PutObjectInput{Bucket: &f.bucket, Key: sdk.String(keyOf(name)), Body: bytes.NewReader(content), IfMatch: old.etag}
	if old.etag == nil {
		put.IfNoneMatch = sdk.String("*")
	}
	out, err := f.client.PutObject(ctx, put)
	if err == nil {
		return Version{Content: content, etag: out.ETag}, nil
	}
	if is := known(err); !errors.Is(is, ErrTaken) && !errors.Is(is, fs.ErrNotExist) {
		return Version{}, f.failed("put", name, err)
	}
	// It may be our own write: if an answer is lost, the SDK sends the request again.
	now, err := f.Read(ctx, name)
	if err == nil && !bytes.Equal(now.Content, content) {
		err = ErrTaken
	}
	return now, err
}
