package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// FormatVersion is the version of everything in a data directory. A directory
// of another version is refused.
const FormatVersion = 2

const (
	// ManifestFile says what a data directory is of.
	ManifestFile  = "treereduce.json"
	lockName      = "_lock"
	attemptPrefix = "_attempt-"
	removedPrefix = "_removed-"
	driverPrefix  = "_driver-"
	tryDigits     = 10 // of the number of a try
	// Success is the file that says that a directory is whole, and what is in it: a
	// Seal.
	Success = "_SUCCESS"
	// PartPrefix is what the names of files begin with that jobs read.
	PartPrefix = "part-"
	// OutboxPrefix is what the names of files begin with that jobs write for the jobs
	// of other tiers.
	OutboxPrefix = "to-"
	// JournalFile says what the jobs of a run did; see package solve.
	JournalFile = "jobs.json"
	seedFile    = "temp" // what the first job reads
)

// A Manifest says what a data directory is of.
type Manifest struct {
	Format   int               `json:"format"`
	Game     string            `json:"game"`               // its spec
	Options  map[string]string `json:"options,omitempty"`  // of the run, by name; what goes on with it keeps to them
	Clearing bool              `json:"clearing,omitempty"` // an older run is being removed
}

// anew is what helps where a data directory is of no use any more.
const anew = "driver solve --overwrite begins anew"

// ErrClearing is returned by ReadManifest for a directory in which a driver ended while it
// removed an older run. A directory of that run is complete or not there.
var ErrClearing = errors.New("a driver ended while it removed an old run: " + anew)

// ReadManifest reads the manifest of a data directory. One that is damaged, of
// another version, or of a directory that was being cleared, is refused.
func ReadManifest(fsys FS, dir string) (*Manifest, error) {
	name := path.Join(dir, ManifestFile)
	text, err := ReadFile(fsys, name)
	if damage := (*DamageError)(nil); errors.As(err, &damage) {
		return nil, fmt.Errorf("%w: %s", err, anew)
	}
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	err = UnmarshalSummed(name, text, m)
	var other struct{ Format int }
	if err != nil && json.Unmarshal(text, &other) == nil {
		m.Format = other.Format // one of version 1 has no sum
	}
	switch {
	case m.Format != FormatVersion && m.Format != 0:
		return nil, fmt.Errorf("data directory %s: of format version %d, this program reads version %d: %s", dir, m.Format, FormatVersion, anew)
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, anew)
	case m.Clearing:
		return nil, fmt.Errorf("data directory %s: %w", dir, ErrClearing)
	}
	return m, nil
}

// ErrBegun is returned by Create when the directory holds a run of the same
// game already.
var ErrBegun = errors.New("holds a run of this game already")

// Data is a data directory. At most one process works in it.
type Data struct {
	FS      FS // its Sync does nothing before Last
	Path    string
	Game    string            // the spec of its game
	Options map[string]string // that an earlier run remembered; nil of a new one
	Resumed bool              // an earlier run began it

	lock  io.Closer
	syncs *lasting // FS
	fence *fence   // what syncs wraps
}

// A Mode says what Create does with a directory that holds a run.
type Mode int

// The modes of Create.
const (
	Fresh     Mode = iota // it is an error
	Resume                // go on with it, if it is of the same game and version; it must be there
	Overwrite             // remove what treereduce made there, whatever game
)

