package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// TiersSeal is a file in the directory of the table: as long as the table is incomplete, it is
// the seal of the tiers that have been written.
const TiersSeal = "_tiers"

// A tierTable is the table of a game with tiers, to which tiers are added one after the other.
type tierTable struct {
	run    *run
	g      game.Game
	tabled []bool      // by tier, whether an earlier run has put it into the table
	seal   *store.Seal // lists the tiers that are in the table
}

func newTierTable(r *run, g game.Game) *tierTable {
	r.last = game.LastTier(g)
	return &tierTable{run: r, g: g, tabled: make([]bool, r.last+1), seal: &store.Seal{Game: r.data.Game, Job: table.Dir}}
}

// positions returns the number of positions of a tier that an earlier run, or this one, has put into
// the table.
func (t *tierTable) positions(tier int) (n uint64, ok bool) {
	for _, f := range table.TierShards(t.seal, t.g, tier) {
		n, ok = n+f.Records, true
	}
	return n, ok
}

// path returns the path of a file in the directory of the table.
func (t *tierTable) path(file string) string { return t.run.data.Dir(path.Join(table.Dir, file)) }

// resume finds the tiers that an earlier run has put into the table.
func (t *tierTable) resume(ctx context.Context) (err error) {
	if t.run.tableComplete {
		if t.seal, err = t.run.sealOf(ctx, table.Dir); err != nil {
			return err
		}
		for tier := range t.tabled {
			t.tabled[tier] = len(table.TierShards(t.seal, t.g, tier)) > 0
		}
		return nil
	}
	if !t.run.data.Resumed {
		return nil
	}
	name := t.path(TiersSeal)
	old, err := store.ReadSealFile(t.run.data.FS, name)
	switch {
	case err == nil && old.Game == t.run.data.Game:
		for tier := range t.tabled {
			if err := t.reuse(ctx, tier, table.TierShards(old, t.g, tier)); err != nil {
				return err
			}
		}
	case err != nil && !jobdir.Damaged(err):
		return err
	case !errors.Is(err, fs.ErrNotExist):
		t.run.notify(Damaged, table.Dir, "%s is not as it was written: the table is made again", name)
	}
	return t.removeUnlisted()
}

// removeUnlisted deletes our files in the directory of the table that the seal does not list.
func (t *tierTable) removeUnlisted() error {
	data := t.run.data
	entries, err := data.FS.ReadDir(data.Dir(table.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil && store.OwnFile(e.Name()) && e.Name() != TiersSeal && t.seal.File(e.Name()) == nil {
			err = data.Remove(path.Join(table.Dir, e.Name()))
		}
	}
	return err
}

// reuse adds the files of a tier that an earlier run has written. If one is damaged, all are deleted.
func (t *tierTable) reuse(ctx context.Context, tier int, files []store.SealedFile) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(table.Dir, f.Name)
		err := jobdir.CheckFile(t.run.data.FS, t.run.data.Dir(name), &f)
		if g, blocks := t.g.(game.Tiered); err == nil && blocks && game.HalfOf(g) != nil {
			half, err := jobdir.StoresHalf(t.run.data.FS, t.run.data.Dir(table.Dir), &store.Seal{Files: []store.SealedFile{f}})
			if err == nil && !half {
				err = fmt.Errorf("%s stores all positions, as an earlier version wrote it: finish the run with that version, or --overwrite starts over", name)
			}
			if err != nil {
				return err
			}
		}
		if jobdir.Damaged(err) {
			t.run.notify(Damaged, table.TierFile(t.g, tier), "%v: made again", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	t.tabled[tier] = len(files) > 0
	t.seal.Files = append(t.seal.Files, files...)
	return nil
}

// leastShard is the least mean number of records of shards that tasks of a cluster write: look-ups open all of them.
const leastShard = 1 << 10

// take moves what a job has written for the table there, and returns how many bytes that is. records is the number of
// records of the tier. If the shards of tasks are not complete, because an earlier driver was killed while it moved
// them, or are too small, another one is written from the parts.
func (t *tierTable) take(ctx context.Context, job *runner.Job, records int64) (size int64, err error) {
	files, complete, err := shardsIn(job, records)
	drop := !job.Table || !complete || len(files) > 1 && records < leastShard*int64(len(files))
	for _, f := range files {
		if err == nil && drop {
			err = job.FS.RemoveAll(path.Join(job.Output, f.Name))
		}
	}
	if err != nil || !job.Table {
		return 0, err
	}
	if drop || len(files) == 0 {
		if err := job.WriteTable(ctx); err != nil {
			return 0, err
		}
		if files, complete, err = shardsIn(job, records); err != nil {
			return 0, err
		}
		if !complete {
			return 0, &store.DamageError{Name: job.Output, Reason: fmt.Sprintf("no values of its %s", numfmt.Count(records, "record"))}
		}
	}
	data, name := t.run.data, path.Base(table.TierFile(t.g, job.Tier))
	if len(t.seal.Files) == 0 {
		if err := data.FS.MkdirAll(data.Dir(table.Dir)); err != nil {
			return 0, err
		}
		if err := data.FS.Sync(data.Path); err != nil {
			return 0, err
		}
	}
	t.seal.Files = slices.DeleteFunc(t.seal.Files, func(f store.SealedFile) bool { return jobdir.ShardOf(f.Name) == name })
	for i, f := range files {
		at := path.Join(job.Output, f.Name)
		if f.Name = name; len(files) > 1 {
			f.Name = jobdir.ShardName(name, i)
		}
		if err := data.CommitFile(at, path.Join(table.Dir, f.Name)); err != nil {
			return 0, err
		}
		t.seal.Files = append(t.seal.Files, f)
		size += f.Length
	}
	t.seal.Sort()
	if err := t.seal.Replace(data.FS, data.Dir(table.Dir), TiersSeal); err != nil {
		return 0, err
	}
	return size, nil
}

// shardsIn returns the shards of the table in the output of a job, and whether they have all of its records.
func shardsIn(job *runner.Job, records int64) (files []store.SealedFile, complete bool, err error) {
	for _, name := range []string{jobdir.TableBlocks, jobdir.TableRows} {
		shards, failed := jobdir.Shards(job.FS, path.Join(job.Output, name))
		err = errors.Join(err, failed)
		for _, shard := range shards {
			f, failed := jobdir.Seal(job.FS, shard)
			if jobdir.Damaged(failed) {
				f, failed, records = store.SealedFile{Name: path.Base(shard)}, nil, -1
			}
			err = errors.Join(err, failed)
			files, records = append(files, f), records-int64(f.Records)
		}
	}
	return files, records == 0, err
}

// complete seals the directory of the table, and deletes our other files in it.
func (t *tierTable) complete() error {
	data := t.run.data
	dir := data.Dir(table.Dir)
	// The tiers may have been written before syncs were switched on.
	if err := data.EnableSync(); err != nil {
		return err
	}
	if err := t.seal.Sync(data.FS, dir); err != nil {
		return err
	}
	// The seal of the tiers becomes the seal of the table by a rename: one of them always
	// exists.
	if err := t.seal.Replace(data.FS, dir, TiersSeal); err != nil {
		return err
	}
	if err := t.removeUnlisted(); err != nil {
		return err
	}
	if err := data.FS.Rename(t.path(TiersSeal), t.path(store.Success)); err != nil {
		return err
	}
	t.run.rebuilt(table.Dir)
	return data.FS.Sync(dir)
}
