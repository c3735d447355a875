package hadoop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

// TestWriteFailure checks that the error of a failed write names the file once.
func TestWriteFailure(t *testing.T) {
	w := &writer{name: "/x"}
	for _, err := range []error{errLastBytes, &fs.PathError{Op: "create", Path: "/x", Err: errLastBytes}} {
		if got := w.failure(err).Error(); got != "write /x: "+errLastBytes.Error() {
			t.Errorf("got %q", got)
		}
	}
}

// A javaError is an error in the form of the client.
type javaError struct{ exception, message string }

func (e *javaError) Method() string    { return "create" }
func (e *javaError) Desc() string      { return "ERROR_APPLICATION" }
func (e *javaError) Exception() string { return e.exception }
func (e *javaError) Message() string   { return e.message }
func (e *javaError) Error() string     { return "create call failed with ERROR_APPLICATION" }

func TestPlain(t *testing.T) {
	const trace = "\n\tat org.apache.hadoop.hdfs.server.namenode.FSNamesystem.startFile(FSNamesystem.java:2735)\n"
	for _, test := range []struct {
		err  error
		line string
		is   error
	}{
		{nil, "", nil},
		{fs.ErrNotExist, "file does not exist", fs.ErrNotExist},
		{&fs.PathError{Op: "create", Path: "/x", Err: &javaError{"org.apache.hadoop.hdfs.protocol.DSQuotaExceededException",
			"The DiskSpace quota of /x is exceeded: quota = 1048576 B = 1 MB" + trace}},
			"create /x: The DiskSpace quota of /x is exceeded: quota = 1048576 B = 1 MB", nil},
		{&fs.PathError{Op: "remove", Path: "/x", Err: &javaError{"org.apache.hadoop.security.AccessControlException",
			"org.apache.hadoop.security.AccessControlException: Permission denied: user=nobody" + trace}},
			"remove /x: Permission denied: user=nobody", fs.ErrPermission},
		{&javaError{"java.io.FileNotFoundException", "File does not exist: /x" + trace}, "File does not exist: /x", fs.ErrNotExist},
		{&javaError{"java.lang.NullPointerException", ""}, "java.lang.NullPointerException", nil},
		{fmt.Errorf("write failed: ERROR (no space left%s)", trace), "write failed: ERROR (no space left", nil},
	} {
		got := plain(test.err)
		if test.err == nil {
			if got != nil {
				t.Errorf("no error became %v", got)
			}
			continue
		}
		if got.Error() != test.line {
			t.Errorf("got %q, want %q", got, test.line)
		}
		if !errors.Is(got, test.err) {
			t.Errorf("%v: what it was is lost", got)
		}
		for _, known := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrExist} {
			if is := errors.Is(got, known); is != (known == test.is) {
				t.Errorf("%v is %v: %v", got, known, is)
			}
		}
	}
}

// TestUntilReplicated closes a file whose last block becomes known to the name node late, or
// never.
func TestUntilReplicated(t *testing.T) {
	replicating := &os.PathError{Op: "create", Path: "/x", Err: hdfs.ErrReplicating}
	for _, test := range []struct {
		after, most time.Duration
		replicated  bool
	}{
		{0, 0, true},
		{3 * time.Millisecond, 3 * time.Millisecond, true},
		{closeWait / 2, closeWait/2 + closeMost, true},
		{time.Hour, closeWait + closeMost, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, l := time.Now(), &newFS(nil, "").limits
			err := l.untilReady(closeWait, hdfs.IsErrReplicating, func() error {
				if time.Since(begun) < test.after {
					return replicating
				}
				return nil
			})
			if took := time.Since(begun); (err == nil) != test.replicated || took < min(test.after, closeWait) || took > test.most {
				t.Errorf("after %v: %v, in %v", test.after, err, took)
			}
		})
	}
	broken := errors.New("no name node")
	if err := newFS(nil, "").limits.untilReady(closeWait, hdfs.IsErrReplicating, func() error { return broken }); err != broken {
		t.Errorf("another error: %v", err)
	}
}