// Create makes or takes a data directory for a run of a game, and locks it. It
// refuses a directory of another game or version, one that another process is
// at work in, and one with files in it that are not treereduce's. What earlier
// attempts left half-written is removed; but in Resume not the attempts that keep,
// if it is not nil, asks for: a cluster may still be at work in them. An error of
// keep is Create's.
func Create(fsys FS, path, game string, mode Mode, keep func(attempt string) (bool, error)) (_ *Data, err error) {
	fence := &fence{FS: fsys}
	syncs := &lasting{FS: fence}
	d := &Data{FS: syncs, Path: path, Game: game, syncs: syncs, fence: fence}
	if err := d.refuse(mode); err != nil {
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
	if err := d.takeOver(); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	if mode == Overwrite {
		return d, d.overwrite()
	}
	if err := d.takeUp(mode); err != nil {
		return nil, err
	}
	if err := d.clear(false, keep); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	if d.Resumed {
		return d, nil
	}
	return d, d.writeManifest(false)
}

// takeOver makes the directory by which this driver owns the data directory (see fence),
// and takes away those of drivers before it. What they were removing is removed.
func (d *Data) takeOver() error {
	own := d.unique(driverPrefix, "")
	if err := d.FS.MkdirAll(own); err != nil {
		return err
	}
	d.fence.own = own
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := d.Dir(e.Name())
		switch {
		case strings.HasPrefix(e.Name(), driverPrefix) && dir != own:
			moved := filepath.Join(own, e.Name())
			if err = d.FS.Rename(dir, moved); err == nil {
				err = d.clearOwn(moved)
			}
		case strings.HasPrefix(e.Name(), removedPrefix):
			err = d.sweep(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clearOwn removes the directory by which a driver owned the data directory.
func (d *Data) clearOwn(own string) error {
	entries, err := d.FS.ReadDir(own)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(own, e.Name())
		if strings.HasPrefix(e.Name(), driverPrefix) {
			err = d.clearOwn(dir)
		} else {
			err = d.sweep(dir)
		}
		if err != nil {
			return err
		}
	}
	return d.FS.RemoveAll(own)
}

// refuse wants a directory that is not there, or empty, or one of ours. A driver
// that was killed early leaves nothing but names that begin with _; and where the
// manifest was lost, everything but the lock may be removed.
func (d *Data) refuse(mode Mode) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	foreign, locked, left := false, false, false
	for _, e := range entries {
		switch name := e.Name(); {
		case name == ManifestFile:
			return nil
		case name == lockName:
			locked = true
		case strings.HasPrefix(name, "_"):
		case Ours(name):
			left = true
		default:
			foreign = true
		}
	}
	switch {
	case foreign || left && !locked:
		return fmt.Errorf("data directory %s: not empty, and not treereduce's: it has no %s", d.Path, ManifestFile)
	case left && mode != Overwrite:
		return fmt.Errorf("data directory %s: a run has lost its %s: %s", d.Path, ManifestFile, anew)
	case mode == Resume:
		return fmt.Errorf("nothing to resume in %s: leave --resume out", d.Path)
	}
	return nil
}

// takeUp looks for a run of the same game.
func (d *Data) takeUp(mode Mode) error {
	m, err := ReadManifest(d.FS, d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && mode != Resume:
		return nil
	case err != nil:
		return err
	case m.Game != d.Game:
		return fmt.Errorf("data directory %s: of another game: expected %q, found %q: --data DIR names another directory, --overwrite replaces this one", d.Path, d.Game, m.Game)
	case mode == Fresh:
		return fmt.Errorf("data directory %s: %w", d.Path, ErrBegun)
	}
	d.Options, d.Resumed = m.Options, true
	return nil
}

// overwrite removes what is there. While it does, the manifest says so: nobody is to
// go on with half of an old run.
func (d *Data) overwrite() error {
	if err := d.writeManifest(true); err != nil {
		return err
	}
	if err := d.clear(true, nil); err != nil {
		return fmt.Errorf("data directory %s: %w", d.Path, err)
	}
	return d.writeManifest(false)
}

func (d *Data) writeManifest(clearing bool) error {
	text, err := MarshalSummed(Manifest{FormatVersion, d.Game, d.Options, clearing})
	if err != nil {
		return err
	}
	// It may replace that of a run of many hours: the new one must be there before the
	// old one goes.
	err = replace(d.FS, d.Dir(ManifestFile), text, d.syncs.FS.Sync)
	if err == nil {
		err = d.FS.Sync(d.Path)
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}

// Remember has the manifest say with which options the run goes on.
func (d *Data) Remember(options map[string]string) error {
	if maps.Equal(options, d.Options) {
		return nil
	}
	d.Options = options
	return d.writeManifest(false)
}

// Ours reports whether a name in a data directory is one that treereduce makes there,
// the manifest and what begins with _ aside.
func Ours(name string) bool {
	for _, prefix := range []string{"data_first", "data_second", "mark", "solve", "ties"} {
		if number, ok := strings.CutPrefix(name, prefix); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return true
		}
	}
	return slices.Contains([]string{JournalFile, seedFile, "create", "table", "final"}, name)
}

// OwnFile reports whether a name in the directory of a job is one that treereduce gives
// there. What has another name is not ours: it is neither read nor deleted.
func OwnFile(name string) bool { return ownFile.MatchString(name) }

// ownFile matches the names of seals, indexes and attempts; of parts, outboxes and tiers by
// their numbers, before which a part of final or of Hadoop has a letter; and of the table of
// a game without tiers.
var ownFile = regexp.MustCompile(`^(_|(` + PartPrefix + `([mr]-)?|` + OutboxPrefix + `|tier-)[0-9]|positions\.)`)

// Passing reports whether a name is that of an attempt, of a driver, or of what is being
// removed: nothing depends on it.
func Passing(name string) bool {
	return strings.HasPrefix(name, attemptPrefix) || strings.HasPrefix(name, removedPrefix) || strings.HasPrefix(name, driverPrefix)
}

// clear removes attempts that are not to be kept, and if asked everything that
// is ours but the lock and the manifest.
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
		case attempt:
			err = d.FS.RemoveAll(d.Dir(e.Name()))
		case all && Ours(e.Name()):
			err = d.Remove(e.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close gives the lock up, if it has not been given up.
func (d *Data) Close() error {
	if d.lock == nil {
		return nil
	}
	lock := d.lock
	d.lock = nil
	if d.fence.own != "" {
		_ = d.clearOwn(d.fence.own) // what stays, the next driver removes
	}
	return lock.Close()
}

// Held is ErrTakenOver once another driver has taken the data directory over.
func (d *Data) Held() error { return d.fence.held() }

// Dir is the path of a directory or file in the data directory.
func (d *Data) Dir(name string) string { return filepath.Join(d.Path, name) }

// Attempt makes an empty directory for a try of the job that makes the directory
// of that name. No two tries have the same, not those of another process either:
// whoever still writes for a try that was given up does so where nobody looks.
// Files beside the directory may belong to the try: those called as it is,
// with a point and more behind.
func (d *Data) Attempt(name string) (dir string, err error) {
	if err := d.Held(); err != nil {
		return "", err
	}
	dir = d.unique(attemptPrefix, name)
	return dir, d.FS.MkdirAll(dir)
}

// unique is a path that nobody else uses.
func (d *Data) unique(prefix, name string) string {
	return d.Dir(prefix + name + "-" + try())
}

// try is the number of a try.
func try() string { return fmt.Sprintf("%0*x", tryDigits, rand.Uint64()>>(64-4*tryDigits)) }

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

// Commit makes the directory of an attempt with these files the directory of a name,
// whole at once: it is sealed before it is renamed. What was there gives way. Files
// beside that belong to the attempt go then. After Last it outlasts a power cut.
func (d *Data) Commit(attempt, name string, files []SealedFile) error {
	if err := d.Held(); err != nil { // another driver may have adopted the attempt
		return err
	}
	seal := Seal{Game: d.Game, Job: name, Files: files}
	if err := seal.Write(d.FS, attempt); err != nil {
		return err
	}
	removed, err := d.takeAway(name)
	if err != nil {
		return err
	}
	if err := d.FS.Rename(attempt, d.Dir(name)); err != nil {
		return err
	}
	if err := d.FS.Sync(d.Path); err != nil {
		return err
	}
	if removed != "" {
		if err := d.sweep(removed); err != nil {
			return err
		}
	}
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if beside, _, _ := strings.Cut(e.Name(), "."); beside == path.Base(attempt) {
			if err := d.FS.RemoveAll(d.Dir(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// CommitFile makes a file of an attempt the file of that path. Its directory is synced
// by whoever writes the seal of which it is a part.
func (d *Data) CommitFile(attempt, name string) error {
	if err := d.FS.Sync(attempt); err != nil {
		return err
	}
	return d.FS.Rename(attempt, d.Dir(name))
}

// Remove removes a directory, or a file. It takes the name away first, so that nothing
// takes what an interruption leaves for whole. Files in the directory that are not
// treereduce's stay there.
func (d *Data) Remove(name string) error {
	removed, err := d.takeAway(name)
	if err != nil || removed == "" {
		return err
	}
	return d.sweep(removed)
}

// takeAway takes the name of a directory, or a file, away; removed is where it is then,
// "" if there was none.
func (d *Data) takeAway(name string) (removed string, err error) {
	removed = filepath.Join(d.fence.own, path.Base(d.unique(removedPrefix, filepath.Base(name))))
	err = d.FS.Rename(d.Dir(name), removed)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return removed, err
}

// sweep removes what takeAway took away. What is not treereduce's in a directory goes back
// to where it was.
func (d *Data) sweep(removed string) error {
	name := strings.TrimPrefix(filepath.Base(removed), removedPrefix)
	if len(name) > 1+tryDigits {
		name = name[:len(name)-1-tryDigits]
	}
	if Ours(name) && name != JournalFile && name != seedFile {
		entries, err := d.FS.ReadDir(removed)
		if err != nil && !Damaged(err) {
			return err
		}
		for _, e := range entries {
			if OwnFile(e.Name()) {
				continue
			}
			if err := d.FS.MkdirAll(d.Dir(name)); err != nil {
				return err
			}
			if err := d.FS.Rename(filepath.Join(removed, e.Name()), filepath.Join(d.Dir(name), e.Name())); err != nil {
				return err
			}
		}
	}
	return d.FS.RemoveAll(removed)
}

// WriteFile writes a small file under a temporary name and renames it. It is not synced:
// nothing depends on it.
func (d *Data) WriteFile(name string, text []byte) error {
	if err := d.Held(); err != nil {
		return err
	}
	return replace(d.FS, d.Dir(name), text, func(string) error { return nil })
}

// replace writes a file under a temporary name, has it synced, and gives it its own.
func replace(fsys FS, name string, text []byte, sync func(name string) error) error {
	temporary := path.Join(path.Dir(name), attemptPrefix+path.Base(name)+"-"+try())
	err := WriteFile(fsys, temporary, text)
	if err == nil {
		err = sync(temporary)
	}
	if err == nil {
		err = fsys.Rename(temporary, name)
	}
	if err != nil {
		_ = fsys.RemoveAll(temporary) // what stays, the next driver removes
	}
	return err
}
