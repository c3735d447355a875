// Package all lists the games of treereduce. A new game is a package of its own and one
// line here. The main functions pass this list to the programs; another module passes its
// own list, with or without these games.
package all

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/dobutsu"
	"github.com/treereduce/treereduce/game/dodgem"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/mills"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/game/quixo"
	"github.com/treereduce/treereduce/game/teeko"
)

// Kinds returns all games.
func Kinds() game.Kinds {
	return game.Kinds{
		connectn.Kind,
		quickcross.Kind,
		mnk.Kind,
		mancala.Kind,
		dodgem.Kind,
		mills.Kind,
		dobutsu.Kind,
		quixo.Kind,
		teeko.Kind,
		network.Kind,
	}
}
