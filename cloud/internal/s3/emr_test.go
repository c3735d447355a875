//go:build emr

package s3

import (
	"errors"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestMoto checks that a real server passes the same tests as the fake, also with a bucket
// whose objects are encrypted with a KMS key: their ETags are not MD5 sums.
func TestMoto(t *testing.T) {
	server := s3test.Start(t)
	s3test.Use(t, server.Env())
	conf, err := aws.Load(t.Context(), aws.Options{})
	must.OK(t, err)
	kms := &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{{
		ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAwsKms, KMSMasterKeyID: sdk.String("alias/own")},
		BucketKeyEnabled:                   sdk.Bool(true),
	}}}
	for kind, encryption := range map[string]*types.ServerSideEncryptionConfiguration{"plain": nil, "kms": kms} {
		for name, test := range all {
			t.Run(kind+"/"+name, func(t *testing.T) {
				must.OK(t, MakeBucket(t.Context(), conf, "bucket", "logs"))
				f, err := New(t.Context(), conf, "bucket")
				must.OK(t, err)
				if encryption != nil {
					if _, err := f.client.PutBucketEncryption(t.Context(), &service.PutBucketEncryptionInput{Bucket: &f.bucket, ServerSideEncryptionConfiguration: encryption}); err != nil {
						t.Fatal(err)
					}
					must.OK(t, f.Put(t.Context(), "x", strings.NewReader("x"), 1))
					head, err := f.client.HeadObject(t.Context(), &service.HeadObjectInput{Bucket: &f.bucket, Key: sdk.String("x")})
					if err != nil || head.ServerSideEncryption != types.ServerSideEncryptionAwsKms {
						t.Fatalf("an object that is not encrypted: %+v, %v", head, err)
					}
					must.OK(t, f.RemoveAll("x"))
				}
				test(t, f)
				if err := f.removeBelow(t.Context(), ""); errors.Is(known(err), ErrNoBucket) {
					return
				} else if err != nil {
					t.Fatal(err)
				}
				must.OK(t, f.RemoveBucket(t.Context()))
			})
		}
	}
}
