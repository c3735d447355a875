package solve_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/table"
)

// all returns a checksum of every file of a data directory by path, except journal and
// lock.
func all(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir() || e.Name() == store.JournalFile || e.Name() == "_lock":
			return err
		}
		text, err := os.ReadFile(name)
		sums[strings.TrimPrefix(name, dir)] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	must.OK(t, err)
	return sums
}

// TestKept damages the directories that --keep all has kept of a finished run, one by one. The
// check must find each damage, and a resumed run must restore the same bytes.
func TestKept(t *testing.T) {
	for name, lines := range map[string]bool{"lines": true, "packed": false} {
		for _, g := range []game.Game{rules(t, 3, 3, 3), loopGame(), loopGame().Backward(), ticTacToe(t)} {
			t.Run(name+" "+g.Spec(), func(t *testing.T) {
				dir := t.TempDir()
				o := options()
				o.KeepAll, o.Lines = true, lines
				must.Get(solveInto(t, dir, g, o, store.Fresh))(t)
				want := all(t, dir)
				seals := slices.DeleteFunc(glob(t, dir, "*/_SUCCESS"), func(name string) bool {
					return strings.HasPrefix(name, table.Dir) || strings.HasPrefix(name, solve.FinalDir)
				})
				if len(seals) < 8 {
					t.Fatalf("%d directories are kept", len(seals))
				}
				must.OK(t, solve.CheckKept(context.Background(), store.Local{}, dir, g))
				for i, seal := range seals {
					seal = filepath.Join(dir, seal)
					at := filepath.Dir(seal)
					var err error
					switch i % 3 {
					case 0: // what a power cut may leave
						err = os.Truncate(filepath.Join(at, glob(t, at, "[pt_]*-*")[0]), 0)
					case 1:
						err = os.RemoveAll(at)
					case 2:
						flip(t, seal, 3)
					}
					must.OK(t, err)
					if err := solve.CheckKept(context.Background(), store.Local{}, dir, g); err == nil && !maps.Equal(all(t, dir), want) {
						t.Errorf("%s is damaged, and the check finds nothing", at)
					}
					if _, err := solveInto(t, dir, g, o, store.Resume); err != nil {
						t.Fatalf("%s: %v", at, err)
					}
					if diff := storetest.Differences(all(t, dir), want); diff != nil {
						t.Errorf("%s: %v", at, diff)
					}
				}
			})
		}
	}
}

// TestKeptUntil keeps all up to a tier while directories of later tiers exist: one with only a
// file of the user, and one that a power cut has left with an empty seal.
func TestKeptUntil(t *testing.T) {
	g := rules(t, 3, 3, 3)
	dir := t.TempDir()
	o := options()
	o.KeepAll = true
	must.Get(solveInto(t, dir, g, o, store.Fresh))(t)
	notes := filepath.Join(dir, "data_first5", "notes.txt")
	must.OK(t, os.WriteFile(notes, []byte("mine"), 0o666))
	o.UntilTier = 3
	if _, err := solveInto(t, dir, g, o, store.Overwrite); err != nil {
		t.Errorf("a file of the user: %v", err)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Error(err)
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, "data_first6"), 0o777))
	must.OK(t, os.WriteFile(filepath.Join(dir, "data_first6", store.Success), nil, 0o666))
	if _, err := solveInto(t, dir, g, o, store.Resume); err != nil {
		t.Errorf("an empty seal: %v", err)
	}
}
