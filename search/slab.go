//go:build !linux

package search

// newSlab makes the memory of a table.
func newSlab(words int) []uint64 {
	return make([]uint64, words)
}
