// Package s3 is what lies in a bucket of Amazon S3, or of another server that speaks its
// protocol: a store.FS to read by, and what it takes to put a directory there. It knows
// nothing of games or jobs, and of seals nothing but the name of the file that comes
// last.
//
// S3 has neither directories nor renames. An object is there whole or not at all; of a
// directory that is what _SUCCESS says, which is put after all else and removed before
// it. A directory is there while there is an object below it.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/treereduce/treereduce/internal/cloud/aws"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// maxPages bounds the pages of a list: a million names, far more than a directory has. A
// server that always names a next page would otherwise be asked for ever.
const maxPages = 1000

// maxRemoved is how many objects S3 removes in one request.
const maxRemoved = 1000

// FS is a bucket, a store.FS. Names are keys of objects, with or without / before them.
// It can be read and written object by object; Rename and Lock, which S3 has not, are
// errors.ErrUnsupported. It is safe for concurrent use.
type FS struct {
	ctx    context.Context // ends all requests of methods that have none of their own
	client *service.Client
	bucket string
	region string
}

var _ store.FS = (*FS)(nil)

// Dial finds the bucket of a name (see Scheme) with the credentials that a command line
// or the environment gives, and returns the path within it. ctx ends whatever is asked
// of the FS.
func Dial(ctx context.Context, name string, o aws.Options) (f *FS, dir string, err error) {
	bucket, dir, err := Split(name)
	if err != nil {
		return nil, "", err
	}
	conf, err := aws.Load(ctx, o)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	f, err = New(ctx, conf, bucket)
	return f, dir, err
}

// New is the bucket of that name, wherever it lies: if that is not the region of the
// configuration, it is asked where it is. It is an error if there is none, or if it may not be
// looked into.
func New(ctx context.Context, conf sdk.Config, bucket string) (*FS, error) {
	f := &FS{ctx: ctx, bucket: bucket, region: conf.Region, client: newClient(conf)}
	head, err := f.client.HeadBucket(ctx, &service.HeadBucketInput{Bucket: &bucket})
	if err == nil && sdk.ToString(head.BucketRegion) != "" {
		f.region = *head.BucketRegion
	}
	if region := regionOf(err); region != "" && region != conf.Region {
		conf.Region, f.region = region, region
		f.client = newClient(conf)
		_, err = f.client.HeadBucket(ctx, &service.HeadBucketInput{Bucket: &bucket})
	}
	if statusOf(err) == http.StatusForbidden {
		// Who may list a prefix alone may not look into the bucket: this is asked instead.
		if _, asked := f.client.GetBucketLocation(ctx, &service.GetBucketLocationInput{Bucket: &bucket}); asked == nil {
			err = nil
		}
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(known(err), fs.ErrNotExist):
		err = ErrNoBucket
	case statusOf(err) == http.StatusMovedPermanently || statusOf(err) == http.StatusBadRequest:
		err = fmt.Errorf("S3 does not find it from region %s: set AWS_REGION to that of the bucket", conf.Region)
	default:
		err = aws.Explain(err)
	}
	return nil, fmt.Errorf("%s%s: %w", Scheme, bucket, err)
}

// newClient makes a client. Another server than Amazon's has its buckets in the path,
// not in the name of the host.
func newClient(conf sdk.Config) *service.Client {
	return service.NewFromConfig(conf, func(o *service.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
	})
}

// regionOf is where a bucket lies, if S3 says so where it answers with an error.
func regionOf(err error) string {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		return response.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}

// Region is the region of the bucket.
func (f *FS) Region() string { return f.region }

// Name is the whole name of a path.
func (f *FS) Name(name string) string { return Scheme + f.bucket + "/" + keyOf(name) }

// info describes an object or a directory.
type info struct {
	name    string
	size    int64
	changed time.Time
	dir     bool
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) ModTime() time.Time { return i.changed }
func (i *info) IsDir() bool        { return i.dir }
func (i *info) Sys() any           { return nil }

func (i *info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// Stat describes an object, or a directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	key := keyOf(name)
	if key != "" {
		head, err := f.client.HeadObject(f.ctx, &service.HeadObjectInput{Bucket: &f.bucket, Key: &key})
		err = f.orMissing(f.ctx, key, err)
		if err == nil {
			return &info{name: path.Base(key), size: sdk.ToInt64(head.ContentLength), changed: sdk.ToTime(head.LastModified)}, nil
		}
		if !errors.Is(known(err), fs.ErrNotExist) {
			return nil, f.failed("stat", name, err)
		}
	}
	prefix := prefixOf(name)
	list, err := f.client.ListObjectsV2(f.ctx, &service.ListObjectsV2Input{Bucket: &f.bucket, Prefix: &prefix, MaxKeys: sdk.Int32(1)})
	if err != nil {
		return nil, f.failed("stat", name, err)
	}
	if len(list.Contents) == 0 && key != "" {
		return nil, &fs.PathError{Op: "stat", Path: f.Name(name), Err: fs.ErrNotExist}
	}
	return &info{name: path.Base(key), dir: true}, nil
}

// orMissing makes fs.ErrNotExist of a refusal, if a list says that there is no object of
// that key: to a caller who may list a prefix alone S3 refuses objects that are not there.
func (f *FS) orMissing(ctx context.Context, key string, refusal error) error {
	if statusOf(refusal) != http.StatusForbidden {
		return refusal
	}
	list, err := f.client.ListObjectsV2(ctx, &service.ListObjectsV2Input{Bucket: &f.bucket, Prefix: &key, MaxKeys: sdk.Int32(1)})
	if err != nil || len(list.Contents) > 0 && sdk.ToString(list.Contents[0].Key) == key {
		return refusal
	}
	return fs.ErrNotExist
}

