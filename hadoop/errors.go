package hadoop

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/colinmarc/hdfs/v2"
)

// exceptions maps Java exceptions to errors of io/fs. The client does so too, but not
// everywhere.
var exceptions = map[string]error{
	"java.io.FileNotFoundException":                                fs.ErrNotExist,
	"org.apache.hadoop.security.AccessControlException":            fs.ErrPermission,
	"org.apache.hadoop.fs.FileAlreadyExistsException":              fs.ErrExist,
	"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException": fs.ErrExist,
}

// An answerError is the error that a node returned, without Java's stack trace.
type answerError struct {
	line string
	is   []error // the client's error, and the equivalent error of io/fs if there is one
}

func (e *answerError) Error() string   { return e.line }
func (e *answerError) Unwrap() []error { return e.is }

// plain converts an error of the client to one of a single line, with the node's message. It
// wraps the equivalent error of io/fs, if there is one.
func plain(err error) error {
	var remote hdfs.Error
	if !errors.As(err, &remote) {
		if err == nil || !strings.Contains(err.Error(), "\n") {
			return err
		}
		return &answerError{firstLine(err.Error()), []error{err}}
	}
	answer := &answerError{is: []error{err}}
	if known := exceptions[remote.Exception()]; known != nil {
		answer.is = append(answer.is, known)
	}
	if answer.line = firstLine(strings.TrimPrefix(remote.Message(), remote.Exception()+": ")); answer.line == "" {
		answer.line = remote.Exception()
	}
	var place *fs.PathError
	if errors.As(err, &place) {
		return &fs.PathError{Op: place.Op, Path: place.Path, Err: answer}
	}
	return answer
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// answerLost reports whether an error means that the connection broke before the answer came, or that
// no answer came in time. The call may have been carried out.
func answerLost(err error) bool {
	return isSilent(err) || isOneOf(err, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE)
}

// isOneOf reports whether an error is one of these.
func isOneOf(err error, all ...error) bool {
	return slices.ContainsFunc(all, func(one error) bool { return errors.Is(err, one) })
}

// refusedByServer reports whether an error is an answer of a name node, rather than a failed
// connection.
func refusedByServer(err error) bool {
	var remote hdfs.Error
	return errors.As(err, &remote) ||
		isOneOf(err, fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, fs.ErrInvalid, syscall.ENOTEMPTY)
}
