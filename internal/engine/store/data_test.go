package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

const spec = "a game"

// good lists the file that write writes for the text "good".
var good = []store.SealedFile{{Name: "part-00000", Length: 4}}

// sealOf returns the seal of a directory with these files.
func sealOf(name string, files []store.SealedFile) *store.Seal {
	return &store.Seal{Game: spec, Job: name, Files: files}
}

// artifact reports whether runs use a name in a data directory.
func artifact(name string) bool {
	return slices.Contains([]string{"data_first0", "data_first1", "data_first3", "data_second0", "data_second11", "mark1", "solve1", "create", "table", "final", store.JournalFile}, name)
}

// create creates or opens a data directory, and closes it when the test ends.
func create(t *testing.T, dir string, mode store.Mode, end func(string) error) *store.Data {
	t.Helper()
	data := must.Get(store.Create(store.Local{}, dir, spec, mode, artifact, end))(t)
	t.Cleanup(func() { data.Close() })
	return data
}

func attempt(t *testing.T, data *store.Data, name string) string {
	t.Helper()
	return must.Get(data.Attempt(name))(t)
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(dir, 0o777))
	must.OK(t, os.WriteFile(filepath.Join(dir, "part-00000"), []byte(text), 0o666))
}

// names lists the names in a directory, except the lock, the manifest and the directory of an
// owner.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var all []string
	for _, e := range entries {
		if e.Name() != "_lock" && e.Name() != "treereduce.json" && !strings.HasPrefix(e.Name(), "_driver-") {
			all = append(all, e.Name())
		}
	}
	return strings.Join(all, " ")
}

// TestCreate checks that a directory can be opened by one process, for one game, and only if
// it is treereduce's or did not exist.
func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	data := create(t, dir, store.Fresh, nil)
	if _, err := store.Create(store.Local{}, dir, spec, store.Resume, artifact, nil); !errors.Is(err, store.ErrLocked) {
		t.Errorf("while another has it: %v", err)
	}
	must.OK(t, data.Close())
	if _, err := store.Create(store.Local{}, dir, spec, store.Fresh, artifact, nil); !errors.Is(err, store.ErrBegun) {
		t.Errorf("twice: %v", err)
	}
	if _, err := store.Create(store.Local{}, dir, "another", store.Resume, artifact, nil); err == nil || !strings.Contains(err.Error(), "of another game") || !strings.Contains(err.Error(), "--data DIR") || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("another game: %v", err)
	}
	create(t, dir, store.Resume, nil).Close()
	foreign := t.TempDir()
	write(t, foreign, "somebody's")
	for _, mode := range []store.Mode{store.Fresh, store.Resume, store.Overwrite} {
		if _, err := store.Create(store.Local{}, foreign, spec, mode, artifact, nil); err == nil || names(t, foreign) != "part-00000" {
			t.Errorf("a foreign directory, mode %d: %v, then %s", mode, err, names(t, foreign))
		}
	}
}

