package search

import (
	"syscall"
	"unsafe"
)

// room reports whether the system would give so many words: where it does not, the runtime
// ends the program.
func room(words int64) error {
	b, err := syscall.Mmap(-1, 0, int(words*8), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return syscall.Munmap(b)
}

// newSlab makes the memory of a table. The system is asked for large pages: look-ups go
// all over it. If it has none, nothing is lost.
func newSlab(words int) []uint64 {
	const page = 1 << 12
	slab := make([]uint64, words)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(slab))), len(slab)*8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % page
	if n := uintptr(len(bytes)); n >= skip+page {
		_ = syscall.Madvise(bytes[skip:n-(n-skip)%page], syscall.MADV_HUGEPAGE) // advice only
	}
	return slab
}
