// Package mirror maintains a copy of a data directory in S3 while a run works in the
// directory, so that the run can be resumed after its machine or cluster has ended. It knows
// nothing of steps: it only observes which names in the directory a run creates and deletes,
// and copies their contents.
//
// A name that appears is copied, and a name that disappears is deleted from the copy, one
// after the other in the same order. So the copy always equals an earlier state of the data
// directory, and a run can resume from it. A name is not deleted from the data directory until
// its contents are in the copy: otherwise a later step might not find its input in either
// place.
package mirror

import (
	"bytes"
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

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// OwnerFile is the name of the claim of the driver that writes a copy.
	OwnerFile = "_owner"
	// giveUp is how long a change that fails with a temporary error is retried, after the
	// retries of the S3 client. The pauses grow from firstPause to lastPause.
	giveUp     = 10 * time.Minute
	firstPause = time.Second
	lastPause  = 30 * time.Second
	// overtakeEvery is the interval at which the journal overtakes changes that take long to
	// copy. The journal changes more often, and a user who follows the run takes a stale
	// journal for the end of the run.
	overtakeEvery = 10 * time.Second
	// lastWords bounds the time that a stopped driver takes to record this in the copy.
	lastWords = 10 * time.Second
	// smallFile is the size up to which the contents of a file are read when it gets its name.
	smallFile = 1 << 20
)

// A Copy is the copy of a data directory, claimed by this process.
type Copy struct {
	ctx   context.Context
	to    *s3.FS
	dir   string
	claim *s3.Claim
	warn  func(string)

	from  store.FS // file system of the data directory
	data  string
	nodes Nodes // nil: none
	on    bool  // changes of the data directory are recorded

	journal sync.Mutex // locked while the journal is uploaded

	mu    sync.Mutex
	moved *sync.Cond // signals changes of queue and err
	queue []*change  // the first one is being made
	err   error      // why no more changes are made
	ended chan struct{}
}

// A change is an operation on the copy that is still to be done.
type change struct {
	name    string // relative to the data directory
	remove  bool
	content []byte // contents of a small file; nil: read when the change is made
	dir     bool
}

// file reports whether the change uploads a file that is not small.
func (ch *change) file() bool { return !ch.remove && !ch.dir && ch.content == nil }

// Open claims the copy at a path. Copying ends with ctx. who identifies this process to other
// drivers. warn is called with a line about events that may interest the user.
func Open(ctx context.Context, to *s3.FS, dir, who string, warn func(string)) (*Copy, error) {
	claim, from, err := to.Claim(ctx, path.Join(dir, OwnerFile), who, s3.Hold)
	if err != nil {
		return nil, fmt.Errorf("--copy: %w", err)
	}
	if from != "" {
		warn(fmt.Sprintf("%s: taken over from %s, whose claim has expired", to.Name(dir), from))
	}
	c := &Copy{ctx: ctx, to: to, dir: dir, claim: claim, warn: warn}
	c.moved = sync.NewCond(&c.mu)
	return c, nil
}

// Name returns the full name of the copy.
func (c *Copy) Name() string { return c.to.Name(c.dir) }

// FS returns a file system for writing the data directory. Its changes are copied, from Start
// on.
func (c *Copy) FS(fsys store.FS, data string) store.FS {
	c.from, c.data = fsys, data
	return &followed{FS: fsys, c: c}
}

// followed is a file system that reports created and deleted names to a Copy.
type followed struct {
	store.FS
	c *Copy
}

// Rename waits until no upload has to read either name any more, then renames.
func (f *followed) Rename(from, to string) error {
	old, gone := f.c.visible(from)
	name, comes := f.c.visible(to)
	if name != store.JournalFile {
		if err := f.c.settle(old, name); err != nil {
			return err
		}
	}
	if err := f.FS.Rename(from, to); err != nil {
		return err
	}
	if comes {
		if err := f.c.put(name); err != nil {
			return err
		}
	}
	if gone {
		f.c.add(&change{name: old, remove: true})
	}
	return nil
}

// RemoveAll waits until no upload has to read the name any more, then deletes it.
func (f *followed) RemoveAll(name string) error {
	old, gone := f.c.visible(name)
	if err := f.c.settle(old); err != nil {
		return err
	}
	err := f.FS.RemoveAll(name)
	if err == nil && gone {
		f.c.add(&change{name: old, remove: true})
	}
	return err
}