// TestForeign checks that a directory with only names that treereduce uses is refused too, if
// it has no lock: then no driver has worked there. Nothing in it may be changed.
func TestForeign(t *testing.T) {
	for _, name := range []string{"final", "table", "data_first3"} {
		for _, mode := range []store.Mode{store.Fresh, store.Resume, store.Overwrite} {
			dir := t.TempDir()
			write(t, filepath.Join(dir, name), "somebody's")
			_, err := store.Create(store.Local{}, dir, spec, mode, artifact, nil)
			if err == nil || !strings.Contains(err.Error(), "not empty, and not treereduce's") {
				t.Errorf("%s, mode %d: %v", name, mode, err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, name, "part-00000")); err != nil || string(text) != "somebody's" {
				t.Errorf("%s, mode %d: %q, %v", name, mode, text, err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("%s, mode %d: %v, %v", name, mode, entries, err)
			}
		}
	}
}

// TestOtherFormats checks that a directory of a later format is refused in every mode, and that nothing in it changes; and that of an earlier format,
// or without one, may be overwritten.
func TestOtherFormats(t *testing.T) {
	for _, test := range []struct{ manifest, want string }{
		{`{"format": 5, "program": "treereduce v1.9"}`, "of format version 5, written by a later version of this program; this program reads version 4: use the program that wrote it"},
		{`{"format": 9, "game": ["x"]}`, "of format version 9, written by a later version of this program; this program reads version 4: use"},
		{summed(t, `{"format": 5, "game": "`+spec+`"}`), "of format version 5, written by a later"},
		{summed(t, `{"format": 4, "game": "`+spec+`", "needs": ["lists/9", "blocks/9"]}`), "it needs lists/9, blocks/9, which this program does not know, written by a later version of this program: use"},
		{summed(t, `{"format": 4, "needs": ["lists/9"], "more": 1}`), "it needs lists/9, which"},
		{`{"format": 5, "program": "treereduce v1.9", "needs": ["lists/9"]}`, "it needs lists/9, which this program does not know, written by a later version of this program: use"},
		{`{"format": 2, "game": "x"}`, "of format version 2, this program reads version 4: driver solve --overwrite starts over"},
		{summed(t, `{"format": 0, "game": "`+spec+`"}`), "damaged: it has no format version: driver solve --overwrite starts over"},
	} {
		for _, mode := range []store.Mode{store.Fresh, store.Resume, store.Overwrite} {
			dir, newer := t.TempDir(), !strings.Contains(test.want, "--overwrite")
			for _, name := range []string{"table/tier-00.pack", "jobs.json", "_lock", "_attempt-x-0123456789", store.ManifestFile} {
				must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
				must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(test.manifest), 0o666))
			}
			before := tree(t, dir)
			data, err := store.Create(store.Local{}, dir, spec, mode, artifact, nil)
			if err == nil {
				data.Close()
			}
			if overwrites := mode == store.Overwrite && !newer; (err == nil) != overwrites || err != nil && (!strings.Contains(err.Error(), test.want) || errors.Is(err, store.ErrNewer) != newer) {
				t.Errorf("%s, mode %d: %v, want %q", test.manifest, mode, err, test.want)
			}
			if after := tree(t, dir); newer && after != before {
				t.Errorf("%s, mode %d: it was\n%s, and is now\n%s", test.manifest, mode, before, after)
			}
		}
	}
}

// TestNeeds resumes a run of an earlier version, and one that has lost power, with a need: the manifest has it before the first file that needs it can be on disk. A program that does not know the need changes
// nothing, one that does keeps it until it starts over.
func TestNeeds(t *testing.T) {
	dir, disk, options := filepath.Join(t.TempDir(), "data"), new(storetest.Disk), map[string]string{"keep": "final"}
	in := func(mode store.Mode, needs ...string) {
		t.Helper()
		data := must.Get(store.Create(disk, dir, spec, mode, artifact, nil))(t)
		defer data.Close()
		if err := data.Remember(options, "lists/8"); err == nil || !strings.Contains(err.Error(), `a need "lists/8" is not known`) {
			t.Errorf("a need that is not registered: %v", err)
		}
		must.OK(t, data.Remember(options, needs...))
		if len(needs) > 0 && slices.Contains(disk.AtRisk(), filepath.Join(dir, store.ManifestFile)) {
			t.Error("a power cut may lose the manifest with its needs")
		}
	}
	manifest := func() string {
		t.Helper()
		return string(must.Get(os.ReadFile(filepath.Join(dir, store.ManifestFile)))(t))
	}
	in(store.Fresh)
	earlier := manifest()
	if want := summed(t, `{"format": 4, "game": "`+spec+`", "options": {"keep": "final"}}`); earlier != want {
		t.Errorf("without needs: %s, want %s", earlier, want)
	}
	forget := store.Know("lists/9")
	defer forget()
	in(store.Resume)
	if manifest() != earlier {
		t.Errorf("resumed without needs: %s", manifest())
	}
	for range 2 {
		in(store.Resume, "lists/9")
		if m := must.Get(store.ReadManifest(store.Local{}, dir))(t); m.Format != 4 || !slices.Equal(m.Needs, []string{"lists/9"}) || m.Options["keep"] != "final" {
			t.Errorf("resumed with a need: %+v", m)
		}
	}
	forget()
	before := tree(t, dir)
	for _, mode := range []store.Mode{store.Fresh, store.Resume, store.Overwrite} {
		if _, err := store.Create(store.Local{}, dir, spec, mode, artifact, nil); !errors.Is(err, store.ErrNewer) || tree(t, dir) != before {
			t.Errorf("mode %d, of a program that does not know it: %v", mode, err)
		}
	}
	defer store.Know("lists/9")()
	options["keep"] = "all"
	in(store.Resume)
	if m := must.Get(store.ReadManifest(store.Local{}, dir))(t); m.Format != 4 || len(m.Needs) != 1 || m.Options["keep"] != "all" {
		t.Errorf("resumed with another option: %+v", m)
	}
	options["keep"] = "final"
	in(store.Overwrite)
	if manifest() != earlier {
		t.Errorf("overwritten: %s", manifest())
	}
}

