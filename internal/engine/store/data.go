package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strings"
)

const (
	// ManifestFile describes the data directory; see Manifest.
	ManifestFile = "treereduce.json"
	// LockFile is the lock of a data directory, or of a copy of one.
	LockFile      = "_lock"
	attemptPrefix = "_attempt-"
	removedPrefix = "_removed-"
	driverPrefix  = "_driver-"
	tryDigits     = 10 // hexadecimal digits of the number of an attempt
	// Success is the file that marks a directory as complete and lists its files; see Seal.
	Success = "_SUCCESS"
	// PartPrefix is the prefix of the names of the shards of jobs, OutboxPrefix that of files of messages to other
	// jobs, and StatesPrefix that of files of states, for passes. Hadoop does not see these names, nor do the patterns of
	// the course.
	PartPrefix, OutboxPrefix, StatesPrefix = "_part-", "_to-", "_states-"
	// LinesPrefix is the prefix of the names of shards of lines, for people and other programs, FinalPrefix that of
	// those of the final job.
	LinesPrefix, FinalPrefix = "part-", "part-r-"
	// SentPrefix is the prefix of the names of files with messages as lines.
	SentPrefix = "to-"
	// JournalFile is the journal, a record of the jobs of a run; see package solve.
	JournalFile = "jobs.json"
)

// ErrBegun is returned by Create when the directory already contains a run of the same game.
var ErrBegun = errors.New("already contains a run of this game")

// Data is a data directory. At most one process at a time owns it.
type Data struct {
	FS      FS // its Sync does nothing before EnableSync is called
	Path    string
	Game    string            // the game's spec
	Options map[string]string // options saved by an earlier run; nil in a new directory
	needs   []string          // saved by this run and earlier ones
	Resumed bool              // whether an earlier run created it

	isArtifact func(name string) bool

	lock  io.Closer
	fence *fence // the same as FS
}

// A Mode selects what Create does with a directory that contains a run.
type Mode int

// The modes of Create.
const (
	Fresh     Mode = iota // return an error
	Resume                // continue it, if it is of the same game and version; it must exist
	Overwrite             // delete the files that treereduce made there, of whatever game
)

// Create creates or opens a data directory for a run of a game, and locks it. It refuses a
// directory of another game or version, one in which another process is working, and one with
// files that are not treereduce's. It deletes the attempts of earlier runs. Before it deletes one, it calls end, which may be
// nil, to end what a cluster may still do for it. If end fails, Create deletes no more, and returns its error. isArtifact
// reports whether runs use a name in the data directory, apart from the manifest and the names that begin with "_".
func Create(fsys FS, path, game string, mode Mode, isArtifact func(name string) bool, end func(attempt string) error) (_ *Data, err error) {
	f := &fence{FS: fsys}
	d := &Data{FS: f, Path: path, Game: game, isArtifact: isArtifact, fence: f}
	if err := d.refuse(mode); err != nil {
		return nil, err
	}
	if err := d.FS.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if d.lock, err = fsys.Lock(d.Dir(LockFile)); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	defer func() {
		if err = d.Cause(err); err != nil {
			d.Close()
		}
	}()
	if err := d.takeOver(); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	if mode == Overwrite { // until all is deleted, the manifest is marked, so that no driver resumes the run
		err = d.writeManifest(true)
	} else {
		err = d.takeUp(mode)
	}
	if err != nil {
		return nil, err
	}
	if err := d.clear(mode == Overwrite, end); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	if d.Resumed {
		return d, nil
	}
	return d, d.writeManifest(false)
}

