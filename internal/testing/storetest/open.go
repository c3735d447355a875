package storetest

import (
	"sync"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// OpenFiles is a file system that counts the files which are open. It is safe for concurrent use.
type OpenFiles struct {
	store.FS

	mu        sync.Mutex
	now, most int
}

// Counts returns how many files are open now, and how many were at most.
func (o *OpenFiles) Counts() (now, most int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now, o.most
}

// Open implements store.FS.
func (o *OpenFiles) Open(name string) (store.File, error) {
	f, err := o.FS.Open(name)
	if err != nil {
		return nil, err
	}
	o.add(1)
	return openFile{f, o}, nil
}

func (o *OpenFiles) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now += n
	o.most = max(o.most, o.now)
}

type openFile struct {
	store.File
	of *OpenFiles
}

func (f openFile) Close() error {
	f.of.add(-1)
	return f.File.Close()
}
