package emr

import (
	"errors"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/treereduce/treereduce/internal/cloud/aws"
)

// passes reports whether an error may be temporary: a network error, throttling, or a fault of
// the service. Refused requests and expired credentials are permanent.
func passes(err error) bool {
	var canceled *smithy.CanceledError
	if errors.As(err, &canceled) {
		return false
	}
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusInternalServerError {
		return true
	}
	return throttled(err) || retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err).Bool()
}

// throttled reports whether a call was rejected because there were too many.
func throttled(err error) bool {
	return retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorRetryable(err).Bool()
}

// unknown reports whether a call that returned an error may have been executed: it was sent,
// and there was no answer, or one that does not mean that it was refused.
func unknown(err error) bool {
	var network *net.OpError
	unsent := errors.As(err, &network) && network.Op == "dial"
	return err != nil && passes(err) && !throttled(err) && !unsent
}

// explain converts an error of the service to one that explains it, and wraps it.
func explain(err error) error { return aws.Explain(err) }
