// Package copies keeps a copy of a data directory in another place while a run works in the directory, so that the run
// can go on elsewhere. It knows nothing of steps, and not how files are copied: it compares the files that the seals in the
// data directory list with those of the copy, and passes the differences to a Place in batches.
//
// A batch takes the copy from one state of the data directory to a later one: first comes what is new, then goes what is
// old. In between, the copy has both, so that a run can resume from it at any time; a directory that is not completely
// copied is noticed by its seal. What a batch copies is deleted only after that.
package copies

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// every is the pause between two batches. Each command of a Place may be the start of a program that takes seconds, and
// the run may have to wait for it. every plus the journal's interval is less than solve.Silent, so that the journal in the
// copy does not look like that of a dead driver.
const every = 30 * time.Second

// lastTries is how often the last batch is made, with pauses of every, before its error is that of the copy.
const lastTries = 3

// A Place is where a copy is, and what reads and changes it. Names of files are relative to the copy, and to the data
// directory. Each call may be the start of a program.
type Place interface {
	// Name returns the full name of the copy.
	Name() string
	// List returns the lengths of all files; none if there is no copy.
	List(ctx context.Context) (map[string]int64, error)
	// Read returns the contents of files, one after the other.
	Read(ctx context.Context, names []string) ([]byte, error)
	// Make creates the directory of the copy, unless it exists.
	Make(ctx context.Context) error
	// Write writes small files, in order. Each replaces one that exists, at once.
	Write(ctx context.Context, names, texts []string) error
	// Put copies files of the data directory, which have this number of bytes together. They replace those that exist. After
	// an error, a file may be cut short.
	Put(ctx context.Context, names []string, bytes int64) error
	// Fetch copies files of the copy, which have this number of bytes together, to the same names in a directory of the
	// file system of the data directory.
	Fetch(ctx context.Context, names []string, bytes int64, to string) error
	// Remove deletes files and directories. A missing one is no error. After an error, it may go on with others.
	Remove(ctx context.Context, names []string) error
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

	there   state         // the state of the copy; nil: it is not known, after an error
	reading chan struct{} // full while a batch looks at the data directory, or the run deletes what belongs in the copy
	names   []string      // the files that the batch copies; reading guards it
	copied  chan struct{} // closed when it has copied them
	last    chan struct{} // closed when the run has ended
	ended   chan struct{} // closed when work has ended; nil before Start
	failing bool          // the last batch has failed
}

