package table

import (
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
	parts []*rulesPart
	cells []scanCell
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
	s := &Scan{parts: parts}
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
		r.part, r.reader = cell.part, r.scan.parts[cell.part].reader()
	}
	if r.slots, err = r.reader.load(r.slots[:0], cell.rng); err != nil {
		return err
	}
	b.Tier, b.Positions, b.Values = cell.tier, b.Positions[:0], b.Values[:0]
	for _, slot := range r.slots {
		p, v := r.reader.at(int(slot))
		b.Positions = append(b.Positions, p)
		b.Values = append(b.Values, v)
	}
	return nil
}
