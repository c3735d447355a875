package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestBounded makes each metadata file a terabyte long, as a sparse file: it must count as
// damaged, and not be read into memory.
func TestBounded(t *testing.T) {
	data := create(t, t.TempDir(), store.Fresh, nil)
	dir := attempt(t, data, "final")
	write(t, dir, "good")
	must.OK(t, data.Commit(dir, sealOf("final", good)))
	for name, read := range map[string]func() error{
		store.ManifestFile: func() error { _, err := store.ReadManifest(data.FS, data.Path); return err },
		store.JournalFile:  func() error { _, err := store.ReadFile(data.FS, data.Dir(store.JournalFile)); return err },
		"final/_SUCCESS":   func() error { _, err := store.ReadSeal(data.FS, data.Dir("final")); return err },
		"table/_tiers":     func() error { return store.ReadSummed(data.FS, data.Dir("table/_tiers"), new(store.Seal)) },
	} {
		at := data.Dir(name)
		must.OK(t, os.MkdirAll(filepath.Dir(at), 0o777))
		f := must.Get(os.OpenFile(at, os.O_CREATE|os.O_WRONLY, 0o666))(t)
		if err := f.Truncate(1 << 40); err != nil {
			t.Skip(err)
		}
		f.Close()
		if err := read(); !store.Damaged(err) || !strings.Contains(err.Error(), name+": damaged: 1099511627776 bytes, at most ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := read(); name == store.ManifestFile && !strings.Contains(err.Error(), "driver solve --overwrite starts over") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
