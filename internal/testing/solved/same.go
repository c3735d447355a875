package solved

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// Same checks that the data directory got of fsys has the result of the local one want: the same
// files of the table, and of final if there is one.
func Same(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	sameTable(t, fsys, got, want)
	sameFiles(t, fsys, path.Join(got, solve.FinalDir), filepath.Join(want, solve.FinalDir))
}

// SameText is like Same, but final may have any number of parts.
func SameText(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	sameTable(t, fsys, got, want)
	if b, wanted := finalOf(t, fsys, got), finalOf(t, store.Local{}, want); !bytes.Equal(b, wanted) {
		t.Errorf("%s: final differs: %d bytes, want %d", got, len(b), len(wanted))
	}
}

func sameTable(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	if sameFiles(t, fsys, path.Join(got, table.Dir), filepath.Join(want, table.Dir)) == 0 {
		t.Errorf("%s: no table", want)
	}
}

// sameFiles compares directories, and returns the number of files in the local one.
func sameFiles(t testing.TB, fsys store.FS, got, want string) int {
	t.Helper()
	files, wanted := filesOf(t, fsys, got), filesOf(t, store.Local{}, want)
	if !slices.Equal(files, wanted) {
		t.Errorf("%s: files %v, want %v", got, files, wanted)
		return len(wanted)
	}
	for _, name := range wanted {
		if b, wanted := read(t, fsys, path.Join(got, name)), read(t, store.Local{}, filepath.Join(want, name)); !bytes.Equal(b, wanted) {
			t.Errorf("%s/%s differs: %d bytes, want %d", got, name, len(b), len(wanted))
		}
	}
	return len(wanted)
}

// filesOf returns the names of the files in a directory; none if it does not exist.
func filesOf(t testing.TB, fsys store.FS, dir string) (names []string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t testing.TB, fsys store.FS, name string) []byte {
	t.Helper()
	b, err := store.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// finalOf returns the text of final.
func finalOf(t testing.TB, fsys store.FS, dir string) (text []byte) {
	t.Helper()
	for _, name := range filesOf(t, fsys, path.Join(dir, solve.FinalDir)) {
		if strings.HasPrefix(name, "part-") {
			text = append(text, read(t, fsys, path.Join(dir, solve.FinalDir, name))...)
		}
	}
	return text
}
