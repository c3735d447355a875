package solve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// TiersSeal is a file in the directory of the table: as long as the table is incomplete, it is
// the seal of the tiers that have been written.
const TiersSeal = "_tiers"

// A tierTable is the table of a game with tiers, to which tiers are added one after the other.
type tierTable struct {
	run     *run
	g       game.Acyclic
	attempt string      // the directory in which tiers are written; "" before the first
	tabled  []bool      // by tier, whether an earlier run has put it into the table
	seal    *store.Seal // lists the tiers that are in the table
	changed bool        // whether this run has changed the seal
}

func newTierTable(r *run, g game.Acyclic) *tierTable {
	r.last = g.Tiers()
	return &tierTable{run: r, g: g, tabled: make([]bool, r.last+1), seal: &store.Seal{Game: r.data.Game, Job: table.Dir}}
}

// positions returns the number of positions of a tier that an earlier run, or this one, has put into
// the table.
func (t *tierTable) positions(tier int) (n uint64, ok bool) {
	if f := t.file(tier); f != nil {
		return f.Records, true
	}
	return 0, false
}

// path returns the path of a file in the directory of the table.
func (t *tierTable) path(file string) string { return t.run.data.Dir(filepath.Join(table.Dir, file)) }

// file returns the entry of a tier in the seal.
func (t *tierTable) file(tier int) *store.SealedFile {
	return t.seal.File(filepath.Base(table.TierFile(t.g, tier)))
}

// resume finds the tiers that an earlier run has put into the table.
func (t *tierTable) resume(ctx context.Context) (err error) {
	if t.run.tableComplete {
		if t.seal, err = t.run.sealOf(ctx, table.Dir); err != nil {
			return err
		}
		for tier := range t.tabled {
			t.tabled[tier] = t.file(tier) != nil
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
		for _, f := range old.Files {
			if err := t.reuse(ctx, f); err != nil {
				return err
			}
		}
	case err != nil && !jobdir.Damaged(err):
		return err
	case !errors.Is(err, fs.ErrNotExist):
		t.run.warn("%s is not as it was written: the table is made again", name)
	}
	return nil
}

// reuse adds the file of a tier that an earlier run has written. A damaged one is deleted.
func (t *tierTable) reuse(ctx context.Context, f store.SealedFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for tier := range t.tabled {
		name := table.TierFile(t.g, tier)
		if filepath.Base(name) != f.Name {
			continue
		}
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
		if err == nil {
			t.tabled[tier] = true
			t.seal.Files = append(t.seal.Files, f)
		} else if jobdir.Damaged(err) {
			t.run.warn("%v: made again", err)
			err = t.run.data.Remove(name)
		}
		return err
	}
	return nil
}

// write adds a tier, written by values.
func (t *tierTable) write(ctx context.Context, tier int, values func(ctx context.Context, out io.WriteCloser, tier int) error) (err error) {
	data := t.run.data
	if t.attempt == "" {
		if err := data.FS.MkdirAll(data.Dir(table.Dir)); err != nil {
			return err
		}
		if err := data.FS.Sync(data.Path); err != nil {
			return err
		}
		if t.attempt, err = data.Attempt(table.Dir); err != nil {
			return err
		}
	}
	to := table.TierFile(t.g, tier)
	name := filepath.Join(t.attempt, filepath.Base(to))
	out, err := data.FS.Create(name)
	if err != nil {
		return err
	}
	if err := values(ctx, out, tier); err != nil {
		return err
	}
	if err := data.CommitFile(name, to); err != nil {
		return err
	}
	f, err := jobdir.Seal(data.FS, data.Dir(to))
	t.seal.Files, t.changed = append(t.seal.Files, f), true
	return err
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
	entries, err := data.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if store.OwnFile(e.Name()) && e.Name() != TiersSeal && t.seal.File(e.Name()) == nil {
			if err := data.Remove(filepath.Join(table.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if t.attempt != "" {
		if err := data.FS.RemoveAll(t.attempt); err != nil {
			return err
		}
	}
	if err := data.FS.Rename(t.path(TiersSeal), t.path(store.Success)); err != nil {
		return err
	}
	return data.FS.Sync(dir)
}
