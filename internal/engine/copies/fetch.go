package copies

import (
	"errors"
	"fmt"
	"io/fs"
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
// empty, a run that resumes fetches the copy. After an interruption, the next Ready continues.
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
	lengths, err := c.list()
	if err != nil {
		return false, err
	}
	manifest, ok := c.there[store.ManifestFile]
	if !ok {
		for name := range lengths {
			if dir := top(name); !strings.HasPrefix(dir, "_") && !(mode == store.Overwrite && belongs(dir)) {
				return false, fmt.Errorf("not empty, and not a copy of a run: it has no %s: name another place", store.ManifestFile)
			}
		}
		return false, nil
	}
	m, err := store.ParseManifest(c.Name(), []byte(manifest.text))
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

// notBehind returns an error unless the data directory is as new as the copy: the run would delete from the copy what the
// data directory does not have.
func (c *Copy) notBehind() error {
	there := new(solve.Journal)
	if store.UnmarshalSummed(store.JournalFile, []byte(c.there[store.JournalFile].text), there) != nil {
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

// fetch fetches the copy. The manifest gets its name last: a data directory that has it counts as fetched. A directory that
// was not completely copied is made again by the run that resumes, which checks the seals.
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
	for _, name := range c.there.tops() {
		if name != store.ManifestFile && !have[name] {
			names = append(names, name)
		}
	}
	names = append(names, store.ManifestFile)
	bytes := int64(0)
	for name, f := range c.there {
		if slices.Contains(names, top(name)) {
			bytes += f.length
		}
	}
	if err := errors.Join(c.fsys.RemoveAll(c.stage), c.fsys.MkdirAll(c.stage)); err != nil {
		return err
	}
	if err := c.place.Fetch(c.ctx, names, bytes, c.stage); err != nil {
		return c.failed(err)
	}
	if seals := seals(table.Dir); c.there[seals[0]].text != "" { // the last run was lost before it deleted the other one
		if err := c.fsys.RemoveAll(path.Join(c.stage, seals[1])); err != nil {
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
