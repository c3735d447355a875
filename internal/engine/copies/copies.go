// Package copies keeps a copy of a data directory in another place while a run works in the directory, so that the run
// can go on elsewhere. It knows nothing of steps, and not how files are copied: it compares the seals of the names that the
// run has created or deleted with those of the copy, and passes the differences to a Place in batches.
//
// A batch takes the copy from one state of the data directory to a later one: first comes what is new, then goes what is
// old. In between, the copy has both, so that a run can resume from it at any time; a directory that is not completely
// copied is noticed by its seal. What a batch reads is not renamed or deleted before it has read it. What only waits
// for the next batch can be deleted, and is then not copied: what the run goes on from is in the same batch.
package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// every is the pause between two batches. Each command of a Place may be the start of a program that takes seconds, and
// the run may have to wait for it. every plus the journal's interval is less than solve.Silent, so that the journal in the
// copy does not look like that of a dead driver.
const every = 30 * time.Second

// lastTries is how often the last batch is made, with pauses of every, before its error is that of the copy.
const lastTries = 3

// A Place is where a copy is, and what reads and changes it. Names are relative to the copy. A source is a path in the
// file system of the data directory. Each call may be the start of a program.
type Place interface {
	// Name returns the full name of the copy.
	Name() string
	// List returns the lengths of all files; none if there is no copy.
	List(ctx context.Context) (map[string]int64, error)
	// Read returns the contents of files, one after the other.
	Read(ctx context.Context, names []string) ([]byte, error)
	// Make creates a directory and those above it, unless they exist.
	Make(ctx context.Context, dir string) error
	// Put copies files and directories into the directory to; "" is that of the copy. Files replace those that exist.
	// The directories among fresh do not exist there. Those among small have few files, which replace files of
	// directories that exist; they come last, in order, and only if all among fresh are complete.
	Put(ctx context.Context, to string, fresh, small []string) error
	// Remove deletes files and directories. A missing one is no error. After an error, it may go on with others.
	Remove(ctx context.Context, names []string) error
	// Fetch copies files and directories, which have this number of bytes together, into a directory of the file system
	// of the data directory.
	Fetch(ctx context.Context, names []string, bytes int64, to string) error
}

// A state is what a data directory and its copy are compared by: for each name in the directory, the files below it, each with
// its content if it is a seal, or else with what the seal says of it. A file in the directory itself is below its own name as "".
type state map[string]map[string]string

// unknown stands in the state of a copy for a file that its seal does not list, or lists with another length.
const unknown = "unknown"

// A Copy is the copy of the data directory of a run.
type Copy struct {
	ctx    context.Context
	cancel context.CancelFunc
	place  Place
	warn   func(string)

	fsys  store.FS // file system of the data directory
	data  string
	stage string // a directory in the data directory, for this process

	files map[string]int64 // the files of the copy when it was listed, with their lengths
	there state            // the state of the copy; nil: it is not known, after an error
	here  state            // the state of the data directory, except what has changed

	mu      sync.Mutex      // also locked while a name is renamed or deleted: then a batch is of one state
	moved   *sync.Cond      // signals changes of the following
	changed map[string]bool // names in the data directory, since the last batch
	reading map[string]bool // what the current batch reads of the data directory
	last    bool            // the run has ended: no more pauses
	err     error           // of the last batch; nil if it has succeeded
	hurry   chan struct{}   // closed when last is set
	ended   chan struct{}   // closed when no more batches are made; nil before Start
}

