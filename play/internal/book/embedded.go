package book

import (
	_ "embed"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// connect4 is the file that this command writes:
//
//	play book connectn --width 7 --height 6 --connect 4 --plies 6 --out connectn-7-6-4.book
//
//go:embed connectn-7-6-4.book
var connect4 string

// Embedded returns the book of g that the program contains, nil if it has none. It has one of
// Connect 4 on 7×6, with all positions up to ply 6.
func Embedded(g game.Game) *Book {
	_, lines, _ := strings.Cut(connect4, "\n")
	if spec, _, _ := strings.Cut(lines, "\n"); spec != g.Spec() {
		return nil
	}
	b, err := Parse(connect4, func(string) (game.Game, error) { return g, nil })
	if err != nil {
		panic(err) // the program is damaged
	}
	return b
}
