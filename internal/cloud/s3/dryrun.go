package s3

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/treereduce/treereduce/internal/cloud/aws"
)

// DryRun returns a configuration for an FS that calls show instead of sending requests. Every
// bucket of it exists, and is empty.
func DryRun(conf sdk.Config, show func(aws.Call) error) sdk.Config {
	return aws.DryRun(conf, show, map[string]any{
		"CompleteMultipartUpload":         &service.CompleteMultipartUploadOutput{},
		"CreateBucket":                    &service.CreateBucketOutput{},
		"CreateMultipartUpload":           &service.CreateMultipartUploadOutput{UploadId: sdk.String("DRYRUN")},
		"HeadBucket":                      &service.HeadBucketOutput{},
		"HeadObject":                      &types.NotFound{},
		"ListObjectsV2":                   &service.ListObjectsV2Output{},
		"PutBucketLifecycleConfiguration": &service.PutBucketLifecycleConfigurationOutput{},
		"PutObject":                       &service.PutObjectOutput{},
		"UploadPart":                      &service.UploadPartOutput{},
	})
}
