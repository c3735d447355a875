// Package games is what the programs of this module know: a game of its own, and one
// that treereduce comes with.
package games

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"

	"stranger/nim"
)

// Kinds are the games.
func Kinds() game.Kinds { return game.Kinds{nim.Kind, connectn.Kind} }
