//go:build !js

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// lockWait is how long flock retries while another process has the lock: AtWork takes it
	// for a moment.
	lockWait = 100 * time.Millisecond
	lockPoll = 2 * time.Millisecond
)

// flock takes the kernel's exclusive lock on a file.
func flock(f *os.File) error {
	for begun := time.Now(); ; time.Sleep(lockPoll) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(begun) >= lockWait {
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
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() // releases the lock
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	working = errors.Is(err, syscall.EWOULDBLOCK)
	return working, working || err == nil
}