// takeOver creates the directory by which this driver owns the data directory (see fence), and
// deletes those of earlier drivers, including anything that they were about to delete.
func (d *Data) takeOver() error {
	own := d.Dir(tried(driverPrefix, ""))
	if err := d.FS.MkdirAll(own); err != nil {
		return err
	}
	d.fence.own = own
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir, moved := d.Dir(e.Name()), path.Join(own, e.Name())
		if !strings.HasPrefix(e.Name(), driverPrefix) || dir == own {
			continue
		}
		err := d.FS.Rename(dir, moved)
		if errors.Is(err, fs.ErrNotExist) {
			continue // that driver has ended
		}
		if err == nil {
			err = d.clearOwn(moved)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clearOwn deletes the directory by which a driver owned the data directory.
func (d *Data) clearOwn(own string) error {
	entries, err := d.FS.ReadDir(own)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := path.Join(own, e.Name())
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

// refuse returns an error unless the directory is missing, empty, or treereduce's, and of no later
// format. A driver
// that was killed early leaves only names that begin with "_". If the manifest is missing but
// the lock exists, a run has lost its manifest, and mode Overwrite may delete it.
func (d *Data) refuse(mode Mode) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	foreign, locked, left := false, false, false
	for _, e := range entries {
		switch name := e.Name(); {
		case name == ManifestFile:
			if _, err := ReadManifest(d.FS, d.Path); errors.Is(err, ErrNewer) {
				return err
			}
			return nil
		case name == LockFile:
			locked = true
		case strings.HasPrefix(name, "_"):
		case d.isArtifact(name):
			left = true
		default:
			foreign = true
		}
	}
	switch {
	case foreign || left && !locked:
		return fmt.Errorf("data directory %s: not empty, and not treereduce's: it has no %s", d.Path, ManifestFile)
	case left && mode != Overwrite:
		return fmt.Errorf("data directory %s: a run has lost its %s: %s", d.Path, ManifestFile, overwriteAdvice)
	case mode == Resume:
		return fmt.Errorf("nothing to resume in %s: leave --resume out", d.Path)
	}
	return nil
}

// takeUp checks the manifest for a run of the same game.
func (d *Data) takeUp(mode Mode) error {
	m, err := readManifest(d.FS, d.Path)
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
	d.Options, d.needs, d.Resumed = m.Options, m.Needs, true
	return nil
}

// IsLines reports whether a file of a directory has shards or messages as lines.
func IsLines(name string) bool {
	return strings.HasPrefix(name, LinesPrefix) || strings.HasPrefix(name, SentPrefix)
}

// OwnFile reports whether a name in a job's directory is one that treereduce uses there. Files
// with other names are not ours: they are neither read nor deleted.
func OwnFile(name string) bool { return ownFile.MatchString(name) }

// ownFile matches seals, indexes, attempts and the files of jobs, which begin with "_"; lines and
// tiers, which have a number, in parts of final or of Hadoop after a letter; and, in earlier
// formats, the table of a game without tiers.
var ownFile = regexp.MustCompile(`^(_|(` + LinesPrefix + `([mr]-)?|` + SentPrefix + `|tier-)[0-9]|positions\.)`)

// Close releases the lock, unless it has already been released.
func (d *Data) Close() error {
	if d.lock == nil {
		return nil
	}
	lock := d.lock
	d.lock = nil
	if d.fence.own != "" {
		_ = d.clearOwn(d.fence.own) // the next driver deletes what remains
	}
	return lock.Close()
}

// CheckOwner returns ErrTakenOver once another driver has taken over the data directory.
func (d *Data) CheckOwner() error { return d.fence.check() }

// Cause returns ErrTakenOver in place of an error if another driver has taken over: err may only be a
// consequence, because that driver has deleted a file that was about to be read or was being written.
// If it is not known whether it has taken over, the error says why, unless that is its own reason.
func (d *Data) Cause(err error) error {
	if err == nil {
		return nil
	}
	owner := d.CheckOwner()
	if errors.Is(owner, ErrTakenOver) {
		return ErrTakenOver
	}
	reason := owner
	if call := new(fs.PathError); errors.As(owner, &call) {
		reason = call.Err
	}
	if owner != nil && !strings.Contains(err.Error(), reason.Error()) {
		return fmt.Errorf("%w; %w", err, owner)
	}
	return err
}

// Dir returns the path of a directory or file in the data directory.
func (d *Data) Dir(name string) string { return path.Join(d.Path, name) }

// Attempt creates an empty directory for one attempt of the job that makes the directory name.
// No two attempts have the same directory, not even in different processes: late writes of an
// abandoned attempt go to a directory that is not read. A job on a cluster may make that directory
// again after it was deleted, if the cluster starts the job late or does not end it; then the next
// driver deletes it. Files next to the directory belong to the attempt if their names are its name, a
// dot and a suffix.
func (d *Data) Attempt(name string) (dir string, err error) {
	if err := d.CheckOwner(); err != nil {
		return "", err
	}
	dir = d.Dir(tried(attemptPrefix, name))
	return dir, d.FS.MkdirAll(dir)
}

// PlanDir returns the directory for a plan of an attempt. It is next to that of the attempt, and belongs to it.
func PlanDir(attempt string) string { return attempt + ".plan" }

// tried returns a name that is not used for anything else: it ends with a random number.
func tried(prefix, name string) string {
	return fmt.Sprintf("%s%s-%0*x", prefix, name, tryDigits, rand.Uint64()>>(64-4*tryDigits))
}

// attemptOf returns the directory of the attempt that an entry is, or belongs to. The name of a job may have a dot, too.
func (d *Data) attemptOf(entry string) string {
	if end := strings.LastIndexByte(entry, '-') + 1 + tryDigits; end < len(entry) && entry[end] == '.' {
		entry = entry[:end]
	}
	return d.Dir(entry)
}

// Commit turns an attempt into the directory that the seal names, atomically: it writes the seal, then renames the attempt.
// An older directory of that name is deleted, and so is the attempt's PlanDir.
// After a call of EnableSync, the result is durable.
func (d *Data) Commit(attempt string, seal *Seal) error {
	if err := d.CheckOwner(); err != nil { // a write would make an attempt again that another driver has deleted
		return err
	}
	if err := seal.Write(d.FS, attempt); err != nil {
		return err
	}
	removed, err := d.place(attempt, d.Dir(seal.Job))
	if err != nil {
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
	return d.FS.RemoveAll(PlanDir(attempt))
}

// place renames an attempt, and takes an older directory of that name away if there is one. It returns where that is.
func (d *Data) place(attempt, dir string) (removed string, err error) {
	err = d.FS.Rename(attempt, dir)
	if err == nil || errors.Is(err, ErrTakenOver) {
		return "", err
	}
	if _, missing := d.FS.Stat(attempt); missing != nil { // the call has failed, although it was performed
		return "", err
	}
	removed, failed := d.fence.takeAway(dir)
	if removed == "" {
		return "", cmp.Or(failed, err)
	}
	return removed, d.FS.Rename(attempt, dir)
}

// CommitFile renames a file of an attempt to the given path. The caller must sync its
// directory, when it writes the seal that lists the file.
func (d *Data) CommitFile(attempt, name string) error {
	if err := d.FS.Sync(attempt); err != nil {
		return err
	}
	return d.FS.Rename(attempt, d.Dir(name))
}

// WriteFile writes a small file under a temporary name and renames it. The file is not synced:
// nothing depends on it.
func (d *Data) WriteFile(name string, text []byte) error {
	if err := d.CheckOwner(); err != nil {
		return err
	}
	return replace(d.FS, d.Dir(name), text, func(string) error { return nil })
}

// CreateTemp is like os.CreateTemp, but creates the file in the directory for temporary files if it cannot in dir. If it
// stays in a data directory, the next driver deletes it.
func CreateTemp(dir, pattern string) (*os.File, error) {
	file, err := os.CreateTemp(dir, attemptPrefix+pattern)
	if err != nil && dir != "" {
		file, err = os.CreateTemp("", attemptPrefix+pattern)
	}
	return file, err
}

// replace writes a file under a temporary name, syncs it, and renames it; in a data directory that this
// driver owns, as fence.replace does.
func replace(fsys FS, name string, text []byte, sync func(name string) error) error {
	temporary := path.Join(path.Dir(name), tried(attemptPrefix, path.Base(name)))
	err := WriteFile(fsys, temporary, text)
	if err == nil {
		err = sync(temporary)
	}
	if err == nil {
		rename := fsys.Rename
		if f, ok := fsys.(*fence); ok {
			rename = f.replace
		}
		err = rename(temporary, name)
	}
	if err != nil {
		_ = fsys.RemoveAll(temporary) // the next driver deletes what remains
	}
	return err
}