// New returns the copy at a place of a data directory. stage is the path of a directory in it, which the Copy creates and
// Close deletes; its name is that of an attempt, so that the next driver deletes it if this process dies. Copying ends
// with ctx. warn is called with a line about events that may interest the user.
func New(ctx context.Context, place Place, fsys store.FS, data, stage string, warn func(string)) *Copy {
	c := &Copy{place: place, warn: warn, fsys: fsys, data: data, stage: stage,
		here: make(state), changed: make(map[string]bool), hurry: make(chan struct{})}
	c.moved = sync.NewCond(&c.mu)
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// Name returns the full name of the copy.
func (c *Copy) Name() string { return c.place.Name() }

// FS returns a file system for writing the data directory. Its changes are copied, from Start on.
func (c *Copy) FS() store.FS { return &followed{c.fsys, c} }

// followed is a file system that reports created and deleted names to a Copy.
type followed struct {
	store.FS
	c *Copy
}

// Rename waits until the current batch reads neither name any more, then renames.
func (f *followed) Rename(from, to string) error {
	return f.c.change(from, to, func() error { return f.FS.Rename(from, to) })
}

// RemoveAll waits until the current batch does not read the name any more, then deletes it.
func (f *followed) RemoveAll(name string) error {
	return f.c.change(name, "", func() error { return f.FS.RemoveAll(name) })
}

// change makes a change, by which one name disappears and another one appears, and records it. When copying has ended, it
// does not wait.
func (c *Copy) change(from, to string, do func() error) error {
	old, goes := c.visible(from)
	name, comes := c.visible(to)
	if !goes && !comes {
		return do()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for (goes && c.reads(old) || comes && c.reads(name)) && c.ctx.Err() == nil {
		c.moved.Wait()
	}
	if err := do(); err != nil {
		return err
	}
	for name, visible := range map[string]bool{old: goes, name: comes} {
		if top, _, _ := strings.Cut(name, "/"); visible {
			c.changed[top] = true
		}
	}
	c.moved.Broadcast()
	return nil
}

// visible returns the path relative to the data directory, and whether it is, or is in, what belongs in the copy. Attempts, names
// that are being deleted, locks, the seed of a job and the user's files do not.
func (c *Copy) visible(name string) (below string, ok bool) {
	below, ok = strings.CutPrefix(path.Clean(name), path.Clean(c.data)+"/")
	top, _, _ := strings.Cut(below, "/")
	return below, ok && belongs(top)
}

// belongs reports whether a name in a data directory belongs in a copy.
func belongs(name string) bool {
	return name == store.ManifestFile || solve.IsRunArtifact(name) && name != store.SeedFile
}

// reads reports whether the current batch reads a name, something below it, or the directory that contains it.
func (c *Copy) reads(name string) bool {
	dir, _, deep := strings.Cut(name, "/")
	if deep || c.reading[name] {
		return c.reading[name] || c.reading[dir]
	}
	for other := range c.reading {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// A batch is what is to be changed in the copy.
type batch struct {
	stale []string            // the directories among fresh that are there, not complete
	fresh []string            // directories to be copied completely
	files map[string][]string // files to be copied, by their directory
	small map[string]string   // contents of seals, the manifest and the journal
	gone  []string
}

// next waits for changes, and returns them as a batch; nil: copying has ended.
func (c *Copy) next() (b *batch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.changed) == 0 && c.err == nil && !c.last && c.ctx.Err() == nil {
		c.moved.Wait()
	}
	if len(c.changed) == 0 && c.err == nil || c.ctx.Err() != nil {
		return nil, nil
	}
	for name := range c.changed {
		if c.here[name], err = c.scan(name); err != nil {
			return nil, err
		}
		if c.here[name] == nil {
			delete(c.here, name)
		}
	}
	c.changed = make(map[string]bool)
	b = c.compare()
	c.reading = make(map[string]bool)
	for _, names := range append(slices.Collect(maps.Values(b.files)), b.fresh) {
		for _, name := range names {
			c.reading[name] = true
		}
	}
	return b, nil
}

// scan returns the state of a name in the data directory: that of a directory is what its seal lists. nil: there is none.
func (c *Copy) scan(name string) (map[string]string, error) {
	at, files := path.Join(c.data, name), make(map[string]string)
	if name == store.ManifestFile || name == store.JournalFile {
		text, err := store.ReadFile(c.fsys, at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		files[""] = string(text)
		return files, err
	}
	for _, file := range seals {
		text, err := store.ReadFile(c.fsys, path.Join(at, file))
		if err != nil && !store.Damaged(err) {
			return nil, err
		}
		files[file] = string(text)
		if seal := sealIn(files); seal != nil {
			for _, f := range seal.Files {
				files[f.Name] = described(&f)
			}
			return files, nil
		}
		delete(files, file)
	}
	return nil, nil
}

// seals are the names of the seal of a directory.
var seals = []string{store.Success, solve.TiersSeal}

// sealIn returns the seal of a directory with these files; nil: it has none, or a damaged one.
func sealIn(files map[string]string) *store.Seal {
	for _, file := range seals {
		s := new(store.Seal)
		if store.UnmarshalSummed(file, []byte(files[file]), s) == nil {
			return s
		}
	}
	return nil
}

// described returns what a seal says of a file.
func described(f *store.SealedFile) string { return fmt.Sprintf("%d bytes %08x", f.Length, f.Sum) }

// compare returns what differs between the data directory and the copy. A directory without a seal is copied completely, but
// the table file by file: the run goes on to write there.
func (c *Copy) compare() *batch {
	b := &batch{files: make(map[string][]string), small: make(map[string]string)}
	for _, top := range slices.Sorted(maps.Keys(c.here)) {
		here, there := c.here[top], c.there[top]
		if _, file := here[""]; !file && top != table.Dir && sealIn(there) == nil {
			if b.fresh = append(b.fresh, top); there != nil || c.err != nil {
				b.stale = append(b.stale, top)
			}
			continue
		}
		for _, file := range slices.Sorted(maps.Keys(here)) {
			name := path.Join(top, file)
			switch {
			case here[file] == there[file]:
			case file == "" || slices.Contains(seals, file):
				b.small[name] = here[file]
			default:
				b.files[top] = append(b.files[top], name)
			}
		}
	}
	for top, there := range c.there {
		here := c.here[top]
		if here == nil && top != table.Dir {
			b.gone = append(b.gone, top)
			continue
		}
		for file := range there {
			if _, ok := here[file]; !ok {
				b.gone = append(b.gone, path.Join(top, file))
			}
		}
	}
	slices.Sort(b.gone)
	return b
}

// work makes batches, until the run or the context ends.
func (c *Copy) work() {
	defer close(c.ended)
	stop := context.AfterFunc(c.ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.moved.Broadcast()
	})
	defer stop()
	for tries := 0; c.ctx.Err() == nil; {
		var b *batch
		err := error(nil)
		if c.there == nil {
			err = c.list()
		}
		if err == nil {
			if b, err = c.next(); b == nil && err == nil {
				return
			}
		}
		if err == nil {
			err = c.make(b)
		}
		c.mu.Lock()
		hurry := c.hurry
		if err != nil {
			if c.err == nil && c.ctx.Err() == nil {
				c.warn(fmt.Sprintf("--copy-to %s: %v: the next batch, in %s, tries it again", c.Name(), err, numfmt.Duration(every)))
			}
			if hurry = nil; c.last {
				tries++
			}
		}
		c.err, c.reading = err, nil
		c.moved.Broadcast()
		c.mu.Unlock()
		if tries == lastTries {
			return
		}
		select {
		case <-c.ctx.Done():
		case <-hurry:
		case <-time.After(every):
		}
	}
}

// make makes the changes of a batch: what is new comes, then what is old goes.
func (c *Copy) make(b *batch) error {
	c.there = nil
	if err := c.remove(b.stale); err != nil {
		return err
	}
	staged, err := c.stageSmall(b.small)
	if err != nil {
		return err
	}
	if manifest := path.Join(c.stage, store.ManifestFile); slices.Contains(staged, manifest) { // what has no manifest is no copy
		if err := c.place.Put(c.ctx, "", nil, []string{manifest}); err != nil {
			return err
		}
		staged = without(staged, manifest)
	}
	for _, dir := range slices.Sorted(maps.Keys(b.files)) {
		if err := c.place.Put(c.ctx, dir, c.paths(b.files[dir]), nil); err != nil {
			return err
		}
	}
	if len(b.fresh)+len(staged) > 0 {
		if err := c.place.Put(c.ctx, "", c.paths(b.fresh), staged); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.reading = nil
	c.moved.Broadcast()
	c.mu.Unlock()
	if err := c.remove(b.gone); err != nil {
		return err
	}
	c.there = maps.Clone(c.here)
	return nil
}

// remove deletes names from the copy.
func (c *Copy) remove(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return c.place.Remove(c.ctx, names)
}

// paths returns the paths of names in the data directory.
func (c *Copy) paths(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, path.Join(c.data, name))
	}
	return paths
}

// stageSmall writes the contents of small files into the stage, and returns its entries, the journal last: it may say that
// the game is solved.
func (c *Copy) stageSmall(small map[string]string) (entries []string, err error) {
	if err := errors.Join(c.fsys.RemoveAll(c.stage), c.fsys.MkdirAll(c.stage)); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(small)) {
		at := path.Join(c.stage, name)
		if err := c.fsys.MkdirAll(path.Dir(at)); err != nil {
			return nil, err
		}
		if err := store.WriteFile(c.fsys, at, []byte(small[name])); err != nil {
			return nil, err
		}
		dir, _, _ := strings.Cut(name, "/")
		if entry := path.Join(c.stage, dir); !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	if journal := path.Join(c.stage, store.JournalFile); slices.Contains(entries, journal) {
		entries = append(without(entries, journal), journal)
	}
	return entries, nil
}

// Start makes the copy equal to the data directory, which must have a manifest, and then copies changes. It copies what
// differs, and deletes what the data directory does not contain. If the run does not resume, everything that was in the
// copy is deleted first, the manifest before the rest. Start checks the copy again as Ready does: other runs may have
// changed it before this one had the locks.
func (c *Copy) Start(game string, mode store.Mode) error {
	if err := c.Ready(game, mode); err != nil {
		return err
	}
	if old := slices.Sorted(maps.Keys(c.there)); mode != store.Resume {
		if slices.Contains(old, store.ManifestFile) {
			if err := c.remove([]string{store.ManifestFile}); err != nil {
				return c.failed(err)
			}
		}
		if err := c.remove(without(old, store.ManifestFile)); err != nil {
			return c.failed(err)
		}
		c.there = make(state)
	}
	if c.there[table.Dir] == nil {
		if err := c.place.Make(c.ctx, table.Dir); err != nil {
			return c.failed(err)
		}
	}
	entries, err := c.fsys.ReadDir(c.data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if belongs(e.Name()) {
			c.changed[e.Name()] = true
		}
	}
	c.ended = make(chan struct{})
	go c.work()
	return nil
}

// without returns names without one of them.
func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
}

// failed returns an error of the place with its name.
func (c *Copy) failed(err error) error { return fmt.Errorf("--copy-to %s: %w", c.Name(), err) }

// Finish waits until the copy is equal to the data directory, which nothing changes any more. It returns the error of
// the last batch, or that of the context.
func (c *Copy) Finish() error {
	c.mu.Lock()
	if !c.last {
		c.last = true
		close(c.hurry)
		c.moved.Broadcast()
	}
	c.mu.Unlock()
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.changed) == 0 && c.err == nil:
		return nil
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	}
	return c.failed(c.err)
}

// Close ends copying.
func (c *Copy) Close() error {
	c.cancel()
	if c.ended != nil {
		<-c.ended
	}
	return c.fsys.RemoveAll(c.stage)
}