// summed adds a checksum to a manifest.
func summed(t *testing.T, text string) string {
	t.Helper()
	var fields any
	must.OK(t, json.Unmarshal([]byte(text), &fields))
	out := must.Get(store.MarshalSummed(fields))(t)
	return string(out)
}

// tree returns the names and the contents of all files below a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			fmt.Fprintln(&all, name)
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&all, "%s %q\n", name, text)
		return err
	})
	must.OK(t, err)
	return all.String()
}

// TestOverwrite checks that only treereduce's files are deleted.
func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, store.Fresh, nil).Close()
	for _, name := range []string{"data_first3", "data_second11", "table", "final", "data_firsthand", "notes"} {
		write(t, filepath.Join(dir, name), "")
	}
	create(t, dir, store.Overwrite, nil)
	if got := names(t, dir); got != "data_firsthand notes" {
		t.Errorf("left: %s", got)
	}
}

// TestCommit checks that a directory becomes complete atomically, and replaces an incomplete
// one.
func TestCommit(t *testing.T) {
	data := create(t, t.TempDir(), store.Fresh, nil)
	write(t, data.Dir("data_first1"), "half-written")
	dir := attempt(t, data, "data_first1")
	write(t, dir, "good")
	if _, err := store.ReadSeal(data.FS, data.Dir("data_first1")); !errors.Is(err, store.ErrIncomplete) {
		t.Errorf("before: %v", err)
	}
	must.OK(t, data.Commit(dir, sealOf("data_first1", good)))
	if _, parts, err := store.OpenDir(data.FS, data.Dir("data_first1"), spec); err != nil || !slices.Equal(parts, []string{"part-00000"}) {
		t.Errorf("after: %q, %v", parts, err)
	}
	text, err := os.ReadFile(data.Dir("data_first1/part-00000"))
	if err != nil || string(text) != "good" {
		t.Errorf("%q, %v", text, err)
	}
	if got := names(t, data.Path); got != "data_first1" {
		t.Errorf("left: %s", got)
	}
}

// TestLateTry writes to the attempt of a dead driver after a new driver has begun, as a job
// does that was submitted late. The late output must be ignored.
func TestLateTry(t *testing.T) {
	path := t.TempDir()
	dead := create(t, path, store.Fresh, nil)
	late := attempt(t, dead, "data_first1")
	dead.Close()

	data := create(t, path, store.Resume, nil)
	if got := names(t, path); got != "" {
		t.Errorf("left of the dead driver: %s", got)
	}
	dir := attempt(t, data, "data_first1")
	if other := attempt(t, data, "data_first1"); dir == late || dir == other {
		t.Fatalf("the same directory twice: %s, %s, %s", late, dir, other)
	}
	write(t, late, "late")
	write(t, dir, "good")
	must.OK(t, data.Commit(dir, sealOf("data_first1", good)))
	write(t, late, "later")
	if text, err := os.ReadFile(data.Dir("data_first1/part-00000")); err != nil || string(text) != "good" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestEnd checks that end is called once for each attempt, before the attempt and the files that belong to it are
// deleted, in every mode; and that an error of end leaves them as they were.
func TestEnd(t *testing.T) {
	for _, mode := range []store.Mode{store.Fresh, store.Resume, store.Overwrite} {
		path := t.TempDir()
		dead := create(t, path, store.Fresh, nil)
		all := []string{attempt(t, dead, "data_first1"), attempt(t, dead, "data_first1"), attempt(t, dead, "data_first10"), attempt(t, dead, "data_second6.2")}
		slices.Sort(all)
		must.OK(t, os.Remove(all[3])) // a cluster creates the directory when it begins
		for _, dir := range all {
			must.OK(t, os.WriteFile(dir+".ranges", nil, 0o666))
		}
		if mode == store.Fresh { // as if the driver had died before it wrote the manifest
			must.OK(t, os.Remove(filepath.Join(path, store.ManifestFile)))
		}
		before := names(t, path)
		dead.Close()
		unknown := errors.New("no answer")
		_, err := store.Create(store.Local{}, path, spec, mode, artifact, func(string) error { return unknown })
		if !errors.Is(err, unknown) || names(t, path) != before {
			t.Errorf("mode %d: %v; there is %s, want %s", mode, err, names(t, path), before)
		}
		var ended []string
		create(t, path, mode, func(dir string) error {
			ended = append(ended, dir)
			_, err := os.Stat(dir + ".ranges")
			return err
		})
		if got := names(t, path); got != "" || !slices.Equal(ended, all) {
			t.Errorf("mode %d: there is %s; end was called for %q, want %q", mode, got, ended, all)
		}
	}
}
