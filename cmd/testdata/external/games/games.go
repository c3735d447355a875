// Package games lists the games of this module's programs: a game of its own, and one of
// treereduce.
package games

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"

	"external/nim"
)

// Kinds returns the games.
func Kinds() game.Kinds { return game.Kinds{nim.Kind, connectn.Kind} }
