package method

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
)

// A Table is the table of a game. A browser only looks positions up. It is no interface: with one, the linker would keep all
// exported methods of the types that a table uses.
type Table struct {
	Lookup func(p game.Position) (v game.Value, ok bool, err error)
	Counts func(tier int) (map[game.Value]uint64, error)
	Close  func() error
}

func ofBlocks(t *blocks.Table) Table { return Table{t.Lookup, t.Counts, t.Close} }
func ofLayers(t *layers.Table) Table { return Table{t.Lookup, t.Counts, t.Close} }
