package book

import (
	_ "embed"

	"github.com/treereduce/treereduce/game"
)

// plies is the last ply of the embedded book, and values are those of its positions, see New.
//
//go:generate go run generate.go
const plies = 6

//go:embed connectn-7-6-4.book
var values []byte

// Embedded returns the book of g that the program contains, nil if it has none. It has one of
// Connect 4 on 7×6, with all positions up to ply 6.
func Embedded(g game.Game) *Book {
	if g.Spec() != "connectn width=7 height=6 connect=4" {
		return nil
	}
	b, err := New(g, plies, values)
	if err != nil {
		panic(err) // the program is damaged
	}
	return b
}
