package calibrate

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget has the machine forget what it keeps of a file in memory. Where it does not, the
// rate at which the file is read is that of the memory.
func forget(f *os.File) { unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
