//go:build !linux

package search

import "errors"

// mostWords is more than a table can have: 2^48 bytes is the whole address space.
const mostWords = 1 << 45

// checkAddressSpace returns an error if a slab of that many words is impossible.
func checkAddressSpace(words int64) error {
	if words > mostWords {
		return errors.New("no machine has that much memory")
	}
	return nil
}

// newSlab allocates the memory of a table.
func newSlab(words int) []uint64 {
	return make([]uint64, words)
}
