// Package copies keeps a copy of a data directory in another place while a run works in the directory, so that the run
// can go on elsewhere. It knows nothing of steps, and not how files are copied: it records which names in the directory
// the run creates and deletes, and passes them to a Place in batches.
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

// A Copy is the copy of the data directory of a run.
type Copy struct {
	ctx    context.Context
	cancel context.CancelFunc
	place  Place
	warn   func(string)

	fsys  store.FS // file system of the data directory
	data  string
	stage string // a directory in the data directory, for this process

	files map[string]int64  // the files of the copy when it was listed, with their lengths
	texts map[string][]byte // the contents of the manifest, the journal and the seals among them
	there map[string]bool   // directories that the copy may have, now

	mu      sync.Mutex // also locked while a name is renamed or deleted: then a batch is of one state
	moved   *sync.Cond // signals changes of the following
	pending map[string]bool
	current int             // the number of names in the current batch
	reading map[string]bool // what it reads of the data directory
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
		there: make(map[string]bool), pending: make(map[string]bool), hurry: make(chan struct{})}
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
	if c.ended == nil {
		return nil
	}
	if goes {
		c.record(old, false)
	}
	if comes {
		c.record(name, true)
	}
	c.moved.Broadcast()
	return nil
}

// visible returns the path relative to the data directory, and whether it belongs in the copy. Attempts, names that are
// being deleted, locks, the seed of a job and the user's files do not.
func (c *Copy) visible(name string) (below string, ok bool) {
	below, ok = strings.CutPrefix(path.Clean(name), path.Clean(c.data)+"/")
	dir, file, deep := strings.Cut(below, "/")
	switch {
	case !ok || !belongs(dir):
		return "", false
	case deep && (strings.Contains(file, "/") || !store.OwnFile(file) || store.IsTemporary(file)):
		return "", false
	}
	return below, true
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

// record adds to the next batch that a name exists, with new content, or does not exist any more. If a directory waits,
// its files do not wait, too.
func (c *Copy) record(name string, exists bool) {
	dir, _, deep := strings.Cut(name, "/")
	if !deep {
		maps.DeleteFunc(c.pending, func(other string, _ bool) bool { return strings.HasPrefix(other, name+"/") })
	} else if whole, ok := c.pending[dir]; ok {
		c.pending[dir] = whole || exists
		return
	}
	c.pending[name] = exists
}

// A batch is what is to be changed in the copy.
type batch struct {
	all   map[string]bool     // by name, whether it exists
	dirs  []string            // to be copied completely
	files map[string][]string // files to be copied, by their directory
	small map[string][]byte   // contents of seals, the manifest and the journal
	gone  []string
}

// next waits for changes, and returns them as a batch; nil: copying has ended.
func (c *Copy) next() (b *batch, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) == 0 && !c.last && c.ctx.Err() == nil {
		c.moved.Wait()
	}
	if len(c.pending) == 0 || c.ctx.Err() != nil {
		return nil, true
	}
	b = &batch{all: c.pending, files: make(map[string][]string), small: make(map[string][]byte)}
	c.pending = make(map[string]bool)
	if err := c.fill(b); err != nil {
		c.again(b, err)
		return &batch{}, c.last
	}
	c.current, c.reading = len(b.all), make(map[string]bool)
	for _, dir := range b.dirs {
		c.reading[dir] = true
	}
	for _, files := range b.files {
		for _, name := range files {
			c.reading[name] = true
		}
	}
	return b, c.last
}

