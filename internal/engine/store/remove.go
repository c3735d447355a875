package store

import (
	"path"
	"strings"
)

// clear calls end for each attempt, and deletes it. If all is set, it also deletes everything else of ours
// except the lock and the manifest.
func (d *Data) clear(all bool, end func(attempt string) error) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	if err := d.CheckOwner(); err != nil { // attempts may be those of a driver that has taken over: their jobs go on
		return err
	}
	ended := ""
	for _, e := range entries {
		switch attempt := d.attemptOf(e.Name()); {
		case strings.HasPrefix(e.Name(), attemptPrefix):
			if end != nil && attempt != ended { // what belongs to an attempt follows it
				err, ended = end(attempt), attempt
			}
			if err == nil {
				err = d.FS.RemoveAll(d.Dir(e.Name()))
			}
		case all && d.isArtifact(e.Name()):
			err = d.Remove(e.Name())
		}
		if err != nil {
			return err
		}
	}
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
	removed, err := d.fence.takeAway(d.Dir(name))
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
	if d.isArtifact(name) && name != JournalFile {
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
