package table

import (
	"context"
	"iter"

	"github.com/treereduce/treereduce/game"
)

// A Batch is positions of a tier that follow one another in the order of keys, and their
// values. Of a game with cycles the tier is 0, and the value of a draw is 0.
type Batch struct {
	Tier      int
	Positions []game.Position
	Values    []game.Value
}

// A Scan is the positions of a table, in batches, in the order of tiers and keys. It is
// safe for concurrent use; each worker has a Reader of its own.
type Scan struct {
	parts  []*rulesPart
	cells  []scanCell
	wanted func(tier int) bool
}

// A scanCell is where a batch is: a range of a part.
type scanCell struct {
	part, tier int
	rng        uint64
}

// Scan makes a scan of the tiers that are wanted.
func (t *Table) Scan(wanted func(tier int) bool) (*Scan, error) {
	parts, _, err := t.contents.parts()
	if err != nil {
		return nil, err
	}
	s := &Scan{parts: parts, wanted: wanted}
	tier := 0
	for i, part := range parts {
		first := 0
		for _, f := range part.files {
			if wanted(tier) {
				for _, rng := range part.ranges[first:f.end] {
					s.cells = append(s.cells, scanCell{i, tier, rng})
				}
			}
			first = f.end
			tier++
		}
	}
	return s, nil
}

// Len is the number of batches.
func (s *Scan) Len() int { return len(s.cells) }

// mostPlaces is how many places a sample may draw, which are kept in memory, or as many as
// there are batches.
const mostPlaces = 4 << 20

// Sample returns n positions at random of those whose values are wanted, each as likely, in
// the order of the scan; the same for the same seed. ok is false, and there are none, if
// going through all batches costs less.
func (s *Scan) Sample(ctx context.Context, n, seed uint64, wanted func(game.Value) bool) (picked []Batch, ok bool, err error) {
	type stratum struct {
		*bounded
		tier  int
		count uint64 // of positions that are wanted
	}
	var strata []stratum
	var all uint64
	var places float64 // that have to be drawn
	tier := 0
	for _, part := range s.parts {
		for i, f := range part.files {
			var count uint64
			for v, n := range f.counts {
				if wanted(v) {
					count += n
				}
			}
			if s.wanted(tier) && count > 0 {
				file := part.bounded(i)
				strata = append(strata, stratum{file, tier, count})
				all += count
				places += float64(file.places())
			}
			tier++
		}
	}
	if places *= float64(n) / float64(all); 4*n > all || places > max(float64(s.Len()), mostPlaces) {
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
		for _, d := range of {
			picked = append(picked, Batch{f.tier, d.positions, d.values})
		}
	}
	return picked, true, nil
}

// fill makes a batch of slots of the range that a reader has loaded.
func (b *Batch) fill(tier int, reader rulesReader, slots []uint32) {
	b.Tier, b.Positions, b.Values = tier, b.Positions[:0], b.Values[:0]
	for _, slot := range slots {
		p, v := reader.at(int(slot))
		b.Positions = append(b.Positions, p)
		b.Values = append(b.Values, v)
	}
}

// Batches goes through all of them. A batch is good until the next.
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

// A ScanReader reads batches of a scan. It is one worker's.
type ScanReader struct {
	scan   *Scan
	part   int
	reader rulesReader // of that part; nil before the first
	slots  []uint32
}

// Reader makes a reader.
func (s *Scan) Reader() *ScanReader { return &ScanReader{scan: s} }

// Read reads a batch by its number, into memory that b has already. It is quickest in
// ascending order.
func (r *ScanReader) Read(i int, b *Batch) (err error) {
	cell := r.scan.cells[i]
	if r.reader == nil || r.part != cell.part {
		r.part, r.reader = cell.part, r.scan.parts[cell.part].reader(verifyAhead)
	}
	if r.slots, err = r.reader.load(r.slots[:0], cell.rng); err != nil {
		return err
	}
	b.fill(cell.tier, r.reader, r.slots)
	return nil
}
