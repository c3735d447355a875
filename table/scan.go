package table

import (
	"context"
	"iter"
	"sort"

	"github.com/treereduce/treereduce/game"
)

// A Batch contains consecutive positions of a tier, in the order of keys, and their values.
// For a game with cycles the tier is 0, and the value of a draw is 0.
type Batch struct {
	Tier      int
	Positions []game.Position
	Values    []game.Value
}

// A Scan goes through the positions of a table in batches, in the order of tiers and keys. It
// is safe for concurrent use; each worker has its own reader.
type Scan struct {
	parts  []*rulesPart
	files  []scanFile
	wanted func(tier int) bool
}

// A scanFile is a file of a part, in a scan. Its batches are its ranges.
type scanFile struct {
	part, tier int
	first      int // the index of its first range
	end        int // the number of batches up to its end
}

// Scan returns a scan of the tiers for which wanted returns true.
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
				s.files = append(s.files, scanFile{i, tier, first, s.Len() + f.end - first})
			}
			first = f.end
			tier++
		}
	}
	return s, nil
}

// Len returns the number of batches.
func (s *Scan) Len() int {
	if len(s.files) == 0 {
		return 0
	}
	return s.files[len(s.files)-1].end
}

// mostPlaces is the maximum number of places that Sample draws, because they are in memory; if
// there are more batches than that, their number is the maximum.
const mostPlaces = 4 << 20

// Sample draws n of the positions with wanted values, uniformly at random, and returns them in
// the order of the scan. The same seed gives the same positions. If reading all batches costs
// less, Sample returns ok false and no positions.
func (s *Scan) Sample(ctx context.Context, n, seed uint64, wanted func(game.Value) bool) (picked []Batch, ok bool, err error) {
	type stratum struct {
		*bounded
		tier  int
		count uint64 // number of wanted positions
	}
	var strata []stratum
	var all uint64
	var places float64 // number of places to draw
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
				file, err := part.bounded(i)
				if err != nil {
					return nil, false, err
				}
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

// All returns an iterator over all positions of the table, in batches. A batch is valid until
// the next one. After an error, the iterator ends.
func (t *Table) All() iter.Seq2[*Batch, error] {
	scan, err := t.Scan(func(int) bool { return true })
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
	scan   *Scan
	part   int
	reader rulesReader // of part; nil before the first Read
	slots  []uint32
}

// Reader returns a new reader.
func (s *Scan) Reader() *ScanReader { return &ScanReader{scan: s} }

// Read reads batch number i into b, reusing its memory. It is fastest in ascending order.
func (r *ScanReader) Read(i int, b *Batch) (err error) {
	files := r.scan.files
	n := sort.Search(len(files), func(n int) bool { return files[n].end > i })
	file := files[n]
	if n > 0 {
		i -= files[n-1].end
	}
	part := r.scan.parts[file.part]
	if r.reader == nil || r.part != file.part {
		r.part, r.reader = file.part, part.reader(verifyAhead)
	}
	rng, _, err := part.ranges.at(file.first + i)
	if err != nil {
		return err
	}
	if r.slots, err = r.reader.load(r.slots[:0], rng); err != nil {
		return err
	}
	b.Tier, b.Positions, b.Values = file.tier, b.Positions[:0], b.Values[:0]
	for _, slot := range r.slots {
		p, v := r.reader.at(int(slot))
		b.Positions, b.Values = append(b.Positions, p), append(b.Values, v)
	}
	return nil
}
