// Package s3 reads the objects of a bucket of Amazon S3, or of another server with its protocol, as a file
// system. Two methods write: Put creates an object of a cluster, and Replace writes the owner of a run, if no
// other process was first. The package knows nothing of games or jobs.
//
// S3 has no directories: one exists as long as an object is below it.
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
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// FS is a bucket. It implements store.FS for reading. Names are keys of objects, with or without a leading
// slash. FS is safe for concurrent use.
type FS struct {
	ctx    context.Context // for all requests
	client *service.Client
	bucket string
	region string
}

var _ store.FS = (*FS)(nil)

// The methods of store.FS that change files return errors.ErrUnsupported.

func (f *FS) Create(name string) (io.WriteCloser, error) { return nil, f.readOnly("create", name) }
func (f *FS) Rename(from, _ string) error                { return f.readOnly("rename", from) }
func (f *FS) RemoveAll(name string) error                { return f.readOnly("remove", name) }
func (f *FS) MkdirAll(name string) error                 { return f.readOnly("mkdir", name) }
func (f *FS) Sync(name string) error                     { return f.readOnly("sync", name) }
func (f *FS) Lock(name string) (io.Closer, error)        { return nil, f.readOnly("lock", name) }

func (f *FS) readOnly(op, name string) error {
	return &fs.PathError{Op: op, Path: f.Name(name), Err: fmt.Errorf("%w: this program only reads in S3", errors.ErrUnsupported)}
}

// Dial returns the bucket that a name refers to (see Scheme), and the path within it. It uses
// the credentials of the environment. All requests of the FS end with ctx.
func Dial(ctx context.Context, name string) (f *FS, dir string, err error) {
	bucket, dir, err := Split(name)
	if err != nil {
		return nil, "", err
	}
	conf, err := aws.Load(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	f, err = New(ctx, conf, bucket)
	return f, dir, err
}

// New returns the bucket with the given name. If the bucket is in another region than that of
// the configuration, New finds out its region. It returns an error if the bucket does not
// exist.
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
	switch {
	case err == nil, statusOf(err) == http.StatusForbidden: // a caller who may list only a prefix may not send HeadBucket
		return f, nil
	case errors.Is(known(err), fs.ErrNotExist):
		err = ErrNoBucket
	case statusOf(err) == http.StatusMovedPermanently || statusOf(err) == http.StatusBadRequest:
		err = fmt.Errorf("not found from region %s: set AWS_REGION to the region of the bucket", conf.Region)
	default:
		err = aws.Explain(err)
	}
	return nil, fmt.Errorf("%s%s: %w", Scheme, bucket, err)
}

// newClient returns a client. With an endpoint other than Amazon's, the bucket is part of the
// path, not of the host name.
func newClient(conf sdk.Config) *service.Client {
	return service.NewFromConfig(conf, func(o *service.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
	})
}

// regionOf returns the region of a bucket, if it is in the headers of an error.
func regionOf(err error) string {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		return response.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}

// Region returns the region of the bucket.
func (f *FS) Region() string { return f.region }

// Name returns the full name of a path: s3://bucket/path.
func (f *FS) Name(name string) string { return Scheme + f.bucket + "/" + keyOf(name) }

// info is the fs.FileInfo of an object or a directory.
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

// Stat returns the FileInfo of an object or a directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	key := keyOf(name)
	if key != "" {
		head, err := f.client.HeadObject(f.ctx, &service.HeadObjectInput{Bucket: &f.bucket, Key: &key})
		err = f.orMissing(key, err)
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

// orMissing returns fs.ErrNotExist instead of a 403 if the list of objects does not contain
// the key. For a missing object, S3 answers 403 if the caller may not list the complete
// bucket.
func (f *FS) orMissing(key string, refusal error) error {
	if statusOf(refusal) != http.StatusForbidden {
		return refusal
	}
	list, err := f.client.ListObjectsV2(f.ctx, &service.ListObjectsV2Input{Bucket: &f.bucket, Prefix: &key, MaxKeys: sdk.Int32(1)})
	if err != nil || len(list.Contents) > 0 && sdk.ToString(list.Contents[0].Key) == key {
		return refusal
	}
	return fs.ErrNotExist
}

// ReadDir returns the entries of a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	prefix := prefixOf(name)
	var entries []fs.DirEntry
	add := func(i *info) { entries = append(entries, fs.FileInfoToDirEntry(i)) }
	list := service.NewListObjectsV2Paginator(f.client, &service.ListObjectsV2Input{Bucket: &f.bucket, Prefix: &prefix, Delimiter: sdk.String("/")})
	for list.HasMorePages() {
		page, err := list.NextPage(f.ctx)
		if err != nil {
			return nil, f.failed("readdir", name, err)
		}
		for _, o := range page.Contents {
			if key := sdk.ToString(o.Key); key != prefix { // some tools create such an object for an empty directory
				add(&info{name: path.Base(key), size: sdk.ToInt64(o.Size), changed: sdk.ToTime(o.LastModified)})
			}
		}
		for _, p := range page.CommonPrefixes {
			add(&info{name: path.Base(sdk.ToString(p.Prefix)), dir: true})
		}
	}
	if len(entries) == 0 {
		return nil, &fs.PathError{Op: "readdir", Path: f.Name(name), Err: fs.ErrNotExist}
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}