// visible returns the path relative to the data directory, and whether it belongs in the copy.
// Attempts, names that are being deleted, locks and the seed of a job do not.
func (c *Copy) visible(name string) (below string, ok bool) {
	below, ok = strings.CutPrefix(path.Clean(name), path.Clean(c.data)+"/")
	if !ok || strings.HasPrefix(below, "_") || below == store.SeedFile || store.IsTemporary(path.Base(below)) || store.IsTemporary(path.Base(path.Dir(below))) {
		return "", false
	}
	return below, true
}

// put adds a change that uploads a name.
func (c *Copy) put(name string) error {
	ch := &change{name: name}
	at := path.Join(c.data, name)
	info, err := c.from.Stat(at)
	if err != nil {
		return err
	}
	if ch.dir = info.IsDir(); !ch.dir && info.Size() <= smallFile {
		if ch.content, err = store.ReadFile(c.from, at); err != nil {
			return err
		}
	}
	c.add(ch)
	return nil
}

// add appends a change to the queue.
func (c *Copy) add(ch *change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on || c.err != nil {
		return
	}
	if ch.name == store.JournalFile { // only the last journal matters
		for i, other := range c.queue {
			if i > 0 && other.name == ch.name {
				other.content = ch.content
				return
			}
		}
	}
	c.queue = append(c.queue, ch)
	c.moved.Broadcast()
}

// settle waits until there is no pending upload of any of the names, or of a path above or
// below one, that still has to read its source. When the context is done, it does not wait,
// because copying has ended; then the data directory is authoritative.
func (c *Copy) settle(names ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.on && c.ctx.Err() == nil {
		if c.err != nil {
			return c.err
		}
		if !c.pending(names) {
			return nil
		}
		c.moved.Wait()
	}
	return nil
}

func (c *Copy) pending(names []string) bool {
	for _, ch := range c.queue {
		for _, name := range names {
			if name != "" && !ch.remove && ch.content == nil && (below(ch.name, name) || below(name, ch.name)) {
				return true
			}
		}
	}
	return false
}

// below reports whether name is dir, or a path below it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// work makes the changes, until the context is done or one of them fails.
func (c *Copy) work() {
	defer close(c.ended)
	stop := context.AfterFunc(c.ctx, func() { c.fail(c.ctx.Err()) })
	defer stop()
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && c.err == nil && c.on {
			c.moved.Wait()
		}
		if c.err != nil || len(c.queue) == 0 {
			c.mu.Unlock()
			return
		}
		batch := c.batch()
		c.mu.Unlock()
		// A failed change stays in the queue, so that it does not count as made.
		if err := c.persist(batch); err != nil {
			c.fail(fmt.Errorf("--copy: %w; --resume continues", err))
			return
		}
		c.mu.Lock()
		c.queue = c.queue[len(batch):]
		c.moved.Broadcast()
		c.mu.Unlock()
	}
}

// fail records why copying has ended.
func (c *Copy) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.moved.Broadcast()
}

// batch returns the changes that are made next: the first one or, if the nodes can divide them, the first
// uploads of files of one directory.
func (c *Copy) batch() []*change {
	first, n := c.queue[0], 1
	if c.nodes == nil || !first.file() {
		return c.queue[:n:n]
	}
	for _, next := range c.queue[n:] {
		again := slices.ContainsFunc(c.queue[:n], func(ch *change) bool { return ch.name == next.name })
		if !next.file() || path.Dir(next.name) != path.Dir(first.name) || again {
			break
		}
		n++
	}
	return c.queue[:n:n]
}

