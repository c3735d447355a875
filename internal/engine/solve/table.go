package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"syscall"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// The jobs that give positions values write the shards of the table, which move there when the job is committed.

// TiersSeal is a file in the directory of the table: as long as the table is incomplete, it is
// the seal of the tiers that have been written.
const TiersSeal = "_tiers"

// tabled returns the number of positions of a tier in the table; ok is false if the tier is not there.
func (r *run) tabled(tier int) (n uint64, ok bool) {
	for _, f := range table.TierShards(r.table, tier) {
		n, ok = n+f.Records, true
	}
	return n, ok
}

// inTable returns the path of a file in the directory of the table.
func (r *run) inTable(file string) string { return r.data.Dir(path.Join(table.Dir, file)) }

// resumeTable finds the tiers that an earlier run has put into the table. If the seal of a complete table lacks a tier, or the
// file of one is damaged, it becomes the seal of the tiers.
func (r *run) resumeTable(ctx context.Context) error {
	for _, name := range []string{store.Success, TiersSeal} {
		seal := new(store.Seal)
		err := store.ReadSummed(r.data.FS, r.inTable(name), seal)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, syscall.ENOTDIR):
			r.reportDamage(table.Dir, "%v", err)
			return r.data.Remove(table.Dir)
		case jobdir.Damaged(err):
			r.reportDamage(table.Dir, "%v", err)
			if err := r.data.Remove(path.Join(table.Dir, name)); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		case seal.Game != r.data.Game: // we must not change it
			return fmt.Errorf("%s: of another game: expected %q, found %q: move it away, --data DIR names another directory, --overwrite replaces this one", r.data.Dir(table.Dir), r.data.Game, seal.Game)
		}
		r.tableComplete = name == store.Success
		for tier := range r.last + 1 {
			if err := r.reuse(ctx, tier, table.TierShards(seal, tier)); err != nil {
				return err
			}
			_, tabled := r.tabled(tier)
			r.tableComplete = r.tableComplete && tabled
		}
		if name == store.Success && !r.tableComplete {
			if err := r.data.FS.Rename(r.inTable(store.Success), r.inTable(TiersSeal)); err != nil {
				return err
			}
		}
		break
	}
	return r.removeUnlisted()
}

// removeUnlisted deletes our files in the directory of the table that the seal does not list.
func (r *run) removeUnlisted() error {
	data := r.data
	entries, err := data.FS.ReadDir(data.Dir(table.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil && store.OwnFile(e.Name()) && e.Name() != TiersSeal && e.Name() != store.Success && r.table.File(e.Name()) == nil {
			err = data.Remove(path.Join(table.Dir, e.Name()))
		}
	}
	return err
}

// reuse adds the files of a tier that an earlier run has written. If one is damaged, all are deleted.
func (r *run) reuse(ctx context.Context, tier int, files []store.SealedFile) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(table.Dir, f.Name)
		err := jobdir.CheckFile(r.data.FS, r.data.Dir(name), &f)
		if jobdir.Damaged(err) {
			r.reportDamage(table.TierFile(tier), "%v: the file is made again", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.table.Files = append(r.table.Files, files...)
	return nil
}

// leastShard is the least mean number of records of shards that tasks of a cluster write: look-ups open all of them.
const leastShard = 1 << 10

// take moves what a job has written for the table there, and returns how many bytes that is. records is the number of
// records of the tier. If the shards of tasks are not complete, because an earlier driver was killed while it moved
// them, or are too small, another one is written from the parts.
func (r *run) take(ctx context.Context, job *runner.Job, records int64) (size int64, err error) {
	name := path.Base(table.TierFile(job.Tier))
	files, complete, err := shardsIn(job, records)
	if !job.Table || !complete || records < leastShard*int64(len(files)) && len(files) > 1 {
		for _, f := range files {
			err = errors.Join(err, job.FS.RemoveAll(path.Join(job.Output, f.Name)))
		}
		files = nil
	}
	if err != nil || !job.Table {
		return 0, err
	}
	if files == nil {
		if err := job.WriteTable(ctx); err != nil {
			return 0, err
		}
		if files, complete, err = shardsIn(job, records); err == nil && !complete {
			err = &store.DamageError{Name: job.Output, Reason: fmt.Sprintf("no values of its %s", numfmt.Count(records, "record"))}
		}
	}
	if err == nil && len(r.table.Files) == 0 {
		if err = r.data.FS.MkdirAll(r.data.Dir(table.Dir)); err == nil {
			err = r.data.FS.Sync(r.data.Path)
		}
	}
	if err != nil {
		return 0, err
	}
	r.table.Files = slices.DeleteFunc(r.table.Files, func(f store.SealedFile) bool { return jobdir.ShardOf(f.Name) == name })
	for i, f := range files {
		at := path.Join(job.Output, f.Name)
		if f.Name = name; len(files) > 1 {
			f.Name = jobdir.ShardName(name, i)
		}
		if err := r.data.CommitFile(at, path.Join(table.Dir, f.Name)); err != nil {
			return 0, err
		}
		r.table.Files = append(r.table.Files, f)
		size += f.Length
	}
	r.table.Sort()
	return size, r.table.Replace(r.data.FS, r.data.Dir(table.Dir), TiersSeal)
}

// shardsIn returns the shards of the table in the output of a job, and whether they have all of its records.
func shardsIn(job *runner.Job, records int64) (files []store.SealedFile, complete bool, err error) {
	shards, err := jobdir.Shards(job.FS, path.Join(job.Output, jobdir.TablePart))
	complete = true
	for _, shard := range shards {
		f, failed := jobdir.Seal(job.FS, shard)
		if jobdir.Damaged(failed) {
			f, complete, failed = store.SealedFile{Name: path.Base(shard)}, false, nil
		}
		files, records, err = append(files, f), records-int64(f.Records), errors.Join(err, failed)
	}
	return files, complete && records == 0, err
}

// completeTable seals the directory of the table, and deletes our other files in it.
func (r *run) completeTable() error {
	data := r.data
	dir := data.Dir(table.Dir)
	// The tiers may have been written before syncs were switched on.
	if err := data.EnableSync(); err != nil {
		return err
	}
	if err := r.table.Sync(data.FS, dir); err != nil {
		return err
	}
	// The seal of the tiers becomes the seal of the table by a rename: one of them always
	// exists.
	if err := r.table.Replace(data.FS, dir, TiersSeal); err != nil {
		return err
	}
	if err := r.removeUnlisted(); err != nil {
		return err
	}
	if err := data.FS.Rename(r.inTable(TiersSeal), r.inTable(store.Success)); err != nil {
		return err
	}
	r.rebuilt(table.Dir)
	return data.FS.Sync(dir)
}
