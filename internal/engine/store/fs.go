// Package store keeps the files of a run: the data directory with its manifest and its lock,
// the directories of the jobs with their parts and _SUCCESS, and the attempts, which become
// such directories only when they are complete. It knows nothing of games; of records it knows
// only the names of their files.
package store

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/treereduce/treereduce/internal/system"
)

// An FS is a file system, as far as the store needs one. Its errors are those of package
// io/fs.
type FS interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Create creates a file, or truncates an existing one.
	Create(name string) (io.WriteCloser, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat describes a file or a directory.
	Stat(name string) (fs.FileInfo, error)
	// Rename moves a file or a directory. It replaces an existing file, but not a directory.
	Rename(from, to string) error
	// RemoveAll deletes a file, or a directory and everything in it. A missing one is no
	// error.
	RemoveAll(name string) error
	// MkdirAll creates a directory and its parents, unless they exist.
	MkdirAll(name string) error
	// Sync makes the content of a closed file, or the names in a directory, durable. It does
	// nothing in a file system that needs no such call.
	Sync(name string) error
	// Lock creates a file and locks it. The lock is released when it is closed or its owner
	// dies; the file may stay. If another process has the lock, the error is ErrLocked.
	Lock(name string) (io.Closer, error)
}

// WriteFile writes a file, replacing an existing one. It returns the first error.
func WriteFile(fsys FS, name string, content []byte) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return cmp.Or(err, f.Close())
}

// ReplaceFile writes a file of this machine atomically: it has the old or the new content.
func ReplaceFile(name string, content []byte) error {
	if err := WriteFile(Local{}, name+".new", content); err != nil {
		return err
	}
	return Local{}.Rename(name+".new", name)
}

// ErrLocked is returned by Lock when another process has the lock.
var ErrLocked = errors.New("another driver is at work in it")

// A File can be read sequentially and at any offset.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Local is the file system of this machine.
type Local struct{}

var _ FS = Local{}

// ErrNotRegular is returned by Open if the name is that of a directory, a device or a pipe.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a file for reading. It refuses a pipe, which would block until a process writes
// to it.
func (Local) Open(name string) (File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err := openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openFile opens a file of this machine.
func openFile(name string, flag int) (f *os.File, err error) {
	err = system.WhileShared(func() (err error) {
		f, err = os.OpenFile(name, flag, 0o666)
		return err
	})
	return f, err
}

// Create creates a file, or truncates an existing one.
func (Local) Create(name string) (io.WriteCloser, error) {
	f, err := openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadDir lists a directory, sorted by name.
func (Local) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat describes a file.
func (Local) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Rename moves a file or a directory.
func (Local) Rename(from, to string) error {
	return system.WhileShared(func() error { return os.Rename(from, to) })
}

// RemoveAll deletes a file, or a directory and everything in it.
func (Local) RemoveAll(name string) error {
	return system.WhileShared(func() error { return os.RemoveAll(name) })
}

// MkdirAll creates a directory and its parents.
func (Local) MkdirAll(name string) error { return os.MkdirAll(name, 0o777) }

// Sync waits until the content of a file, or the names in a directory, are on disk, whichever
// process wrote them. It ignores that a file system does not support this for directories.
func (Local) Sync(name string) error {
	flag := os.O_RDONLY
	if runtime.GOOS == "windows" { // which syncs files that are open for writing, and names by itself
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			return err
		}
		flag = os.O_RDWR
	}
	f, err := openFile(name, flag)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Lock takes the kernel's lock on a file. It is released when its process ends, so that a file
// left by a dead process does not matter.
func (Local) Lock(name string) (io.Closer, error) {
	f, err := openFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		f.Close()
		if errors.Is(err, system.ErrLocked) {
			return nil, ErrLocked
		}
		return nil, err
	}
	return f, nil
}
