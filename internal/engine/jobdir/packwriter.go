package jobdir

import (
	"cmp"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// A PackWriter writes a pack file, and closes it.
type PackWriter struct {
	*streamfmt.Writer
	out io.WriteCloser
}

// NewPackWriter returns a writer of a pack file of a game; see streamfmt.NewWriter.
func NewPackWriter(out io.WriteCloser, g game.Game, kind streamfmt.CellKind, m *streamfmt.Model) PackWriter {
	return PackWriter{streamfmt.NewWriter(out, g.Spec(), kind, m), out}
}

// Finish completes the file unless err is not nil, and closes it in any case. It returns the first error.
func (w PackWriter) Finish(err error) error {
	if err == nil {
		err = w.Close()
	}
	return cmp.Or(err, w.out.Close())
}
