package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// The output of an earlier run is read completely before it is used: it may have been
// truncated by a crash of the machine, or changed since. Damaged output is treated as missing,
// and is rebuilt if a later job needs it.

// sealOf returns the seal of a directory; nil: the directory is not complete.
func (l *loop) sealOf(ctx context.Context, name string) (*store.Seal, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seal, known := l.seals[name]; known || !l.data.Resumed {
		return seal, nil
	}
	seal, err := jobdir.Check(ctx, l.data.FS, l.data.Dir(name), l.data.Game)
	switch {
	case err == nil:
	case jobdir.Damaged(err):
		if _, missing := l.data.FS.Stat(l.data.Dir(name)); !errors.Is(missing, fs.ErrNotExist) {
			l.damage[name] = err
		}
	default:
		return nil, err
	}
	l.seals[name] = seal
	return seal, nil
}

// whole reports whether a directory exists and matches its seal.
func (l *loop) whole(ctx context.Context, name string) (bool, error) {
	seal, err := l.sealOf(ctx, name)
	return seal != nil, err
}

// tiersSeal is a file in the directory of the table: as long as the table is incomplete, it is
// the seal of the tiers that have been written.
const tiersSeal = "_tiers"

// wholeTable reports whether the table exists and matches its seal. The seal of a damaged
// table becomes the seal of its tiers. A table of another game is an error: we must not change
// it.
func (l *loop) wholeTable(ctx context.Context) (bool, error) {
	dir := l.data.Dir(table.Dir)
	seal, err := store.ReadSeal(l.data.FS, dir)
	if err == nil && seal != nil && seal.Game != l.data.Game {
		return false, fmt.Errorf("%s: of another game: expected %q, found %q: move it away, --data DIR names another directory, --overwrite replaces this one", dir, l.data.Game, seal.Game)
	}
	whole, err := l.whole(ctx, table.Dir)
	if err != nil || whole {
		return whole, err
	}
	if err := l.damage[table.Dir]; err != nil && !errors.Is(err, store.ErrIncomplete) {
		l.warn("%v", err)
	}
	if errors.Is(l.damage[table.Dir], syscall.ENOTDIR) {
		return false, l.data.Remove(table.Dir)
	}
	if seal == nil {
		return false, l.data.Remove(path.Join(table.Dir, store.Success))
	}
	return false, l.data.FS.Rename(path.Join(dir, store.Success), path.Join(dir, tiersSeal))
}

// canKeepDir returns an error if a directory that earlier runs have needed is missing or lacks
// files, or if it does not have the requested format.
func (l *loop) canKeepDir(ctx context.Context, name string, needed bool) error {
	seal, err := l.sealOf(ctx, name)
	if err != nil {
		return err
	}
	if seal == nil && needed {
		return fmt.Errorf("--keep all comes too late: %s has been let go: --overwrite begins anew", name)
	}
	if seal == nil {
		return nil
	}
	if len(seal.Gone) > 0 {
		return fmt.Errorf("--keep all comes too late: of %s, %s has been let go: --overwrite begins anew", name, seal.Gone[0])
	}
	for _, f := range seal.Files {
		if !strings.HasPrefix(f.Name, store.PartPrefix) {
			continue
		}
		text := jobdir.IsText(f.Name)
		if text && l.Codec == jobdir.Blocks {
			return fmt.Errorf("--compress comes too late: %s is text: --overwrite begins anew", name)
		}
		if !text && l.Codec == jobdir.Text {
			return fmt.Errorf("--keep all comes too late: %s is packed: --compress keeps it so, --overwrite begins anew", name)
		}
	}
	return nil
}

// again warns that a step is rerun because its output is damaged. It also warns, only once per
// run, if the output of a step that has run is missing.
func (l *loop) again(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.damage[name]; err != nil {
		delete(l.damage, name)
		l.warn("%v: run again", err)
	} else if l.seals[name] == nil && l.journal.ran(name) && !l.gone {
		l.gone = true
		if l.KeepAll {
			l.warn("%s is gone: run again", name)
		} else {
			l.warn("%s is gone, and a later step needs it: run again", name)
		}
	}
}

