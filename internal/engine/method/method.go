// Package method chooses how a game is solved. A method is a package below this one, and has everything about it: what
// its jobs compute, in memory, as lines and packed, their files, splits and memory. No other package decides between
// methods but solve, which has the order of their jobs, table, which looks positions up, and plan, which estimates.
package method

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
)

// Of returns the method of a game: by blocks if the game is Tiered, otherwise by layers.
func Of(g game.Game) runner.Method {
	if g, ok := g.(game.Tiered); ok {
		return blocks.New(g)
	}
	return layers.New(g)
}
