// Package all lists the games of treereduce. A new game is a package of its own and one
// line here. The main functions pass this list to the programs; another module passes its
// own list, with or without these games.
package all

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/dodgem"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/game/quickcross"
)

// Kinds returns all games.
func Kinds() game.Kinds {
	return game.Kinds{
		connectn.Kind,
		quickcross.Kind,
		mnk.Kind,
		mancala.Kind,
		dodgem.Kind,
		network.Kind,
	}
}
