//go:build !linux

package search

import "errors"

// mostWords is more than a table can have: 2^48 bytes are all addresses.
const mostWords = 1 << 45

// room reports whether there can be so many words.
func room(words int64) error {
	if words > mostWords {
		return errors.New("no machine has so much")
	}
	return nil
}

// newSlab makes the memory of a table.
func newSlab(words int) []uint64 {
	return make([]uint64, words)
}
