package lists

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/store"
)

// Borders returns the keys at which n parts of a list begin, but the first; they
// ascend. Where like is a directory or a file of sorted rows, the parts have about as
// many of these; where it is "", or has none, about as many keys.
func Borders(_ store.FS, _ string, g game.Game, n int) (borders []uint64, err error) {
	for i := 1; i < n; i++ {
		high, low := bits.Mul64(1<<63>>(63-g.KeyBits())<<1-1, uint64(i))
		border, _ := bits.Div64(high, low, uint64(n))
		borders = append(borders, border)
	}
	return borders, nil
}
