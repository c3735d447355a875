// Package mirror keeps a copy in S3 of a data directory while a run works in it, so that
// the run can go on after its machine, or its cluster, has ended. It knows nothing of
// steps: it sees which names a run gives and takes away, and what a name stands for.
//
// What gets a name is put into the copy, what loses it is removed there, one after the
// other in the same order. So the copy is at any time what the data directory was some
// time before, and a run can go on with it. A name goes on this side only when what it
// stands for is in the copy: a later step is not to be left without what it needs on both
// sides.
package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/cloud/aws"
	"github.com/treereduce/treereduce/internal/cloud/s3"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// OwnerFile is the claim of the driver that writes a copy.
	OwnerFile = "_owner"
	// hold is how long a driver that is silent keeps its claim.
	hold = 2 * time.Minute
	// giveUp is how long something that may pass by itself is tried again, after as
	// many tries of the client's own; pauses grow from the first to the last.
	giveUp     = 10 * time.Minute
	firstPause = time.Second
	lastPause  = 30 * time.Second
	// overtakeEvery is how often the journal overtakes what takes long to be copied: it
	// is written more often, and who follows the run takes silence for its end.
	overtakeEvery = 10 * time.Second
	// lastWords bounds how long it takes a driver that is stopped to say so in the copy.
	lastWords = 10 * time.Second
	// smallFile is the size up to which a file is taken as it was when it got its name.
	smallFile = 1 << 20
	// tiersSeal is the seal of those tiers that are in a table which is not whole yet, and
	// seed what the first job reads, which is nothing.
	tiersSeal = "_tiers"
	seed      = "temp"
)

// A Copy is the copy of a data directory, claimed by this process.
type Copy struct {
	ctx   context.Context
	to    *s3.FS
	dir   string
	claim *s3.Claim
	warn  func(string)

	from store.FS // of the data directory
	data string
	on   bool // what happens in the data directory is followed

	journal sync.Mutex // held while the journal is put

	mu    sync.Mutex
	moved *sync.Cond // of queue, err
	queue []*change  // the first is being made
	err   error      // why no more are made
	ended chan struct{}
}

// A change is something that is still to be done in the copy.
type change struct {
	name    string // below the data directory
	remove  bool
	content []byte // of a small file; nil: it is read when its turn comes
	dir     bool
}

// Open claims the copy at a path. ctx ends what is being copied. who is how another driver
// is told of this one; warn is told, in a line, what may be worth to know.
func Open(ctx context.Context, to *s3.FS, dir, who string, warn func(string)) (*Copy, error) {
	claim, from, err := to.Claim(ctx, path.Join(dir, OwnerFile), who, hold)
	if err != nil {
		return nil, fmt.Errorf("--copy: %w", err)
	}
	if from != "" {
		warn(fmt.Sprintf("%s: taken over from %s, of which nothing has been heard", to.Name(dir), from))
	}
	c := &Copy{ctx: ctx, to: to, dir: dir, claim: claim, warn: warn}
	c.moved = sync.NewCond(&c.mu)
	return c, nil
}

// Name is the whole name of the copy.
func (c *Copy) Name() string { return c.to.Name(c.dir) }

// FS is a file system with which the data directory at a path is written so that it is
// copied, from Start on.
func (c *Copy) FS(fsys store.FS, data string) store.FS {
	c.from, c.data = fsys, data
	return &followed{FS: fsys, c: c}
}

// followed is a file system that tells a Copy which names come and go.
type followed struct {
	store.FS
	c *Copy
}

// Rename renames once what had the names is in the copy.
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

// RemoveAll removes once what is removed is in the copy.
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

// visible is the name below the data directory of a path that is to be in the copy:
// neither an attempt, nor what is being removed, nor the lock or the seed of a job.
func (c *Copy) visible(name string) (below string, ok bool) {
	below, ok = strings.CutPrefix(path.Clean(name), path.Clean(c.data)+"/")
	if !ok || strings.HasPrefix(below, "_") || below == seed || store.Passing(path.Base(below)) || store.Passing(path.Base(path.Dir(below))) {
		return "", false
	}
	return below, true
}

// put notes that a name is to be put.
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

// add notes a change.
func (c *Copy) add(ch *change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on || c.err != nil {
		return
	}
	if ch.name == store.JournalFile { // of which the last alone matters
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

// settle waits until no name is to be put that is one of these, or lies above or below
// one. After the end of the context nobody waits, and nothing is copied: what is here
// then is what counts.
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

// below reports whether a path is another, or lies below it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// work makes the changes, until the context ends or one fails.
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
		ch := c.queue[0]
		c.mu.Unlock()
		// One that failed stays in the queue: nobody may take it for made.
		if err := c.persist(ch); err != nil {
			c.fail(fmt.Errorf("--copy: %w; --resume goes on", err))
			return
		}
		c.mu.Lock()
		c.queue = c.queue[1:]
		c.moved.Broadcast()
		c.mu.Unlock()
	}
}

