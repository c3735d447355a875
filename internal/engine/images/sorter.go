package images

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Place is where bands are stored that do not fit into memory.
type Place struct {
	// FS and Dir are the directory for temporary files. If FS is nil, they are in the directory for
	// temporary files of this machine, and have no names while they are in use.
	FS  store.FS
	Dir string
	// Name begins the names of the files, which differ from place to place.
	Name string
	// Memory is how many bytes images may use at most, see Least.
	Memory int
}

const (
	// entryMemory is the memory of an image: twice, because images are collected while others are
	// sorted, and in the order of ranges.
	entryMemory = 2*8 + 4
	// rowMemory is the memory of a range in a band: its entries in slices and in a map.
	rowMemory = 80
	// chunkLen is the number of images in a piece of memory.
	chunkLen = 1 << 13
	// Least is the least number of bytes that images take.
	Least = 4 * chunkLen * entryMemory
)

// A sorter sorts images by range. It is safe for concurrent use.
type sorter struct {
	g     *game.Half
	tier  int
	kind  Kind
	place Place

	sorting sync.Mutex // held while a band is sorted, before mu
	mu      sync.Mutex // guards the fields below
	filling collection
	free    []*[chunkLen]entry
	bands   []*band
	files   int
}

func newSorter(g *game.Half, tier int, kind Kind, place Place) *sorter {
	place.Memory = max(place.Memory, Least)
	return &sorter{g: g, tier: tier, kind: kind, place: place}
}

// An entry is an image.
type entry struct {
	row  uint32 // its range
	slot uint32 // slot<<8 | value
}

// A collection has images in the order in which they were added.
type collection struct {
	chunks []*[chunkLen]entry
	n      int // entries
	size   int // bytes of rows and tables
	row    map[uint64]uint32
	ranges []uint64 // by row
	counts []int    // by row, the number of images
	tables map[rowsKey][]uint32
}

// unknown is the slot of an image that has not been computed.
const unknown = ^uint32(0)

// add adds the images of the selected positions of a block.
func (s *sorter) add(b *block.Block) error {
	of := s.kind.Of(s.g, s.tier, b.Range)
	if of == nil {
		return nil
	}
	image := s.g.Mirror(b.Range << s.g.LowBits())
	images := s.g.LowImages(b.Low)
	var few [128]uint32
	slots := few[:0] // the slots of the images, by index in images.Lows
	for range images.Lows {
		slots = append(slots, unknown)
	}
	from, without := b.Open, block.Set(nil)
	if s.kind == Values {
		from = b.Done
		_, without = s.g.Stored(s.tier, b.Range)
	}

	s.mu.Lock()
	c := &s.filling
	high := image >> s.g.LowBits()
	rows := c.table(rowsKey{&b.Low[0], high}, len(images.Ranges))
	for i, w := range from {
		w &= of[i]
		if without != nil {
			w &^= without[i]
		}
		if w == 0 {
			continue
		}
		for c.n+64 > len(c.chunks)*chunkLen {
			c.chunks = append(c.chunks, s.chunk())
		}
		for ; w != 0; w &= w - 1 {
			slot := i<<6 + bits.TrailingZeros64(w)
			value := uint32(0)
			if s.kind != Reached {
				if value = uint32(b.Val[slot]); value == 0 {
					continue
				}
			}
			part := images.Range[slot]
			row := rows[part]
			if row == 0 {
				rng := high | images.Ranges[part]
				s.g.Halved.Low(s.tier, rng) // so that Slot can be called
				row = c.rowOf(rng)
				rows[part] = row
			}
			which := uint16(0)
			if images.Low != nil {
				which = images.Low[slot]
			}
			at := slots[which]
			if at == unknown {
				at = uint32(s.g.Slot(uint32(image)&(1<<s.g.LowBits()-1)|images.Lows[which])) << 8
				slots[which] = at
			}
			c.chunks[c.n/chunkLen][c.n%chunkLen] = entry{row, at | value}
			c.n++
			c.counts[row]++
		}
	}
	full := s.full(c)
	s.mu.Unlock()
	if full {
		return s.spill()
	}
	return nil
}

// full reports whether a collection should be written to a file.
func (s *sorter) full(c *collection) bool {
	return c.n*entryMemory+c.size > s.place.Memory-chunkLen*entryMemory
}

