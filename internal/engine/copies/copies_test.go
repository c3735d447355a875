package copies

import (
	"errors"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

const spec = "game"

// manifest returns the text of a manifest.
func manifest(t *testing.T, format int, game string) string {
	t.Helper()
	return string(must.Get(store.MarshalSummed(&store.Manifest{Format: format, Game: game}))(t))
}

// sealOf returns the seal of files.
func sealOf(t *testing.T, files map[string]string) string {
	t.Helper()
	s := new(store.Seal)
	for _, name := range sorted(files) {
		f := store.SealedFile{Name: name}
		f.Write([]byte(files[name]))
		s.Files = append(s.Files, f)
	}
	return string(must.Get(store.MarshalSummed(s))(t))
}

// write writes a file and the directories above it.
func write(t *testing.T, fsys store.FS, name, text string) {
	t.Helper()
	must.OK(t, errors.Join(fsys.MkdirAll(path.Dir(name)), store.WriteFile(fsys, name, []byte(text))))
}

// commit makes a directory with a file.
func commit(t *testing.T, f *fake, fsys store.FS, dir, file string) {
	t.Helper()
	write(t, f.here, dataDir+"/_attempt-z/"+file, file)
	write(t, f.here, dataDir+"/_attempt-z/"+store.Success, sealOf(t, map[string]string{file: file}))
	must.OK(t, fsys.Rename(dataDir+"/_attempt-z", path.Join(dataDir, dir)))
}

// begin returns a copy whose place is a fake, and a list of what it warns of.
func begin(t *testing.T) (c *Copy, f *fake, warned *[]string) {
	t.Helper()
	f = &fake{t: t, here: &storetest.Memory{HDFS: true}, to: new(storetest.Memory)}
	warned = new([]string)
	c = New(t.Context(), f, f.here, dataDir, stageDir, func(line string) { *warned = append(*warned, line) })
	return c, f, warned
}

// TestReady checks which copies a run continues, replaces or refuses.
func TestReady(t *testing.T) {
	now := map[string]string{store.ManifestFile: manifest(t, store.FormatVersion, spec)}
	later := map[string]string{store.ManifestFile: manifest(t, store.FormatVersion+1, spec)}
	begun := func(hour int) string {
		return string(must.Get(store.MarshalSummed(&solve.Journal{Game: spec, Begun: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}))(t))
	}
	at := func(hour int) map[string]string {
		return map[string]string{store.ManifestFile: now[store.ManifestFile], store.JournalFile: begun(hour)}
	}
	for _, test := range []struct {
		name        string
		there, here map[string]string
		game        string
		mode        store.Mode
		err         string // "": none
	}{
		{"nothing", nil, nil, spec, store.Fresh, ""},
		{"a lock alone", map[string]string{"_lock": ""}, nil, spec, store.Fresh, ""},
		{"files of others", map[string]string{"x": "x"}, nil, spec, store.Overwrite, "not empty, and not a copy of a run"},
		{"remains", map[string]string{"table/tier-0.pack": "x"}, nil, spec, store.Fresh, "not empty, and not a copy of a run"},
		{"remains, overwritten", map[string]string{"table/tier-0.pack": "x"}, nil, spec, store.Overwrite, ""},
		{"resumed", now, now, spec, store.Resume, ""},
		{"fresh", now, nil, spec, store.Fresh, store.ErrBegun.Error()},
		{"overwritten", now, nil, spec, store.Overwrite, ""},
		{"another game, resumed", now, nil, "other", store.Resume, `of another game: expected "other", found "game"`},
		{"another game, overwritten", now, nil, "other", store.Overwrite, ""},
		{"later version, resumed", later, nil, spec, store.Resume, store.ErrNewer.Error()},
		{"later version, overwritten", later, nil, spec, store.Overwrite, store.ErrNewer.Error()},
		{"of an earlier run", at(1), at(2), spec, store.Resume, ""},
		{"of a later run", at(2), at(1), spec, store.Resume, "from a run started 2026-01-01 02:00:00 UTC; the data in /data is of an earlier run"},
		{"no journal here", at(1), now, spec, store.Resume, "of an earlier run, or that is unknown: move"},
		{"fetched into files of others", now, map[string]string{"x": "x"}, spec, store.Resume, "data directory /data: not empty, and not treereduce's"},
	} {
		c, f, _ := begin(t)
		for name, text := range test.there {
			write(t, f.to, path.Join(copyDir, name), text)
		}
		for name, text := range test.here {
			write(t, f.here, path.Join(dataDir, name), text)
		}
		err := c.Ready(test.game, test.mode)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
	}
}

// TestSilent checks the error of a data directory whose journal cannot be read now: it does not say that the copy is newer.
func TestSilent(t *testing.T) {
	c, f, _ := begin(t)
	for dir, fsys := range map[string]store.FS{copyDir: f.to, dataDir: f.here} {
		write(t, fsys, path.Join(dir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
		write(t, fsys, path.Join(dir, store.JournalFile), string(must.Get(store.MarshalSummed(&solve.Journal{Game: spec}))(t)))
	}
	c.fsys = silent{f.here}
	if err := c.Ready(spec, store.Resume); err != errSilent {
		t.Errorf("%v, want %v", err, errSilent)
	}
}

// A silent file system cannot open the journal.
type silent struct{ store.FS }

var errSilent = errors.New("no answer")

func (s silent) Open(name string) (store.File, error) {
	if path.Base(name) == store.JournalFile {
		return nil, errSilent
	}
	return s.FS.Open(name)
}

// TestCompare checks what a run that is resumed copies and deletes: only what differs, and seals
// after what they list.
func TestCompare(t *testing.T) {
	c, f, _ := begin(t)
	here := map[string]string{"tier-0": "same", "tier-1": "longer", "tier-2": "new", "tier-3": "this"}
	there := map[string]string{"tier-0": "same", "tier-1": "old", "tier-3": "that", "tier-3-00000.pack": "stale"}
	equal := map[string]string{"part-00000": "text"}
	put := func(fsys store.FS, dir, seal string, files map[string]string) {
		for name, text := range files {
			write(t, fsys, path.Join(dir, name), text)
		}
		write(t, fsys, path.Join(dir, seal), sealOf(t, files))
	}
	put(f.here, dataDir+"/table", solve.TiersSeal, here)
	put(f.to, copyDir+"/table", store.Success, there)
	put(f.here, dataDir+"/data_first1", store.Success, equal)
	put(f.to, copyDir+"/data_first1", store.Success, equal)
	put(f.here, dataDir+"/data_first2", store.Success, equal) // the copy was cut short
	write(t, f.to, copyDir+"/data_first2/"+store.Success, sealOf(t, equal))
	put(f.here, dataDir+"/data_first3", store.Success, equal)
	write(t, f.to, copyDir+"/data_first3/part-00000", "text")
	write(t, f.here, dataDir+"/data_first4/part-00000", "no seal")
	put(f.to, copyDir+"/data_first4", store.Success, equal)
	put(f.to, copyDir+"/data_first5", store.Success, equal)
	for _, dir := range []string{dataDir, copyDir} {
		fsys := map[string]store.FS{dataDir: f.here, copyDir: f.to}[dir]
		write(t, fsys, path.Join(dir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
	}
	must.OK(t, c.Ready(spec, store.Resume))
	f.commands = nil
	must.OK(t, c.Start(spec, store.Resume))
	must.OK(t, errors.Join(c.Finish(), c.Close()))
	want := []string{
		"list",
		"read",
		"put data_first2/part-00000 data_first3/part-00000 table/tier-1 table/tier-2 table/tier-3",
		"write data_first3/_SUCCESS table/_tiers",
		"remove data_first4 data_first5 table/_SUCCESS table/tier-3-00000.pack",
		"list",
	}
	if !slices.Equal(f.commands, want) {
		t.Errorf("commands:\n%s\nwant\n%s", strings.Join(f.commands, "\n"), strings.Join(want, "\n"))
	}
	gone := files(f.here, dataDir)
	delete(gone, "data_first4/part-00000")
	same(t, "the copy", files(f.to, copyDir), gone)
}

// TestChanged checks that Start notices what has changed in a copy since Ready: files of another run are replaced or
// deleted, and a later run is not replaced.
func TestChanged(t *testing.T) {
	text := string(must.Get(store.MarshalSummed(&solve.Journal{Game: spec}))(t))
	files := map[string]string{"part-00000": "text"}
	for _, later := range []bool{false, true} {
		c, f, _ := begin(t)
		for dir, fsys := range map[string]store.FS{copyDir: f.to, dataDir: f.here} {
			write(t, fsys, path.Join(dir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
			write(t, fsys, path.Join(dir, store.JournalFile), text)
			write(t, fsys, path.Join(dir, "data_first1/part-00000"), "text")
			write(t, fsys, path.Join(dir, "data_first1", store.Success), sealOf(t, files))
		}
		must.OK(t, c.Ready(spec, store.Resume))
		write(t, f.to, copyDir+"/data_first1/part-00000", "te")
		write(t, f.to, copyDir+"/data_first2/part-00000", "text")
		if later {
			write(t, f.to, path.Join(copyDir, store.JournalFile), string(must.Get(store.MarshalSummed(&solve.Journal{Game: spec, Begun: time.Unix(1, 0)}))(t)))
			if err := c.Start(spec, store.Resume); err == nil || !strings.Contains(err.Error(), "of an earlier run") {
				t.Errorf("a later run: %v", err)
			}
			continue
		}
		must.OK(t, errors.Join(c.Start(spec, store.Resume), c.Finish(), c.Close()))
		same(t, "the copy", f.to.Files(copyDir), f.here.Files(dataDir))
	}
}

// TestWaits checks that what the current batch copies is not renamed or deleted before the batch has copied it, and that what
// waits for the next batch can be deleted, and is not copied.
func TestWaits(t *testing.T) {
	for _, test := range []struct {
		name  string
		do    func(fsys store.FS) error
		waits bool
	}{
		{"delete a directory that is read", func(fsys store.FS) error { return fsys.RemoveAll(dataDir + "/data_first1") }, true},
		{"rename a directory that is read", func(fsys store.FS) error { return fsys.Rename(dataDir+"/data_first1", dataDir+"/_removed-x") }, true},
		{"delete a file in it", func(fsys store.FS) error { return fsys.RemoveAll(dataDir + "/data_first1/part-00000") }, true},
		{"replace its seal", func(fsys store.FS) error {
			return fsys.Rename(dataDir+"/_attempt-x", dataDir+"/data_first1/"+store.Success)
		}, false},
		{"commit a directory", func(fsys store.FS) error { return fsys.Rename(dataDir+"/_attempt-dir", dataDir+"/data_first3") }, false},
		{"commit a directory and delete it", func(fsys store.FS) error {
			return errors.Join(fsys.Rename(dataDir+"/_attempt-dir", dataDir+"/data_first2"), fsys.RemoveAll(dataDir+"/data_first2"))
		}, false},
		{"delete a directory that is not read", func(fsys store.FS) error { return fsys.RemoveAll(dataDir + "/data_first0") }, false},
		{"replace the journal", func(fsys store.FS) error {
			return fsys.Rename(dataDir+"/_attempt-x", dataDir+"/"+store.JournalFile)
		}, false},
		{"an attempt", func(fsys store.FS) error { return fsys.RemoveAll(dataDir + "/_attempt-x") }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, f, _ := begin(t)
			write(t, f.here, path.Join(dataDir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
			must.OK(t, errors.Join(c.Ready(spec, store.Fresh), c.Start(spec, store.Fresh)))
			synctest.Wait() // for the first batch
			fsys := c.FS()
			appears := func(name, text string) {
				write(t, f.here, dataDir+"/_attempt-y", text)
				must.OK(t, errors.Join(f.here.MkdirAll(path.Dir(path.Join(dataDir, name))), fsys.Rename(dataDir+"/_attempt-y", path.Join(dataDir, name))))
			}
			commit := func(name string) { commit(t, f, fsys, name, "part-00000") }
			commit("data_first0")
			time.Sleep(every + time.Second)
			synctest.Wait()
			f.took = time.Minute
			commit("data_first1")
			appears("table/tier-0", "text")
			appears("table/"+solve.TiersSeal, sealOf(t, map[string]string{"tier-0": "text"}))
			write(t, f.here, dataDir+"/_attempt-x", sealOf(t, map[string]string{"part-00000": "part-00000"}))
			write(t, f.here, dataDir+"/_attempt-dir/"+store.Success, sealOf(t, nil))
			time.Sleep(every + time.Second) // a batch of a minute for each command has begun
			var ended atomic.Bool
			go func() {
				if err := test.do(fsys); err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
				ended.Store(true)
			}()
			synctest.Wait()
			if ended.Load() == test.waits {
				t.Errorf("%s: done %v before the batch ends, want %v", test.name, ended.Load(), !test.waits)
			}
			time.Sleep(2 * f.took) // it copies and lists; then it writes the journal and deletes
			synctest.Wait()
			if !ended.Load() {
				t.Errorf("%s: not done after the batch has read", test.name)
			}
			must.OK(t, errors.Join(c.Finish(), c.Close()))
			same(t, test.name+": the copy", files(f.to, copyDir), files(f.here, dataDir))
			if text := strings.Join(f.commands, "\n"); strings.Contains(text, "data_first2") {
				t.Errorf("%s: it is in a command:\n%s", test.name, text)
			}
		})
	}
}

// TestMadeAgain checks the copy of a directory that is deleted and made again, before and while it is copied, and that of one
// that another run deletes there.
func TestMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f, _ := begin(t)
		write(t, f.here, path.Join(dataDir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
		must.OK(t, errors.Join(c.Ready(spec, store.Fresh), c.Start(spec, store.Fresh)))
		fsys := c.FS()
		commit(t, f, fsys, "data_first1", "part-00000")
		time.Sleep(2 * every)
		must.OK(t, fsys.RemoveAll(dataDir+"/data_first1"))
		commit(t, f, fsys, "data_first1", "part-00001")
		time.Sleep(2 * every)
		same(t, "the copy", files(f.to, copyDir), files(f.here, dataDir))
		must.OK(t, fsys.RemoveAll(dataDir+"/data_first1"))
		time.Sleep(2 * every)
		commit(t, f, fsys, "data_first1", "part-00002")
		commit(t, f, fsys, "data_first2", "part-00000")
		time.Sleep(2 * every)
		must.OK(t, f.to.RemoveAll(copyDir+"/data_first2/part-00000"))
		must.OK(t, errors.Join(c.Finish(), c.Close()))
		same(t, "the copy", files(f.to, copyDir), files(f.here, dataDir))
	})
}

// TestBelongs checks the deletion of which paths waits for a batch.
func TestBelongs(t *testing.T) {
	for name, want := range map[string]bool{
		"table": true, "table/tier-0": true, "table/" + store.Success: true, store.JournalFile: true, store.ManifestFile: true, "data_first1": true,
		"_attempt-table-1": false, "_attempt-table-1/tier-0": false, "_lock": false, "notes": false, "../d2/table": false, "": false,
	} {
		c := &Copy{data: dataDir, reading: make(chan struct{}, 1), ctx: t.Context()}
		must.OK(t, c.whileIdle(path.Join(dataDir, name), func() error {
			if got := len(c.reading) > 0; got != want {
				t.Errorf("%q: %v, want %v", name, got, want)
			}
			return nil
		}))
	}
}

// TestFetchStopped checks that a data directory from which a fetch was stopped has no manifest, and that the next one
// completes it.
func TestFetchStopped(t *testing.T) {
	c, f, _ := begin(t)
	files := map[string]string{"part-00000": "text"}
	for _, dir := range []string{"data_first1", "data_first2"} {
		write(t, f.to, path.Join(copyDir, dir, "part-00000"), "text")
		write(t, f.to, path.Join(copyDir, dir, store.Success), sealOf(t, files))
	}
	write(t, f.to, path.Join(copyDir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
	stopped := errors.New("stopped")
	f.step = func(change string) error {
		if strings.HasPrefix(change, "fetch data_first2") {
			return stopped
		}
		return nil
	}
	if err := c.Ready(spec, store.Resume); !errors.Is(err, stopped) {
		t.Errorf("%v, want %v", err, stopped)
	}
	if _, err := f.here.Stat(path.Join(dataDir, store.ManifestFile)); err == nil {
		t.Error("there is a manifest")
	}
	f.step = nil
	var warned []string
	c = New(t.Context(), f, f.here, dataDir, stageDir, func(line string) { warned = append(warned, line) })
	must.OK(t, errors.Join(c.Ready(spec, store.Resume), c.Close()))
	want := f.to.Files(copyDir)
	got := f.here.Files(dataDir)
	same(t, "the data directory", got, want)
	if text := strings.Join(warned, "\n"); !strings.Contains(text, "fetched ") {
		t.Errorf("warned %q", warned)
	}
}

// TestOverwrite checks the order of commands: what is old goes first, the new manifest comes first, and the journal, which
// may say that the game is solved, comes last.
func TestOverwrite(t *testing.T) {
	c, f, _ := begin(t)
	for _, name := range []string{store.ManifestFile, store.JournalFile, "data_first1/part-00000", "table/tier-0"} {
		write(t, f.to, path.Join(copyDir, name), manifest(t, store.FormatVersion, "other"))
	}
	write(t, f.here, path.Join(dataDir, store.ManifestFile), manifest(t, store.FormatVersion, spec))
	write(t, f.here, path.Join(dataDir, "data_first2", store.Success), sealOf(t, nil))
	must.OK(t, c.Ready(spec, store.Overwrite))
	f.commands = nil
	must.OK(t, c.Start(spec, store.Overwrite))
	write(t, f.here, dataDir+"/_attempt-y", "{}")
	must.OK(t, c.FS().Rename(dataDir+"/_attempt-y", dataDir+"/"+store.JournalFile))
	must.OK(t, errors.Join(c.Finish(), c.Close()))
	want := "list; read; remove data_first1 jobs.json table treereduce.json; make; write treereduce.json; "
	if got := strings.Join(f.commands, "; "); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " jobs.json; list") {
		t.Errorf("commands %q", got)
	}
	if got := sorted(f.to.Files(copyDir)); !slices.Equal(got, []string{"data_first2/" + store.Success, store.JournalFile, store.ManifestFile}) {
		t.Errorf("the copy has %q", got)
	}
}
