package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

// What a power cut takes is what the kernel has not written yet, some 30 s of it, in
// any order: a name may be on the disk before the bytes behind it. So whoever makes
// something count does it in this order, in Seal.Write, Seal.Replace and Data.Commit:
//
//	sync the parts       they are what the seal will say
//	write _SUCCESS, sync it, sync the directory
//	rename the directory, sync the one above
//
// Each wait takes milliseconds, which a job that took as long would notice, and so would
// a game of a thousand jobs. Hence nothing is synced before Data.Last is called, for
// work that is worth it; from then on everything is, as what took long is removed when
// something quick has come of it. Of what was not synced, the checksums tell.

// lasting is a file system whose Sync does nothing before it is switched on.
type lasting struct {
	FS
	on atomic.Bool
}

func (l *lasting) Sync(name string) error {
	if !l.on.Load() {
		return nil
	}
	return l.FS.Sync(name)
}

// Last has what is committed from now on outlast a power cut, and the name of the
// manifest, without which nobody could go on with it; its bytes are synced always.
func (d *Data) Last() error {
	if d.syncs.on.Swap(true) {
		return nil
	}
	if err := d.FS.Sync(d.Path); err != nil {
		return err
	}
	// Who may not look into the directory above has not made the data directory.
	if err := d.FS.Sync(filepath.Dir(d.Path)); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
