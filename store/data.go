package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// FormatVersion is the version of everything in a data directory. A directory
// of another version is refused.
const FormatVersion = 1

const (
	manifestName  = "treereduce.json"
	lockName      = "_lock"
	attemptPrefix = "_attempt-"
	tryDigits     = 10 // of the number of a try
	// Success is the empty file that says that a directory is whole.
	Success = "_SUCCESS"
	// JournalFile says what the jobs of a run did; see package solve.
	JournalFile = "jobs.json"
)

// A manifest says what a data directory is of.
type manifest struct {
	Format int    `json:"format"`
	Game   string `json:"game"`
}

// ErrBegun is returned by Create when the directory holds a run of the same
// game already.
var ErrBegun = errors.New("holds a run of this game already")

// Data is a data directory. At most one process works in it.
type Data struct {
	FS   FS
	Path string
	Game string // the spec of its game

	lock io.Closer
}

// A Mode says what Create does with a directory that holds a run.
type Mode int

// The modes of Create.
const (
	Fresh     Mode = iota // it is an error
	Resume                // go on with it, if it is of the same game and version
	Overwrite             // remove what treereduce made there, whatever game
)

// Create makes or takes a data directory for a run of a game, and locks it. It
// refuses a directory of another game or version, one that another process is
// at work in, and one with files in it that are not treereduce's. What earlier
// attempts left half-written is removed; but in Resume not the attempts that keep,
// if it is not nil, asks for: a cluster may still be at work in them. An error of
// keep is Create's.
func Create(fsys FS, path, game string, mode Mode, keep func(attempt string) (bool, error)) (_ *Data, err error) {
	d := &Data{FS: fsys, Path: path, Game: game}
	if err := d.refuseForeign(); err != nil {
		return nil, err
	}
	if err := d.FS.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if d.lock, err = fsys.Lock(filepath.Join(path, lockName)); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	begun := false
	if mode != Overwrite {
		if begun, err = d.checkManifest(); err != nil {
			return nil, err
		}
		if begun && mode == Fresh {
			return nil, fmt.Errorf("data directory %s: %w", path, ErrBegun)
		}
	}
	if mode == Overwrite {
		keep = nil
	}
	if err := d.clear(mode == Overwrite, keep); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	if begun {
		return d, nil
	}
	text, err := json.MarshalIndent(manifest{FormatVersion, game}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := d.WriteFile(manifestName, append(text, '\n')); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return d, nil
}

// refuseForeign wants a directory that is not there, or empty, or one of ours. A
// driver that was killed early leaves nothing but names that begin with _.
func (d *Data) refuseForeign() error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	foreign := false
	for _, e := range entries {
		if e.Name() == manifestName {
			return nil
		}
		foreign = foreign || !strings.HasPrefix(e.Name(), "_")
	}
	if foreign {
		return fmt.Errorf("data directory %s: not empty, and not treereduce's: it has no %s", d.Path, manifestName)
	}
	return nil
}

// checkManifest reports whether the directory has a manifest, and refuses one
// of another version or game.
func (d *Data) checkManifest() (begun bool, err error) {
	name := d.Dir(manifestName)
	f, err := d.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	var m manifest
	if err := json.NewDecoder(f).Decode(&m); err != nil {
		return false, fmt.Errorf("%s: not a manifest: %w", name, err)
	}
	if m.Format != FormatVersion {
		return false, fmt.Errorf("data directory %s: of format version %d, this program reads version %d", d.Path, m.Format, FormatVersion)
	}
	if m.Game != d.Game {
		return false, fmt.Errorf("data directory %s: of another game: expected %q, found %q", d.Path, d.Game, m.Game)
	}
	return true, nil
}

// ours reports whether a name in a data directory is one that treereduce makes,
// the lock aside.
func ours(name string) bool {
	for _, prefix := range []string{"data_first", "data_second", "mark", "solve", "ties"} {
		if number, ok := strings.CutPrefix(name, prefix); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return true
		}
	}
	return slices.Contains([]string{manifestName, JournalFile, "temp", "create", "table", "final"}, name)
}