// fill sets how each name of a batch is copied. Files that are replaced while a run works are read now: the batch is of the
// state of the data directory at this moment.
func (c *Copy) fill(b *batch) error {
	dirs := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(b.all)) {
		dir, file, deep := strings.Cut(name, "/")
		switch {
		case !b.all[name]:
			if c.there[dir] {
				b.gone = append(b.gone, name)
			}
		case deep && !c.there[dir]:
			dirs[dir] = true
		case deep && !isSeal(file):
			b.files[dir] = append(b.files[dir], name)
		default:
			info, err := c.fsys.Stat(path.Join(c.data, name))
			if err == nil && info.IsDir() {
				dirs[name] = true
				continue
			}
			if err == nil {
				b.small[name], err = store.ReadFile(c.fsys, path.Join(c.data, name))
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for dir := range dirs {
		delete(b.files, dir)
	}
	maps.DeleteFunc(b.small, func(name string, _ []byte) bool { return dirs[path.Dir(name)] })
	b.dirs = slices.Sorted(maps.Keys(dirs))
	return nil
}

// isSeal reports whether a file in a directory is its seal.
func isSeal(file string) bool { return file == store.Success || file == solve.TiersSeal }

// again puts a batch that has failed back: it is made with the next one.
func (c *Copy) again(b *batch, err error) {
	newer := c.pending
	c.pending = b.all
	for _, name := range slices.Sorted(maps.Keys(newer)) { // a directory before its files
		c.record(name, newer[name])
	}
	if c.err == nil && c.ctx.Err() == nil {
		c.warn(fmt.Sprintf("--copy-to %s: %v: the next batch, in %s, tries it again", c.Name(), err, numfmt.Duration(every)))
	}
	c.err = err
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
	for tries := 0; ; {
		b, last := c.next()
		if b == nil {
			return
		}
		err := error(nil)
		if b.all != nil {
			err = c.make(b)
		}
		c.mu.Lock()
		if c.current, c.reading = 0, nil; err != nil {
			c.again(b, err)
		} else if b.all != nil {
			c.err = nil
		}
		hurry := c.hurry
		if c.err != nil {
			hurry = nil
			if last {
				tries++
			}
		}
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
	var stale []string // remains of an earlier directory of the same name, or of an earlier attempt to copy it
	for _, dir := range b.dirs {
		if c.there[dir] {
			stale = append(stale, dir)
		}
	}
	if err := c.remove(stale); err != nil {
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
	for _, dir := range b.dirs {
		c.there[dir] = true
	}
	if len(b.dirs)+len(staged) > 0 {
		if err := c.place.Put(c.ctx, "", c.paths(b.dirs), staged); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.reading = nil
	c.moved.Broadcast()
	c.mu.Unlock()
	return c.remove(b.gone)
}

// remove deletes names from the copy.
func (c *Copy) remove(names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := c.place.Remove(c.ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		delete(c.there, name)
	}
	return nil
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
func (c *Copy) stageSmall(small map[string][]byte) (entries []string, err error) {
	if err := errors.Join(c.fsys.RemoveAll(c.stage), c.fsys.MkdirAll(c.stage)); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(small)) {
		at := path.Join(c.stage, name)
		if err := c.fsys.MkdirAll(path.Dir(at)); err != nil {
			return nil, err
		}
		if err := store.WriteFile(c.fsys, at, small[name]); err != nil {
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
	old := c.tops()
	if mode != store.Resume {
		if slices.Contains(old, store.ManifestFile) {
			if err := c.remove([]string{store.ManifestFile}); err != nil {
				return c.failed(err)
			}
		}
		if err := c.remove(without(old, store.ManifestFile)); err != nil {
			return c.failed(err)
		}
		old, c.files, c.texts = nil, nil, nil
	}
	for _, name := range old {
		c.there[name] = true
	}
	if !c.there[table.Dir] {
		if err := c.place.Make(c.ctx, table.Dir); err != nil {
			return c.failed(err)
		}
		c.there[table.Dir] = true
	}
	manifest, err := store.ReadFile(c.fsys, path.Join(c.data, store.ManifestFile))
	if err != nil {
		return err
	}
	if string(manifest) != string(c.texts[store.ManifestFile]) {
		c.pending[store.ManifestFile] = true
	}
	entries, err := c.fsys.ReadDir(c.data)
	if err != nil {
		return err
	}
	kept := map[string]bool{store.ManifestFile: true, store.JournalFile: true}
	for _, e := range entries {
		if e.IsDir() && belongs(e.Name()) {
			if kept[e.Name()], err = c.compare(e.Name()); err != nil {
				return err
			}
		}
	}
	for _, name := range old {
		if !kept[name] {
			c.pending[name] = false
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

// compare adds to the first batch what differs in a directory. kept is false if the directory has no seal and does not
// belong in the copy.
func (c *Copy) compare(name string) (kept bool, err error) {
	here, text, err := c.sealHere(name)
	if err != nil || here == "" {
		return false, err
	}
	there, seal := c.sealThere(name)
	var now store.Seal
	if len(text) > 0 && store.UnmarshalSummed(name, text, &now) != nil || there == "" {
		c.record(name, true)
		return true, nil
	}
	same := here == there && string(text) == string(c.texts[path.Join(name, there)])
	entries, err := c.fsys.ReadDir(path.Join(c.data, name))
	if err != nil {
		return false, err
	}
	left := make(map[string]bool)
	for file := range c.files {
		if path.Dir(file) == name {
			left[file] = true
		}
	}
	for _, e := range entries {
		file := path.Join(name, e.Name())
		if _, ok := c.visible(path.Join(c.data, file)); !ok || isSeal(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return false, err
		}
		delete(left, file)
		f, g := now.File(e.Name()), seal.File(e.Name())
		length, ok := c.files[file]
		if !ok || length != info.Size() || !same && (f == nil || g == nil || *f != *g) {
			c.record(file, true)
		}
	}
	delete(left, path.Join(name, here))
	if !same {
		c.record(path.Join(name, here), true)
	}
	for file := range left {
		c.record(file, false)
	}
	return true, nil
}

// sealThere returns the name and the contents of the seal of a directory of the copy when the run began; "" if it had none, or
// a damaged one.
func (c *Copy) sealThere(name string) (file string, seal store.Seal) {
	for _, file := range []string{store.Success, solve.TiersSeal} {
		if text, ok := c.texts[path.Join(name, file)]; ok {
			if len(text) > 0 && store.UnmarshalSummed(name, text, &seal) != nil {
				return "", seal
			}
			return file, seal
		}
	}
	return "", seal
}

// sealHere returns the name and the text of the seal of a directory of the data directory; "" if there is none.
func (c *Copy) sealHere(name string) (file string, text []byte, err error) {
	for _, file := range []string{store.Success, solve.TiersSeal} {
		text, err := store.ReadFile(c.fsys, path.Join(c.data, name, file))
		if err == nil {
			return file, text, nil
		}
		if !store.Damaged(err) {
			return "", nil, err
		}
	}
	return "", nil, nil
}

// Left returns the number of names that are still to be copied or deleted.
func (c *Copy) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current + len(c.pending)
}

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
	case len(c.pending) == 0 && c.err == nil:
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
