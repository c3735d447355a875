package solved

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/storetest"
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
	files, wanted := contents(t, fsys, got), contents(t, store.Local{}, want)
	if diff := storetest.Differences(files, wanted); diff != nil {
		t.Errorf("%s: %v", got, diff)
	}
	return len(wanted)
}

// contents returns the contents of the files in a directory by name.
func contents(t testing.TB, fsys store.FS, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, name := range filesOf(t, fsys, dir) {
		all[name] = string(read(t, fsys, path.Join(dir, name)))
	}
	return all
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
