package solved

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// Same checks that the data directory got of fsys has the result of the local one want: the same table, see
// SameTable, and the same files of final if there is one.
func Same(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	SameTable(t, fsys, got, want)
	got, want = path.Join(got, solve.FinalDir), filepath.Join(want, solve.FinalDir)
	if diff := storetest.Differences(contents(t, fsys, got), contents(t, store.Local{}, want)); diff != nil {
		t.Errorf("%s: %v", got, diff)
	}
}

// SameText is like Same, but final may have any number of parts.
func SameText(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	SameTable(t, fsys, got, want)
	if sum, wanted := finalOf(t, fsys, got), finalOf(t, store.Local{}, want); sum != wanted {
		t.Errorf("%s: final differs: %s, want %s", got, sum, wanted)
	}
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

// finalOf returns the length and a checksum of the text of final. It can be longer than the memory.
func finalOf(t testing.TB, fsys store.FS, dir string) string {
	t.Helper()
	sum, length := sha256.New(), int64(0)
	for _, name := range filesOf(t, fsys, path.Join(dir, solve.FinalDir)) {
		if !strings.HasPrefix(name, store.PartPrefix) {
			continue
		}
		in, err := fsys.Open(path.Join(dir, solve.FinalDir, name))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(sum, in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		length += n
	}
	return fmt.Sprintf("%d bytes, SHA-256 %x", length, sum.Sum(nil))
}
