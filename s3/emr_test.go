//go:build emr

package s3

import (
	"errors"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	service "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/treereduce/treereduce/internal/aws"
	"github.com/treereduce/treereduce/internal/s3test"
)

// A real server passes the same tests as the fake.
func TestMoto(t *testing.T) {
	server := s3test.Start(t)
	setenv(t, server.Env())
	conf, err := aws.Load(t.Context(), aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			client := newClient(conf)
			if _, err := client.CreateBucket(t.Context(), &service.CreateBucketInput{Bucket: sdk.String("bucket")}); err != nil {
				t.Fatal(err)
			}
			f, err := New(t.Context(), conf, "bucket")
			if err != nil {
				t.Fatal(err)
			}
			test(t, f)
			if err := f.removeBelow(t.Context(), ""); errors.Is(known(err), ErrNoBucket) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if err := f.RemoveBucket(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
