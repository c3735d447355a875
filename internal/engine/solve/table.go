package solve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
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
	seal    *store.Seal // lists the tiers that are in the table, and the omitted ones that are solved
	changed bool        // whether this run has changed the seal
}

func newTierTable(r *run, g game.Acyclic) *tierTable {
	r.last = g.Tiers()
	return &tierTable{run: r, g: g, tabled: make([]bool, r.last+1), seal: &store.Seal{Game: r.data.Game, Job: table.Dir}}
}

// omits reports whether the table is to be small, and then lacks the tier.
func (t *tierTable) omits(tier int) bool {
	return t.run.Small && table.Omits(t.run.g.Blocks, tier)
}

// omission returns the entry of an omitted tier that has been solved.
func (t *tierTable) omission(tier int) *store.OmittedFile {
	return t.seal.Omission(filepath.Base(table.TierFile(t.g, tier)))
}

// positions returns the number of positions of a tier that an earlier run, or this one, has solved
// and put into the table or omitted.
func (t *tierTable) positions(tier int) (n uint64, ok bool) {
	if f := t.file(tier); f != nil {
		return f.Records, true
	}
	if f := t.omission(tier); f != nil {
		return f.Records(), true
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
		if small := len(t.seal.Omitted) > 0; small != t.run.Small {
			size := map[bool]string{true: SmallTable, false: FullTable}
			return fmt.Errorf("%s is %s: driver table %s %s makes it %[3]s", t.run.data.Dir(table.Dir), size[small], size[!small], t.run.data.Path)
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
		if t.run.Small {
			t.seal.Omitted = old.Omitted
		}
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

// omit lists an omitted tier, which has been solved, in the seal.
func (t *tierTable) omit(tier int) error {
	if t.omission(tier) != nil {
		return nil
	}
	from := second(tier) // the last tier is never omitted
	if t.tabled[tier] {
		from = table.TierFile(t.g, tier)
	}
	g := t.run.g.Blocks
	if half := game.HalfOf(g); half != nil {
		g = half
	}
	in, err := jobdir.OpenTier(t.run.data.FS, t.run.data.Dir(from), g, tier)
	if err != nil {
		return err
	}
	defer in.Close()
	counts := in.Counts()
	if n := counts[streamfmt.Open]; n > 0 {
		return fmt.Errorf("%s: %d positions have no value", from, n)
	}
	t.seal.Omitted, t.changed = append(t.seal.Omitted, table.Omission(filepath.Base(table.TierFile(t.g, tier)), table.CountsOf(counts))), true
	return nil
}

// writeOmitted writes the tiers that the table omits into an attempt, and returns its path; "" if
// the table is full.
func (t *tierTable) writeOmitted(ctx context.Context) (attempt string, err error) {
	if len(t.seal.Omitted) == 0 {
		return "", nil
	}
	tab, err := table.OpenOf(t.run.data.FS, t.run.data.Path, t.g)
	if err != nil {
		return "", err
	}
	defer tab.Close()
	return writeOmitted(ctx, t.run.data, tab, t.seal)
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
	// An earlier run may have written omitted tiers, because its table was to be full.
	t.seal.Files = slices.DeleteFunc(t.seal.Files, func(f store.SealedFile) bool { return t.seal.Omission(f.Name) != nil })
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
