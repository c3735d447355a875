package layers

import (
	"cmp"
	"io"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// chunkSize is about the number of encoded bytes that are emitted at a time. It is large,
// so that a worker that waits for the file has enough to write.
const chunkSize = 512 << 10

// pieceRows is the number of rows that are encoded at a time, a multiple of the rows in a
// cell.
const pieceRows = 16 * streamfmt.CellRows

// firstRows is the initial capacity of an outbox, in rows.
const firstRows = 1 << 10

// An Outbox buffers the rows that a worker sends to other tiers, sorts them, and emits them
// as chunks. It is used by one goroutine.
type Outbox struct {
	kind  Kind
	most  int
	emit  func(p *streamfmt.Packer) error
	chunk streamfmt.Packer

	rows    []Row
	to      []uint16     // by row, the receiver, an index into stages
	stages  []step.Stage // pass 0 of all tiers, then others that have received rows
	last    int          // the last tier
	recent  int          // the index of the last stage that receiver has found
	sorter  sorter
	numbers []int // by receiver; where Flush puts its next row
}

// Reset empties an outbox, and makes it buffer up to most rows of a kind, with the memory that it has. emit must not keep
// the chunk.
func (o *Outbox) Reset(g game.Game, kind Kind, most int, emit func(p *streamfmt.Packer) error) {
	o.kind, o.most, o.emit, o.last, o.recent = kind, max(1, most), emit, game.LastTier(g), 0
	n := min(o.most, cap(o.rows), cap(o.to))
	o.rows, o.to, o.stages = o.rows[:0:n], o.to[:0:n], o.stages[:0]
	for tier := range o.last + 1 {
		o.stages = append(o.stages, step.At(tier, 0))
	}
	o.chunk.Reset()
}

// Send adds a row that is sent to a stage, whose tier is at most the last one of the game.
func (o *Outbox) Send(to step.Stage, row Row) error {
	if len(o.rows) == cap(o.rows) {
		if err := o.makeRoom(); err != nil {
			return err
		}
	}
	o.rows = append(o.rows, row)
	o.to = append(o.to, o.receiver(to))
	return nil
}

// receiver returns the index of a stage. There are at most 1<<14 tiers, and 1<<15 passes over one.
func (o *Outbox) receiver(to step.Stage) uint16 {
	if to.Pass() == 0 {
		return uint16(to)
	}
	if o.stages[o.recent] != to {
		i := slices.Index(o.stages[o.last+1:], to)
		if o.recent = o.last + 1 + i; i < 0 {
			o.recent = len(o.stages)
			o.stages = append(o.stages, to)
		}
	}
	return uint16(o.recent)
}

// makeRoom grows the buffer, or flushes it if it has reached its limit.
func (o *Outbox) makeRoom() error {
	if len(o.rows) >= o.most {
		return o.Flush()
	}
	n := min(o.most, max(firstRows, 2*cap(o.rows)))
	o.rows = append(make([]Row, 0, n), o.rows...)
	o.to = append(make([]uint16, 0, n), o.to...)
	return nil
}

// Flush sorts and emits all buffered rows.
func (o *Outbox) Flush() error {
	if len(o.rows) == 0 {
		return nil
	}
	if cap(o.sorter.spare) < len(o.rows) {
		o.sorter.spare = make([]Row, cap(o.rows))
	}
	// A counting sort puts the rows of each receiver together.
	rows, sorted := o.rows, o.sorter.spare[:len(o.rows)]
	o.numbers = slices.Grow(o.numbers[:0], len(o.stages))[:len(o.stages)]
	clear(o.numbers)
	for _, i := range o.to {
		o.numbers[i]++
	}
	sum := 0
	for i, n := range o.numbers {
		o.numbers[i] = sum
		sum += n
	}
	for j, i := range o.to {
		sorted[o.numbers[i]] = rows[j]
		o.numbers[i]++
	}
	from := 0
	for i, to := range o.numbers {
		if from == to {
			continue
		}
		of := sorted[from:to]
		if !inOrder(of) {
			o.sorter.sortWith(of, rows[from:to])
		}
		if err := o.add(o.stages[i], merge(of, o.kind)); err != nil {
			return err
		}
		from = to
	}
	o.rows, o.to = o.rows[:0], o.to[:0]
	return o.emitChunk()
}

// add encodes sorted rows into the chunk. It emits the chunk whenever it is large enough.
func (o *Outbox) add(to step.Stage, rows []Row) error {
	for piece := range slices.Chunk(rows, pieceRows) {
		if o.chunk.AddRows(int(to), piece); len(o.chunk.Bytes) >= chunkSize {
			if err := o.emitChunk(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *Outbox) emitChunk() error {
	if len(o.chunk.Bytes) == 0 {
		return nil
	}
	err := o.emit(&o.chunk)
	o.chunk.Reset()
	return err
}

// merge removes redundant rows from sorted rows, in place. Equal rows become one; messages
// to the same key with the same value become one message, which stands for the sum of their
// moves.
func merge(rows []Row, kind Kind) []Row {
	if len(rows) == 0 {
		return rows
	}
	n := 0
	for _, r := range rows[1:] {
		last := &rows[n]
		if r.Key == last.Key {
			if r.Word == last.Word && kind != Messages {
				continue
			}
			if kind == Messages && ValueOf(r.Word) == ValueOf(last.Word) && TimesOf(r.Word)+TimesOf(last.Word) <= streamfmt.MaxRowTimes {
				last.Word += uint64(TimesOf(r.Word)) << 16
				continue
			}
		}
		n++
		rows[n] = r
	}
	return rows[:n+1]
}

// An OutboxWriter writes the outbox file of one reducer. It is safe for concurrent use.
type OutboxWriter struct {
	create func() (io.WriteCloser, error)
	g      game.Game
	kind   Kind

	mu   sync.Mutex
	file *jobdir.PackWriter // nil before the first chunk
	err  error              // the error that create returned
}

// NewOutboxWriter returns a writer of an outbox file. It calls create when there is something to write.
func NewOutboxWriter(create func() (io.WriteCloser, error), g game.Game, kind Kind) *OutboxWriter {
	return &OutboxWriter{create: create, g: g, kind: kind}
}

// Append writes sorted rows.
func (w *OutboxWriter) Append(p *streamfmt.Packer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file == nil {
		var out io.WriteCloser
		if out, w.err = w.create(); w.err == nil {
			file := jobdir.NewPackWriter(out, w.g, w.kind, nil)
			w.file = &file
		}
	}
	if w.err != nil {
		return w.err
	}
	return w.file.Append(p)
}

// Finish finalizes the file unless err is not nil, and closes it in any case. It returns
// the first error.
func (w *OutboxWriter) Finish(err error) error {
	if err = cmp.Or(err, w.err); w.file != nil {
		err = w.file.Finish(err)
	}
	return err
}
