package mirror

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// fetched is the prefix of the name of a directory that is being fetched. It makes the
// directory an attempt, which does not count as complete.
const fetched = "_attempt-fetched-"

// Begun reports whether a directory contains a run that a run of a game in this mode continues. It
// returns an error if the directory is not suitable: if it contains a run of another game, a run
// that is neither continued nor overwritten, or files that are not treereduce's.
func Begun(fsys store.FS, dir, game string, mode store.Mode) (bool, error) {
	m, err := store.ReadManifest(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := fsys.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), "_") }) {
			err = fmt.Errorf("not empty, and not treereduce's: it has no %s: name another place", store.ManifestFile)
		}
		return false, err
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

// Ready checks that the copy is suitable for a run of a game in the data directory, see Begun;
// if the run resumes, the copy must not be newer than the data directory. If the data directory is
// empty, a run that resumes gets the complete directories of the copy. After an interruption, the
// next Ready continues.
func (c *Copy) Ready(game string, mode store.Mode) error {
	if begun, err := Begun(c.to, c.dir, game, mode); err != nil {
		if lost := c.claim.Held(c.ctx); lost != nil {
			err = lost // another driver writes the copy
		}
		return fmt.Errorf("--copy %s: %w", c.Name(), err)
	} else if !begun {
		return nil
	}
	if _, err := c.from.Stat(path.Join(c.data, store.ManifestFile)); errors.Is(err, fs.ErrNotExist) {
		return c.fetch(game)
	} else if err != nil {
		return err
	}
	return c.notBehind()
}

// notBehind returns an error if the copy is newer than the data directory: the run would
// delete from the copy what the data directory does not have.
func (c *Copy) notBehind() error {
	there, err := solve.ReadJournal(c.to, c.dir)
	if err != nil {
		return nil // the run writes a new journal
	}
	here, err := solve.ReadJournal(c.from, c.data)
	if err == nil && !there.Begun.After(here.Begun) {
		return nil
	}
	return fmt.Errorf("--copy %s: it is from a later run, started %s, than the data in %s: move that directory away, and --resume fetches the copy",
		c.Name(), there.Begun.Format("2006-01-02 15:04:05 MST"), c.data)
}

// fetch fetches the complete directories of the copy, then its manifest.
func (c *Copy) fetch(game string) error {
	here, err := c.from.ReadDir(c.data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range here {
		if !strings.HasPrefix(e.Name(), "_") && !solve.IsRunArtifact(e.Name()) {
			return fmt.Errorf("data directory %s: not empty, and not treereduce's: it has no %s", c.data, store.ManifestFile)
		}
	}
	if err := c.from.MkdirAll(c.data); err != nil {
		return err
	}
	there, err := entries(c.to, c.dir)
	if err != nil {
		return fmt.Errorf("--copy: %w", err)
	}
	dirs, size := 0, int64(0)
	for _, e := range there {
		if !e.IsDir() {
			continue
		}
		n, err := c.fetchDir(e.Name(), game)
		switch {
		case store.Damaged(err) && c.ctx.Err() == nil:
			c.warn(fmt.Sprintf("--copy: %v: it will be rebuilt", err))
		case err != nil:
			return fmt.Errorf("--copy: %w", err)
		default:
			dirs, size = dirs+1, size+n
		}
	}
	for _, name := range []string{store.JournalFile, store.ManifestFile} {
		if _, err := c.fetchFile(name, name); err != nil && (name == store.ManifestFile || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("--copy: %w", err)
		}
	}
	c.warn(fmt.Sprintf("fetched %d directories, %s, from %s", dirs, numfmt.Bytes(float64(size)), c.Name()))
	return nil
}

// fetchDir fetches a complete directory, or the tiers of an incomplete table. It returns the
// number of bytes fetched. It skips a directory that exists.
func (c *Copy) fetchDir(name, game string) (n int64, err error) {
	if _, err := c.from.Stat(path.Join(c.data, name)); !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	from := path.Join(c.dir, name)
	_, names, err := store.OpenDir(c.to, from, game)
	last := store.Success
	if errors.Is(err, store.ErrIncomplete) {
		last = solve.TiersSeal
		var tiers *store.Seal
		if tiers, err = store.ReadSealFile(c.to, path.Join(from, solve.TiersSeal)); err == nil {
			for _, f := range tiers.Files {
				names = append(names, f.Name)
			}
		}
	}
	if err != nil {
		return 0, err
	}
	attempt := path.Join(c.data, fetched+name)
	if err := errors.Join(c.from.RemoveAll(attempt), c.from.MkdirAll(attempt)); err != nil {
		return 0, err
	}
	for _, file := range append(names, last) {
		some, err := c.fetchFile(path.Join(name, file), path.Join(fetched+name, file))
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && last == solve.TiersSeal) { // for an incomplete table, the tiers that exist
			return n, err
		}
		n += some
	}
	return n, c.from.Rename(attempt, path.Join(c.data, name))
}

// fetchFile fetches a file. If the file is not part of an attempt, it is renamed to its name
// when it is complete.
func (c *Copy) fetchFile(name, dest string) (n int64, err error) {
	in, err := c.to.Open(path.Join(c.dir, name))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	to := path.Join(c.data, dest)
	temporary := to
	if name == dest {
		temporary = path.Join(c.data, fetched+name)
	}
	out, err := c.from.Create(temporary)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil && temporary != to {
		err = c.from.Rename(temporary, to)
	}
	return n, err
}
