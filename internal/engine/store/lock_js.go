package store

import (
	"errors"
	"os"
)

// flock returns an error: a browser has no locks.
func flock(*os.File) error { return errors.ErrUnsupported }

// AtWork reports that it cannot be determined whether a process works in a data directory.
func AtWork(FS, string) (working, known bool) { return false, false }
