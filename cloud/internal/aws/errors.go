package aws

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// An Error describes an error of a service, or why it did not answer, in one line: the
// operation, the code and message of the service, and advice. It unwraps to the SDK's error.
type Error struct {
	Operation string // "S3 GetObject"; "" if there was no operation yet
	Code      string // code of the service; "" if it did not answer
	Message   string
	Help      string // what to do; "" if that is not known
	err       error
}

func (e *Error) Error() string {
	text := strings.Join(slices.DeleteFunc([]string{e.Operation, e.Code, e.Message}, func(part string) bool { return part == "" }), ": ")
	if e.Help != "" {
		text += " (" + e.Help + ")"
	}
	return text
}

// Unwrap returns the SDK's error.
func (e *Error) Unwrap() error { return e.err }

// Is reports whether target is fs.ErrPermission and the service has denied access.
func (e *Error) Is(target error) bool {
	return target == fs.ErrPermission && slices.Contains(denied, e.Code)
}

// Error codes; services use several for the same error. The answer to a HEAD request has no
// body, so the SDK makes the code from the status.
var (
	denied  = []string{"AccessDenied", "AccessDeniedException", "Forbidden", "UnauthorizedOperation"}
	expired = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
)

// renew describes how to renew credentials.
const renew = "aws sso login renews those of single sign-on; request others again, including AWS_SESSION_TOKEN"

// Explain converts an error of the SDK to an *Error. It returns nil and other errors
// unchanged.
func Explain(err error) error {
	var described *Error
	if err == nil || errors.As(err, &described) {
		return err
	}
	e := &Error{err: err}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		e.Operation = operation.ServiceID + " " + operation.OperationName
	}
	var answer smithy.APIError
	if errors.As(err, &answer) {
		e.Code, e.Message, e.Help = answer.ErrorCode(), firstLine(answer.ErrorMessage()), helpOf(answer.ErrorCode())
		if e.Message == e.Code {
			e.Message = ""
		}
		return e
	}
	var noAddress *net.DNSError
	var noConnection *net.OpError
	switch {
	case errors.As(err, new(*awshttp.ResponseTimeoutError)):
		e.Message, e.Help = "the server is silent", "check the network and AWS_ENDPOINT_URL"
	case errors.As(err, new(*ssocreds.InvalidTokenError)):
		e.Message, e.Help = "the session of single sign-on has expired", "aws sso login starts a new one"
	case errors.As(err, &noAddress):
		e.Message, e.Help = noAddress.Error(), "check the region and AWS_ENDPOINT_URL"
	case errors.As(err, &noConnection):
		e.Message = noConnection.Error()
	case operation != nil:
		e.Message = firstLine(operation.Err.Error())
	default:
		return err
	}
	return e
}

// IsTransient reports whether an error may be temporary: there was no complete answer, there were too
// many requests, or the service failed. Refused requests and expired credentials are permanent.
func IsTransient(err error) bool {
	if errors.As(err, new(*smithy.CanceledError)) || errors.Is(err, context.Canceled) {
		return false
	}
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError || errors.As(err, new(*smithy.DeserializationError)) ||
		retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorRetryable(err).Bool() || retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err).Bool()
}

// helpOf returns the advice for a code of a service.
func helpOf(code string) string {
	_, throttled := retry.DefaultThrottleErrorCodes[code]
	switch {
	case throttled:
		return "too many requests, even after retries"
	case slices.Contains(expired, code):
		return "the credentials have expired: " + renew
	case slices.Contains(denied, code):
		return "aws sts get-caller-identity shows the identity, whose policy must allow it"
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
