package layers

import (
	"context"
	"math"
	"math/bits"
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
// ends[i-1] to ends[i]. If keys is nil, keys[i] is i: there are at least half as many edges as positions.
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
		var l partLoader
		return func(i int) (err error) {
			e.parts[i], err = l.part(m.Source, intervals[i])
			return err
		}
	})
	if err != nil {
		return nil, err // some parts are missing
	}
	e.parts = slices.DeleteFunc(e.parts, func(p edgePart) bool { return len(p.words) == 0 })
	for _, p := range e.parts {
		e.bytes += 4 * (len(p.keys) + len(p.ends) + len(p.words))
	}
	return e, nil
}

// A partLoader loads parts. It is used by one goroutine, and reuses its memory.
type partLoader struct {
	Loader
	rows  []Row
	edges []uint64 // the successor minus the first one, in the high bits, and the position
}

// part returns the edges of an interval.
func (l *partLoader) part(s *Source, in Interval) (p edgePart, err error) {
	p.first, p.last = math.MaxUint64, 0
	for _, f := range s.files {
		for i := range f.touching(in) {
			p.first, p.last = min(p.first, max(in.First, f.cells[i].First)), max(p.last, min(in.Last, f.cells[i].Last))
		}
	}
	if p.first > p.last {
		return p, nil
	}
	if p.last-p.first < uint64(2*in.Rows) {
		err = l.count(&p, s, in)
		return p, err
	}
	if l.rows, err = l.Load(l.rows, s, in); err != nil {
		return p, err
	}
	p.words = make([]uint32, len(l.rows))
	for i, row := range l.rows {
		if p.words[i] = uint32(row.Word); i+1 == len(l.rows) || l.rows[i+1].Key != row.Key {
			p.keys, p.ends = append(p.keys, uint32(row.Key-p.first)), append(p.ends, uint32(i+1))
		}
	}
	p.keys, p.ends = slices.Clip(p.keys), slices.Clip(p.ends)
	return p, nil
}

// count reads the edges of a part whose keys are close together: it counts those of each key, which is faster than to
// sort them.
func (l *partLoader) count(p *edgePart, s *Source, in Interval) (err error) {
	p.ends = make([]uint32, p.last-p.first+1) // the number of edges, then where the next one goes, at last the end
	l.edges = l.edges[:0]
	for _, f := range s.files {
		if l.rows, err = l.loadFile(l.rows[:0], f, in); err != nil {
			return err
		}
		for _, row := range l.rows {
			p.ends[row.Key-p.first]++
			l.edges = append(l.edges, (row.Key-p.first)<<32|uint64(uint32(row.Word)))
		}
	}
	at := uint32(0)
	for i, n := range p.ends {
		p.ends[i] = at
		at += n
	}
	p.words = make([]uint32, at)
	for _, edge := range l.edges {
		end := &p.ends[edge>>32]
		p.words[*end] = uint32(edge)
		*end++
	}
	return nil
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
		if p := &e.parts[at]; p.keys == nil {
			p.fromAll(first, to, do)
		} else {
			p.fromSome(first, to, do)
		}
	}
	return nil
}

// fromAll is Predecessors for a part without keys.
func (p *edgePart) fromAll(first game.Position, to block.Set, do func(predecessor game.Position)) {
	last := int(min(p.last-first, uint64(64*len(to)-1)))
	for slot := int(max(p.first, first) - first); slot <= last; slot++ {
		rest := to[slot>>6] >> (slot & 63)
		if rest == 0 {
			slot |= 63
		} else if slot += bits.TrailingZeros64(rest); slot <= last {
			p.each(int(first+uint64(slot)-p.first), do)
		}
	}
}

// fromSome is Predecessors for a part with keys.
func (p *edgePart) fromSome(first game.Position, to block.Set, do func(predecessor game.Position)) {
	last := first + uint64(64*len(to)-1)
	i := sort.Search(len(p.keys), func(i int) bool { return p.first+uint64(p.keys[i]) >= first })
	for ; i < len(p.keys) && p.first+uint64(p.keys[i]) <= last; i++ {
		if to.Has(int(p.first + uint64(p.keys[i]) - first)) {
			p.each(i, do)
		}
	}
}

// each calls do with the words of keys[i].
func (p *edgePart) each(i int, do func(predecessor game.Position)) {
	from := uint32(0)
	if i > 0 {
		from = p.ends[i-1]
	}
	for _, word := range p.words[from:p.ends[i]] {
		do(uint64(word))
	}
}
