package search

import (
	"syscall"
	"unsafe"
)

// checkAddressSpace returns an error if the system would not provide that many words. Without this
// check, the runtime would end the program.
func checkAddressSpace(words int64) error {
	b, err := syscall.Mmap(-1, 0, int(words*8), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return syscall.Munmap(b)
}

// newSlab allocates the memory of a table. It asks the system for huge pages, because
// lookups are spread all over the slab. If there are none, ordinary pages do.
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
