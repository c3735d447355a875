// Package store keeps the files of a run: the data directory with its manifest
// and its lock, the directories of the jobs with their parts and _SUCCESS, and
// the attempts that become one of them only when they are whole. It knows
// nothing of games, and of records nothing but the names of their files.
package store

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// An FS is what the store wants of a file system. Its errors are those of
// package io/fs.
type FS interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Create makes a file, or replaces one that is there.
	Create(name string) (io.WriteCloser, error)
	// ReadDir lists a directory in the order of names.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat describes a file or a directory.
	Stat(name string) (fs.FileInfo, error)
	// Rename moves a file or a directory. It replaces a file, not a directory.
	Rename(from, to string) error
	// RemoveAll removes a file, or a directory with all in it; what is not there
	// is no error.
	RemoveAll(name string) error
	// MkdirAll makes a directory and those above it, where they are not there.
	MkdirAll(name string) error
	// Sync has what is in a file that is closed, or which names a directory has, outlast
	// a power cut. Those of a file system that sees to it by itself do nothing.
	Sync(name string) error
	// Lock takes a lock on a file, which it makes. The lock ends when it is
	// closed or its holder dies; the file may stay. ErrLocked: another has it.
	Lock(name string) (io.Closer, error)
}

// WriteFile makes a file with these bytes, in place of one that is there. It
// returns the first error.
func WriteFile(fsys FS, name string, content []byte) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return cmp.Or(err, f.Close())
}

// ErrLocked is returned by Lock when another process holds the lock.
var ErrLocked = errors.New("another driver is at work in it")

// A File can be read at any place.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Local is the file system of this machine.
type Local struct{}

var _ FS = Local{}

// ErrNotRegular is returned by Open where a directory, a device or a pipe is in the
// place of a file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a file for reading. A pipe would wait for somebody to write.
func (Local) Open(name string) (File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Create makes a file, or empties one that is there.
func (Local) Create(name string) (io.WriteCloser, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadDir lists a directory in the order of names.
func (Local) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat describes a file.
func (Local) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Rename moves a file or a directory.
func (Local) Rename(from, to string) error { return os.Rename(from, to) }

// RemoveAll removes a file, or a directory with all in it.
func (Local) RemoveAll(name string) error { return os.RemoveAll(name) }

// MkdirAll makes a directory and those above it.
func (Local) MkdirAll(name string) error { return os.MkdirAll(name, 0o777) }

// Sync waits until a file is on the disk, or the names of a directory are, whoever
// wrote them. File systems that cannot do it for a directory need not.
func (Local) Sync(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Lock takes the kernel's lock on a file, which ends with the process that holds
// it: a file left by a dead one does not matter.
func (Local) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, err
	}
	return f, nil
}
