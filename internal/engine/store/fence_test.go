package store_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// leased is a file system whose lock can be taken from its owner, as a lease in HDFS is taken
// from a driver that was paused for a minute.
type leased struct{ store.Local }

func (leased) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// temporary matches a file that was written but not renamed.
var temporary = regexp.MustCompile(`_attempt-[a-z]+\.json-[0-9a-f]+ `)

// TestTakenOver pauses a driver, lets a second one take over the directory, and continues the
// first: it must not commit, delete or replace anything, and its errors must state the reason.
func TestTakenOver(t *testing.T) {
	path := t.TempDir()
	paused := must.Get(store.Create(leased{}, path, spec, store.Fresh, artifact, nil))(t)
	late := attempt(t, paused, "data_first2")
	write(t, late, "late")

	second := must.Get(store.Create(leased{}, path, spec, store.Resume, artifact, nil))(t)
	defer second.Close()
	dir := attempt(t, second, "data_first1")
	write(t, dir, "good")
	must.OK(t, second.Commit(dir, sealOf("data_first1", good)))
	write(t, late, "later") // a job on a cluster makes the directory again
	before := names(t, path)

	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrTakenOver) {
			t.Errorf("%s: %v", what, err)
		}
		if after := temporary.ReplaceAllString(names(t, path), ""); after != before {
			t.Errorf("%s: there is %s, want %s", what, after, before)
		}
	}
	refused("commit", paused.Commit(late, sealOf("data_first2", good)))
	refused("remove", paused.Remove("data_first1"))
	refused("the manifest", paused.Remember(map[string]string{"keep": "all"}))
	refused("a file", paused.WriteFile("jobs.json", nil))
	_, err := paused.Attempt("data_first4")
	refused("attempt", err)
	refused("what a runner removes", paused.FS.RemoveAll(second.Dir("data_first1")))
	paused.Close()
	if _, _, err := store.OpenDir(second.FS, second.Dir("data_first1"), spec); err != nil {
		t.Error(err)
	}
}

// TestTakenOverLate takes over a directory just before each rename of each change by the paused
// driver: the file system must refuse the change.
func TestTakenOverLate(t *testing.T) {
	for name, change := range map[string]func(*store.Data) error{
		"remove a directory": func(d *store.Data) error { return d.Remove("data_first1") },
		"remove a file":      func(d *store.Data) error { return d.FS.RemoveAll(d.Dir("data_first1/part-00000")) },
		"remove a part": func(d *store.Data) error {
			seal := &store.Seal{Game: spec, Job: "data_first1", Files: good}
			return seal.Drop(d.FS, d.Dir("data_first1"), func(string) bool { return true })
		},
		"replace a seal": func(d *store.Data) error { return new(store.Seal).Replace(d.FS, d.Dir("data_first1"), store.Success) },
		"write a file":   func(d *store.Data) error { return d.WriteFile("jobs.json", []byte("late")) },
		"remember":       func(d *store.Data) error { return d.Remember(map[string]string{"keep": "all"}) },
	} {
		for n := 1; ; n++ { // the rename before which the other driver takes over
			paused := false
			if !t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) { paused = takenOverLate(t, change, n) }) || !paused {
				break
			}
		}
	}
}

