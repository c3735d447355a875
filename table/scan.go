//go:build !js

package table

import (
	"context"
	"iter"
	"slices"
	"sync"

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

// A Scan goes through the positions of a table in batches, in the order of tiers and keys. It
// is safe for concurrent use; each worker has its own reader.
type Scan struct {
	// Images means that all images of each position of a game.Symmetric are read. Otherwise, it is the canonical one.
	// They are sorted first, in a file. Images is set before anything is read.
	Images bool

	ctx    context.Context // ends reading
	table  *Table
	wanted func(tier int) bool

	once   sync.Once
	stored *stored.Scan // see open
	err    error
}

// Scan returns a scan of the tiers for which wanted returns true. It fails when ctx ends, also while
// it sorts the images that a tier does not store.
func (t *Table) Scan(ctx context.Context, wanted func(tier int) bool) (*Scan, error) {
	return &Scan{ctx: ctx, table: t, wanted: wanted}, nil
}

// open returns the scan of the method.
func (s *Scan) open() (*stored.Scan, error) {
	s.once.Do(func() { s.stored, s.err = s.table.method.Scan(s.ctx, s.wanted, s.Images) })
	return s.stored, s.err
}

// Len returns the number of batches.
func (s *Scan) Len() int {
	all, err := s.open()
	if err != nil {
		return 1 // Read returns the error
	}
	return all.Len
}

// mostPlaces is the maximum number of places that Sample draws, because they are in memory; if
// there are more batches than that, their number is the maximum.
const mostPlaces = 4 << 20

// Sample draws n of the positions with wanted values, uniformly at random and without images, and returns them in
// the order of the scan. The same seed gives the same positions. If reading all batches costs
// less, Sample returns ok false and no positions.
func (s *Scan) Sample(ctx context.Context, n, seed uint64, wanted func(game.Value) bool) (picked []Batch, ok bool, err error) {
	type stratum struct {
		*bounded
		tier  int
		count uint64 // number of wanted positions
	}
	var strata []stratum
	var all, ranges uint64
	var places float64 // number of places to draw
	tier := 0
	parts, err := s.table.parts()
	if err != nil {
		return nil, false, err
	}
	for _, part := range parts {
		for i, f := range part.Files {
			var count uint64
			for v, n := range f.Counts {
				if wanted(v) {
					count += n
				}
			}
			if s.wanted(tier) && count > 0 {
				file, err := part.bounded(i)
				if err != nil {
					return nil, false, err
				}
				strata = append(strata, stratum{file, tier, count})
				all += count
				places += float64(file.places())
				ranges += uint64(file.end - file.first)
			}
			tier++
		}
	}
	if places *= float64(n) / float64(all); 4*n > all || places > max(float64(ranges), mostPlaces) {
		return nil, false, nil
	}
	pick := newSample(all, n, seed)
	var first uint64
	for _, f := range strata {
		of, err := f.draw(ctx, pick.among(first, first+f.count), f.count, pick.random(first), wanted)
		if err != nil {
			return nil, false, err
		}
		first += f.count
		if len(of) > 0 {
			picked = append(picked, inOrder(f.tier, of))
		}
	}
	return picked, true, nil
}

// inOrder returns what was drawn from the ranges of a tier, in the order of keys. Images are not in the range of their positions.
func inOrder(tier int, of []drawn) Batch {
	b := Batch{Tier: tier}
	values := make(map[game.Position]game.Value)
	for _, d := range of {
		b.Positions = append(b.Positions, d.positions...)
		for i, p := range d.positions {
			values[p] = d.values[i]
		}
	}
	slices.Sort(b.Positions)
	for _, p := range b.Positions {
		b.Values = append(b.Values, values[p])
	}
	return b
}

// All returns an iterator over all positions of the table, without images, in batches. A batch is valid until
// the next one. After an error, the iterator ends.
func (t *Table) All() iter.Seq2[*Batch, error] {
	scan, err := t.Scan(context.Background(), func(int) bool { return true })
	if err != nil {
		return func(yield func(*Batch, error) bool) { yield(nil, err) }
	}
	return scan.Batches()
}

// Batches is like Table.All, but returns only the batches of the scan.
func (s *Scan) Batches() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		r, b := s.Reader(), new(Batch)
		for i := range s.Len() {
			if err := r.Read(i, b); !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// A ScanReader reads batches of a scan. It is for one worker.
type ScanReader struct {
	scan *Scan
	read func(i int, b *stored.Batch) error // nil before the first Read
}

// Reader returns a new reader.
func (s *Scan) Reader() *ScanReader { return &ScanReader{scan: s} }

// Read reads batch number i into b, reusing its memory. It is fastest in ascending order.
func (r *ScanReader) Read(i int, b *Batch) (err error) {
	all, err := r.scan.open()
	if err == nil {
		err = context.Cause(r.scan.ctx)
	}
	if err != nil {
		return err
	}
	if r.read == nil {
		r.read = all.Reader()
	}
	return explain(r.scan.table.g, r.read(i, (*stored.Batch)(b)))
}
