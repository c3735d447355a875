package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// stubborn is a file system that deletes nothing, as if the driver had been killed before each
// deletion.
type stubborn struct{ store.Local }

var errKilled = errors.New("killed")

func (stubborn) RemoveAll(string) error { return errKilled }

// TestRemoveInterrupted checks that the remains of an interrupted deletion do not count as
// complete, and that the next driver deletes them.
func TestRemoveInterrupted(t *testing.T) {
	path := t.TempDir()
	data := create(t, path, store.Fresh, nil)
	dir := attempt(t, data, "data_first1")
	write(t, dir, "good")
	must.OK(t, data.Commit(dir, sealOf("data_first1", good)))
	data.FS = stubborn{}
	if err := data.Remove("data_first1"); !errors.Is(err, errKilled) {
		t.Errorf("got %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(path, "_driver-*", "_removed-data_first1-*")); len(left) != 1 {
		t.Errorf("left: %s, %v", left, err)
	}
	data.Close()
	create(t, path, store.Resume, nil)
	if left := names(t, path); left != "" {
		t.Errorf("left: %s", left)
	}
}

// TestDropKilled kills a driver before each change of Seal.Drop: the directory must match its seal,
// whether or not that lists the file that is dropped.
func TestDropKilled(t *testing.T) {
	for calls := 0; ; calls++ {
		fsys := &dying{calls: 1 << 30}
		data := must.Get(store.Create(fsys, t.TempDir(), spec, store.Fresh, artifact, nil))(t)
		dir := data.Dir("data_first1")
		must.OK(t, os.Mkdir(dir, 0o777))
		write(t, dir, "good")
		seal := &store.Seal{Game: spec, Job: "data_first1", Files: slices.Clone(good)}
		must.OK(t, seal.Write(store.Local{}, dir))
		fsys.calls = calls
		dropped := seal.Drop(data.FS, dir, func(string) bool { return true })
		if _, _, err := store.OpenDir(store.Local{}, dir, spec); err != nil {
			t.Errorf("after %d changes: %v", calls, err)
		}
		if dropped == nil {
			if left, _ := filepath.Glob(filepath.Join(dir, "part-*")); calls < 4 || len(left) > 0 {
				t.Errorf("dropped with %d changes, left: %q", calls, left)
			}
			return
		}
	}
}

// TestOverwriteInterrupted lets a driver die while it deletes an old run: the remains must not
// be resumed, and another overwrite must succeed.
func TestOverwriteInterrupted(t *testing.T) {
	path := t.TempDir()
	data := create(t, path, store.Fresh, nil)
	for _, name := range []string{"data_first1", "table"} {
		dir := attempt(t, data, name)
		write(t, dir, "good")
		must.OK(t, data.Commit(dir, sealOf(name, good)))
	}
	data.Close()
	if _, err := store.Create(stubborn{}, path, spec, store.Overwrite, artifact, nil); !errors.Is(err, errKilled) {
		t.Errorf("got %v", err)
	}
	for _, mode := range []store.Mode{store.Fresh, store.Resume} {
		if _, err := store.Create(store.Local{}, path, spec, mode, artifact, nil); err == nil || !strings.Contains(err.Error(), "while it removed an old run: driver solve --overwrite starts over") {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
	if _, err := store.ReadManifest(store.Local{}, path); err == nil {
		t.Error("the manifest is read as if nothing had happened")
	}
	create(t, path, store.Overwrite, nil).Close()
	if left := names(t, path); left != "" {
		t.Errorf("left: %s", left)
	}
	create(t, path, store.Resume, nil)
}

// TestOpenDir checks that a directory is verified against its seal.
func TestOpenDir(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(dir string) error
		want   string // "": no error
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"missing", func(dir string) error { return os.Remove(filepath.Join(dir, "part-00000")) }, "part-00000: missing"},
		{"cut", func(dir string) error { return os.Truncate(filepath.Join(dir, "part-00000"), 3) }, "part-00000: cut short: 3 of 4 bytes"},
		{"long", func(dir string) error { return os.WriteFile(filepath.Join(dir, "part-00000"), []byte("goods"), 0o666) }, "part-00000: damaged: 5 bytes, expected 4"},
		{"too many", func(dir string) error { return os.WriteFile(filepath.Join(dir, "part-00001"), nil, 0o666) }, "part-00001: does not belong there"},
		{"a directory", func(dir string) error {
			name := filepath.Join(dir, "part-00000")
			return errors.Join(os.Remove(name), os.Mkdir(name, 0o777))
		}, "part-00000: not a file"},
		{"no seal", func(dir string) error { return os.Remove(filepath.Join(dir, store.Success)) }, "missing or incomplete: it has no _SUCCESS"},
		{"Hadoop's seal", func(dir string) error { return os.Truncate(filepath.Join(dir, store.Success), 0) }, ""},
		{"another name", func(dir string) error { return os.Rename(dir, dir+"2") }, "it is data_first1, under another name"},
	} {
		data := create(t, t.TempDir(), store.Fresh, nil)
		dir := attempt(t, data, "data_first1")
		write(t, dir, "good")
		must.OK(t, data.Commit(dir, sealOf("data_first1", good)))
		dir = data.Dir("data_first1")
		must.OK(t, test.damage(dir))
		if _, err := os.Stat(dir); err != nil {
			dir += "2"
		}
		_, parts, err := store.OpenDir(data.FS, dir, spec)
		if test.want == "" {
			if err != nil || !slices.Contains(parts, "part-00000") {
				t.Errorf("%s: %q, %v", test.name, parts, err)
			}
			if _, _, err := store.OpenDir(data.FS, dir, "another"); test.name == "nothing" && (err == nil || !strings.Contains(err.Error(), "of another game")) {
				t.Errorf("another game: %v", err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) || !store.Damaged(err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestSummed checks that every flipped bit, every truncation and every addition is detected.
func TestSummed(t *testing.T) {
	want := store.Manifest{Format: store.FormatVersion, Game: spec, Options: map[string]string{"keep": "all"}}
	text := must.Get(store.MarshalSummed(want))(t)
	check := func(what string, text []byte) {
		if err := store.UnmarshalSummed("m", text, new(store.Manifest)); !store.Damaged(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 8 * len(text) {
		flipped := slices.Clone(text)
		flipped[i/8] ^= 1 << (i % 8)
		check("a bit", flipped)
	}
	for n := range text {
		check("a cut", text[:n])
	}
	check("a byte more", append(slices.Clone(text), '\n'))
	check("a field more", func() []byte {
		return must.Get(store.MarshalSummed(map[string]any{"format": 2, "more": 1}))(t)
	}())
	var got store.Manifest
	if err := store.UnmarshalSummed("m", text, &got); err != nil || got.Game != spec || got.Options["keep"] != "all" {
		t.Errorf("%+v, %v", got, err)
	}
}