// fail notes why no more is copied.
func (c *Copy) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.moved.Broadcast()
}

// persist makes a change; what may pass by itself is tried again.
func (c *Copy) persist(ch *change) error {
	begun, pause := time.Now(), firstPause
	for {
		err := c.claim.Held(c.ctx)
		if err == nil {
			err = c.make(ch)
		}
		if err == nil || c.ctx.Err() != nil || !aws.Passing(err) || time.Since(begun) > giveUp {
			return err
		}
		if pause == firstPause {
			c.warn(fmt.Sprintf("--copy: %v: tried again for %v", err, giveUp))
		}
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// make makes a change.
func (c *Copy) make(ch *change) error {
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
		return c.to.PutDir(c.ctx, c.from, at, to, c.claim.Held)
	}
	return c.to.PutFile(c.ctx, c.from, at, to)
}

// overtake puts the journal, if its turn is not yet, and it says that the run goes on:
// that the game is solved is said when the copy has the table.
func (c *Copy) overtake() {
	c.journal.Lock()
	defer c.journal.Unlock()
	var text []byte
	c.mu.Lock()
	for i, ch := range c.queue {
		if i > 0 && ch.name == store.JournalFile && bytes.Contains(ch.content, []byte(running)) {
			text = ch.content
		}
	}
	c.mu.Unlock()
	if text != nil && c.claim.Held(c.ctx) == nil {
		c.to.Put(c.ctx, path.Join(c.dir, store.JournalFile), bytes.NewReader(text), int64(len(text))) // its turn comes in any case
	}
}

// running is how a journal says that its run goes on.
const running = `"state": "` + solve.Running + `"`

// follow lets the journal overtake until the copying ends.
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

// Start makes the copy what the data directory is, whose manifest must be there, and
// follows it from then on: what differs is put, what is not there any more is removed.
// Of a run that begins anew nothing stays.
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

// entries are what lies in a directory and is to be, or is, in a copy; none, if it is not
// there.
func entries(fsys store.FS, dir string) (visible []fs.DirEntry, err error) {
	all, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range all {
		if (store.Ours(e.Name()) || e.Name() == store.ManifestFile) && e.Name() != seed {
			visible = append(visible, e)
		}
	}
	return visible, err
}

// update has a directory be put, as far as the copy has it not; kept is false if it is not
// whole, and the copy shall not have it.
func (c *Copy) update(name string, mode store.Mode) (kept bool, err error) {
	at, to := path.Join(c.data, name), path.Join(c.dir, name)
	same := func(file string) (bool, error) {
		if mode != store.Resume {
			return false, nil
		}
		there, err := store.ReadFile(c.to, path.Join(to, file))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("--copy: %w", err)
		}
		here, err := store.ReadFile(c.from, path.Join(at, file))
		return bytes.Equal(here, there), err
	}
	if _, err := c.from.Stat(path.Join(at, store.Success)); err == nil {
		is, err := same(store.Success)
		if err != nil {
			return true, err
		}
		if !is {
			return true, c.put(name)
		}
		if _, err := c.to.Stat(path.Join(to, tiersSeal)); err == nil { // the last run came no further
			c.add(&change{name: path.Join(name, tiersSeal), remove: true})
		}
		return true, nil
	}
	if _, err := c.from.Stat(path.Join(at, tiersSeal)); err != nil {
		return false, nil
	}
	// A table that grows: what is there in its length is what it is here, as all tiers
	// are made in one way.
	lengths := make(map[string]int64)
	if mode == store.Resume {
		there, err := c.to.ReadDir(to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("--copy: %w", err)
		}
		for _, e := range there {
			if info, err := e.Info(); err == nil {
				lengths[e.Name()] = info.Size()
			}
		}
	}
	files, err := c.from.ReadDir(at)
	if err != nil {
		return false, err
	}
	if _, sealed := lengths[store.Success]; sealed { // it was whole, and is damaged here
		c.add(&change{name: path.Join(name, store.Success), remove: true})
	}
	for _, e := range files {
		info, err := e.Info()
		if err != nil {
			return false, err
		}
		if length, ok := lengths[e.Name()]; strings.HasPrefix(e.Name(), "_") || ok && length == info.Size() {
			continue
		}
		if err := c.put(path.Join(name, e.Name())); err != nil {
			return false, err
		}
	}
	return true, c.put(path.Join(name, tiersSeal))
}

// Left is how many changes are still to be made.
func (c *Copy) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// Finish waits until all is in the copy, and returns what went wrong, or the context's
// error.
func (c *Copy) Finish() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 && c.err == nil {
		c.moved.Wait()
	}
	return c.err
}

// Close ends the copying. A run that was stopped says so in the copy, even if only the
// copying was left of it, so that nobody thinks that it goes on, or that all is there;
// then the claim is given up.
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
				c.to.Put(ctx, path.Join(c.dir, store.JournalFile), bytes.NewReader(text), int64(len(text))) // the next run writes it in any case
			}
		}
	}
	return c.claim.Release(ctx)
}
