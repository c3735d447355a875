package store

import (
	"errors"
	"io/fs"
	"path"
)

// A power cut loses what the kernel has not written yet, up to some 30 s of writes, in any
// order: a name may be on disk before its content is. So Seal.Write, Seal.Replace and
// Data.Commit commit in this order:
//
//	sync the parts       the seal will describe them
//	write _SUCCESS under another name, sync it, rename it, sync the directory
//	rename the directory, sync its parent
//
// Each sync takes milliseconds, which would slow down a job that takes no longer itself, and a
// game with a thousand jobs. So nothing is synced before Data.EnableSync is called, when some work
// is worth it. From then on everything is synced, because the output of a long job is deleted
// after a quick job has read it. Checksums detect the loss of files that were not synced.

// EnableSync makes all later commits durable, and the name of the manifest, which every resumed run
// needs. The content of the manifest is always synced.
func (d *Data) EnableSync() error {
	if d.fence.syncs.Swap(true) {
		return nil
	}
	if err := d.FS.Sync(d.Path); err != nil {
		return err
	}
	// Ignore a lack of permission for the parent: then we did not create the data directory.
	if err := d.FS.Sync(path.Dir(d.Path)); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
