package store

import (
	"path"
	"strings"
)

// clear deletes the attempts for which keep does not return true. If all is set, it deletes all of
// them, and everything else of ours except the lock and the manifest.
func (d *Data) clear(all bool, keep func(attempt string) (bool, error)) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		attempt, kept := strings.HasPrefix(e.Name(), attemptPrefix), false
		if attempt && keep != nil {
			if kept, err = keep(d.attemptOf(e.Name())); err != nil {
				return err
			}
		}
		switch {
		case kept && !all:
			d.kept = append(d.kept, d.attemptOf(e.Name()))
		case attempt:
			err = d.FS.RemoveAll(d.Dir(e.Name()))
		case all && d.isArtifact(e.Name()):
			err = d.Remove(e.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveKept deletes the attempts of earlier runs that Create has kept, except one: their jobs,
// which may still be running, are not needed.
func (d *Data) RemoveKept(except string) error {
	for _, attempt := range d.kept {
		if attempt == except {
			continue
		}
		if err := d.RemoveAttempt(attempt); err != nil {
			return err
		}
	}
	d.kept = nil
	return nil
}

// RemoveAttempt deletes an attempt, and the files next to it that belong to it.
func (d *Data) RemoveAttempt(attempt string) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if d.attemptOf(e.Name()) == attempt {
			if err := d.FS.RemoveAll(d.Dir(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove deletes a directory or a file. It renames it first, so that the remains of an
// interrupted deletion cannot be mistaken for something complete. Files in the directory that
// are not treereduce's stay there.
func (d *Data) Remove(name string) error {
	removed, err := d.syncs.takeAway(d.Dir(name))
	if err != nil || removed == "" {
		return err
	}
	return d.sweep(removed)
}

// sweep deletes what fence.takeAway has renamed. Files in a directory that are not treereduce's are
// moved back.
func (d *Data) sweep(removed string) error {
	name := strings.TrimPrefix(path.Base(removed), removedPrefix)
	if len(name) > 1+tryDigits {
		name = name[:len(name)-1-tryDigits]
	}
	if d.isArtifact(name) && name != JournalFile && name != SeedFile {
		entries, err := d.FS.ReadDir(removed)
		if err != nil && !Damaged(err) {
			return err
		}
		for _, e := range entries {
			if OwnFile(e.Name()) {
				continue
			}
			if err := d.FS.MkdirAll(d.Dir(name)); err != nil {
				return err
			}
			if err := d.FS.Rename(path.Join(removed, e.Name()), path.Join(d.Dir(name), e.Name())); err != nil {
				return err
			}
		}
	}
	return d.FS.RemoveAll(removed)
}
