// Package testbook makes opening books for tests.
package testbook

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/search"
)

// New makes an opening book of a game.
func New(t testing.TB, g game.Tiered, plies int) *book.Book {
	t.Helper()
	s := must.Get(search.New(g, search.Options{Memory: 1 << 20}))(t)
	return must.Get(book.New(g, plies, must.Get(book.Search(t.Context(), g, plies, s))(t)))(t)
}
