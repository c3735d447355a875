package lists

import (
	"errors"
	"fmt"
	"io"
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

// A game with cycles whose moves are not known backwards has them as rows of Parents:
// each pass forward tells the moves of the positions that it reached first, into outboxes
// of its directory, which are packed whatever the form of the parts. As there are no
// tiers, all are for tier 0.

// NewMovesTeller makes the outbox of reducer i of a pass forward over a game, with up to
// so many rows at a time; create makes its file in the directory of the pass.
func NewMovesTeller(create func(name string) (io.WriteCloser, error), i int, g game.Cyclic, most int) *Teller {
	return NewTeller(create, i, g, Parents, jobdir.Blocks, most)
}

// TellMove has an outbox tell a move, as step.Pass.Tell wants it.
func (o *Outbox) TellMove(child, parent game.Position) error {
	return o.Tell(0, Row{Key: child, Word: parent})
}

// Moves are the moves of a game with cycles that the passes forward have told. It is safe
// for concurrent use.
type Moves struct {
	*Source
	runs []run
}

// A run is neighbouring cells of a file whose keys ascend, as an outbox emits them.
type run struct {
	file     *file
	from, to int
}

// OpenMoves opens what the passes told up to the one whose directory is given, by its
// index. What a pass told must be as many moves as the next one heard of, and one at least
// for each position, else it is a *store.DamageError.
func OpenMoves(fsys store.FS, dir string, g game.Cyclic) (*Moves, error) {
	index, err := jobdir.ReadIndex(fsys, dir, g)
	if err != nil {
		return nil, err
	}
	m := &Moves{Source: &Source{kind: Parents}}
	heard := int64(0)
	for _, found := range index.Passes {
		if !step.IsForward(found.Step) {
			break
		}
		heard += found.Messages
		if err := m.take(fsys, path.Join(path.Dir(dir), found.Pass), g, heard, found.New[game.Draws]); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	for _, f := range m.files {
		from := 0
		for i := 1; i <= len(f.cells); i++ {
			if i == len(f.cells) || f.cells[i].First < f.cells[i-1].Last {
				m.runs = append(m.runs, run{f, from, i})
				from = i
			}
		}
	}
	return m, nil
}

// take adds what the pass of a directory told, of which so many moves were heard before
// and which found so many positions that are not finished.
func (m *Moves) take(fsys store.FS, dir string, g game.Cyclic, heard, open int64) error {
	if m.Rows() != heard {
		return &store.DamageError{Name: dir, Reason: fmt.Sprintf("it heard of %d moves with those before it, but %d are told there", heard, m.Rows())}
	}
	d, err := OpenDir(fsys, dir, g)
	if err != nil {
		return err
	}
	told, err := OpenTold([]*Dir{d}, 0, Parents)
	if err != nil {
		return err
	}
	if told.Rows() < open {
		err := &store.DamageError{Name: dir, Reason: fmt.Sprintf("it found %d positions that are not finished, but told of %d moves", open, told.Rows())}
		return errors.Join(err, told.Close())
	}
	return m.Take(told)
}

// Memory is how many bytes a MovesReader takes.
func (m *Moves) Memory() int { return len(m.runs) * streamfmt.CellRows * rowBytes }

// rowBytes is what a row takes.
const rowBytes = 16

// A MovesReader finds moves by where they lead. It is one worker's, reads best in
// ascending order, and keeps a cell of each run.
type MovesReader struct {
	m    *Moves
	read streamfmt.CellReader
	kept []keptCell // by run
}

// A keptCell is the cell of a run that was read last.
type keptCell struct {
	number int // -1: none was
	rows   []Row
}

// Reader makes a reader.
func (m *Moves) Reader() *MovesReader {
	return &MovesReader{m: m, kept: slices.Repeat([]keptCell{{number: -1}}, len(m.runs))}
}

var _ step.Moves = (*MovesReader)(nil)

// Parents is step.Moves'. Cells without a move into the set are not read.
func (r *MovesReader) Parents(first game.Position, to block.Set, do func(parent game.Position)) error {
	last := first + uint64(64*len(to)-1)
	for i, run := range r.m.runs {
		cells := run.file.cells[:run.to]
		at := run.from + sort.Search(run.to-run.from, func(j int) bool { return cells[run.from+j].Last >= first })
		for ; at < run.to && cells[at].First <= last; at++ {
			c := &cells[at]
			if from := max(c.First, first) - first; !to.HasAny(int(from), int(min(c.Last, last)-first)) {
				continue
			}
			rows, err := r.cell(i, at)
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

// cell is the rows of a cell of a run.
func (r *MovesReader) cell(i, number int) ([]Row, error) {
	kept, f := &r.kept[i], r.m.runs[i].file
	if kept.number == number {
		return kept.rows, nil
	}
	kept.number = -1
	err := f.with(func(f *file) (err error) {
		kept.rows, err = r.read.Append(kept.rows[:0], f.list, f.cells[number:number+1])
		return err
	})
	if err == nil {
		kept.number = number
	}
	return kept.rows, err
}
