//go:build !js

package table

import (
	"context"
	"iter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// A Batch contains positions of a tier, in the order in which the table stores them, and their values. Each stored position
// is followed by its images, if they are wanted. The value of a draw is 0.
type Batch struct {
	Tier      int
	Positions []game.Position
	Values    []game.Value
}

// A Selection describes positions of a table. The zero Selection describes those that Table.Counts counts.
type Selection struct {
	Tier  func(tier int) bool     // the tiers; nil: all
	Value func(v game.Value) bool // the values; nil: all
	// Images means all images of each position of a game.Symmetric; otherwise, it is the canonical one.
	Images bool
	// Canonical means only the canonical one of the images of each position, also of a game.Mirrored.
	Canonical bool
}

// tier reports whether positions of a tier are described.
func (of *Selection) tier(n int) bool { return of.Tier == nil || of.Tier(n) }

// value reports whether positions with a value are described.
func (of *Selection) value(v game.Value) bool { return of.Value == nil || of.Value(v) }

// A Scan goes through positions of a table in batches, in the order of tiers. It is safe for concurrent use; each worker has
// its own reader.
type Scan struct {
	ctx   context.Context // ends reading
	g     game.Game
	of    Selection
	parts []*stored.Part // their ranges are the batches
	n     int
}

// Scan returns a scan of the positions of a selection. The scan and its readers fail when ctx ends.
func (t *Table) Scan(ctx context.Context, of Selection) (*Scan, error) {
	parts, err := t.method.Parts(of.tier)
	s := &Scan{ctx: ctx, g: t.g, of: of, parts: parts}
	for _, part := range parts {
		s.n += part.Len
	}
	return s, explain(t.g, err)
}

// Len returns the number of batches.
func (s *Scan) Len() int { return s.n }

// Reader returns a function for one worker that reads batch number i into b, reusing its memory. It is fastest in ascending
// order.
func (s *Scan) Reader() func(i int, b *Batch) error { return s.reader(stored.Ahead) }

// reader is like Reader, and reads ahead the given number of bytes.
func (s *Scan) reader(ahead int) func(i int, b *Batch) error {
	var part *stored.Part
	var reader stored.Reader // of part
	var slots []uint32
	var images []game.Position
	return func(i int, b *Batch) (err error) {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		n := 0
		for i >= s.parts[n].Len {
			i -= s.parts[n].Len
			n++
		}
		if s.parts[n] != part {
			part = s.parts[n]
			reader = part.Reader(ahead)
		}
		if _, slots, err = reader.Load(slots[:0], i); err != nil {
			return explain(s.g, err)
		}
		b.Tier, b.Positions, b.Values = part.File(i).Tier, b.Positions[:0], b.Values[:0]
		for _, slot := range slots {
			p, v := reader.At(int(slot))
			if !s.of.value(v) {
				continue
			}
			images = append(images[:0], p)
			switch {
			case part.Images > 1 && reader.Times(int(slot)) > 1:
				images = append(images, s.g.(game.Mirrored).Mirror(p))
			case s.of.Images:
				images = game.ImagesOf(images[:0], s.g, p)
			}
			for _, p := range images {
				if !s.of.Canonical || game.CanonicalOf(s.g, p) == p {
					b.Positions, b.Values = append(b.Positions, p), append(b.Values, v)
				}
			}
		}
		return nil
	}
}

// Batches returns an iterator over the batches. A batch is valid until the next one. After an error, the iterator ends.
func (s *Scan) Batches() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		read, b := s.Reader(), new(Batch)
		for i := range s.Len() {
			if err := read(i, b); !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// All returns an iterator over all positions of the table, without images, as Scan.Batches does.
func (t *Table) All() iter.Seq2[*Batch, error] {
	scan, err := t.Scan(context.Background(), Selection{})
	if err != nil {
		return func(yield func(*Batch, error) bool) { yield(nil, err) }
	}
	return scan.Batches()
}
