// Package method chooses how a game is solved. A method is a package below this one, and has everything about it: what
// its jobs compute, in memory, as lines and packed, their files, splits and memory, estimates of their cost, and its table.
// Other packages ask the method for facts, see runner.Method, and the table, see stored.Table.
package method

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// Of returns the method of a game: by blocks if the game is Blockwise, otherwise by layers.
func Of(g game.Game) runner.Method {
	if g, ok := g.(game.Blockwise); ok {
		return blocks.New(g)
	}
	return layers.New(g)
}

// OpenTable opens the table of a game.
func OpenTable(g game.Game, files stored.Files) (t Table, err error) {
	if g, ok := g.(game.Blockwise); ok {
		b, err := blocks.OpenTable(g, files)
		if err != nil {
			return t, err
		}
		return ofBlocks(b), nil
	}
	return ofLayers(layers.OpenTable(g, files)), nil
}
