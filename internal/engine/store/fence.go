package store

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
)

// ErrTakenOver is returned by every rename and deletion in a data directory after another
// driver has taken it over.
var ErrTakenOver = errors.New("another driver has taken over this data directory, or it was removed: this run ends here")

// A fence is the file system of a data directory. It renames and deletes only while this driver owns the
// directory, and syncs only after EnableSync. Writes need no check: they go to an attempt or to a unique temporary name, and
// take effect by a rename.
//
// The kernel's lock lasts as long as its process. But a lease in HDFS expires while its owner
// is paused for a minute, and the owner does not notice. So each driver, after it has the
// lock, creates a directory, own, and first moves away that of the previous driver.
//
// A deletion begins with a rename into own, and a small file is moved there before it replaces
// another one: after a take-over the file system refuses both. Nothing is created in own, because
// HDFS creates missing parents. Before any other rename, a call checks that own exists. A gap of one
// call remains: a rename that was checked before the take-over may be made after it.
//
//   - Data.Commit, Data.CommitFile and package solve rename an attempt or a file of one, which the new
//     driver has deleted. If they are first, the same records of the same job are committed.
//   - The seal of a complete table may become the seal of its tiers, or the other way round (see
//     package solve, which checks that a table has all its tiers).
type fence struct {
	FS
	own   string      // "" before the directory is owned
	syncs atomic.Bool // see Data.EnableSync
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

// cause returns ErrTakenOver in place of an error if another driver has taken over.
func (f *fence) cause(err error) error {
	if err != nil && errors.Is(f.check(), ErrTakenOver) {
		return ErrTakenOver
	}
	return err
}

// Sync does nothing before EnableSync.
func (f *fence) Sync(name string) error {
	if !f.syncs.Load() {
		return nil
	}
	return f.FS.Sync(name)
}

// Rename checks the owner first.
func (f *fence) Rename(from, to string) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.cause(f.FS.Rename(from, to))
}

// RemoveAll renames what it deletes into own first, unless it is there already.
func (f *fence) RemoveAll(name string) error {
	if f.own == "" || strings.HasPrefix(name+"/", f.own+"/") {
		return f.FS.RemoveAll(name)
	}
	removed, err := f.takeAway(name)
	if err != nil || removed == "" {
		return err
	}
	return f.FS.RemoveAll(removed)
}

// takeAway renames a file or a directory that is to be deleted into own. It returns the new path, ""
// if there is no such file.
func (f *fence) takeAway(name string) (removed string, err error) {
	removed = path.Join(f.own, tried(removedPrefix, path.Base(name)))
	switch err := f.FS.Rename(name, removed); {
	case err == nil:
		return removed, nil
	case errors.Is(err, fs.ErrNotExist): // name or own is missing
		return "", f.check()
	default:
		return "", f.cause(err)
	}
}

// replace renames a file that was written under a temporary name by way of own.
func (f *fence) replace(temporary, name string) error {
	if f.own == "" {
		return f.FS.Rename(temporary, name)
	}
	owned := path.Join(f.own, path.Base(temporary))
	err := f.FS.Rename(temporary, owned)
	if err == nil {
		err = f.FS.Rename(owned, name)
	}
	return f.cause(err)
}
