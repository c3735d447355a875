package driver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// inHDFS is a file system whose locks cannot be queried.
type inHDFS struct{ store.Local }

// TestStatusInHDFS checks that status uses the age of the journal to decide whether a driver is
// alive if its lock cannot be queried. For a dead driver no remaining time is printed.
func TestStatusInHDFS(t *testing.T) {
	dir := t.TempDir()
	for age, want := range map[time.Duration][]string{
		0:                {"g: running\n", "0.0% done; at data_first3: possible, tier 3 of 9; 17 s left\n"},
		solve.Silent / 2: {"g: running\n", "; 17 s left\n"},
		2 * solve.Silent: {"g: died in data_first3; --resume continues\n", "no update for 2 min: it was killed, or its machine failed\n", "tier 3 of 9\n"},
		time.Minute:      {"g: died in data_first3; --resume continues\n", "tier 3 of 9\n"},
	} {
		j := solve.Journal{Game: "g", State: solve.Running, Updated: time.Now().Add(-age),
			Now: &solve.Event{Job: "data_first3", Step: "possible", Tier: 3, Tiers: 9, Left: 17}}
		text, err := store.MarshalSummed(j)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := readReport(inHDFS{}, dir)
		if err != nil {
			t.Fatal(err)
		}
		var output strings.Builder
		r.print(&output, true)
		for _, line := range want {
			if !strings.Contains(output.String(), line) {
				t.Errorf("after %v: no %q in %q", age, line, output.String())
			}
		}
	}
}

// FuzzStatus checks that a journal with any content causes at most an error of one line.
func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"game":"g","state":"running","begun":"2026-11-22T07:43:53Z","now":{"job":"data_first17","left":1e300},"jobs":[{"job":"mark1","seconds":0.1}]}`))
	f.Add([]byte(`{"game":"g","state":"stopped","error":"data_first17: interrupt signal received"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Add([]byte{})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if summed, err := store.MarshalSummed(json.RawMessage(text)); err == nil {
			text = summed
		}
		if err := os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := readReport(store.Local{}, dir)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		var output strings.Builder
		if err := r.print(&output, true); err != nil || !strings.Contains(output.String(), ": "+r.Status) || r.Status == "" {
			t.Errorf("%q, %v", output.String(), err)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
