//go:build !js

package table

import (
	"context"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
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
	parts  []*rulesPart
	wanted func(tier int) bool

	once   sync.Once
	files  []scanFile // see all
	err    error
	imaged *imageScan // nil: no images are read
	mu     sync.Mutex
	held   []heldTier // the last two parts that store half of their positions
}

// A heldTier reads all positions of a part.
type heldTier struct {
	part int
	*mirror.Tier
}

// A scanFile is a file of a part, in a scan. Its batches are its ranges.
type scanFile struct {
	part, tier int
	first      int // the index of its first range
	end        int // the number of batches up to its end
	// whole has the ranges of all positions, if half of them are stored; nil: those of the part.
	whole []uint64
}

// Scan returns a scan of the tiers for which wanted returns true. It fails when ctx ends, also while
// it sorts the mirror images of a tier that stores half of its positions.
func (t *Table) Scan(ctx context.Context, wanted func(tier int) bool) (*Scan, error) {
	parts, _, err := t.contents.parts()
	if err != nil {
		return nil, err
	}
	return &Scan{ctx: ctx, table: t, parts: parts, wanted: wanted}, nil
}

// hasImages reports whether the images of positions are read.
func (s *Scan) hasImages() bool {
	_, symmetric := s.table.g.(game.Symmetric)
	return s.Images && symmetric
}

// all returns the files, unless images are read.
func (s *Scan) all() ([]scanFile, error) {
	s.once.Do(func() {
		if t, ok := s.table.contents.(*layerTable); ok && s.hasImages() {
			s.imaged, s.err = t.images(s.ctx, s.table.g.(game.Symmetric), s.wanted)
			return
		}
		tier, end := 0, 0
		for i, part := range s.parts {
			first := 0
			for _, f := range part.files {
				if s.wanted(tier) {
					file := scanFile{part: i, tier: tier, first: first}
					n := f.end - first
					if part.half != nil {
						stored, err := part.half.stored.Ranges()
						if err != nil {
							s.err = err
							return
						}
						file.whole = mirror.AllRanges(part.half.g, part.half.tier, stored)
						n = len(file.whole)
					}
					end += n
					file.end = end
					s.files = append(s.files, file)
				}
				first = f.end
				tier++
			}
		}
	})
	return s.files, s.err
}

// reader returns a reader of all positions of a file.
func (s *Scan) reader(f scanFile) (rulesReader, error) {
	p := s.parts[f.part]
	if p.half == nil {
		return p.reader(verifyAhead), nil
	}
	whole, err := s.hold(f)
	if err == nil {
		err = whole.Prepare(s.ctx)
	}
	if err != nil {
		return nil, err
	}
	return &wholeReader{all: whole.Cursor(verifyAhead)}, nil
}

// hold returns the reader of all positions of a file that stores half of them, which workers share.
func (s *Scan) hold(f scanFile) (*mirror.Tier, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.held, func(h heldTier) bool { return h.part == f.part }); i >= 0 {
		return s.held[i].Tier, nil
	}
	whole, err := s.parts[f.part].half.whole(f.whole)
	if err == nil {
		s.held = slices.Insert(s.held[:min(len(s.held), 1)], 0, heldTier{f.part, whole})
	}
	return whole, err
}

// Len returns the number of batches.
func (s *Scan) Len() int {
	files, err := s.all()
	switch {
	case err != nil:
		return 1 // Read returns the error
	case s.imaged != nil:
		return len(s.imaged.intervals)
	case len(files) == 0:
		return 0
	}
	return files[len(files)-1].end
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
		if f.half != nil {
			of = inOrder(of)
		}
		for _, d := range of {
			picked = append(picked, Batch{f.tier, d.positions, d.values})
		}
	}
	return picked, true, nil
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
	scan   *Scan
	part   int
	reader rulesReader // of part; nil before the first Read
	slots  []uint32
	loader layers.Loader // of images
}

// Reader returns a new reader.
func (s *Scan) Reader() *ScanReader { return &ScanReader{scan: s} }

// Read reads batch number i into b, reusing its memory. It is fastest in ascending order.
func (r *ScanReader) Read(i int, b *Batch) (err error) {
	files, err := r.scan.all()
	if err == nil {
		err = context.Cause(r.scan.ctx)
	}
	if err != nil {
		return err
	}
	if images := r.scan.imaged; images != nil {
		return images.read(&r.loader, i, b)
	}
	n := sort.Search(len(files), func(n int) bool { return files[n].end > i })
	file := files[n]
	if n > 0 {
		i -= files[n-1].end
	}
	if r.reader == nil || r.part != file.part {
		if r.reader, err = r.scan.reader(file); err != nil {
			return err
		}
		r.part = file.part
	}
	var rng uint64
	if file.whole != nil {
		rng = file.whole[i]
	} else if rng, _, err = r.scan.parts[file.part].ranges.at(file.first + i); err != nil {
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
