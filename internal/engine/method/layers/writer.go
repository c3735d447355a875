package layers

import (
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/streamfmt"
)

// A PartWriter writes a shard, or a file of the table. Its output does not depend on how
// many rows are appended at a time.
type PartWriter struct {
	jobdir.PackWriter
	tier  int
	kind  Kind
	width int
	chunk streamfmt.Packer
	rest  []Row // rows that wait to be written
}

// NewPartWriter returns a writer of a shard of a tier.
func NewPartWriter(out io.WriteCloser, g game.Game, tier int, kind Kind) *PartWriter {
	return &PartWriter{PackWriter: jobdir.NewPackWriter(out, g, kind, nil), tier: tier, kind: kind, width: streamfmt.KeyWidth(g.KeyBits())}
}

// newTableWriter returns a writer of a file of the table for a tier, whose cells are coded.
func newTableWriter(out io.WriteCloser, g game.Game, tier int) *PartWriter {
	w := NewPartWriter(out, g, tier, Values)
	w.chunk.SetCoded()
	return w
}

// Append writes rows, which must come after all rows written before.
func (w *PartWriter) Append(rows []Row) error {
	for piece := range slices.Chunk(rows, pieceRows) {
		w.rest = append(w.rest, piece...)
		if err := w.spill(); err != nil {
			return err
		}
	}
	return nil
}

// AppendLines reads sorted lines, called source in errors, and writes their rows.
func (w *PartWriter) AppendLines(in io.Reader, source string) error {
	return eachRow(in, source, w.width, nil, []Kind{w.kind}, func(_ []byte, row Row, _ Kind) (string, error) {
		w.rest = append(w.rest, row)
		return "", w.spill()
	})
}

// spill writes buffered rows if there are enough.
func (w *PartWriter) spill() error {
	if len(w.rest) < pieceRows {
		return nil
	}
	err := w.write(w.rest[:pieceRows])
	w.rest = w.rest[:copy(w.rest, w.rest[pieceRows:])]
	return err
}

// write writes rows: a multiple of the rows in a cell, or the last rows.
func (w *PartWriter) write(rows []Row) error {
	w.chunk.Reset()
	w.chunk.AddRows(w.tier, rows)
	if w.kind == Values {
		w.chunk.CountValues(rows)
	}
	return w.PackWriter.Append(&w.chunk)
}

// Finish finalizes the shard unless err is not nil, and closes the file in any case. It
// returns the first error.
func (w *PartWriter) Finish(err error) error {
	if err == nil {
		err = w.write(w.rest)
	}
	return w.PackWriter.Finish(err)
}
