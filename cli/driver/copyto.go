package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/copies"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/runner/streaming"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A copyTo is the copy of a run that --copy-to names; nil: the run has none.
type copyTo struct {
	*copies.Copy
	ctx   context.Context
	stop  context.CancelFunc
	bar   *progress.Line
	owned *filesys.Place // the copy, if it is in HDFS; otherwise nil
	lock  io.Closer      // says there that this run owns the copy; nil before start
	ended sync.Once
}

// openCopyTo opens the copy of a run, if --copy-to names one, and replaces the file system of its place by one that
// records changes for the copy. If a run is resumed and has no data here, openCopyTo fetches the data from the copy.
func (r *run) openCopyTo() (_ *copyTo, err error) {
	h, ok := r.chosen.Options.(*hadoopOptions)
	if !ok || h.copyTo == "" {
		return nil, nil
	}
	jobs, err := h.cluster(r.place.HDFS)
	if err != nil {
		return nil, err
	}
	place, err := streaming.NewCopy(jobs, h.copyTo, r.place.Path)
	if err != nil {
		return nil, command.Usagef("--copy-to: %w", err)
	}
	k := &copyTo{bar: r.bar}
	k.ctx, k.stop = command.Interruptible(r.Context.Context)
	defer func() {
		if err != nil {
			err = command.Stopped(k.ctx, err)
			k.end()
		}
	}()
	k.Copy = copies.New(k.ctx, place, r.place.FS, r.place.Path, place.Stage, r.bar.Print)
	if there, _ := hadoop.InHDFS(h.copyTo); there { // the name is a URI, see streaming.CheckCopy
		if k.owned, err = filesys.Open(h.copyTo); err != nil {
			return nil, fmt.Errorf("--copy-to: %w", err)
		}
		if within(k.owned, r.place) || within(r.place, k.owned) {
			return nil, command.Usagef("--copy-to %s: expected a directory that neither contains the data directory nor is in it", h.copyTo)
		}
	}
	if err := k.Ready(r.Game.Spec(), r.Mode); err != nil {
		return nil, err
	}
	r.place.FS = k.FS()
	return k, nil
}

// within reports whether a place is another one, or below it.
func within(p, other *filesys.Place) bool {
	return p.HDFS.Name() == other.HDFS.Name() && strings.HasPrefix(path.Clean(p.Path)+"/", path.Clean(other.Path)+"/")
}

// start makes the copy equal to the data directory, and then copies changes as they are made. In HDFS, an open file says
// that this run owns the copy.
func (k *copyTo) start(game string, mode store.Mode) (err error) {
	if k == nil {
		return nil
	}
	if k.owned != nil {
		if err := k.owned.FS.MkdirAll(k.owned.Path); err != nil {
			return fmt.Errorf("--copy-to: %w", err)
		}
		name := path.Join(k.owned.Path, store.LockFile)
		k.lock, err = whenFree(k.ctx, k.bar.Print, func() (at time.Time) { return at }, func() (io.Closer, error) {
			lock, err := k.owned.FS.Lock(name)
			if err != nil {
				err = fmt.Errorf("--copy-to %s: %w", k.Name(), err)
			}
			return lock, err
		})
		if err != nil {
			return err
		}
	}
	return k.Start(game, mode)
}

// finish waits until the copy is complete, and returns its name; k is not nil.
func (k *copyTo) finish() (name string, err error) {
	k.bar.Print("copying the last changes to " + k.Name())
	err = k.Finish()
	if errors.Is(err, context.Canceled) {
		return "", fmt.Errorf("%w; the copy is incomplete: --resume continues", command.ErrInterrupted)
	}
	if err != nil {
		return "", fmt.Errorf("%w; the run has ended, but the copy is incomplete: --resume continues", err)
	}
	return k.Name(), nil
}

// end closes the copy.
func (k *copyTo) end() {
	if k == nil {
		return
	}
	k.ended.Do(func() {
		k.stop()
		k.Close() // what remains is an attempt, which the next driver deletes
		if k.lock != nil {
			k.lock.Close() // if this fails, the lease of the file ends after a minute
		}
		if k.owned != nil {
			k.owned.Close()
		}
	})
}
