package mirror

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// queued returns a Copy with these changes in its queue, none of which is being made, of a data
// directory in memory.
func queued(t *testing.T, queue ...*change) (c *Copy, fsys store.FS, from *storetest.Memory, fake *s3test.Fake) {
	t.Helper()
	fake = s3test.StartFake(t, "bucket")
	to, err := s3.New(t.Context(), (&s3test.Direct{Server: fake}).Config(), "bucket")
	must.OK(t, err)
	c = &Copy{ctx: t.Context(), to: to, dir: "d", on: true, queue: queue}
	c.moved = sync.NewCond(&c.mu)
	from = new(storetest.Memory)
	return c, c.FS(from, copierDir), from, fake
}

// write writes a file of the data directory.
func write(t *testing.T, fsys store.FS, name, content string) {
	t.Helper()
	at := path.Join(copierDir, name)
	must.OK(t, fsys.MkdirAll(path.Dir(at)))
	must.OK(t, store.WriteFile(fsys, at, []byte(content)))
}

// TestSourceWaits checks that a name is neither renamed nor deleted, nor replaced by a rename, while an
// upload of it, of a path below or above it, still has to read it.
func TestSourceWaits(t *testing.T) {
	upload := func(name string) *change { return &change{name: name, dir: true} }
	at := func(name string) string { return path.Join(copierDir, name) }
	for _, test := range []struct {
		name  string
		queue *change
		do    func(fsys store.FS) error
		waits bool
	}{
		{"removed", upload("table"), func(f store.FS) error { return f.RemoveAll(at("table")) }, true},
		{"a file of it removed", upload("table"), func(f store.FS) error { return f.RemoveAll(at("table/a")) }, true},
		{"what contains it removed", upload("table/a"), func(f store.FS) error { return f.RemoveAll(at("table")) }, true},
		{"renamed", upload("table"), func(f store.FS) error { return f.Rename(at("table"), at("_removed-table")) }, true},
		{"replaced", upload("table/a"), func(f store.FS) error { return f.Rename(at("_attempt-a"), at("table/a")) }, true},
		{"another", upload("table"), func(f store.FS) error { return f.RemoveAll(at("tables")) }, false},
		{"a small file, which has been read", &change{name: "table", content: []byte("x")}, func(f store.FS) error { return f.RemoveAll(at("table")) }, false},
		{"a deletion", &change{name: "table", remove: true}, func(f store.FS) error { return f.RemoveAll(at("table")) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, fsys, from, _ := queued(t, test.queue)
			for _, name := range []string{"table/a", "tables/a", "_attempt-a"} {
				write(t, from, name, name)
			}
			synctest.Test(t, func(t *testing.T) {
				c.moved = sync.NewCond(&c.mu) // a condition in the bubble wakes its goroutines
				ended := false
				go func() {
					if err := test.do(fsys); err != nil {
						t.Error(err)
					}
					ended = true
				}()
				synctest.Wait()
				if ended == test.waits {
					t.Errorf("done %v before the upload, want %v", ended, !test.waits)
				}
				c.mu.Lock()
				c.queue = nil
				c.mu.Unlock()
				c.moved.Broadcast()
				synctest.Wait()
				if !ended {
					t.Error("not done after the upload")
				}
			})
		})
	}
}

// TestOvertaken checks which journals overtake the changes before them: one of a run that works, but
// not before a manifest, without which a copy is not treereduce's, and not the end of a run.
func TestOvertaken(t *testing.T) {
	making, manifest := &change{name: "table", dir: true}, &change{name: store.ManifestFile, content: []byte("{}")}
	journal := func(state string) *change {
		return &change{name: store.JournalFile, content: []byte(`{"state": "` + state + `"}`)}
	}
	for _, test := range []struct {
		name  string
		queue []*change
		want  string
	}{
		{"running", []*change{making, journal(solve.Running)}, `{"state": "running"}`},
		{"its turn", []*change{journal(solve.Running)}, ""},
		{"solved", []*change{making, journal(solve.Solved)}, ""},
		{"before the manifest", []*change{making, manifest, journal(solve.Running)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _, _, fake := queued(t, test.queue...)
			var err error
			if c.claim, _, err = c.to.Claim(t.Context(), "d/"+OwnerFile, "test", s3.Hold); err != nil {
				t.Fatal(err)
			}
			c.overtake()
			if got := string(fake.Get("bucket", "d/"+store.JournalFile)); got != test.want {
				t.Errorf("the copy has the journal %q, want %q", got, test.want)
			}
			must.OK(t, c.claim.Release(t.Context()))
		})
	}
}

