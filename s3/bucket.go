package s3

import (
	"context"
	"fmt"

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
	entries, err := f.ReadDir("")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := f.Remove(ctx, e.Name()); err != nil {
			return err
		}
	}
	if _, err := f.client.DeleteBucket(ctx, &service.DeleteBucketInput{Bucket: &f.bucket}); err != nil {
		return fmt.Errorf("%s%s: %w", Scheme, f.bucket, aws.Explain(err))
	}
	return nil
}
