//go:build !linux

package search

// newSlab makes the memory of a table. All of it is written to, as a search that is timed
// must not wait for it.
func newSlab(words uint64) []uint64 {
	slab := make([]uint64, words)
	clear(slab)
	return slab
}
