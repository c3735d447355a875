package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// Games with cycles that cannot compute predecessors store their edges as rows of Predecessors.
// Each forward pass writes the edges of the newly reached positions into outbox files of
// its directory, which are always packed, even if the shards are text. Such games have no
// tiers, so all rows are sent to tier 0.

// NewEdgeOutbox returns the outbox of reducer i of a forward pass, which buffers up to
// most rows. create creates its file in the directory of the pass.
func NewEdgeOutbox(create func(name string) (io.WriteCloser, error), i int, g game.Cyclic, most int) *ReducerOutbox {
	return NewReducerOutbox(create, i, g, Predecessors, jobdir.Packed, most)
}

// An edgeBuffer has the edges in an outbox of a game with at most 1<<32 positions. An edge is the successor, in the high
// bits, and the position.
type edgeBuffer struct {
	bits       int // the number of bits of a position; if it is 0, SendEdges buffers rows in place of edges
	all, spare []uint64
	last       game.Position // from which edges were added
	mixed      bool          // the positions do not ascend
	ends       [1 << digitBits]uint32
}

// edgeBits returns the number of bits of a position in edges, or 0.
func edgeBits(g game.Game) int {
	if c, ok := g.(game.Cyclic); ok && c.Positions() <= 1<<32 {
		return bits.Len64(c.Positions() - 1)
	}
	return 0
}

// SendEdges adds the edges of the moves from a position to an outbox, to which nothing else is sent; it has the
// signature of step.Pass.StoreEdges.
func (o *Outbox) SendEdges(from game.Position, moves []game.Move) error {
	e := &o.edges
	e.mixed, e.last = e.mixed || from < e.last, from
	for _, m := range moves {
		if e.bits == 0 {
			if err := o.Send(At(0, 0), Row{Key: m.To, Word: from}); err != nil {
				return err
			}
			continue
		}
		if len(e.all) >= o.most {
			if err := o.flushEdges(); err != nil {
				return err
			}
		}
		if len(e.all) == cap(e.all) {
			e.all = append(make([]uint64, 0, min(o.most, max(firstRows, 2*cap(e.all)))), e.all...)
		}
		e.all = append(e.all, m.To<<32|from)
	}
	return nil
}

// flushEdges is Flush for edges. No edge is there twice, since the moves from a position lead to different ones.
func (o *Outbox) flushEdges() error {
	o.edges.sort()
	for piece := range slices.Chunk(o.edges.all, pieceRows) {
		o.rows = o.rows[:0]
		for _, edge := range piece {
			o.rows = append(o.rows, Row{Key: edge >> 32, Word: edge & math.MaxUint32})
		}
		if err := o.add(0, o.rows); err != nil {
			return err
		}
	}
	o.rows, o.edges.all, o.edges.mixed = o.rows[:0], o.edges.all[:0], false
	return o.emitChunk(0)
}

// sort sorts the edges: those of each successor are in order if the positions ascend.
func (e *edgeBuffer) sort() {
	if e.mixed {
		slices.Sort(e.all)
		return
	}
	if cap(e.spare) < len(e.all) {
		e.spare = make([]uint64, cap(e.all))
	}
	for done := 0; done < e.bits; done += digitBits {
		clear(e.ends[:])
		for _, edge := range e.all {
			e.ends[edge>>(32+done)%(1<<digitBits)]++
		}
		at := uint32(0)
		for i, n := range e.ends {
			e.ends[i] = at
			at += n
		}
		sorted := e.spare[:len(e.all)]
		for _, edge := range e.all {
			end := &e.ends[edge>>(32+done)%(1<<digitBits)]
			sorted[*end] = edge
			*end++
		}
		e.all, e.spare = sorted, e.all
	}
}

// Moves are the edges that the forward passes of a game with cycles have stored. It is safe
// for concurrent use.
type Moves struct {
	*Source
	runs []fileRun
}

// A fileRun is a run of a file.
type fileRun struct {
	*file
	run
}

