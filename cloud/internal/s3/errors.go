package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/treereduce/treereduce/cloud/internal/aws"
)

// ErrNoBucket is the error for a bucket that does not exist.
var ErrNoBucket = errors.New("no such bucket")

// ErrChanged is the error for an open object that has been replaced.
var ErrChanged = errors.New("it was replaced while it was read")

// codes maps error codes to errors of io/fs or of this package. The answer to a HEAD request
// has no body: its code is NotFound for a missing object and for a missing bucket.
var codes = map[string]error{
	"NoSuchKey":                  fs.ErrNotExist,
	"NotFound":                   fs.ErrNotExist,
	"NoSuchBucket":               ErrNoBucket,
	"PreconditionFailed":         ErrTaken,
	"ConditionalRequestConflict": ErrTaken,
}

// known returns the error in codes for an error of S3, or nil if there is none.
func known(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	var answer smithy.APIError
	if errors.As(err, &answer) {
		if is := codes[answer.ErrorCode()]; is != nil {
			return is
		}
	}
	if statusOf(err) == http.StatusPreconditionFailed {
		return ErrTaken
	}
	return nil
}

// statusOf returns the HTTP status of S3's answer, or 0 if there was none.
func statusOf(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// failed converts an error of an operation on a path to the error of this package; nil stays nil.
func (f *FS) failed(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if is := known(err); is != nil {
		err = is
	} else {
		err = aws.Explain(err)
	}
	if errors.Is(err, ErrNoBucket) {
		return fmt.Errorf("%s%s: %w", Scheme, f.bucket, err)
	}
	return &fs.PathError{Op: op, Path: f.Name(name), Err: err}
}
