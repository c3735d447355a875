package storetest

import (
	"errors"
	"io"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// Unclosed is a file system whose new files cannot be closed without an error, as on a full disk.
type Unclosed struct {
	store.FS
	Err error
}

// Create implements store.FS.
func (u Unclosed) Create(name string) (io.WriteCloser, error) {
	f, err := u.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return unclosedFile{f, u.Err}, nil
}

type unclosedFile struct {
	io.WriteCloser
	err error
}

func (f unclosedFile) Close() error { return errors.Join(f.WriteCloser.Close(), f.err) }
