package copies

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// Ready checks that the copy is suitable for a run of a game in the data directory: that it is empty, or of the run that
// is resumed, and then not newer than the data directory, or of a run that is overwritten. If the data directory is
// empty, a run that resumes gets the complete directories of the copy. After an interruption, the next Ready continues.
func (c *Copy) Ready(game string, mode store.Mode) error {
	begun, err := c.begun(game, mode)
	if err != nil {
		return c.failed(err)
	}
	if !begun {
		return nil
	}
	if _, err := c.fsys.Stat(path.Join(c.data, store.ManifestFile)); errors.Is(err, fs.ErrNotExist) {
		return c.fetch()
	} else if err != nil {
		return err
	}
	return c.notBehind()
}

// begun reports whether the copy is of a run that a run of a game continues. It returns an error if the copy is not
// suitable.
func (c *Copy) begun(game string, mode store.Mode) (bool, error) {
	if err := c.list(); err != nil {
		return false, err
	}
	manifest := c.there[store.ManifestFile]
	if manifest == nil {
		for name := range c.files {
			if dir, _, _ := strings.Cut(name, "/"); !strings.HasPrefix(dir, "_") && !(mode == store.Overwrite && belongs(dir)) {
				return false, fmt.Errorf("not empty, and not a copy of a run: it has no %s: name another place", store.ManifestFile)
			}
		}
		return false, nil
	}
	m, err := store.ParseManifest(c.Name(), []byte(manifest[""]))
	switch {
	case mode == store.Overwrite && !errors.Is(err, store.ErrNewer):
		return false, nil
	case err != nil:
		return false, err
	case m.Game != game:
		return false, fmt.Errorf("of another game: expected %q, found %q: name another place", game, m.Game)
	case mode == store.Fresh:
		return false, fmt.Errorf("%w: --resume continues it, --overwrite starts over", store.ErrBegun)
	}
	return true, nil
}

// list sets files and there.
func (c *Copy) list() (err error) {
	if c.files, err = c.place.List(c.ctx); err != nil {
		return err
	}
	there := make(state)
	var read []string // the manifest, the journal and seals
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		top, file, deep := strings.Cut(name, "/")
		if !belongs(top) {
			continue
		}
		if there[top] == nil {
			there[top] = make(map[string]string)
		}
		if there[top][file] = unknown; !deep || slices.Contains(seals, file) {
			read = append(read, name)
		}
	}
	var text []byte
	if len(read) > 0 {
		if text, err = c.place.Read(c.ctx, read); err != nil {
			return err
		}
	}
	for _, name := range read {
		n := c.files[name]
		if n > int64(len(text)) {
			return fmt.Errorf("%s has changed while it was read: does another run keep its copy there?", name)
		}
		top, file, _ := strings.Cut(name, "/")
		there[top][file], text = string(text[:n]), text[n:]
	}
	for top, files := range there {
		if seal := sealIn(files); seal != nil {
			for _, f := range seal.Files {
				if length, ok := c.files[path.Join(top, f.Name)]; ok && length == f.Length {
					files[f.Name] = described(&f)
				}
			}
		}
	}
	c.there = there
	return nil
}

// notBehind returns an error unless the data directory is as new as the copy: the run would delete from the copy what the
// data directory does not have.
func (c *Copy) notBehind() error {
	there := new(solve.Journal)
	if store.UnmarshalSummed(store.JournalFile, []byte(c.there[store.JournalFile][""]), there) != nil {
		return nil // the run writes a new journal
	}
	here, err := solve.ReadJournal(c.fsys, c.data)
	if err != nil && !store.Damaged(err) {
		return err
	}
	if err != nil || there.Begun.After(here.Begun) {
		return c.failed(fmt.Errorf("it is from a run started %s; the data in %s is of an earlier run, or that is unknown: move that directory away, and --resume fetches the copy",
			there.Begun.Format("2006-01-02 15:04:05 MST"), c.data))
	}
	return nil
}

// fetch fetches the complete directories of the copy, and the journal, then the manifest: a data directory that has it
// counts as fetched.
func (c *Copy) fetch() (err error) {
	if err := c.fsys.MkdirAll(c.data); err != nil {
		return err
	}
	here, err := c.fsys.ReadDir(c.data)
	if err != nil {
		return err
	}
	have := make(map[string]bool)
	for _, e := range here {
		if have[e.Name()] = true; !strings.HasPrefix(e.Name(), "_") && !belongs(e.Name()) {
			return fmt.Errorf("data directory %s: not empty, and not treereduce's: it has no %s", c.data, store.ManifestFile)
		}
	}
	lock, err := c.fsys.Lock(path.Join(c.data, store.LockFile))
	if err != nil {
		return fmt.Errorf("data directory %s: %w", c.data, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	var names []string
	var bytes int64
	for _, name := range slices.Sorted(maps.Keys(c.there)) {
		if name == store.ManifestFile || have[name] {
			continue
		}
		if name != store.JournalFile && !c.whole(name) {
			c.warn(fmt.Sprintf("--copy-to %s: %s is not complete there: it will be rebuilt", c.Name(), name))
			continue
		}
		names = append(names, name)
	}
	names = append(names, store.ManifestFile)
	for file, length := range c.files {
		if dir, _, _ := strings.Cut(file, "/"); slices.Contains(names, dir) {
			bytes += length
		}
	}
	if err := errors.Join(c.fsys.RemoveAll(c.stage), c.fsys.MkdirAll(c.stage)); err != nil {
		return err
	}
	if err := c.place.Fetch(c.ctx, names, bytes, c.stage); err != nil {
		return c.failed(err)
	}
	if _, ok := c.there[table.Dir][store.Success]; ok { // the last run was lost before it deleted the other seal
		if err := c.fsys.RemoveAll(path.Join(c.stage, table.Dir, solve.TiersSeal)); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := c.fsys.Rename(path.Join(c.stage, name), path.Join(c.data, name)); err != nil {
			return err
		}
	}
	c.warn(fmt.Sprintf("fetched %s from %s", numfmt.Bytes(float64(bytes)), c.Name()))
	return nil
}

// whole reports whether the copy has all files that the seal of a directory lists. For the table, the tiers that exist are
// enough.
func (c *Copy) whole(name string) bool {
	files := c.there[name]
	seal := sealIn(files)
	return seal != nil && (name == table.Dir || !slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return files[f.Name] != described(&f) }))
}
