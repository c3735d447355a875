// Package system has what differs between operating systems: locks of files, shells, groups of processes, and the
// resources of a process.
package system

import "errors"

// ErrLocked is returned by Lock when another process has the lock.
var ErrLocked = errors.New("another process has its lock")
