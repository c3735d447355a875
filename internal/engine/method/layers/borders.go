package layers

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// bordersOf cuts a list into n partitions, and returns the first key of each except the
// first; the keys ascend strictly. If like is a directory or a packed file of sorted rows, or in shards,
// each partition has about the same number of its rows. If like is "" or has no rows, each
// has about the same number of keys.
func bordersOf(fsys store.FS, like string, g game.Game, n int) (borders []game.Position, err error) {
	if n < 2 {
		return nil, nil
	}
	cells, err := cellsOf(fsys, like, g)
	if err != nil {
		return nil, err
	}
	if len(cells) == 0 {
		cells = []streamfmt.Cell{{Last: math.MaxUint64 >> (64 - g.KeyBits()), Records: 1}}
	}
	var all, before uint64
	for _, c := range cells {
		all += uint64(c.Records)
	}
	at := 0
	for i := 1; i < n; i++ {
		border := all * uint64(i) / uint64(n)
		for at+1 < len(cells) && before+uint64(cells[at].Records) <= border {
			before += uint64(cells[at].Records)
			at++
		}
		key := keyWithin(&cells[at], border-before)
		if i > 1 {
			key = max(key, borders[i-2]+1)
		}
		borders = append(borders, key)
	}
	return borders, nil
}

// keyWithin returns the key below which the given number of rows of a cell lie, if they are evenly distributed.
func keyWithin(c *streamfmt.Cell, before uint64) uint64 {
	rows := uint64(c.Records)
	high, low := bits.Mul64(c.Last-c.First, min(before, rows))
	q, _ := bits.Div64(high, low, rows)
	return c.First + q
}

// cellsOf returns the cells of the shards of a directory, or of a packed file or its shards.
func cellsOf(fsys store.FS, like string, g game.Game) (cells []streamfmt.Cell, err error) {
	if like == "" {
		return nil, nil
	}
	files, err := filesOf(fsys, like, store.PartPrefix, g)
	for _, f := range files {
		err = cmp.Or(err, f.eachStage(func(_ step.Stage, s *Source) error {
			for c := range s.cells() {
				cells = append(cells, *c)
			}
			return nil
		}))
	}
	return cells, err
}
