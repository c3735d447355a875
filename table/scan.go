//go:build !js

package table

import (
	"context"
	"iter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
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

// A loaded is a batch that a worker has loaded.
type loaded struct {
	stored.Reader // reads part
	part          *stored.Part
	file          *stored.File
	rng           uint64
	slots         []uint32 // the slots of the stored positions
}

// load loads batch number i into b, whose reader reads ahead the given number of bytes.
func (s *Scan) load(b *loaded, i, ahead int) (err error) {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	n := 0
	for i >= s.parts[n].Len {
		i -= s.parts[n].Len
		n++
	}
	if b.part != s.parts[n] {
		b.part = s.parts[n]
		b.Reader = b.part.Reader(ahead)
	}
	b.file = b.part.File(i)
	b.rng, b.slots, err = b.Load(b.slots[:0], i)
	return explain(s.g, err)
}

// each loads batches on all cores: those whose numbers are in of, or all if it is nil. newDo returns what a worker does with each
// batch that it has loaded into b; i is its index in of.
func (s *Scan) each(of []int, ahead int, newDo func(b *loaded) func(i int) error) error {
	n := s.n
	if of != nil {
		n = len(of)
	}
	return parallel.All(s.ctx, n, func() func(int) error {
		b := new(loaded)
		do := newDo(b)
		return func(i int) error {
			number := i
			if of != nil {
				number = of[i]
			}
			if err := s.load(b, number, ahead); err != nil {
				return err
			}
			return do(i)
		}
	})
}

// wants reports whether a position with a value is described, if its tier is.
func (s *Scan) wants(p game.Position, v game.Value) bool {
	return (s.of.Value == nil || s.of.Value(v)) && (!s.of.Canonical || game.CanonicalOf(s.g, p) == p)
}

// Reader returns a function for one worker that reads batch number i into b, reusing its memory. It is fastest in ascending
// order.
func (s *Scan) Reader() func(i int, b *Batch) error {
	of, images := new(loaded), []game.Position(nil)
	return func(i int, b *Batch) error {
		if err := s.load(of, i, stored.Ahead); err != nil {
			return err
		}
		b.Tier, b.Positions, b.Values = of.file.Tier, b.Positions[:0], b.Values[:0]
		for _, slot := range of.slots {
			p, v := of.At(int(slot))
			images = append(images[:0], p)
			switch {
			case of.Times(int(slot)) > 1:
				images = append(images, s.g.(game.Mirrored).Mirror(p))
			case s.of.Images:
				images = game.ImagesOf(images[:0], s.g, p)
			}
			for _, p := range images {
				if s.wants(p, v) {
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
