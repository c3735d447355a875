package store_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// FuzzManifest resumes a directory with an arbitrary manifest. Either it is refused with a
// one-line error that names the directory, or the manifest is of this game. The manifest must
// not change.
func FuzzManifest(f *testing.F) {
	const game = "connectn width=3 height=3 connect=3"
	dir := f.TempDir()
	data := must.Get(store.Create(store.Local{}, dir, game, store.Fresh, artifact, nil))(f)
	data.Close()
	const name = "treereduce.json"
	right := must.Get(os.ReadFile(filepath.Join(dir, name)))(f)
	f.Add(right)
	for _, i := range []int{1, 5, len(right) / 2, len(right) - 3} { // one flipped bit
		flipped := bytes.Clone(right)
		flipped[i] ^= 4
		f.Add(flipped)
	}
	f.Add(append(bytes.Clone(right), "{}"...))
	f.Add(right[:len(right)/2])
	f.Add([]byte{})
	f.Add([]byte("null"))
	f.Add([]byte(`{"format":2,"game":"connectn width=3 height=3 connect=3"}`))
	f.Add([]byte(`{"format":2,"game":"connectn width=4 height=3 connect=3","options":{"keep":"all"}}`))
	f.Add([]byte(`{"format":1,"game":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if summed, err := store.MarshalSummed(json.RawMessage(text)); err == nil && !bytes.Contains(text, []byte(`"sum"`)) {
			text = summed
		}
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(file, text, 0o666))
		data, err := store.Create(store.Local{}, dir, game, store.Resume, artifact, nil)
		if err == nil {
			data.Close()
			var m struct{ Game string }
			if err := json.NewDecoder(bytes.NewReader(text)).Decode(&m); err != nil || m.Game != game {
				t.Errorf("%q: taken for a manifest of %q: %v", text, game, err)
			}
		} else if !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%q: became %q, %v", text, now, err)
		}
	})
}