// New returns the copy at a place of a data directory. stage is the path of a directory in it, which the Copy creates and
// Close deletes; its name is that of an attempt, so that the next driver deletes it if this process dies. Copying ends
// with ctx. warn is called with a line about events that may interest the user.
func New(ctx context.Context, place Place, fsys store.FS, data, stage string, warn func(string)) *Copy {
	c := &Copy{place: place, warn: warn, fsys: fsys, data: data, stage: stage, reading: make(chan struct{}, 1), last: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// Name returns the full name of the copy.
func (c *Copy) Name() string { return c.place.Name() }

// FS returns a file system for writing the data directory. In it, files that a batch copies go away only after it has copied them.
func (c *Copy) FS() store.FS { return &steady{c.fsys, c} }

// steady is the file system that Copy.FS returns.
type steady struct {
	store.FS
	c *Copy
}

// Rename renames a file or a directory.
func (s *steady) Rename(from, to string) error {
	return s.c.whileIdle(from, func() error { return s.FS.Rename(from, to) })
}

// RemoveAll deletes a file or a directory.
func (s *steady) RemoveAll(name string) error {
	return s.c.whileIdle(name, func() error { return s.FS.RemoveAll(name) })
}

// whileIdle calls do, by which a path goes away. If it belongs in the copy, that is when no batch looks at the data directory or
// copies a file of that path.
func (c *Copy) whileIdle(name string, do func() error) error {
	below, ok := strings.CutPrefix(path.Clean(name), path.Clean(c.data)+"/")
	for ok && belongs(top(below)) && c.lock() {
		if !slices.ContainsFunc(c.names, func(file string) bool { return strings.HasPrefix(file+"/", below+"/") }) {
			defer c.unlock()
			break
		}
		copied := c.copied
		c.unlock()
		select {
		case <-copied:
		case <-c.ctx.Done():
		}
	}
	return do()
}

// lock waits until no batch looks at the data directory and nothing is deleted. It returns false if copying has ended.
func (c *Copy) lock() bool {
	select {
	case c.reading <- struct{}{}:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func (c *Copy) unlock() { <-c.reading }

// belongs reports whether a name in a data directory belongs in a copy. Attempts, names that are being deleted, locks and the
// user's files do not.
func belongs(name string) bool {
	return name == store.ManifestFile || solve.IsRunArtifact(name)
}

// top returns the first element of a path.
func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// work makes batches, until the run or the context ends.
func (c *Copy) work() {
	defer close(c.ended)
	for {
		c.try()
		select {
		case <-c.ctx.Done():
			return
		case <-c.last:
			return
		case <-time.After(every):
		}
	}
}

// try makes a batch. It warns of an error, unless the batch before had one, too.
func (c *Copy) try() error {
	err := c.batch()
	if err != nil && !c.failing && c.ctx.Err() == nil {
		c.warn(fmt.Sprintf("--copy-to %s: %v: the next batch, in %s, tries it again", c.Name(), err, numfmt.Duration(every)))
	}
	c.failing = err != nil
	return err
}

// batch makes the copy equal to the data directory. Seals come after the files that they list, and the journal comes last: it
// may say that the game is solved.
func (c *Copy) batch() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.there == nil {
		if _, err := c.list(); err != nil {
			return err
		}
	}
	there := c.there
	c.there = nil // until the batch has succeeded
	here, err := c.put(there)
	if err != nil {
		return err
	}
	small := here.differing(there, isSmall)
	if i := slices.Index(small, store.JournalFile); i >= 0 {
		small = append(slices.Delete(small, i, i+1), store.JournalFile)
	}
	if err := c.write(here, small); err != nil {
		return err
	}
	if err := c.remove(there.without(here)); err != nil {
		return err
	}
	c.there = here
	return nil
}

// put copies what is in the data directory and not there, except small files other than the manifest. It returns the state of
// the data directory.
func (c *Copy) put(there state) (here state, err error) {
	if here, err = c.look(there); err != nil {
		return nil, err
	}
	defer func() { // a deletion sees the end of copied, then that there are no names
		if c.lock() {
			c.names = nil
			c.unlock()
		}
		close(c.copied)
	}()
	if here[store.ManifestFile] != there[store.ManifestFile] { // what has no manifest is no copy
		if err := c.place.Make(c.ctx); err != nil {
			return nil, err
		}
		if err := c.write(here, []string{store.ManifestFile}); err != nil {
			return nil, err
		}
		there[store.ManifestFile] = here[store.ManifestFile]
	}
	if len(c.names) == 0 {
		return here, nil
	}
	bytes := int64(0)
	for _, name := range c.names {
		bytes += here[name].length
	}
	return here, c.place.Put(c.ctx, c.names, bytes)
}

// look returns the state of the data directory, and sets names to the files that are not there.
func (c *Copy) look(there state) (here state, err error) {
	if !c.lock() {
		return nil, c.ctx.Err()
	}
	defer c.unlock()
	if here, err = c.scan(); err == nil {
		c.names, c.copied = here.differing(there, func(name string) bool { return !isSmall(name) }), make(chan struct{})
	}
	return here, err
}

// write writes small files of the data directory.
func (c *Copy) write(here state, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var texts []string
	for _, name := range names {
		texts = append(texts, here[name].text)
	}
	return c.place.Write(c.ctx, names, texts)
}

// remove deletes names from the copy.
func (c *Copy) remove(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return c.place.Remove(c.ctx, names)
}

// Start makes the copy equal to the data directory, which must have a manifest, and then copies changes. It copies what
// differs, and deletes what the data directory does not contain. If the run does not resume, everything that was in the
// copy is deleted first. Start checks the copy again as Ready does: other runs may have changed it before this one had the
// locks.
func (c *Copy) Start(game string, mode store.Mode) error {
	if err := c.Ready(game, mode); err != nil {
		return err
	}
	if mode != store.Resume {
		if err := c.remove(c.there.tops()); err != nil {
			return c.failed(err)
		}
		c.there = make(state)
	}
	c.ended = make(chan struct{})
	go c.work()
	return nil
}

// failed returns an error of the place with its name.
func (c *Copy) failed(err error) error { return fmt.Errorf("--copy-to %s: %w", c.Name(), err) }

// Finish makes the copy equal to the data directory, which nothing changes any more. It returns the error of the last batch,
// or that of the context.
func (c *Copy) Finish() error {
	close(c.last)
	<-c.ended
	for try := 1; ; try++ {
		err := c.try()
		if err == nil {
			err = c.check()
		}
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case err == nil:
			return nil
		case try == lastTries:
			return c.failed(err)
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(every):
		}
	}
}

// check returns an error unless the copy has all files, with their lengths.
func (c *Copy) check() error {
	lengths, err := c.place.List(c.ctx)
	if err != nil {
		return err
	}
	for name, f := range c.there {
		if length, ok := lengths[name]; !ok || length != f.length {
			c.there = nil
			return fmt.Errorf("%s is missing or damaged, although it was copied: does another run keep its copy there?", name)
		}
	}
	return nil
}

// Close ends copying.
func (c *Copy) Close() error {
	c.cancel()
	if c.ended != nil {
		<-c.ended
	}
	return c.fsys.RemoveAll(c.stage)
}