// clear removes attempts that are not to be kept, and if asked everything that
// is ours but the lock.
func (d *Data) clear(all bool, keep func(attempt string) (bool, error)) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		attempt, kept := strings.HasPrefix(e.Name(), attemptPrefix), false
		if attempt && keep != nil {
			if kept, err = keep(d.attemptOf(e.Name())); err != nil {
				return err
			}
		}
		switch {
		case kept:
		case attempt || all && ours(e.Name()) && !e.IsDir():
			err = d.FS.RemoveAll(d.Dir(e.Name()))
		case all && ours(e.Name()):
			err = d.Remove(e.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close gives the lock up.
func (d *Data) Close() error {
	if d.lock == nil {
		return nil
	}
	return d.lock.Close()
}

// Dir is the path of a directory or file in the data directory.
func (d *Data) Dir(name string) string { return filepath.Join(d.Path, name) }

// Whole reports whether a directory is there with its _SUCCESS.
func (d *Data) Whole(name string) (bool, error) { return Whole(d.FS, d.Dir(name)) }

// Whole reports whether a directory is there with its _SUCCESS.
func Whole(fsys FS, dir string) (bool, error) {
	_, err := fsys.Stat(filepath.Join(dir, Success))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Attempt makes an empty directory for a try of the job that makes the directory
// of that name. No two tries have the same, not those of another process either:
// whoever still writes for a try that was given up does so where nobody looks.
// Files beside the directory may belong to the try: those called as it is,
// with a point and more behind.
func (d *Data) Attempt(name string) (dir string, err error) {
	dir = d.Dir(fmt.Sprintf("%s%s-%0*x", attemptPrefix, name, tryDigits, rand.Uint64()>>(64-4*tryDigits)))
	return dir, d.FS.MkdirAll(dir)
}

// attemptOf is the directory of the attempt that an entry is, or belongs to.
func (d *Data) attemptOf(entry string) string {
	attempt, _, _ := strings.Cut(entry, ".")
	return d.Dir(attempt)
}

// Attempts lists the attempts at a directory that are there, in the order of
// names, which means nothing. Of one that has not begun, only files beside its
// directory may be there.
func (d *Data) Attempts(name string) (dirs []string, err error) {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		dir := d.attemptOf(e.Name())
		try, ok := strings.CutPrefix(dir, d.Dir(attemptPrefix+name+"-"))
		if ok && len(try) == tryDigits && strings.Trim(try, "0123456789abcdef") == "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Commit makes the directory of an attempt the directory of a name, whole at
// once: _SUCCESS is in it before it is renamed. A directory that was not whole
// gives way. Files beside that belong to the attempt go then.
func (d *Data) Commit(attempt, name string) error {
	if err := d.mark(attempt); err != nil {
		return err
	}
	if err := d.FS.RemoveAll(d.Dir(name)); err != nil {
		return err
	}
	if err := d.FS.Rename(attempt, d.Dir(name)); err != nil {
		return err
	}
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if d.attemptOf(e.Name()) == attempt {
			if err := d.FS.RemoveAll(d.Dir(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// CommitFile makes a file of an attempt the file of that path.
func (d *Data) CommitFile(attempt, name string) error {
	return d.FS.Rename(attempt, d.Dir(name))
}

// Remove removes a directory, _SUCCESS first, so that what an interruption
// leaves is not taken for whole.
func (d *Data) Remove(name string) error {
	if err := d.FS.RemoveAll(d.Dir(filepath.Join(name, Success))); err != nil {
		return err
	}
	return d.FS.RemoveAll(d.Dir(name))
}

// Mark writes the _SUCCESS of a directory.
func (d *Data) Mark(name string) error { return d.mark(d.Dir(name)) }

// mark writes the _SUCCESS of a directory: an empty file is there or not, so it
// needs no other name first.
func (d *Data) mark(dir string) error {
	f, err := d.FS.Create(filepath.Join(dir, Success))
	if err != nil {
		return err
	}
	return f.Close()
}

// WriteFile writes a small file under a temporary name and renames it.
func (d *Data) WriteFile(name string, text []byte) error {
	dir, base := filepath.Split(name)
	temporary := d.Dir(filepath.Join(dir, attemptPrefix+base))
	if err := WriteFile(d.FS, temporary, text); err != nil {
		return err
	}
	return d.FS.Rename(temporary, d.Dir(name))
}
