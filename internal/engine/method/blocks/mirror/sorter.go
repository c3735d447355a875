package mirror

import (
	"errors"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game/block"
)

// A Place is where bands are stored.
type Place struct {
	// Dir is a directory of this machine for temporary files. If it is empty or cannot be written, it is that of the system.
	Dir string
	// Memory is how many bytes images may use at most while they are sorted, see least. They use fewer until there are many bands.
	Memory int
	// Keep is how many bytes of images may stay in memory then.
	Keep int
	// Blocks is the memory for blocks whose messages need not be stored in bands. It may be nil.
	Blocks *block.Memory
}

const (
	// rowMemory is the memory of a blockRow without its bytes, and columnMemory that of a column.
	rowMemory    = 64
	columnMemory = 16
	// least is the least number of bytes that images take.
	least = 1 << 20
)

// A sorter sorts images by range. It is safe for concurrent use.
type sorter struct {
	g     *Half
	tier  int
	kind  Kind
	place Place

	idle    chan *transposed // the memory for bands that are being sorted
	mu      sync.Mutex       // guards the fields below
	filling collection
	bands   []*band
	files   int
	reached RangeSet // the ranges of images, unless the kind is Scores
}

func newSorter(g *Half, tier int, kind Kind, place Place) *sorter {
	place.Memory = max(place.Memory, least)
	s := &sorter{g: g, tier: tier, kind: kind, place: place, idle: make(chan *transposed, sorters)}
	for range sorters {
		s.idle <- new(transposed)
	}
	return s
}

// A collection has the selected positions of blocks, by the ranges of their images.
type collection struct {
	classes map[rowsKey]*class
	images  int
	memory  int // bytes that it takes, and its images in a band
}

// A class has the blocks whose images are in the same ranges. It is a matrix: a row is a block, a
// column is a slot. All images of a column are in one range, so the transposed matrix has the images
// by range.
type class struct {
	images *lowImages
	high   uint64 // the part of the range of an image that its slot does not determine
	rows   []blockRow
	n      int // number of images
}

// A blockRow is the selected positions of a block.
type blockRow struct {
	low uint32 // the part of the low part of an image that its slot does not determine
	set block.Set
	val []byte // by slot, unless the kind is Reached
}

// add adds the images of the selected positions of a block.
func (s *sorter) add(b *block.Block) error {
	of := s.kind.Of(s.g, s.tier, b.Range)
	if of == nil {
		return nil
	}
	from, without := b.Open, block.Set(nil)
	if s.kind == Values {
		from = b.Done
		_, without = s.g.Stored(s.tier, b.Range)
	}
	selected := slices.Clone(from)
	selected.Intersect(selected, of)
	for i, w := range without {
		selected[i] &^= w
	}
	n := selected.Count()
	if n == 0 {
		return nil
	}
	image := s.g.Mirror(b.Range << s.g.LowBits())
	key := rowsKey{&b.Low[0], image >> s.g.LowBits()}
	row := blockRow{low: uint32(image) & (1<<s.g.LowBits() - 1), set: selected}
	if s.kind != Reached {
		row.val = slices.Clone(b.Val)
	}

	s.mu.Lock()
	c := &s.filling
	in := c.classes[key]
	if in == nil {
		if c.classes == nil {
			c.classes = make(map[rowsKey]*class)
		}
		in = &class{images: s.g.lowImages(b.Low), high: key.high}
		c.classes[key] = in
	}
	columns := min(in.n, len(b.Low)) // at most
	in.n += n
	c.memory += columnMemory * (min(in.n, len(b.Low)) - columns)
	in.rows = append(in.rows, row)
	c.images += n
	c.memory += rowMemory + 8*len(row.set) + len(row.val) + n*s.kind.size()
	full := s.full(c)
	s.mu.Unlock()
	if full {
		return s.spill()
	}
	return nil
}

// size returns the number of bytes of most images in a band.
func (k Kind) size() int {
	if k == Reached {
		return 1
	}
	return 2
}

const (
	// firstMemory is the greatest number of bytes that images use at first. It doubles after every
	// bandsOfMemory bands in files.
	firstMemory   = 64 << 20
	bandsOfMemory = 16
)

// sorters is the number of bands that are sorted at a time.
const sorters = 2

// full reports whether a collection should be written to a file: another one may be filled while
// sorters are sorted. The caller holds mu.
func (s *sorter) full(c *collection) bool {
	most := min(s.place.Memory, firstMemory<<min(s.files/bandsOfMemory, 16))
	return (sorters+1)*c.memory > most || c.memory > mostCollected
}

// mostCollected is the largest number of bytes of a collection: offsets in its images have 32 bits. The
// images take less than twice as many bytes: a gap takes two, and the few that take three skip 16,384
// slots each, of the at most 352,716 of a range.
const mostCollected = 1 << 31

// spill writes the collected images to a file, unless another goroutine has just done so.
func (s *sorter) spill() error {
	t := <-s.idle
	defer func() { s.idle <- t }()
	s.mu.Lock()
	c := s.filling
	if !s.full(&c) {
		s.mu.Unlock()
		return nil
	}
	s.filling = collection{}
	s.mu.Unlock()
	return s.sort(t, &c, false)
}

// sort makes a band of the images of a collection, which keep leaves in memory.
func (s *sorter) sort(t *transposed, c *collection, keep bool) error {
	t.columns, t.bytes = t.columns[:0], slices.Grow(t.bytes[:0], c.images*s.kind.size())
	for _, of := range c.classes {
		t.add(s, of)
	}
	slices.SortFunc(t.columns, compareColumns)
	if s.kind != Scores {
		s.mu.Lock()
		for _, of := range t.columns {
			s.reached.Add(of.rng)
		}
		s.mu.Unlock()
	}
	w, err := s.writer(keep), error(nil)
	for _, of := range t.columns {
		if err = w.append(of.rng, t.bytes[of.at:of.end]); err != nil {
			break
		}
	}
	return w.finish(err)
}

// end ends adding. The images that were added last stay in memory if they fit.
func (s *sorter) end() error {
	c := s.filling
	s.filling = collection{}
	for range sorters {
		<-s.idle // its memory is released
	}
	return s.sort(new(transposed), &c, c.images*s.kind.size() <= s.place.Keep)
}

// Len returns the number of bands, after Prepare.
func (s *sorter) Len() int { return len(s.bands) }

// Memory returns the number of bytes of the images and blocks that are in memory, after Prepare.
func (s *sorter) Memory() (n int) {
	if s.place.Blocks != nil {
		n = s.place.Blocks.Used()
	}
	for _, b := range s.bands {
		for _, p := range b.pages {
			n += len(p.bytes)
		}
	}
	return n
}

// Close deletes temporary files.
func (s *sorter) Close() error {
	var errs []error
	for _, b := range s.bands {
		if b.file != nil {
			errs = append(errs, closeTemporary(b.file))
		}
	}
	s.bands = nil
	return errors.Join(errs...)
}
