package jobdir_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// TestSumFS checks that the seal of a text file written through a SumFS matches the file,
// even if the file has changed since.
func TestSumFS(t *testing.T) {
	const text = "000\n002\n020\t17\n"
	fsys := &jobdir.SumFS{FS: store.Local{}}
	name := filepath.Join(t.TempDir(), jobdir.PartName(3, jobdir.Text))
	out, err := fsys.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{text[:6], text[6:7], text[7:]} {
		if _, err := io.WriteString(out, piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Truncate(name, 8); err != nil {
		t.Fatal(err)
	}
	check("cut", 8, 2)
	if err := os.WriteFile(name, []byte(text+text), 0o666); err != nil {
		t.Fatal(err)
	}
	check("longer", 2*int64(len(text)), 6)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if s, err := jobdir.Seal(fsys, name); err == nil {
		t.Errorf("gone: %+v", s)
	}
}
