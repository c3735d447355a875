package emr

import (
	"errors"
	"net"

	"github.com/treereduce/treereduce/internal/cloud/aws"
)

// unknown reports whether a call that returned an error may have been executed: it was sent,
// and there was no answer, or one that does not mean that it was refused.
func unknown(err error) bool {
	var network *net.OpError
	unsent := errors.As(err, &network) && network.Op == "dial"
	return err != nil && aws.IsTransient(err) && !aws.IsThrottled(err) && !unsent
}

// explain converts an error of the service to one that explains it, and wraps it.
func explain(err error) error { return aws.Explain(err) }
