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
			if loaded, err = loader.load(loaded, m.Source, intervals[i]); err == nil && len(loaded) > 0 {
				e.parts[i] = newEdgePart(loaded, &loader.sorter)
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

// newEdgePart returns the part with these rows, which it may sort.
func newEdgePart(rows []Row, s *sorter) edgePart {
	p := edgePart{first: rows[0].Key, last: rows[0].Key, words: make([]uint32, len(rows))}
	for _, row := range rows {
		p.first, p.last = min(p.first, row.Key), max(p.last, row.Key)
	}
	if p.last-p.first < uint64(2*len(rows)) {
		p.distribute(rows)
		return p
	}
	s.sort(rows)
	for i, row := range rows {
		if p.words[i] = uint32(row.Word); i+1 == len(rows) || rows[i+1].Key != row.Key {
			p.keys, p.ends = append(p.keys, uint32(row.Key-p.first)), append(p.ends, uint32(i+1))
		}
	}
	p.keys, p.ends = slices.Clip(p.keys), slices.Clip(p.ends)
	return p
}

// distribute sets the keys, ends and words of rows whose keys are close together: it counts the rows of each key,
// which is faster than to sort them.
func (p *edgePart) distribute(rows []Row) {
	next := make([]uint32, p.last-p.first+1) // by key: the number of rows, then where the next word goes
	keys := 0
	for _, row := range rows {
		if next[row.Key-p.first]++; next[row.Key-p.first] == 1 {
			keys++
		}
	}
	p.keys, p.ends = make([]uint32, 0, keys), make([]uint32, 0, keys)
	at := uint32(0)
	for key, n := range next {
		next[key] = at
		if at += n; n > 0 {
			p.keys, p.ends = append(p.keys, uint32(key)), append(p.ends, at)
		}
	}
	for _, row := range rows {
		word := &next[row.Key-p.first]
		p.words[*word] = uint32(row.Word)
		*word++
	}
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
