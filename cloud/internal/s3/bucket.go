package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/treereduce/treereduce/cloud/internal/aws"
)

// HomeRegion is the region for whose buckets S3 reports no location.
const HomeRegion = "us-east-1"

const (
	// AbortDays is the number of days after which a new bucket aborts incomplete uploads,
	// which killed processes leave behind.
	AbortDays = 7
	// LogDays is the number of days after which a new bucket deletes logs.
	LogDays = 30
)

// MakeBucket creates a bucket in the region of the configuration. Only its owner can read it,
// which is the default of S3. The bucket gets rules that abort incomplete uploads after
// AbortDays, and delete objects below the directory logs after LogDays.
func MakeBucket(ctx context.Context, conf sdk.Config, bucket, logs string) error {
	client := newClient(conf)
	in := &service.CreateBucketInput{Bucket: &bucket}
	if conf.Region != HomeRegion {
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(conf.Region)}
	}
	if _, err := client.CreateBucket(ctx, in); err != nil {
		return fmt.Errorf("%s%s: %w", Scheme, bucket, aws.Explain(err))
	}
	rule := func(name, prefix string) types.LifecycleRule {
		return types.LifecycleRule{ID: sdk.String("treereduce-" + name), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: &prefix}}
	}
	uploads, old := rule("uploads", ""), rule("logs", prefixOf(logs))
	uploads.AbortIncompleteMultipartUpload = &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: sdk.Int32(AbortDays)}
	old.Expiration = &types.LifecycleExpiration{Days: sdk.Int32(LogDays)}
	_, err := client.PutBucketLifecycleConfiguration(ctx, &service.PutBucketLifecycleConfigurationInput{
		Bucket: &bucket, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{uploads, old}},
	})
	if err != nil {
		return fmt.Errorf("%s%s was created, but has no rules for abandoned uploads and old logs: %w", Scheme, bucket, aws.Explain(err))
	}
	return nil
}

// RemoveBucket deletes an empty bucket. S3 refuses to delete one with objects.
func (f *FS) RemoveBucket(ctx context.Context) error {
	if _, err := f.client.DeleteBucket(ctx, &service.DeleteBucketInput{Bucket: &f.bucket}); err != nil {
		return fmt.Errorf("%s%s: %w", Scheme, f.bucket, aws.Explain(err))
	}
	return nil
}

// RemoveUploads aborts the multipart uploads below a directory for those keys for which ours
// returns true. A killed process leaves such uploads: they are not in lists of objects, but
// cost money. No other process may be writing these keys.
func (f *FS) RemoveUploads(ctx context.Context, dir string, ours func(key string) bool) error {
	prefix := prefixOf(dir)
	in := &service.ListMultipartUploadsInput{Bucket: &f.bucket, Prefix: &prefix}
	err := aws.Pages(ctx, service.NewListMultipartUploadsPaginator(f.client, in), func(list *service.ListMultipartUploadsOutput) error {
		for _, u := range list.Uploads {
			if !ours(sdk.ToString(u.Key)) {
				continue
			}
			_, err := f.client.AbortMultipartUpload(ctx, &service.AbortMultipartUploadInput{Bucket: &f.bucket, Key: u.Key, UploadId: u.UploadId})
			if err != nil && !errors.Is(known(err), fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	return f.failed("remove", dir, err)
}
