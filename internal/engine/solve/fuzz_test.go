package solve_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// FuzzReadJournal checks that ReadJournal returns either a one-line error that names the file,
// or a journal that is the same after it is written and read again.
func FuzzReadJournal(f *testing.F) {
	for _, text := range []string{
		`{"game":"connectn width=3 height=3 connect=3","state":"running","begun":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z",` +
			`"now":{"job":"data_first3","step":"possible","tier":3,"tiers":9,"done":false,"share":0.5,"elapsed":1,"left":1},` +
			`"jobs":[{"job":"data_first0","step":"init","tier":0,"seconds":0.1,"records":1}]}`,
		`{"jobs":[{"tier":-1,"seconds":1e308,"records":-9223372036854775808}]}`,
		`{"now":null,"jobs":null}`,
		`{"begun":"yesterday"}`,
		`null`, `[]`, ``, `{`, "{}\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if summed, err := store.MarshalSummed(json.RawMessage(text)); err == nil {
			text = summed // fuzz the text below the checksum; FuzzManifest fuzzes the checksum itself
		}
		dir := t.TempDir()
		name := filepath.Join(dir, store.JournalFile)
		must.OK(t, os.WriteFile(name, text, 0o666))
		j, err := solve.ReadJournal(store.Local{}, dir)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		first := must.Get(store.MarshalSummed(j))(t)
		must.OK(t, os.WriteFile(name, first, 0o666))
		if j, err = solve.ReadJournal(store.Local{}, dir); err != nil {
			t.Fatalf("%q, written as %q: %v", text, first, err)
		}
		if second, err := store.MarshalSummed(j); err != nil || !bytes.Equal(second, first) {
			t.Errorf("%q: %q, then %q, %v", text, first, second, err)
		}
	})
}
