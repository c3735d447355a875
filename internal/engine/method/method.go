// Package method chooses how a game is solved. A method is a package below this one, and has everything about it: what
// its jobs compute, in memory, as lines and packed, their files, splits and memory. What else depends on the method asks
// whether the game is Tiered: package solve for the order of jobs, table for look-ups, plan for estimates, and the
// commands mapper and reducer for their flags.
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