// ReadDir lists a directory in the order of names.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	prefix := prefixOf(name)
	var entries []fs.DirEntry
	add := func(i *info) { entries = append(entries, fs.FileInfoToDirEntry(i)) }
	err := f.pages(f.ctx, prefix, "/", func(list *service.ListObjectsV2Output) error {
		for _, o := range list.Contents {
			if key := sdk.ToString(o.Key); key != prefix { // such are made for directories without files
				add(&info{name: path.Base(key), size: sdk.ToInt64(o.Size), changed: sdk.ToTime(o.LastModified)})
			}
		}
		for _, p := range list.CommonPrefixes {
			add(&info{name: path.Base(sdk.ToString(p.Prefix)), dir: true})
		}
		return nil
	})
	if err != nil {
		return nil, f.failed("readdir", name, err)
	}
	if len(entries) == 0 {
		return nil, &fs.PathError{Op: "readdir", Path: f.Name(name), Err: fs.ErrNotExist}
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// pages calls do with the objects whose keys begin with a prefix, some hundreds at a
// time, until it returns an error. A list of more than maxPages pages is errEndless.
func (f *FS) pages(ctx context.Context, prefix, delimiter string, do func(*service.ListObjectsV2Output) error) error {
	in := &service.ListObjectsV2Input{Bucket: &f.bucket, Prefix: &prefix}
	if delimiter != "" {
		in.Delimiter = &delimiter
	}
	p := service.NewListObjectsV2Paginator(f.client, in)
	for range maxPages {
		list, err := p.NextPage(ctx)
		if err == nil {
			err = do(list)
		}
		if err != nil || !p.HasMorePages() {
			return err
		}
	}
	return errEndless
}

// RemoveAll removes an object, or all below a directory, its store.Success first; nothing
// there is no error.
func (f *FS) RemoveAll(name string) error { return f.Remove(f.ctx, name) }

// Remove is RemoveAll with a context.
func (f *FS) Remove(ctx context.Context, name string) error {
	key := keyOf(name)
	if key == "" {
		return &fs.PathError{Op: "remove", Path: f.Name(name), Err: fs.ErrInvalid} // all of a bucket
	}
	first := []types.ObjectIdentifier{{Key: sdk.String(path.Join(key, store.Success))}, {Key: &key}}
	if err := f.removeObjects(ctx, first); err != nil {
		return f.failed("remove", name, err)
	}
	if err := f.removeBelow(ctx, prefixOf(name)); err != nil {
		return f.failed("remove", name, err)
	}
	return nil
}

// removeBelow removes all objects whose keys begin with a prefix.
func (f *FS) removeBelow(ctx context.Context, prefix string) error {
	return f.pages(ctx, prefix, "", func(list *service.ListObjectsV2Output) error {
		var objects []types.ObjectIdentifier
		for _, o := range list.Contents {
			objects = append(objects, types.ObjectIdentifier{Key: o.Key})
		}
		return f.removeObjects(ctx, objects)
	})
}

// Walk calls do with the key and the size of each object below a directory.
func (f *FS) Walk(ctx context.Context, dir string, do func(key string, size int64)) error {
	err := f.pages(ctx, prefixOf(dir), "", func(list *service.ListObjectsV2Output) error {
		for _, o := range list.Contents {
			do(sdk.ToString(o.Key), sdk.ToInt64(o.Size))
		}
		return nil
	})
	if err != nil {
		return f.failed("list", dir, err)
	}
	return nil
}

// RemoveObjects removes the objects of these keys. Before each request may
// is asked whether this process may still write there, as Claim.Held tells.
func (f *FS) RemoveObjects(ctx context.Context, keys []string, may func(context.Context) error) error {
	for some := range slices.Chunk(keys, maxRemoved) {
		if err := may(ctx); err != nil {
			return err
		}
		var objects []types.ObjectIdentifier
		for _, key := range some {
			objects = append(objects, types.ObjectIdentifier{Key: &key})
		}
		if err := f.removeObjects(ctx, objects); err != nil {
			return f.failed("remove", some[0], err)
		}
	}
	return nil
}

// removeObjects removes up to maxRemoved objects, as many as a page has.
func (f *FS) removeObjects(ctx context.Context, objects []types.ObjectIdentifier) error {
	if len(objects) == 0 {
		return nil
	}
	out, err := f.client.DeleteObjects(ctx, &service.DeleteObjectsInput{Bucket: &f.bucket, Delete: &types.Delete{Objects: objects, Quiet: sdk.Bool(true)}})
	if err != nil {
		return err
	}
	for _, e := range out.Errors {
		return fmt.Errorf("%s: %s: %s", sdk.ToString(e.Key), sdk.ToString(e.Code), sdk.ToString(e.Message))
	}
	return nil
}

// MkdirAll does nothing: a directory is there once something lies in it.
func (f *FS) MkdirAll(string) error { return nil }

// Sync does nothing: what S3 has acknowledged lasts.
func (f *FS) Sync(string) error { return nil }

// Rename is errors.ErrUnsupported: S3 could only copy.
func (f *FS) Rename(from, _ string) error { return f.unsupported("rename", from) }

// Lock is errors.ErrUnsupported; see Claim.
func (f *FS) Lock(name string) (io.Closer, error) { return nil, f.unsupported("lock", name) }

func (f *FS) unsupported(op, name string) error {
	return &fs.PathError{Op: op, Path: f.Name(name), Err: errors.ErrUnsupported}
}