// persist makes changes, see batch, and retries after temporary errors.
func (c *Copy) persist(batch []*change) error {
	begun, pause := time.Now(), firstPause
	for {
		err := c.claim.Held(c.ctx)
		if err == nil {
			err = c.make(batch)
		}
		if err == nil || c.ctx.Err() != nil || !aws.IsTransient(err) || time.Since(begun) > giveUp {
			return err
		}
		if pause == firstPause {
			c.warn(fmt.Sprintf("--copy: %v: retrying for up to %v", err, giveUp))
		}
		if err := aws.Sleep(c.ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

// make makes changes, see batch.
func (c *Copy) make(batch []*change) error {
	ch := batch[0]
	at, to := path.Join(c.data, ch.name), path.Join(c.dir, ch.name)
	switch {
	case ch.remove:
		return c.to.Remove(c.ctx, to)
	case ch.content != nil:
		if ch.name == store.JournalFile {
			c.journal.Lock()
			defer c.journal.Unlock()
		}
		return c.to.Put(c.ctx, to, bytes.NewReader(ch.content), int64(len(ch.content)))
	case ch.dir:
		return c.to.PutDir(c.ctx, c.from, at, to, c.claim.Held, func(ctx context.Context, names ...string) error {
			return c.putFiles(ctx, ch.name, names)
		})
	}
	var names []string
	for _, ch := range batch {
		names = append(names, path.Base(ch.name))
	}
	return c.putFiles(c.ctx, path.Dir(ch.name), names)
}

// overtake uploads the journal before its turn, if its state is running. A journal
// of a solved game waits until the copy contains the table.
func (c *Copy) overtake() {
	c.journal.Lock()
	defer c.journal.Unlock()
	var text []byte
	c.mu.Lock()
	for i, ch := range c.queue {
		if ch.name == store.ManifestFile {
			break // a copy without a manifest is not treereduce's
		}
		if i > 0 && ch.name == store.JournalFile && bytes.Contains(ch.content, []byte(running)) {
			text = ch.content
		}
	}
	c.mu.Unlock()
	if text != nil && c.claim.Held(c.ctx) == nil {
		c.to.Put(c.ctx, path.Join(c.dir, store.JournalFile), bytes.NewReader(text), int64(len(text))) // if this fails, the journal is uploaded in its turn
	}
}

// running is the part of a journal that marks the run as running.
const running = `"state": "` + solve.Running + `"`

// follow calls overtake regularly, until copying ends.
func (c *Copy) follow() {
	ticker := time.NewTicker(overtakeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-ticker.C:
			c.overtake()
		}
	}
}

// Start makes the copy equal to the data directory, which must have a manifest, and records
// changes from then on. It uploads what differs, and deletes what the data directory does not
// contain. If the run does not resume, Start deletes everything that was in the copy.
func (c *Copy) Start(mode store.Mode) error {
	c.on = true
	there, err := entries(c.to, c.dir)
	if err != nil {
		return fmt.Errorf("--copy: %w", err)
	}
	here, err := entries(c.from, c.data)
	if err != nil {
		return err
	}
	if mode != store.Resume {
		for _, e := range there {
			c.add(&change{name: e.Name(), remove: true})
		}
		there = nil
	}
	if err := c.put(store.ManifestFile); err != nil {
		return err
	}
	kept := map[string]bool{store.ManifestFile: true, store.JournalFile: true}
	for _, e := range here {
		if !e.IsDir() {
			continue
		}
		if kept[e.Name()], err = c.update(e.Name(), mode); err != nil {
			return err
		}
	}
	for _, e := range there {
		if !kept[e.Name()] {
			c.add(&change{name: e.Name(), remove: true})
		}
	}
	c.ended = make(chan struct{})
	go c.work()
	go c.follow()
	return nil
}

// entries returns the entries of a directory that belong in a copy, or none if the directory
// does not exist.
func entries(fsys store.FS, dir string) (visible []fs.DirEntry, err error) {
	all, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range all {
		if (solve.IsRunArtifact(e.Name()) || e.Name() == store.ManifestFile) && e.Name() != store.SeedFile {
			visible = append(visible, e)
		}
	}
	return visible, err
}

// update uploads a directory, or the part of it that is not in the copy. kept is false if the
// directory is incomplete and does not belong in the copy.
func (c *Copy) update(name string, mode store.Mode) (kept bool, err error) {
	if _, err := c.from.Stat(path.Join(c.data, name, store.Success)); err == nil {
		return true, c.updateComplete(name, mode)
	}
	if _, err := c.from.Stat(path.Join(c.data, name, solve.TiersSeal)); err != nil {
		return false, nil
	}
	return true, c.updateTable(name, mode)
}

// updateComplete uploads a complete directory, unless the copy has it.
func (c *Copy) updateComplete(name string, mode store.Mode) error {
	if same, err := c.sameSeal(name, mode); err != nil {
		return err
	} else if !same {
		return c.put(name)
	}
	seal := path.Join(name, solve.TiersSeal)
	if _, err := c.to.Stat(path.Join(c.dir, seal)); err == nil { // the last run was stopped at this point
		c.add(&change{name: seal, remove: true})
	}
	return nil
}

// sameSeal reports whether a run that is resumed finds the same seal in the copy.
func (c *Copy) sameSeal(name string, mode store.Mode) (bool, error) {
	if mode != store.Resume {
		return false, nil
	}
	there, err := store.ReadFile(c.to, path.Join(c.dir, name, store.Success))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("--copy: %w", err)
	}
	here, err := store.ReadFile(c.from, path.Join(c.data, name, store.Success))
	return bytes.Equal(here, there), err
}

// updateTable uploads an incomplete table, and deletes what other runs have left in the copy. A file stays if the
// seals here and there list it with the same checksum.
func (c *Copy) updateTable(name string, mode store.Mode) error {
	lengths, there := make(map[string]int64), new(store.Seal)
	here, err := sealOf(c.from, path.Join(c.data, name))
	if err != nil {
		return err
	}
	if mode == store.Resume {
		if there, err = sealOf(c.to, path.Join(c.dir, name)); err != nil {
			return fmt.Errorf("--copy: %w", err)
		}
		entries, err := c.to.ReadDir(path.Join(c.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--copy: %w", err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				lengths[e.Name()] = info.Size()
			}
		}
	}
	files, err := c.from.ReadDir(path.Join(c.data, name))
	if err != nil {
		return err
	}
	if _, sealed := lengths[store.Success]; sealed { // the table was complete, and is damaged here
		c.add(&change{name: path.Join(name, store.Success), remove: true})
	}
	var puts []string
	for _, e := range files {
		info, err := e.Info()
		if err != nil {
			return err
		}
		length, ok := lengths[e.Name()]
		delete(lengths, e.Name())
		f, g := here.File(e.Name()), there.File(e.Name())
		if strings.HasPrefix(e.Name(), "_") || ok && length == info.Size() && f != nil && g != nil && *f == *g {
			continue
		}
		puts = append(puts, path.Join(name, e.Name()))
	}
	for _, old := range slices.Sorted(maps.Keys(lengths)) {
		if store.OwnFile(old) && !strings.HasPrefix(old, "_") {
			c.add(&change{name: path.Join(name, old), remove: true})
		}
	}
	for _, file := range append(puts, path.Join(name, solve.TiersSeal)) {
		if err := c.put(file); err != nil {
			return err
		}
	}
	return nil
}

// sealOf returns the seal of the tiers in a directory, or that of the complete directory; an empty one if there is
// none, or it is damaged.
func sealOf(fsys store.FS, dir string) (*store.Seal, error) {
	for _, name := range []string{solve.TiersSeal, store.Success} {
		seal, err := store.ReadSealFile(fsys, path.Join(dir, name))
		if err == nil {
			return seal, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !store.Damaged(err) {
			return nil, err
		}
	}
	return new(store.Seal), nil
}

// Left returns the number of changes that are still to be made.
func (c *Copy) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// Finish waits until all changes are made. It returns the error that ended copying, or the
// context's error.
func (c *Copy) Finish() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 && c.err == nil {
		c.moved.Wait()
	}
	return c.err
}

// Close ends copying and gives up the claim. If the run was stopped, Close records this in the
// copy first, even if the game is solved and only copying was left, so that the copy is taken
// neither for a running one nor for a complete one.
func (c *Copy) Close() error {
	if c.ended != nil {
		c.mu.Lock()
		c.on = false
		c.moved.Broadcast()
		c.mu.Unlock()
		<-c.ended
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), lastWords)
	defer cancel()
	if c.ended != nil && c.ctx.Err() != nil && c.claim.Held(ctx) == nil {
		if j, err := solve.ReadJournal(c.from, c.data); err == nil {
			if j.State == solve.Solved {
				j.State = solve.Stopped
			}
			if text, err := store.MarshalSummed(j); err == nil {
				c.to.Put(ctx, path.Join(c.dir, store.JournalFile), bytes.NewReader(text), int64(len(text))) // if this fails, the next run writes the journal
			}
		}
	}
	return c.claim.Release(ctx)
}
