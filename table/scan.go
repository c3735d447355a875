//go:build !js

package table

import (
	"context"
	"iter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// A Batch contains consecutive positions of a tier, in the order of keys, and their values.
// The value of a draw is 0.
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

// A Scan goes through positions of a table in batches, in the order of tiers and keys. It is safe for concurrent use; each
// worker has its own reader.
type Scan struct {
	ctx    context.Context // ends reading
	g      game.Game
	of     Selection
	stored *stored.Scan
}

// Scan returns a scan of the positions of a selection. If it has images that the table does not store, they are first sorted in
// a file. The scan and its readers fail when ctx ends.
func (t *Table) Scan(ctx context.Context, of Selection) (*Scan, error) {
	all, err := t.method.Scan(ctx, of.tier, of.Images)
	return &Scan{ctx, t.g, of, all}, explain(t.g, err)
}

// Len returns the number of batches.
func (s *Scan) Len() int { return s.stored.Len }

// Reader returns a function for one worker that reads batch number i into b, reusing its memory. It is fastest in ascending
// order.
func (s *Scan) Reader() func(i int, b *Batch) error {
	read := s.stored.Reader()
	return func(i int, b *Batch) error {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		if err := read(i, (*stored.Batch)(b)); err != nil {
			return explain(s.g, err)
		}
		n := 0
		for i, p := range b.Positions {
			if v := b.Values[i]; s.of.value(v) && (!s.of.Canonical || game.CanonicalOf(s.g, p) == p) {
				b.Positions[n], b.Values[n] = p, v
				n++
			}
		}
		b.Positions, b.Values = b.Positions[:n], b.Values[:n]
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
