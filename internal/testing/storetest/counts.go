package storetest

import (
	"sync"
	"sync/atomic"

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

// Reads is a file system that counts the calls of ReadAt of its files, and the bytes that they ask for.
type Reads struct {
	store.FS
	Calls, Bytes atomic.Int64
}

// Open implements store.FS.
func (r *Reads) Open(name string) (store.File, error) {
	f, err := r.FS.Open(name)
	return readsFile{f, r}, err
}

type readsFile struct {
	store.File
	of *Reads
}

func (f readsFile) ReadAt(b []byte, at int64) (int, error) {
	f.of.Calls.Add(1)
	f.of.Bytes.Add(int64(len(b)))
	return f.File.ReadAt(b, at)
}
