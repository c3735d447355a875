package mirror

import (
	"iter"
	"maps"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// A RangeSet is a set of ranges. It consists of pages of bits, so that a few ranges of a large board take
// little memory. The zero value is an empty set.
type RangeSet struct {
	pages map[uint64]block.Set // by the number of a page; those that are not empty
}

const (
	// rangesOfPage is the number of ranges of a page of a RangeSet.
	rangesOfPage = 1 << 12
	// RangePage is the number of bytes of a page of a RangeSet.
	RangePage = rangesOfPage / 8
)

// Add adds a range.
func (s *RangeSet) Add(rng uint64) { s.page(rng / rangesOfPage).Add(int(rng % rangesOfPage)) }

// Union adds the ranges of another set.
func (s *RangeSet) Union(of *RangeSet) {
	for number, page := range of.pages {
		s.page(number).Union(page)
	}
}

func (s *RangeSet) page(number uint64) block.Set {
	page := s.pages[number]
	if page == nil {
		if s.pages == nil {
			s.pages = make(map[uint64]block.Set)
		}
		page = make(block.Set, block.Words(rangesOfPage))
		s.pages[number] = page
	}
	return page
}

// Bytes returns how much memory the set takes.
func (s *RangeSet) Bytes() int { return len(s.pages) * RangePage }

// Cursor returns a cursor of the set, to which no page may be added while it is used.
func (s *RangeSet) Cursor() *RangeCursor {
	c := &RangeCursor{set: s, pages: slices.Sorted(maps.Keys(s.pages))}
	for _, page := range s.pages {
		c.all += page.Count()
	}
	return c
}

// All yields the ranges in ascending order. No page may be added to the set meanwhile.
func (s *RangeSet) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for c := s.Cursor(); ; {
			if rng, ok := c.Next(); !ok || !yield(rng) {
				return
			}
		}
	}
}

// A RangeCursor returns the ranges of a RangeSet in ascending order. It is used by one goroutine at a time.
type RangeCursor struct {
	set       *RangeSet
	pages     []uint64 // the numbers of the page that is being read, and of those after it
	word      int      // the index of the next word of that page
	left      uint64   // the ranges of the word before that Next has not returned
	read, all int      // numbers of ranges
}

// Next returns the next range; ok is false at the end.
func (c *RangeCursor) Next() (rng uint64, ok bool) {
	for c.left == 0 {
		if c.word == block.Words(rangesOfPage) {
			c.word, c.pages = 0, c.pages[1:]
		}
		if len(c.pages) == 0 {
			return 0, false
		}
		c.left = c.set.pages[c.pages[0]][c.word]
		c.word++
	}
	rng = c.pages[0]*rangesOfPage + uint64(c.word-1)<<6 + uint64(bits.TrailingZeros64(c.left))
	c.left &= c.left - 1
	c.read++
	return rng, true
}

// Share returns which share of the ranges Next has returned.
func (c *RangeCursor) Share() float64 { return float64(c.read) / float64(max(1, c.all)) }
