package lists

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// Edges are stored edges in memory: a runner that keeps them for all retrograde passes decodes each edge
// once. They do not change, so all workers share them.
type Edges struct {
	Of    string // the data directory, as the runner names it
	bytes int
	parts []edgePart // their keys ascend
}

// An edgePart is the edges into the positions first to last: those into first+keys[i] come from the words from
// ends[i-1] to ends[i].
type edgePart struct {
	first, last       game.Position
	keys, ends, words []uint32
}

// EdgesMemory returns how many bytes the Edges of m take at most, and how many more a worker of LoadEdges needs.
// ok is false if the game has too many positions for Edges.
func EdgesMemory(m *Moves, g game.Cyclic, rows int) (all, worker int, ok bool) {
	n := int(m.Rows())
	return 4*n + 8*int(min(uint64(n), g.Positions())), 2 * (rows + m.Runs()*streamfmt.CellRows) * rowBytes, g.Positions() <= math.MaxUint32
}

// LoadEdges reads all edges; a worker reads about rows of them at a time.
func LoadEdges(ctx context.Context, m *Moves, workers, rows int) (*Edges, error) {
	intervals := Cut(rows, m.Source)
	e := &Edges{parts: make([]edgePart, len(intervals))}
	err := parallel.Each(ctx, workers, len(intervals), 1, func() func(int) error {
		var loader Loader
		var loaded []Row
		return func(i int) (err error) {
			if loaded, err = loader.Load(loaded, m.Source, intervals[i]); err == nil && len(loaded) > 0 {
				e.parts[i] = newEdgePart(loaded)
			}
			return err
		}
	})
	if err != nil {
		return nil, err // some parts are missing
	}
	e.parts = slices.DeleteFunc(e.parts, func(p edgePart) bool { return len(p.keys) == 0 })
	for _, p := range e.parts {
		e.bytes += 4 * (len(p.keys) + len(p.ends) + len(p.words))
	}
	return e, nil
}

// newEdgePart returns the part with these rows, which are sorted.
func newEdgePart(rows []Row) edgePart {
	keys := 1
	for i := range rows[1:] {
		if rows[i].Key != rows[i+1].Key {
			keys++
		}
	}
	p := edgePart{rows[0].Key, rows[len(rows)-1].Key, make([]uint32, 0, keys), make([]uint32, 0, keys), make([]uint32, len(rows))}
	for i, row := range rows {
		if p.words[i] = uint32(row.Word); i+1 == len(rows) || rows[i+1].Key != row.Key {
			p.keys, p.ends = append(p.keys, uint32(row.Key-p.first)), append(p.ends, uint32(i+1))
		}
	}
	return p
}

// Memory returns the number of bytes that e, which may be nil, takes.
func (e *Edges) Memory() int {
	if e == nil {
		return 0
	}
	return e.bytes
}

var _ step.Moves = (*Edges)(nil)

// Predecessors implements step.Moves.
func (e *Edges) Predecessors(first game.Position, to block.Set, do func(predecessor game.Position)) error {
	last := first + uint64(64*len(to)-1)
	at := sort.Search(len(e.parts), func(i int) bool { return e.parts[i].last >= first })
	for ; at < len(e.parts) && e.parts[at].first <= last; at++ {
		p := &e.parts[at]
		i := sort.Search(len(p.keys), func(i int) bool { return p.first+uint64(p.keys[i]) >= first })
		for ; i < len(p.keys) && p.first+uint64(p.keys[i]) <= last; i++ {
			if !to.Has(int(p.first + uint64(p.keys[i]) - first)) {
				continue
			}
			from := uint32(0)
			if i > 0 {
				from = p.ends[i-1]
			}
			for _, word := range p.words[from:p.ends[i]] {
				do(uint64(word))
			}
		}
	}
	return nil
}
