package table

import "github.com/treereduce/treereduce/game"

// contents is the part of a table that depends on the kind of game. A browser only looks positions up. It is no
// interface: with one, the linker would keep all exported methods of the types that a table uses.
type contents struct {
	lookup func(p game.Position) (v game.Value, ok bool, err error)
	counts func(tier int) (Counts, error)
	Close  func() error
}

func (t *blockTable) contents() contents { return contents{t.lookup, t.counts, t.Close} }
func (t *layerTable) contents() contents { return contents{t.lookup, t.counts, t.Close} }
