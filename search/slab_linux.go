package search

import (
	"syscall"
	"unsafe"
)

// newSlab makes the memory of a table. The system is asked for large pages: look-ups go
// all over it. If it has none, nothing is lost. All of it is written to, as a search that
// is timed must not wait for it.
func newSlab(words uint64) []uint64 {
	const page, hugePages = 1 << 12, 14
	slab := make([]uint64, words)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(slab))), len(slab)*8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % page
	if n := uintptr(len(bytes)); n >= skip+page {
		_ = syscall.Madvise(bytes[skip:n-(n-skip)%page], hugePages) // advice only
	}
	clear(slab)
	return slab
}
