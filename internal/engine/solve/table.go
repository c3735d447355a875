package solve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// TiersSeal is a file in the directory of the table: as long as the table is incomplete, it is
// the seal of the tiers that have been written.
const TiersSeal = "_tiers"

// A tierTable is the table of a game with tiers, to which tiers are added one after the other.
type tierTable struct {
	run     *run
	g       game.Game
	tabled  []bool               // by tier, whether an earlier run has put it into the table
	seal    *store.Seal          // lists the tiers that are in the table
	changed bool                 // whether this run has changed the seal
	taken   [][]store.SealedFile // by tier, the shards from reducers, which the seal does not list yet

	mu      sync.Mutex // guards attempt
	attempt string     // the directory in which tiers are written; "" before the first
}

func newTierTable(r *run, g game.Game) *tierTable {
	r.last = game.LastTier(g)
	return &tierTable{run: r, g: g, tabled: make([]bool, r.last+1), taken: make([][]store.SealedFile, r.last+1), seal: &store.Seal{Game: r.data.Game, Job: table.Dir}}
}

// positions returns the number of positions of a tier that an earlier run, or this one, has put into
// the table.
func (t *tierTable) positions(tier int) (n uint64, ok bool) {
	for _, f := range table.TierShards(t.seal, tier) {
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
			t.tabled[tier] = len(table.TierShards(t.seal, tier)) > 0
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
			if err := t.reuse(ctx, tier, table.TierShards(old, tier)); err != nil {
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
			t.run.notify(Damaged, table.TierFile(tier), "%v: made again", err)
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

// leastShard is the least mean number of records of shards that the table keeps: look-ups open all shards.
const leastShard = 1 << 10

// take moves the shards that the reducers of a job have written for the table there. records is the
// number of records of the tier. If shards are missing, because an earlier driver was killed while it moved them, or
// are not needed, take deletes them. The driver writes a tier without shards.
func (t *tierTable) take(job *runner.Job, records int64) error {
	data := t.run.data
	t.taken[job.Tier] = nil
	shards, err := jobdir.Shards(data.FS, path.Join(job.Output, jobdir.TablePart))
	if err != nil || len(shards) == 0 {
		return err
	}
	needed := !t.tabled[job.Tier] && t.run.UntilTier < 0 && records >= leastShard*int64(len(shards))
	left := records
	var files []store.SealedFile
	for i, shard := range shards {
		f, err := jobdir.Seal(data.FS, shard)
		if jobdir.Damaged(err) {
			needed = false
		} else if err != nil {
			return err
		}
		left -= int64(f.Records)
		f.Name = jobdir.ShardName(path.Base(table.TierFile(job.Tier)), i)
		files = append(files, f)
	}
	if !needed || left != 0 {
		for _, shard := range shards {
			if err := data.FS.RemoveAll(shard); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = t.begin()
	for i, shard := range shards {
		if err == nil {
			err = data.CommitFile(shard, path.Join(table.Dir, files[i].Name))
		}
	}
	t.taken[job.Tier] = files
	return err
}

// begin returns the directory in which this driver writes tiers. Before the first, it makes that and the table's.
func (t *tierTable) begin() (attempt string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := t.run.data
	if t.attempt != "" {
		return t.attempt, nil
	}
	if err := data.FS.MkdirAll(data.Dir(table.Dir)); err != nil {
		return "", err
	}
	if err := data.FS.Sync(data.Path); err != nil {
		return "", err
	}
	t.attempt, err = data.Attempt(table.Dir)
	return t.attempt, err
}

// write adds a tier: the shards that take has moved, or else a file written by values.
func (t *tierTable) write(ctx context.Context, tier int, values func(ctx context.Context, out io.WriteCloser, tier int) error) error {
	data := t.run.data
	files := t.taken[tier]
	if files == nil {
		attempt, err := t.begin()
		if err != nil {
			return err
		}
		name := path.Join(attempt, path.Base(table.TierFile(tier)))
		out, err := data.FS.Create(name)
		if err != nil {
			return err
		}
		if err := values(ctx, out, tier); err != nil {
			return err
		}
		f, err := jobdir.Seal(data.FS, name)
		if err == nil {
			err = data.CommitFile(name, path.Join(table.Dir, f.Name))
		}
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	t.seal.Files, t.changed = append(t.seal.Files, files...), true
	t.run.rebuilt(table.TierFile(tier))
	return nil
}

// save writes the seal that lists the tiers in the table.
func (t *tierTable) save() error {
	if !t.changed {
		return nil // all tiers were put in by an earlier run
	}
	t.seal.Sort()
	return t.seal.Replace(t.run.data.FS, t.run.data.Dir(table.Dir), TiersSeal)
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
	if t.attempt != "" {
		if err := data.FS.RemoveAll(t.attempt); err != nil {
			return err
		}
	}
	if err := data.FS.Rename(t.path(TiersSeal), t.path(store.Success)); err != nil {
		return err
	}
	t.run.rebuilt(table.Dir)
	return data.FS.Sync(dir)
}
