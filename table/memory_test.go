package table

import (
	"bytes"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// memory is a file system in memory, for tests that write many small tables. The data
// directory is ".".
type memory struct{ fstest.MapFS }

func newMemory() memory { return memory{make(fstest.MapFS)} }

func (m memory) Open(name string) (store.File, error) {
	f, err := m.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	return f.(store.File), nil
}

// created is a file that appears when it is closed.
type created struct {
	bytes.Buffer
	m    memory
	name string
}

func (c *created) Close() error {
	c.m.MapFS[c.name] = &fstest.MapFile{Data: c.Bytes()}
	return nil
}

func (m memory) Create(name string) (io.WriteCloser, error) { return &created{m: m, name: name}, nil }

func (m memory) Rename(from, to string) error {
	if m.MapFS[from] == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	m.MapFS[to] = m.MapFS[from]
	delete(m.MapFS, from)
	return nil
}

func (m memory) RemoveAll(name string) error             { delete(m.MapFS, name); return nil }
func (m memory) MkdirAll(string) error                   { return nil }
func (m memory) Sync(string) error                       { return nil }
func (m memory) Lock(string) (closer io.Closer, _ error) { return io.NopCloser(nil), nil }

// write creates a file.
func (m memory) write(t *testing.T, name string, content []byte) {
	t.Helper()
	must.OK(t, store.WriteFile(m, name, content))
}

// seal seals the table.
func (m memory) seal(t *testing.T, game string) {
	t.Helper()
	must.OK(t, Seal(m, ".", game))
}
