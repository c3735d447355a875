// Package solved provides tables and opening books of small games to tests. It knows no
// particular game.
package solved

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// Game makes one of our games from its spec.
func Game(t testing.TB, spec string) game.Game {
	t.Helper()
	return must.Get(all.Kinds().Parse(spec))(t)
}

// Dir solves a game with these changes of the options, and returns the data directory. The test
// deletes it.
func Dir(t testing.TB, g game.Game, changes ...func(*solve.Options)) string {
	t.Helper()
	dir := t.TempDir()
	data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Final: solve.FinalNo, UntilTier: -1}
	for _, change := range changes {
		change(&o)
	}
	must.Get(solve.Run(t.Context(), data, g, o))(t)
	return dir
}

// Table solves a game, and returns its table. The test closes it.
func Table(t testing.TB, g game.Game) *table.Table {
	t.Helper()
	tab := must.Get(table.OpenOf(store.Local{}, Dir(t, g), g))(t)
	t.Cleanup(func() { tab.Close() })
	return tab
}

// Values returns the values of the positions that a table stores. Each must be there once, and by layers those of a batch in order.
func Values(t testing.TB, fsys store.FS, dir string, g game.Game) map[game.Position]game.Value {
	t.Helper()
	tab := must.Get(table.OpenOf(fsys, dir, g))(t)
	defer tab.Close()
	_, byBlocks := g.(game.Blockwise)
	values := make(map[game.Position]game.Value)
	for b, err := range tab.All() {
		must.OK(t, err)
		for i, p := range b.Positions {
			if _, twice := values[p]; twice {
				t.Fatalf("%d is there twice", p)
			}
			if !byBlocks && i > 0 && p < b.Positions[i-1] {
				t.Fatalf("%d comes after %d", p, b.Positions[i-1])
			}
			values[p] = b.Values[i]
		}
	}
	return values
}

// Sealed returns a directory with this name that has the records of these sorted lines, as the job possible of a tier writes
// them.
func Sealed(t testing.TB, name string, g game.Game, tier int, lines string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	must.OK(t, os.Mkdir(dir, 0o777))
	job := &runner.Job{Name: name, Step: step.Possible, Tier: tier, FS: store.Local{}, Method: method.Of(g), Output: dir, Reducers: 1}
	must.OK(t, job.WriteShard(0, strings.NewReader(lines)))
	files := must.Get(jobdir.SealAll(store.Local{}, dir))(t)
	must.OK(t, (&store.Seal{Game: g.Spec(), Job: name, Files: files}).Write(store.Local{}, dir))
	return dir
}
