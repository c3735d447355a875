// Package testbook makes opening books for tests.
package testbook

import (
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/search"
)

// New makes an opening book of a game.
func New(t testing.TB, g game.Layered, plies int) *book.Book {
	t.Helper()
	name := filepath.Join(t.TempDir(), "book")
	s := must.Get(search.New(g, search.Options{Memory: 1 << 20}))(t)
	must.OK(t, book.Make(t.Context(), name, g, plies, s, func(int, int) {}))
	return must.Get(book.Open(name, all.Kinds().Parse))(t)
}
