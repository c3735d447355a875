package solve

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// TableOption is the name of the option in the manifest that contains the size of the table.
const TableOption = "table"

// The sizes of a table. SmallTable stores every second tier, see table.Omits.
const (
	FullTable  = "full"
	SmallTable = "small"
)

// Resize makes the table of a solved game small or full, and records it in the manifest. It
// verifies the files that remain before it deletes any. If it is interrupted, the table is
// unchanged.
func Resize(ctx context.Context, data *store.Data, g game.Game, size string) error {
	m := game.MethodOf(g)
	if err := table.CanBeSmall(m); err != nil {
		return err
	}
	tab, err := table.OpenOf(data.FS, data.Path, g)
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := data.EnableSync(); err != nil {
		return err
	}
	seal, err := store.ReadSeal(data.FS, data.Dir(table.Dir))
	if err != nil {
		return err
	}
	if size == SmallTable {
		err = makeSmall(ctx, data, m.Blocks, tab, seal)
	} else {
		err = makeFull(ctx, data, tab, seal)
	}
	if err != nil {
		return err
	}
	options := maps.Clone(data.Options)
	if options == nil {
		options = make(map[string]string)
	}
	options[TableOption] = size
	return data.Remember(options)
}

// makeSmall deletes the files of the tiers that a small table omits.
func makeSmall(ctx context.Context, data *store.Data, g game.Tiered, tab *table.Table, seal *store.Seal) error {
	dir := data.Dir(table.Dir)
	small := &store.Seal{Game: seal.Game, Job: seal.Job}
	for tier := range g.Tiers() + 1 {
		name := filepath.Base(table.TierFile(g, tier))
		f := seal.File(name)
		if table.Omits(g, tier) {
			counts, err := tab.Counts(tier)
			if err != nil {
				return err
			}
			small.Omitted = append(small.Omitted, table.Omission(name, counts))
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := jobdir.CheckFile(data.FS, filepath.Join(dir, name), f); err != nil {
			return err
		}
		small.Files = append(small.Files, *f)
	}
	if err := small.Replace(data.FS, dir, store.Success); err != nil {
		return err
	}
	for _, f := range small.Omitted {
		if err := data.FS.RemoveAll(filepath.Join(dir, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// makeFull writes the omitted tiers into the table.
func makeFull(ctx context.Context, data *store.Data, tab *table.Table, seal *store.Seal) error {
	if len(seal.Omitted) == 0 {
		return nil
	}
	attempt, err := writeOmitted(ctx, data, tab, seal)
	if err != nil {
		return err
	}
	dir := data.Dir(table.Dir)
	for _, o := range seal.Omitted {
		if err := data.CommitFile(filepath.Join(attempt, o.Name), filepath.Join(table.Dir, o.Name)); err != nil {
			return err
		}
		f, err := jobdir.Seal(data.FS, filepath.Join(dir, o.Name))
		if err != nil {
			return err
		}
		seal.Files = append(seal.Files, f)
	}
	seal.Omitted = nil
	seal.Sort()
	if err := seal.Replace(data.FS, dir, store.Success); err != nil {
		return err
	}
	return data.FS.RemoveAll(attempt)
}

// writeOmitted writes the tiers that a small table omits into an attempt, and returns its path.
func writeOmitted(ctx context.Context, data *store.Data, tab *table.Table, seal *store.Seal) (attempt string, err error) {
	if attempt, err = data.Attempt(table.Dir); err != nil {
		return "", err
	}
	for tier := range tab.Tiers() + 1 {
		o := seal.Omission(filepath.Base(table.TierFile(tab.Game(), tier)))
		if o == nil {
			continue
		}
		name := filepath.Join(attempt, o.Name)
		out, err := data.FS.Create(name)
		if err != nil {
			return "", err
		}
		if err := tab.WriteTier(ctx, out, tier); err != nil {
			return "", err
		}
		f, err := jobdir.Seal(data.FS, name)
		if err != nil {
			return "", err
		}
		if n := o.Records(); f.Records != n {
			return "", fmt.Errorf("%s: %d positions follow from the other tiers, but %s lists %d", table.TierFile(tab.Game(), tier), f.Records, store.Success, n)
		}
	}
	return attempt, nil
}
