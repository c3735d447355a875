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
	// lockWait is how long a lock that another holds is tried for: whoever asks
	// AtWork has it for a moment.
	lockWait = 100 * time.Millisecond
	lockPoll = 2 * time.Millisecond
)

// flock takes the kernel's lock on a file, for itself alone.
func flock(f *os.File) error {
	for begun := time.Now(); ; time.Sleep(lockPoll) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(begun) >= lockWait {
			return err
		}
	}
}

// AtWork reports whether a process is at work in a data directory. It leaves
// nothing there, and no driver is refused that begins meanwhile. known is false
// where nobody can be asked: in HDFS, whose leases a reader is not told of.
func AtWork(fsys FS, path string) (working, known bool) {
	if _, ok := fsys.(Local); !ok {
		return false, false
	}
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() // and so gives the lock up
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	working = errors.Is(err, syscall.EWOULDBLOCK)
	return working, working || err == nil
}
