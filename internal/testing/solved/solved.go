// Package solved provides tables and opening books of small games to tests. It knows no
// particular game.
package solved

import (
	"cmp"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/play/book"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// Game makes one of our games from its spec.
func Game(t testing.TB, spec string) game.Game {
	t.Helper()
	g, err := all.Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Dir solves a game with these changes of the options, and returns the data directory. The test
// deletes it.
func Dir(t testing.TB, g game.Game, changes ...func(*solve.Options)) string {
	t.Helper()
	dir := t.TempDir()
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Codec: jobdir.Packed, Final: solve.FinalNo, UntilTier: -1}
	for _, change := range changes {
		change(&o)
	}
	if _, err := solve.Run(t.Context(), data, g, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Table solves a game, and returns its table. The test closes it.
func Table(t testing.TB, g game.Game) *table.Table {
	t.Helper()
	tab, err := table.OpenOf(store.Local{}, Dir(t, g), g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tab.Close() })
	return tab
}

// Book makes an opening book of a game.
func Book(t testing.TB, g game.Acyclic, plies int) *book.Book {
	t.Helper()
	name := filepath.Join(t.TempDir(), "book")
	draft, err := book.OpenDraft(name+".part", g, plies)
	if err != nil {
		t.Fatal(err)
	}
	defer draft.Close()
	s, err := search.New(g, search.Options{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(draft.Search(t.Context(), s, func() {}), draft.Finish(name)); err != nil {
		t.Fatal(err)
	}
	b, err := book.Open(name, all.Kinds().Parse)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
