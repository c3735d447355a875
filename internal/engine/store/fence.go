package store

import (
	"errors"
	"io/fs"
)

// ErrTakenOver is returned by every rename and deletion in a data directory after another
// driver has taken it over.
var ErrTakenOver = errors.New("another driver has taken over this data directory, or it was removed: this run ends here")

// A fence is a file system that renames and deletes only while this driver owns the data
// directory. Writes need no check: they go to an attempt or to a unique temporary name, and
// take effect by a rename.
//
// The kernel's lock lasts as long as its process. But a lease in HDFS expires while its owner
// is paused for a minute, and the owner does not notice. So each driver, after it has the
// lock, creates a directory, own, and first moves away that of the previous driver. Before
// each change, a call checks that own exists. A gap of one call remains: a change that was
// checked before the take-over may be made after it.
//
//   - Data.Remove renames into own: after a take-over the file system refuses it.
//   - Data.Commit renames an attempt, which the new driver has deleted, or renames when it adopts
//     it. If Commit is first, the same records of the same job are committed.
//   - A file within a directory may be deleted that the previous run no longer needed.
//   - A small file may be replaced by an older version: a manifest, a journal, or a seal of
//     the tiers in the table. Each is replaced again when it next changes.
//   - The index of an archive may be replaced (see hadoop.Archive). Mappers refuse the names in an
//     archive of another attempt.
type fence struct {
	FS
	own string // "" before the directory is owned
}

// check returns nil while this driver owns the directory.
func (f *fence) check() error {
	if f.own == "" {
		return nil
	}
	_, err := f.FS.Stat(f.own)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrTakenOver
	}
	return err
}

// guard makes a change if this driver owns the directory. If the change fails because of a
// take-over, guard returns ErrTakenOver.
func (f *fence) guard(change func() error) error {
	if err := f.check(); err != nil {
		return err
	}
	err := change()
	if err != nil && errors.Is(f.check(), ErrTakenOver) {
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
