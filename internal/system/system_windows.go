package system

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Lock takes the lock of a file, shared or exclusive, or returns ErrLocked. The lock is released when the file is
// closed, or its process ends.
func Lock(f *os.File, shared bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY | windows.LOCKFILE_EXCLUSIVE_LOCK)
	if shared {
		how = windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	// A locked byte can neither be read nor written by others: take one far behind the content.
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// Shell returns a command of cmd.exe with words after it.
func Shell(command string, words ...string) *exec.Cmd {
	cmd := exec.Command("cmd.exe")
	for _, word := range words {
		command += ` "` + strings.ReplaceAll(word, `"`, `\"`) + `"`
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + command + `"`}
	return cmd
}

// start starts a command in a process group and a job of its own, and returns what kills the job. The processes of the
// job end when this process does.
func start(cmd *exec.Cmd) (kill func() error, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	job, err := jobOf(cmd.Process)
	if err != nil {
		return cmd.Process.Kill, nil
	}
	return func() error { return errors.Join(windows.TerminateJobObject(job, 1), windows.CloseHandle(job)) }, nil
}

// jobOf returns a new job with a process that has just been started.
func jobOf(p *os.Process) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		var handle windows.Handle
		if handle, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)); err == nil {
			err = windows.AssignProcessToJobObject(job, handle)
			windows.CloseHandle(handle)
		}
	}
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// CPU returns the CPU time that this process has used, 0 if it is unknown.
func CPU() time.Duration {
	var begun, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &begun, &ended, &kernel, &user); err != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 + int64(t.LowDateTime) }
	return 100 * time.Duration(ticks(kernel)+ticks(user))
}

// MostFiles returns 1<<31: there is no limit of the number of files that a process may open.
func MostFiles() int64 { return 1 << 31 }

// FreeBytes returns the free bytes on the disk of a directory.
func FreeBytes(dir string) (float64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return float64(free), err
}

// EnableEscapes makes a console, if the file is one, obey escape sequences.
func EnableEscapes(f *os.File) {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil {
		windows.SetConsoleMode(windows.Handle(f.Fd()), mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // older ones cannot
	}
}

// ErrDiskFull is the error of a write for which the disk has no space.
const ErrDiskFull = windows.ERROR_DISK_FULL

// CanSuspend reports that no shell continues a process after Ctrl-Z.
func CanSuspend() bool { return false }

// isShared reports whether an error may mean that another process has a file open. Windows denies the access to a
// directory with such a file, and to a file that is deleted once it is closed.
func isShared(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_DIR_NOT_EMPTY)
}
