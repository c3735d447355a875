//go:build !js

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/internal/system"
)

const (
	// lockWait is how long flock retries while another process has the exclusive lock: a process that is just being
	// started has the open files of its parent for a moment. lookWait is how long it retries while others have shared
	// locks: AtWork takes one for a moment.
	lockWait = time.Second
	lookWait = 10 * time.Second
	lockPoll = 2 * time.Millisecond
)

// flock takes the kernel's exclusive lock on a file. While another process has that lock, the error is
// system.ErrLocked.
func flock(f *os.File) error {
	for begun := time.Now(); ; time.Sleep(lockPoll) {
		err := system.Lock(f, false)
		if !errors.Is(err, system.ErrLocked) {
			return err
		}
		wait := lookWait
		if locked, known := isLocked(f.Name()); locked || !known {
			wait = lockWait
		}
		if time.Since(begun) >= wait {
			return err
		}
	}
}

// AtWork reports whether a process works in a data directory. It leaves nothing there, and no
// driver that starts meanwhile is refused. If known is false, it cannot be determined: readers
// in HDFS cannot see the leases.
func AtWork(fsys FS, path string) (working, known bool) {
	if _, ok := fsys.(Local); !ok {
		return false, false
	}
	return isLocked(filepath.Join(path, LockFile))
}

// isLocked reports whether a process has the exclusive lock on a file, if that can be determined.
func isLocked(name string) (locked, known bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() // releases the lock
	err = system.Lock(f, true)
	locked = errors.Is(err, system.ErrLocked)
	return locked, locked || err == nil
}