func (l *loop) warn(format string, args ...any) {
	if l.Warn != nil {
		l.Warn(fmt.Sprintf(format, args...))
	}
}

// syncAfter is the default of Options.SyncAfter: repeating a shorter job costs less than
// waiting for the disk.
const syncAfter = time.Second

// commit seals and commits the directory of a job that has run. Its parts must have the given
// number of records.
func (l *loop) commit(job *runner.Job, records int64) error {
	if job.Step == step.Final {
		if err := jobdir.NameFinal(job.FS, job.Output); err != nil {
			return err
		}
	}
	files, err := jobdir.SealAll(job.FS, job.Output)
	if err != nil {
		return err
	}
	seal := &store.Seal{Game: l.data.Game, Job: job.Name, Files: files}
	if n := seal.Records(); n != uint64(records) {
		return fmt.Errorf("%d records were made, but %d are in %s", records, n, job.Output)
	}
	if after := cmp.Or(l.SyncAfter, syncAfter); time.Since(l.jobAt) > after {
		if err := l.data.EnableSync(); err != nil {
			return err
		}
	}
	if err := l.data.Commit(job.Output, job.Name, files); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seals[job.Name] = seal
	return nil
}

// remove deletes a directory that no later job needs.
func (l *loop) remove(name string) error {
	l.mu.Lock()
	delete(l.damage, name)
	l.seals[name] = nil
	l.mu.Unlock()
	return l.data.Remove(name)
}

// syncKept syncs the directories that --keep all keeps: those of quick jobs were not synced
// when they were committed.
func (l *loop) syncKept() error {
	if err := l.data.EnableSync(); err != nil {
		return err
	}
	entries, err := l.data.FS.ReadDir(l.data.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !l.how.ours(e.Name()) {
			continue
		}
		dir := l.data.Dir(e.Name())
		seal, err := store.ReadSeal(l.data.FS, dir)
		if store.Damaged(err) || err == nil && seal == nil {
			continue // this run does not need it: it is of a tier after --until-tier, or contains only files of the user
		}
		if err == nil {
			err = seal.Sync(l.data.FS, dir)
		}
		for _, name := range []string{path.Join(dir, store.Success), dir} {
			if err == nil {
				err = l.data.FS.Sync(name)
			}
		}
		if err != nil {
			return err
		}
	}
	return l.data.FS.Sync(l.data.Path)
}

// CheckKept verifies the directories of all jobs of a game solved with --keep all.
func CheckKept(ctx context.Context, fsys store.FS, data string, m game.Method) error {
	var names []string
	if tiers := m.Tiers(); tiers != nil {
		for tier := range tiers.Tiers() + 1 {
			names = append(names, first(tier))
			if m.Lists != nil || tier < tiers.Tiers() {
				names = append(names, second(tier))
			}
		}
	} else {
		index, err := jobdir.ReadIndex(fsys, path.Join(data, table.Dir), m.States)
		if err != nil {
			return err
		}
		for _, found := range index.Passes {
			names = append(names, found.Pass)
		}
	}
	for _, name := range names {
		if _, err := jobdir.Check(ctx, fsys, path.Join(data, name), m.Game.Spec()); err != nil {
			return err
		}
	}
	return nil
}

// wantsFinal reports whether the text of all positions must be written. It sets result.Final
// to whether the text will exist then.
func (l *loop) wantsFinal(ctx context.Context) (bool, error) {
	there, err := l.whole(ctx, FinalDir) // an earlier run may have written it
	if err != nil {
		return false, err
	}
	wanted := !there && (l.Final == FinalYes || l.Final == FinalAuto && l.result.Positions <= FinalLimit)
	l.result.Final = there || wanted
	if err := l.damage[FinalDir]; err != nil && !wanted {
		l.warn("%v: removed", err)
		return false, l.remove(FinalDir)
	}
	return wanted, nil
}

// CheckFinal verifies the text of all positions in a data directory, if it exists.
func CheckFinal(ctx context.Context, fsys store.FS, data, game string) error {
	dir := path.Join(data, FinalDir)
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := jobdir.Check(ctx, fsys, dir, game)
	return err
}
