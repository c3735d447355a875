//go:build unix

package system

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lock takes the lock of a file, shared or exclusive, or returns ErrLocked. The lock is released when the file is
// closed, or its process ends.
func Lock(f *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Shell returns a command of the shell with words after it.
func Shell(command string, words ...string) *exec.Cmd {
	if len(words) > 0 {
		command += ` "$@"`
		words = append([]string{"sh"}, words...)
	}
	return exec.Command("sh", append([]string{"-c", command}, words...)...)
}

// start starts a command in a process group of its own, and returns what kills the group.
func start(cmd *exec.Cmd) (kill func() error, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	guard, err := guarded(cmd)
	if err != nil {
		return nil, err
	}
	return func() error {
		defer guard.Close()
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}, nil
}

// CPU returns the CPU time that this process has used, 0 if it is unknown.
func CPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// MostFiles returns the number of files that this process may open, at most 1<<31.
func MostFiles() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1 << 31 // assume that there is no limit
	}
	return int64(min(limit.Cur, 1<<31))
}

// FreeBytes returns the free bytes on the disk of a directory.
func FreeBytes(dir string) (float64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return float64(s.Bavail) * float64(s.Bsize), err
}

// EnableEscapes does nothing: terminals obey escape sequences.
func EnableEscapes(*os.File) {}

// ErrDiskFull is the error of a write for which the disk has no space.
const ErrDiskFull = syscall.ENOSPC

// CanSuspend reports whether a shell would continue this process after Ctrl-Z: not if it leads its session.
func CanSuspend() bool {
	sid, err := unix.Getsid(0)
	return err == nil && sid != os.Getpid()
}

// isShared reports that an open file can be renamed and deleted.
func isShared(error) bool { return false }
