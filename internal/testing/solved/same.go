package solved

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// SameText checks that the data directory got of fsys has the result of the local one want: the same table, see
// TableDifferences, and the same text of all positions, in any number of parts, if there is one.
func SameText(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	SameTable(t, fsys, got, want)
	if sum, wanted := finalOf(t, fsys, got), finalOf(t, store.Local{}, want); sum != wanted {
		t.Errorf("%s: final differs: %s, want %s", got, sum, wanted)
	}
}

// SameTable is like SameText, without the text.
func SameTable(t testing.TB, fsys store.FS, got, want string) {
	t.Helper()
	for _, diff := range TableDifferences(fsys, got, want) {
		t.Errorf("%s: table: %s", got, diff)
	}
}

// contents returns the contents of the files in a directory by name; none if it does not exist.
func contents(fsys store.FS, dir string) (map[string]string, error) {
	names, err := filesOf(fsys, dir)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, name := range names {
		text, err := store.ReadFile(fsys, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		all[name] = string(text)
	}
	return all, nil
}

// filesOf returns the names of the files in a directory; none if it does not exist.
func filesOf(fsys store.FS, dir string) (names []string, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// finalOf returns the length and a checksum of the text of final, which can be longer than the memory.
func finalOf(t testing.TB, fsys store.FS, dir string) string {
	t.Helper()
	dir = path.Join(dir, solve.FinalDir)
	names := must.Get(filesOf(fsys, dir))(t)
	sum, length := sha256.New(), int64(0)
	for _, name := range names {
		if !strings.HasPrefix(name, store.PartPrefix) {
			continue
		}
		in := must.Get(fsys.Open(path.Join(dir, name)))(t)
		n, err := io.Copy(sum, in)
		must.OK(t, errors.Join(err, in.Close()))
		length += n
	}
	return fmt.Sprintf("%d bytes, SHA-256 %x", length, sum.Sum(nil))
}
