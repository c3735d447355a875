package layers

import (
	"io"

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
	chunk streamfmt.Packer
	rest  []Row // rows that wait to be written
}

// NewPartWriter returns a writer of a shard of a tier.
func NewPartWriter(out io.WriteCloser, g game.Game, tier int, kind Kind) *PartWriter {
	return &PartWriter{PackWriter: jobdir.NewPackWriter(out, g, kind, nil), tier: tier, kind: kind}
}

// Append writes rows, which must come after all rows written before.
func (w *PartWriter) Append(rows []Row) error {
	for len(rows) > 0 {
		n := min(len(rows), pieceRows-len(w.rest))
		w.rest, rows = append(w.rest, rows[:n]...), rows[n:]
		if len(w.rest) == pieceRows {
			if err := w.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the rows that wait: a multiple of the rows in a cell, or the last rows.
func (w *PartWriter) write() error {
	w.chunk.Reset()
	w.chunk.AddRows(w.tier, w.rest)
	if w.kind == Values {
		w.chunk.CountValues(w.rest)
	}
	w.rest = w.rest[:0]
	return w.PackWriter.Append(&w.chunk)
}

// Finish finalizes the shard unless err is not nil, and closes the file in any case. It
// returns the first error.
func (w *PartWriter) Finish(err error) error {
	if err == nil {
		err = w.write()
	}
	return w.PackWriter.Finish(err)
}
