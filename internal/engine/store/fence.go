package store

import (
	"errors"
	"io/fs"
)

// ErrTakenOver is returned by every rename and removal in a data directory once another
// driver has taken it over.
var ErrTakenOver = errors.New("another driver has taken over this data directory, or it was removed: this run ends here")

// fence is a file system that renames and removes only while the data directory is owned.
// What is written needs no question: it lies in an attempt, or has a temporary name of
// its own, and comes to count by a rename.
//
// The kernel's lock lasts as long as its process, but a lease in HDFS ends while its
// holder is paused for a minute; the holder does not notice. So each driver makes a
// directory, own, after it has locked, and first moves away that of the driver before it.
// Whether own is there is asked in a call before each change. What remains is one call: a
// change whose question came before the take-over may come after it.
//
//   - Data.Remove renames into own: the file system refuses it afterwards.
//   - Data.Commit renames an attempt, which the successor has removed, or has adopted; then
//     it commits the same records of the same job.
//   - A file within a directory may be removed that the run before needed no more.
//   - A small file may be replaced by an older one of the same name: a manifest, a journal,
//     or a seal of the tiers in the table. Each is replaced again when it next changes.
type fence struct {
	FS
	own string // "" before the directory is owned
}

// held is nil while the directory is owned.
func (f *fence) held() error {
	if f.own == "" {
		return nil
	}
	_, err := f.FS.Stat(f.own)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrTakenOver
	}
	return err
}

// guard makes a change while the directory is owned, and says so where it fails because
// it is not any more.
func (f *fence) guard(change func() error) error {
	if err := f.held(); err != nil {
		return err
	}
	err := change()
	if err != nil && errors.Is(f.held(), ErrTakenOver) {
		return ErrTakenOver
	}
	return err
}

func (f *fence) Rename(from, to string) error {
	return f.guard(func() error { return f.FS.Rename(from, to) })
}

func (f *fence) RemoveAll(name string) error {
	return f.guard(func() error { return f.FS.RemoveAll(name) })
}
