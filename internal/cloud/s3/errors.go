package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/treereduce/treereduce/internal/cloud/aws"
)

// ErrNoBucket is of a bucket that is not there.
var ErrNoBucket = errors.New("there is no such bucket")

// ErrChanged is of an object that is not the one any more which was opened.
var ErrChanged = errors.New("it was replaced while it was read")

// errTaken is of an object that another has made, or replaced, first.
var errTaken = errors.New("another was first")

// errEndless is returned for a list that does not end after maxPages pages.
var errEndless = fmt.Errorf("the list has more than %d pages", maxPages)

// codes are those of errors that have words in io/fs, or here. HEAD, whose answer has no
// body, has NotFound for an object and a bucket alike.
var codes = map[string]error{
	"NoSuchKey":                  fs.ErrNotExist,
	"NotFound":                   fs.ErrNotExist,
	"NoSuchUpload":               fs.ErrNotExist,
	"NoSuchBucket":               ErrNoBucket,
	"PreconditionFailed":         errTaken,
	"ConditionalRequestConflict": errTaken,
}

// known is the error of a code that S3 answered; nil: it has none.
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
		return errTaken
	}
	return nil
}

// statusOf is the status that S3 answered; 0: it did not.
func statusOf(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// failed is an error of an operation on a path in io/fs's words.
func (f *FS) failed(op, name string, err error) error {
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
