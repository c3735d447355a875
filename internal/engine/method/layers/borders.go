package layers

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// bordersOf cuts a list into n partitions, and returns the first key of each except the
// first; the keys ascend strictly. If like is a directory or a packed file of sorted rows, or in shards,
// each partition has about the same number of its rows. If like is "" or has no rows, each
// has about the same number of keys.
func bordersOf(fsys store.FS, like string, g game.Game, n int) (borders []game.Position, err error) {
	if n < 2 {
		return nil, nil
	}
	spans, err := spansOf(fsys, like, g)
	if err != nil {
		return nil, err
	}
	if len(spans) == 0 {
		spans = []span{{last: math.MaxUint64 >> (64 - g.KeyBits()), weight: 1}}
	}
	var all, before uint64
	for _, s := range spans {
		all += s.weight
	}
	at := 0
	for i := 1; i < n; i++ {
		border := portion(all, i, n)
		for at+1 < len(spans) && before+spans[at].weight <= border {
			before += spans[at].weight
			at++
		}
		key := spans[at].key(border - before)
		if i > 1 {
			key = max(key, borders[i-2]+1)
		}
		borders = append(borders, key)
	}
	return borders, nil
}

// A span is an interval of keys; its weight is its number of rows.
type span struct {
	first, last uint64
	weight      uint64
}

// key returns the key below which the given part of the weight lies, if the weight is
// evenly distributed.
func (s *span) key(before uint64) uint64 {
	high, low := bits.Mul64(s.last-s.first, min(before, s.weight))
	q, _ := bits.Div64(high, low, s.weight)
	return s.first + q
}

// spansOf returns the spans of the shards of a directory, or of a packed file or its shards.
func spansOf(fsys store.FS, like string, g game.Game) (spans []span, err error) {
	if like == "" {
		return nil, nil
	}
	files, err := filesOf(fsys, like, store.PartPrefix, g)
	for _, f := range files {
		err = cmp.Or(err, f.eachStage(func(_ step.Stage, s *Source) error {
			for c := range s.cells() {
				spans = append(spans, span{c.First, c.Last, uint64(c.Records)})
			}
			return nil
		}))
	}
	return spans, err
}

// portion returns of·i/n, rounded down, without overflow; i is at most n.
func portion(of uint64, i, n int) uint64 {
	high, low := bits.Mul64(of, uint64(i))
	q, _ := bits.Div64(high, low, uint64(n))
	return q
}
