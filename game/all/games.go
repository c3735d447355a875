// Package all lists the games that treereduce comes with. A new game is a package
// of its own and one line here. Programs are given a list like this one: a module
// elsewhere gives its own, with games of ours in it or without.
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

// Kinds returns every kind of game.
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