// chunk returns memory for images.
func (s *sorter) chunk() *[chunkLen]entry {
	if n := len(s.free); n > 0 {
		last := s.free[n-1]
		s.free = s.free[:n-1]
		return last
	}
	return new([chunkLen]entry)
}

// table returns the rows of the images of a list of low parts; 0: not known yet.
func (c *collection) table(key rowsKey, n int) []uint32 {
	rows := c.tables[key]
	if rows == nil {
		if c.tables == nil {
			c.tables, c.row = make(map[rowsKey][]uint32), make(map[uint64]uint32)
			c.ranges, c.counts = make([]uint64, 1), make([]int, 1) // rows begin with 1
		}
		rows = make([]uint32, n)
		c.tables[key] = rows
		c.size += 4 * n
	}
	return rows
}

// rowOf returns the row of a range.
func (c *collection) rowOf(rng uint64) uint32 {
	row, ok := c.row[rng]
	if !ok {
		row = uint32(len(c.ranges))
		c.row[rng] = row
		c.ranges, c.counts = append(c.ranges, rng), append(c.counts, 0)
		c.size += rowMemory
	}
	return row
}

// spill writes the collected images to a file, unless another goroutine has just done so.
func (s *sorter) spill() error {
	s.sorting.Lock()
	defer s.sorting.Unlock()
	s.mu.Lock()
	c := s.filling
	if c.n == 0 || !s.full(&c) {
		s.mu.Unlock()
		return nil
	}
	s.filling = collection{}
	s.mu.Unlock()
	band, err := s.write(s.sorted(&c))
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.bands = append(s.bands, band)
	s.free = append(s.free, c.chunks...)
	s.mu.Unlock()
	return nil
}

// sorted returns the images of a collection as a band in memory.
func (s *sorter) sorted(c *collection) *band {
	order := make([]uint32, 0, len(c.ranges))
	for row := 1; row < len(c.ranges); row++ {
		if c.counts[row] > 0 {
			order = append(order, uint32(row))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(c.ranges[a], c.ranges[b]) })
	sorted := &band{entries: make([]uint32, c.n), ranges: make([]uint64, len(order)), ends: make([]int, len(order))}
	at := 0
	next := c.counts // by row, where its next image is
	for i, row := range order {
		n := c.counts[row]
		sorted.ranges[i], next[row] = c.ranges[row], at
		at += n
		sorted.ends[i] = at
	}
	for i, left := 0, c.n; left > 0; i++ {
		for _, e := range c.chunks[i][:min(left, chunkLen)] {
			sorted.entries[next[e.row]] = e.slot
			next[e.row]++
		}
		left -= chunkLen
	}
	return sorted
}

// write writes a band in memory to a file.
func (s *sorter) write(from *band) (_ *band, err error) {
	w := s.writer()
	var set block.Set
	var val []byte
	begin := 0
	for i, rng := range from.ranges {
		n := len(s.g.Halved.Low(s.tier, rng))
		if n > len(val) {
			set, val = make(block.Set, block.Words(n)), make([]byte, n)
		}
		words := set[:block.Words(n)]
		clear(words)
		for _, e := range from.entries[begin:from.ends[i]] {
			words.Add(int(e >> 8))
			val[e>>8] = byte(e)
		}
		begin = from.ends[i]
		if err = w.add(rng, words, val); err != nil {
			break
		}
	}
	return w.finish(err)
}

// end ends adding. The images that were added last stay in memory.
func (s *sorter) end() {
	if s.filling.n > 0 {
		s.bands = append(s.bands, s.sorted(&s.filling))
	}
	s.filling, s.free = collection{}, nil
}

// Len returns the number of bands, after Prepare.
func (s *sorter) Len() int {
	if s == nil {
		return 0
	}
	return len(s.bands)
}

// Memory returns the number of bytes of the images that are in memory, after Prepare.
func (s *sorter) Memory() (n int) {
	if s == nil {
		return 0
	}
	for _, b := range s.bands {
		n += 4*len(b.entries) + 16*len(b.ranges)
	}
	return n
}

// Close deletes temporary files.
func (s *sorter) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, b := range s.bands {
		if b.file != nil {
			errs = append(errs, b.file.Close())
		}
		if b.name != "" {
			errs = append(errs, s.place.FS.RemoveAll(b.name))
		}
	}
	s.bands = nil
	return errors.Join(errs...)
}