// TestIncompleteTable checks what is changed in the copy of a table that is incomplete here: the seal
// goes first, then what another run has left, and tiers with the same checksum stay.
func TestIncompleteTable(t *testing.T) {
	c, _, from, fake := queued(t)
	here := map[string]string{"tier-0": "same", "tier-1": "longer", "tier-2": "new", "tier-3": "this"}
	there := map[string]string{"tier-0": "same", "tier-1": "old", "tier-3": "that", "tier-3-00000.blocks": "stale", "notes": "mine"}
	for name, content := range here {
		write(t, from, "table/"+name, content)
	}
	write(t, from, "table/"+solve.TiersSeal, sealed(t, here))
	for name, content := range there {
		fake.Put("bucket", "d/table/"+name, []byte(content))
	}
	fake.Put("bucket", "d/table/"+store.Success, []byte(sealed(t, there)))
	if kept, err := c.update("table", store.Resume); err != nil || !kept {
		t.Fatal(kept, err)
	}
	var got []string
	for _, ch := range c.queue {
		what := "put "
		if ch.remove {
			what = "remove "
		}
		got = append(got, what+strings.TrimPrefix(ch.name, "table/"))
	}
	want := []string{"remove " + store.Success, "remove tier-3-00000.blocks", "put tier-1", "put tier-2", "put tier-3", "put " + solve.TiersSeal}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// sealed returns the seal of files.
func sealed(t *testing.T, files map[string]string) string {
	t.Helper()
	s := new(store.Seal)
	for name, content := range files {
		f := store.SealedFile{Name: name}
		f.Write([]byte(content))
		s.Files = append(s.Files, f)
	}
	text, err := store.MarshalSummed(s)
	must.OK(t, err)
	return string(text)
}

// TestVisible checks which names belong in a copy.
func TestVisible(t *testing.T) {
	c := &Copy{data: copierDir}
	for name, want := range map[string]bool{
		"table": true, "table/tier-0": true, "table/" + store.Success: true, store.JournalFile: true, store.ManifestFile: true,
		"_attempt-table-1": false, "_attempt-table-1/tier-0": false, "_lock": false, store.SeedFile: false,
		"table/_attempt-x-1": false, "table/_attempt-x-1/y": false, "../d2/table": false, "": false,
	} {
		below, ok := c.visible(path.Join(copierDir, name))
		if ok != want || ok && below != name {
			t.Errorf("%q: %q, %v, want %v", name, below, ok, want)
		}
	}
}

// TestBegun checks which runs a run continues, replaces or refuses.
func TestBegun(t *testing.T) {
	manifest := func(format int) string {
		text, err := store.MarshalSummed(&store.Manifest{Format: format, Game: "game"})
		must.OK(t, err)
		return string(text)
	}
	now, later := map[string]string{store.ManifestFile: manifest(store.FormatVersion)}, map[string]string{store.ManifestFile: manifest(store.FormatVersion + 1)}
	for _, test := range []struct {
		name  string
		files map[string]string
		game  string
		mode  store.Mode
		begun bool
		err   string // "": none
	}{
		{"nothing", nil, "game", store.Fresh, false, ""},
		{"our claim alone", map[string]string{OwnerFile: "x"}, "game", store.Fresh, false, ""},
		{"files of others", map[string]string{"x": "x"}, "game", store.Overwrite, false, "not empty, and not treereduce's"},
		{"resumed", now, "game", store.Resume, true, ""},
		{"fresh", now, "game", store.Fresh, false, store.ErrBegun.Error()},
		{"overwritten", now, "game", store.Overwrite, false, ""},
		{"another, resumed", now, "other", store.Resume, false, `of another game: expected "other", found "game"`},
		{"another, overwritten", now, "other", store.Overwrite, false, ""},
		{"later, resumed", later, "game", store.Resume, false, store.ErrNewer.Error()},
		{"later, overwritten", later, "game", store.Overwrite, false, store.ErrNewer.Error()},
	} {
		from := new(storetest.Memory)
		for name, content := range test.files {
			write(t, from, name, content)
		}
		begun, err := Begun(from, copierDir, test.game, test.mode)
		if begun != test.begun || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, %v; want %v, %q", test.name, begun, err, test.begun, test.err)
		}
	}
}

// TestStoppedJournal checks that the copy of a run that was stopped says so, even if the game is solved
// and only copying was left.
func TestStoppedJournal(t *testing.T) {
	c, _, from, fake := queued(t)
	text, err := store.MarshalSummed(&solve.Journal{Game: "game", State: solve.Solved})
	must.OK(t, err)
	write(t, from, store.JournalFile, string(text))
	if c.claim, _, err = c.to.Claim(t.Context(), "d/"+OwnerFile, "test", s3.Hold); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c.ctx, c.ended = ctx, make(chan struct{})
	close(c.ended)
	must.OK(t, c.Close())
	if got := string(fake.Get("bucket", "d/"+store.JournalFile)); !strings.Contains(got, `"state": "stopped"`) {
		t.Errorf("the journal of the copy: %s", got)
	}
}

// TestFetchCutShort checks that the manifest is fetched last, because a data directory that has one
// counts as fetched, and that a file that cannot be written to its end is not.
func TestFetchCutShort(t *testing.T) {
	c, _, from, fake := queued(t)
	for _, name := range []string{store.JournalFile, store.ManifestFile} {
		fake.Put("bucket", "d/"+name, []byte("{}"))
	}
	fake.Set(faults.Denied.If(func(r *http.Request) bool { return path.Base(r.URL.Path) == store.JournalFile }))
	if err := c.fetch("game"); err == nil || len(from.Files(copierDir)) > 0 {
		t.Errorf("%v, fetched %v", err, from.Files(copierDir))
	}
	fake.Set(nil)
	c.from = storetest.Unclosed{FS: from, Err: fs.ErrInvalid}
	if _, err := c.fetchFile(store.ManifestFile, store.ManifestFile); !errors.Is(err, fs.ErrInvalid) || from.Files(copierDir)[store.ManifestFile] != "" {
		t.Errorf("%v, fetched %v", err, from.Files(copierDir))
	}
}
