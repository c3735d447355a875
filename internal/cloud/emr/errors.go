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

// passes reports whether an error may be gone at the next try: the network, throttling,
// a fault within the service. What the service refuses, and credentials that have
// expired, stay.
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

// throttled reports whether there were too many calls.
func throttled(err error) bool {
	return retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorRetryable(err).Bool()
}

// unknown reports whether a call may have been done although it returned an error: it was
// sent, and no answer came, or one that does not say that it was refused.
func unknown(err error) bool {
	var network *net.OpError
	unsent := errors.As(err, &network) && network.Op == "dial"
	return err != nil && passes(err) && !throttled(err) && !unsent
}

// explain says what an error of the service means, and keeps what it was.
func explain(err error) error { return aws.Explain(err) }
