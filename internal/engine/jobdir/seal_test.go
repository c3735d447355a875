package jobdir_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestSumFS checks that the seal of a text file written through a SumFS matches the file,
// even if the file has changed since.
func TestSumFS(t *testing.T) {
	const text = "000\n002\n020\t17\n"
	fsys := &jobdir.SumFS{FS: store.Local{}}
	name := filepath.Join(t.TempDir(), jobdir.LinesName(3))
	out := must.Get(fsys.Create(name))(t)
	for _, piece := range []string{text[:6], text[6:7], text[7:]} {
		must.Get(io.WriteString(out, piece))(t)
	}
	must.OK(t, out.Close())
	check := func(what string, length int64, records uint64) {
		t.Helper()
		got, err := jobdir.Seal(fsys, name)
		if err != nil || got.Name != "part-00003" || got.Length != length || got.Records != records {
			t.Errorf("%s: %+v, %v, want %d bytes, %d records", what, got, err, length, records)
		}
		if read, err := jobdir.Seal(store.Local{}, name); err != nil || got != read {
			t.Errorf("%s: %+v, but the file is %+v, %v", what, got, read, err)
		}
	}
	check("as written", int64(len(text)), 3)
	must.OK(t, os.Truncate(name, 8))
	check("cut", 8, 2)
	must.OK(t, os.WriteFile(name, []byte(text+text), 0o666))
	check("longer", 2*int64(len(text)), 6)
	must.OK(t, os.Remove(name))
	if s, err := jobdir.Seal(fsys, name); err == nil {
		t.Errorf("gone: %+v", s)
	}
}

var errFull = errors.New("disk full")

// full is a file system that discards what is written, and whose files cannot be closed. It cannot
// list directories.
type full struct{ store.Local }

func (full) Create(string) (io.WriteCloser, error) { return unclosed{}, nil }

func (full) ReadDir(string) ([]fs.DirEntry, error) { return nil, errFull }

type unclosed struct{}

func (unclosed) Write(b []byte) (int, error) { return len(b), nil }

func (unclosed) Close() error { return errFull }

// TestFull checks that a part that cannot be closed is an error, and has no seal; and that there are
// no seals of a directory that cannot be listed.
func TestFull(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3").(game.Tiered)
	if err := blocks.NewWriter(unclosed{}, g, 0).Finish(nil); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	name := filepath.Join(t.TempDir(), jobdir.LinesName(0))
	must.OK(t, os.WriteFile(name, []byte("old"), 0o666))
	want := must.Get(jobdir.Seal(store.Local{}, name))(t)
	fsys := &jobdir.SumFS{FS: full{}}
	out := must.Get(fsys.Create(name))(t)
	if _, err := io.WriteString(out, "new"); err != nil || out.Close() == nil {
		t.Fatal("it was written", err)
	}
	if got, err := jobdir.Seal(fsys, name); err != nil || got != want {
		t.Errorf("the seal is %v, %v, want %v", got, err, want)
	}
	if _, err := jobdir.SealAll(full{}, filepath.Dir(name)); !errors.Is(err, errFull) {
		t.Errorf("seals of all files: error %v", err)
	}
}
