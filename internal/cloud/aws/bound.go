package aws

import (
	"context"
	"fmt"
	"io"
	"net/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// maxAnswer bounds the body of an answer. The longest one, a page of a thousand keys in S3,
// has a few megabytes.
const maxAnswer = 16 << 20

// streamed is the operation whose body the caller reads as a stream.
const streamed = "GetObject"

// bound limits the bodies of answers. The SDK reads errors, and some answers, into memory to
// the end, and the server decides how long they are.
func bound(stack *middleware.Stack) error {
	read := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, meta, err := next.HandleDeserialize(ctx, in)
		answer, ok := out.RawResponse.(*smithyhttp.Response)
		if ok && answer.Body != nil && (answer.StatusCode >= http.StatusMultipleChoices || awsmiddleware.GetOperationName(ctx) != streamed) {
			answer.Body = &boundedBody{ReadCloser: answer.Body, left: maxAnswer}
		}
		return out, meta, err
	}
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("BoundAnswer", read), middleware.After)
}

// A boundedBody fails after maxAnswer bytes.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