// OpenMoves opens the edges that were stored up to the pass in the directory dir, according
// to its index. The number of edges that a pass stored must equal the number of messages
// that the next pass received, and there must be at least one edge for each open position.
// Otherwise the error is a *store.DamageError.
func OpenMoves(fsys store.FS, dir string, g game.Cyclic) (*Moves, error) {
	index, err := jobdir.ReadIndex(fsys, dir, g)
	if err != nil {
		return nil, err
	}
	m := &Moves{Source: &Source{kind: Predecessors}}
	received := int64(0)
	for _, found := range index.Passes {
		if !step.IsForward(found.Step) {
			break
		}
		received += found.Messages
		if err := m.take(fsys, path.Join(path.Dir(dir), found.Pass), g, received, found.New[game.Draws]); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	for _, f := range m.files {
		for _, r := range f.runs {
			m.runs = append(m.runs, fileRun{f, r})
		}
	}
	return m, nil
}

// NameMove returns err, or the step.TurnError in it with a move, from the edges that were stored up to the pass in the
// directory dir.
func NameMove(err error, fsys store.FS, dir string, g game.Cyclic) error {
	var turn *step.TurnError
	if !errors.As(err, &turn) || turn.Move != "" {
		return err
	}
	m, failed := OpenMoves(fsys, dir, g)
	if failed != nil {
		return errors.Join(err, failed)
	}
	defer m.Close()
	to := block.Set{1}
	failed = m.Reader().Predecessors(turn.To, to, func(from game.Position) {
		if turn.Move != "" && turn.From <= from || g.ToMove(from) != g.ToMove(turn.To) {
			return
		}
		for _, move := range g.Moves(nil, from) {
			if move.To == turn.To {
				turn.From, turn.Move = from, move.Name
			}
		}
	})
	return cmp.Or(failed, error(turn))
}

// take adds the edges stored by the pass in a directory. received is the number of
// messages that the passes up to this one received, which must equal the number of edges
// before it.
// open is the number of new positions that are not terminal, of which each must have an
// edge.
func (m *Moves) take(fsys store.FS, dir string, g game.Cyclic, received, open int64) error {
	if m.Rows() != received {
		return &store.DamageError{Name: dir, Reason: fmt.Sprintf("the passes up to this one received %d messages, but %d edges are stored before it", received, m.Rows())}
	}
	d, err := OpenDir(fsys, dir, g)
	if err != nil {
		return err
	}
	edges, err := OpenInbox([]*Dir{d}, At(0, 0), Predecessors)
	if err != nil {
		return err
	}
	if edges.Rows() < open {
		err := &store.DamageError{Name: dir, Reason: fmt.Sprintf("it found %d positions that are not terminal, but stored %d edges", open, edges.Rows())}
		return errors.Join(err, edges.Close())
	}
	return m.Take(edges)
}

// Memory returns the number of bytes of memory that a MovesReader takes.
func (m *Moves) Memory() int { return len(m.runs) * streamfmt.CellRows * rowBytes }

// rowBytes is the size of a row in memory.
const rowBytes = 16

// A MovesReader finds edges by their successors. It is used by one goroutine, is fastest
// when it reads in ascending order, and caches one cell of each run.
type MovesReader struct {
	m    *Moves
	read streamfmt.CellReader
	kept []keptCell // by run
}

// A keptCell is the last cell of a run that was read.
type keptCell struct {
	number int // -1 if none was read
	rows   []Row
}

// Reader returns a reader of the edges.
func (m *Moves) Reader() *MovesReader {
	return &MovesReader{m: m, kept: slices.Repeat([]keptCell{{number: -1}}, len(m.runs))}
}

var _ step.Moves = (*MovesReader)(nil)

// Predecessors implements step.Moves. It skips cells without an edge into the set.
func (r *MovesReader) Predecessors(first game.Position, to block.Set, do func(predecessor game.Position)) error {
	last := first + uint64(64*len(to)-1)
	for i, run := range r.m.runs {
		cells := run.file.cells[:run.to]
		needed := func(at int) bool {
			if at == run.to || cells[at].First > last {
				return false
			}
			from := max(cells[at].First, first) - first
			return to.HasAny(int(from), int(min(cells[at].Last, last)-first))
		}
		at := run.from + sort.Search(run.to-run.from, func(j int) bool { return cells[run.from+j].Last >= first })
		for end := at; at < run.to && cells[at].First <= last; at++ {
			if !needed(at) {
				continue
			}
			for end = max(end, at+1); needed(end); end++ {
			}
			rows, err := r.cell(i, at, end)
			if err != nil {
				return err
			}
			from, _ := slices.BinarySearchFunc(rows, Row{Key: first}, compareRows)
			for _, row := range rows[from:] {
				if row.Key > last {
					break
				}
				if to.Has(int(row.Key - first)) {
					do(row.Word)
				}
			}
		}
	}
	return nil
}

// cell returns the rows of a cell of run i. The cells up to the one before end are read next.
func (r *MovesReader) cell(i, number, end int) ([]Row, error) {
	kept, f := &r.kept[i], r.m.runs[i].file
	if kept.number == number {
		return kept.rows, nil
	}
	kept.number = -1
	err := f.with(func(f *file) (err error) {
		kept.rows, err = r.read.Append(kept.rows[:0], f.list, f.cells[number:end])
		return err
	})
	if err == nil {
		kept.number = number
	}
	return kept.rows, err
}
