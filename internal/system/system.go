// Package system has what differs between operating systems: locks of files, shells, groups of processes, and the
// resources of a process.
package system

import (
	"errors"
	"time"
)

// ErrLocked is returned by Lock when another process has the lock.
var ErrLocked = errors.New("another process has its lock")

// The time for which WhileShared repeats a call, and the pauses between two calls.
const (
	sharedTime              = 2 * time.Second
	sharedFirst, sharedMost = time.Millisecond, 50 * time.Millisecond
)

// WhileShared calls do, which opens, renames or deletes a file or a directory. On Windows, it repeats the call for up to
// two seconds while another process, such as a virus scanner, has the file open, or one in the directory.
func WhileShared(do func() error) error {
	err := do()
	for begun, wait := time.Now(), sharedFirst; isShared(err) && time.Since(begun) < sharedTime; wait = min(2*wait, sharedMost) {
		time.Sleep(wait)
		err = do()
	}
	return err
}
