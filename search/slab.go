//go:build !linux

package search

// newSlab makes the memory of a table.
func newSlab(words uint64) []uint64 { return make([]uint64, words) }