// takenOverLate lets another driver take over before rename number n of a change. It reports whether the
// change has that many.
func takenOverLate(t *testing.T, change func(*store.Data) error, n int) (paused bool) {
	path := t.TempDir()
	fsys := &pausing{}
	first := must.Get(store.Create(fsys, path, spec, store.Fresh, artifact, nil))(t)
	dir := attempt(t, first, "data_first1")
	write(t, dir, "good")
	must.OK(t, first.Commit(dir, sealOf("data_first1", good)))
	var second *store.Data
	fsys.pause = func() {
		if n--; n > 0 {
			return
		}
		fsys.pause = nil
		second = must.Get(store.Create(leased{}, path, spec, store.Resume, artifact, nil))(t)
	}
	err := change(first)
	if second == nil {
		if err != nil {
			t.Errorf("without a take-over: %v", err)
		}
		first.Close()
		return false
	}
	if !errors.Is(err, store.ErrTakenOver) {
		t.Errorf("%v", err)
	}
	if _, _, err := store.OpenDir(second.FS, second.Dir("data_first1"), spec); err != nil {
		t.Error(err)
	}
	if m, err := store.ReadManifest(store.Local{}, path); err != nil || len(m.Options) > 0 {
		t.Errorf("manifest: %v, %v", m, err)
	}
	if _, err := os.Stat(second.Dir("jobs.json")); err == nil {
		t.Error("jobs.json was written")
	}
	first.Close()
	second.Close()
	if left, _ := filepath.Glob(filepath.Join(path, "_[dr]*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
	return true
}

// TestOtherEnds lets the previous driver end while the next one takes over, after it was listed.
func TestOtherEnds(t *testing.T) {
	path := t.TempDir()
	first := must.Get(store.Create(leased{}, path, spec, store.Fresh, artifact, nil))(t)
	ended := false
	second, err := store.Create(&pausing{pause: func() {
		if !ended {
			ended = true
			first.Close()
		}
	}}, path, spec, store.Resume, artifact, nil)
	if err != nil || !ended {
		t.Fatalf("ended %v: %v", ended, err)
	}
	second.Close()
	if got := names(t, path); got != "" {
		t.Errorf("left: %s", got)
	}
}

// TestTakenOverCreate takes over a directory while a driver creates its manifest, which the second
// driver deletes.
func TestTakenOverCreate(t *testing.T) {
	path := t.TempDir()
	var second *store.Data
	fsys := &pausingSync{}
	fsys.pause = func() {
		fsys.pause = nil
		second = must.Get(store.Create(leased{}, path, spec, store.Fresh, artifact, nil))(t)
	}
	if _, err := store.Create(fsys, path, spec, store.Fresh, artifact, nil); !errors.Is(err, store.ErrTakenOver) {
		t.Errorf("got %v", err)
	}
	if err := second.CheckOwner(); err != nil {
		t.Error(err)
	}
}

// TestTakenOverEnd takes over a directory before a driver lists the attempts of earlier ones. It must not end those of
// the driver that has taken over.
func TestTakenOverEnd(t *testing.T) {
	path := t.TempDir()
	fsys := &pausingList{left: 3} // the third list is that of attempts
	fsys.pause = func() {
		second := create(t, path, store.Fresh, nil)
		attempt(t, second, "data_first1")
	}
	_, err := store.Create(fsys, path, spec, store.Fresh, artifact, func(dir string) error {
		t.Errorf("it ends %s", dir)
		return nil
	})
	if !errors.Is(err, store.ErrTakenOver) || !strings.Contains(names(t, path), "_attempt-data_first1-") {
		t.Errorf("%v; there is %s", err, names(t, path))
	}
}

// pausingList is a leased file system that calls pause before it lists a directory for the last of left times.
type pausingList struct {
	leased
	left  int
	pause func()
}

func (p *pausingList) ReadDir(name string) ([]fs.DirEntry, error) {
	if p.left--; p.left == 0 {
		p.pause()
	}
	return p.leased.ReadDir(name)
}

// pausing is a leased file system that calls pause before it renames.
type pausing struct {
	leased
	pause func()
}

func (p *pausing) Rename(from, to string) error {
	if p.pause != nil {
		p.pause()
	}
	return p.leased.Rename(from, to)
}

// TestStray puts files of the user into directories of a run: readers must ignore them, and
// nothing may delete them.
func TestStray(t *testing.T) {
	path := t.TempDir()
	data := create(t, path, store.Fresh, nil)
	commit := func() {
		t.Helper()
		for _, name := range []string{"table", "final"} {
			dir := attempt(t, data, name)
			write(t, dir, "good")
			must.OK(t, data.Commit(dir, sealOf(name, good)))
		}
	}
	kept := func(when string) {
		t.Helper()
		for _, name := range []string{"table/notes.txt", "table/tier-list.md", "final/.DS_Store", "final/to-do.txt", "final/part-of.txt", "final/mine/notes.txt"} {
			if text, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(text) != "mine" {
				t.Errorf("%s: %s: %q, %v", when, name, text, err)
			}
		}
	}
	commit()
	must.OK(t, os.Mkdir(filepath.Join(path, "final/mine"), 0o777))
	for _, name := range []string{"table/notes.txt", "table/tier-list.md", "final/.DS_Store", "final/to-do.txt", "final/part-of.txt", "final/mine/notes.txt"} {
		must.OK(t, os.WriteFile(filepath.Join(path, name), []byte("mine"), 0o666))
	}
	for _, name := range []string{"table", "final"} {
		if _, parts, err := store.OpenDir(data.FS, data.Dir(name), spec); err != nil || len(parts) != 1 {
			t.Errorf("%s is read: %q, %v", name, parts, err)
		}
	}
	commit()
	kept("made again")
	must.OK(t, data.Remove("final"))
	kept("removed")
	commit()
	data.FS = stubborn{}
	if err := data.Remove("table"); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	data.Close()
	create(t, path, store.Resume, nil).Close()
	kept("killed during a removal")
	create(t, path, store.Overwrite, nil).Close()
	kept("overwritten")
	if got := names(t, path); got != "final table" {
		t.Errorf("there is %s", got)
	}
	if _, err := os.Stat(filepath.Join(path, "final/part-00000")); err == nil {
		t.Error("what is treereduce's is still in final")
	}
}

// TestStrayKilled kills a driver before each step of a deletion.
func TestStrayKilled(t *testing.T) {
	for calls := 0; ; calls++ {
		path := t.TempDir()
		fsys := &dying{calls: 1 << 30}
		data := must.Get(store.Create(fsys, path, spec, store.Fresh, artifact, nil))(t)
		dir := attempt(t, data, "final")
		write(t, dir, "good")
		must.OK(t, data.Commit(dir, sealOf("final", good)))
		must.OK(t, os.WriteFile(data.Dir("final/notes.txt"), []byte("mine"), 0o666))
		fsys.calls = calls
		removed := data.Remove("final")
		data.Close()
		create(t, path, store.Resume, nil).Close()
		if text, err := os.ReadFile(data.Dir("final/notes.txt")); err != nil || string(text) != "mine" {
			t.Errorf("after %d calls: %q, %v", calls, text, err)
		}
		if removed == nil {
			if calls < 3 {
				t.Errorf("removed with %d calls", calls)
			}
			return
		}
	}
}

// dying makes only the given number of changes, then fails.
type dying struct {
	store.Local
	calls int
}

func (d *dying) die(change func() error) error {
	if d.calls--; d.calls < 0 {
		return errKilled
	}
	return change()
}

func (d *dying) Rename(from, to string) error {
	return d.die(func() error { return d.Local.Rename(from, to) })
}

func (d *dying) RemoveAll(name string) error {
	return d.die(func() error { return d.Local.RemoveAll(name) })
}

func (d *dying) MkdirAll(name string) error {
	return d.die(func() error { return d.Local.MkdirAll(name) })
}

// pausingSync calls pause before it syncs, too.
type pausingSync struct{ pausing }

func (p *pausingSync) Sync(name string) error {
	if p.pause != nil {
		p.pause()
	}
	return p.pausing.Sync(name)
}
