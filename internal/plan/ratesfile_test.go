package plan

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// FuzzRates checks that rates that can be read satisfy the rules, and are the same after they
// have been written and read again.
func FuzzRates(f *testing.F) {
	text := must.Get(store.MarshalSummed(Builtin()))(f)
	f.Add(text)
	f.Add([]byte(`{"version": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		name := filepath.Join(t.TempDir(), "rates.json")
		must.OK(t, os.WriteFile(name, text, 0o666))
		r, err := ReadRates(name)
		if err != nil {
			return
		}
		must.OK(t, r.Check())
		again := name + "2"
		must.OK(t, WriteRates(again, r))
		if back, err := ReadRates(again); err != nil || *back != *r {
			t.Fatalf("%+v became %+v, %v", r, back, err)
		}
	})
}

// TestAge checks how the age of rates is described in words.
func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Hour: "of today", 30 * time.Hour: "a day old", 240 * time.Hour: "10 days old"} {
		if got := age(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
