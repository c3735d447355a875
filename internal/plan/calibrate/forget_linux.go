package calibrate

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget asks the kernel to drop a file from its cache. If that fails, the read rate is that
// of the cache.
func forget(f *os.File) { unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
