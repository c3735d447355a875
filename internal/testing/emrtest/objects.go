package emrtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// objects gives access to the objects of the S3 server.
type objects struct{ client *s3.Client }

func newObjects(endpoint string) *objects {
	return &objects{s3.New(s3.Options{
		BaseEndpoint: aws.String(endpoint), UsePathStyle: true, Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "testing", SecretAccessKey: "testing"}, nil
		}),
	})}
}

// scheme is the beginning of an object's name.
const scheme = "s3://"

// cut splits the name of an object, s3://bucket/key.
func cut(uri string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(uri, scheme)
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fmt.Errorf("%s: not the name of an object in S3", uri)
	}
	return bucket, key, nil
}

// get writes the content of an object to w.
func (o *objects) get(ctx context.Context, uri string, w io.Writer) error {
	bucket, key, err := cut(uri)
	if err != nil {
		return err
	}
	out, err := o.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return fmt.Errorf("%s: %w", uri, err)
	}
	defer out.Body.Close()
	if _, err := io.Copy(w, out.Body); err != nil {
		return fmt.Errorf("%s: %w", uri, err)
	}
	return nil
}

// download copies an object to a local file.
func (o *objects) download(ctx context.Context, uri, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o777)
	if err != nil {
		return err
	}
	if err := o.get(ctx, uri, f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// put stores an object.
func (o *objects) put(ctx context.Context, uri string, content []byte) error {
	bucket, key, err := cut(uri)
	if err != nil {
		return err
	}
	if _, err := o.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(content)}); err != nil {
		return fmt.Errorf("%s: %w", uri, err)
	}
	return nil
}
