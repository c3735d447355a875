package layers

import (
	"math"
	"math/bits"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
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
	parts, err := jobdir.Parts(fsys, like, g.Spec())
	if err != nil {
		return nil, err
	}
	for _, name := range parts {
		some, err := (&file{fsys: fsys, name: name, g: g}).spans()
		if err != nil {
			return nil, err
		}
		spans = append(spans, some...)
	}
	return spans, nil
}

// spans returns the spans of a shard.
func (f *file) spans() (spans []span, err error) {
	f, err = f.open()
	if err != nil {
		return nil, err
	}
	defer f.close()
	for _, tier := range f.pack.Stages {
		cells, err := f.pack.Cells(tier)
		if err != nil {
			return nil, err
		}
		for _, c := range cells {
			spans = append(spans, span{c.First, c.Last, uint64(c.Records)})
		}
	}
	return spans, nil
}

// portion returns of·i/n, rounded down, without overflow; i is at most n.
func portion(of uint64, i, n int) uint64 {
	high, low := bits.Mul64(of, uint64(i))
	q, _ := bits.Div64(high, low, uint64(n))
	return q
}
