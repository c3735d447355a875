package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/treereduce/treereduce/internal/aws"
)

// HomeRegion is the region whose buckets have no location.
const HomeRegion = "us-east-1"

// MakeBucket makes a bucket in the region of a configuration. Nobody but its owner can
// read it, as S3 has it by default.
func MakeBucket(ctx context.Context, conf sdk.Config, bucket string) error {
	in := &service.CreateBucketInput{Bucket: &bucket}
	if conf.Region != HomeRegion {
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(conf.Region)}
	}
	if _, err := newClient(conf).CreateBucket(ctx, in); err != nil {
		return fmt.Errorf("%s%s: %w", Scheme, bucket, aws.Explain(err))
	}
	return nil
}

// RemoveBucket removes a bucket with all that is in it.
func (f *FS) RemoveBucket(ctx context.Context) error {
	if err := f.removeBelow(ctx, ""); err != nil {
		return f.failed("remove", "", err)
	}
	if err := f.RemoveUploads(ctx, ""); err != nil {
		return err
	}
	if _, err := f.client.DeleteBucket(ctx, &service.DeleteBucketInput{Bucket: &f.bucket}); err != nil {
		return fmt.Errorf("%s%s: %w", Scheme, f.bucket, aws.Explain(err))
	}
	return nil
}

// RemoveUploads takes back the parts of objects below a directory that were never put
// together: of a process that was killed. They are in no list of objects, but cost until
// somebody does. Nobody may be writing there.
func (f *FS) RemoveUploads(ctx context.Context, dir string) error {
	prefix := prefixOf(dir)
	in := &service.ListMultipartUploadsInput{Bucket: &f.bucket, Prefix: &prefix}
	p := service.NewListMultipartUploadsPaginator(f.client, in)
	for range maxPages {
		list, err := p.NextPage(ctx)
		if err != nil {
			return f.failed("remove", dir, err)
		}
		for _, u := range list.Uploads {
			_, err := f.client.AbortMultipartUpload(ctx, &service.AbortMultipartUploadInput{Bucket: &f.bucket, Key: u.Key, UploadId: u.UploadId})
			if err != nil && !errors.Is(known(err), fs.ErrNotExist) {
				return f.failed("remove", sdk.ToString(u.Key), err)
			}
		}
		if !p.HasMorePages() {
			return nil
		}
	}
	return f.failed("remove", dir, errEndless)
}
