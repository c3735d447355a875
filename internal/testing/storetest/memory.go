package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Memory is a file system in memory, for tests that solve a game thousands of times. Each call
// is atomic. Its lock excludes no other driver, like a lease in HDFS that has expired.
type Memory struct {
	// HDFS selects the behaviour of HDFS where it differs from that of a local file system: Create
	// makes the parent directories, and replaces a file that another process writes, which then
	// cannot close it; Open reads a file, so that it can be read to its end although it is replaced;
	// a directory is deleted in one step; the files in it are described when it is listed, not later.
	HDFS bool

	mu   sync.Mutex
	root *node
}

// A node is a file or, if entries is not nil, a directory.
type node struct {
	name    string
	entries map[string]*node
	content []byte
	deleted bool
}

func (n *node) IsDir() bool        { return n.entries != nil }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) Mode() fs.FileMode  { return n.Type() | 0o666 }
func (n *node) Name() string       { return n.name }
func (n *node) Size() int64        { return int64(len(n.content)) }
func (n *node) Sys() any           { return nil }

func (n *node) Type() fs.FileMode {
	if n.IsDir() {
		return fs.ModeDir
	}
	return 0
}

// snapshot returns a copy of the description of a file.
func (n *node) snapshot() *node {
	return &node{name: n.name, entries: n.entries, content: n.content}
}

// find returns a file or a directory. The caller has locked mu.
func (m *Memory) find(name string) (*node, error) {
	if m.root == nil {
		m.root = &node{name: "/", entries: make(map[string]*node)}
	}
	at := m.root
	for _, part := range strings.FieldsFunc(path.Clean("/"+name), func(r rune) bool { return r == '/' }) {
		if !at.IsDir() {
			return nil, syscall.ENOTDIR
		}
		if at = at.entries[part]; at == nil {
			return nil, fs.ErrNotExist
		}
	}
	return at, nil
}

// do performs a call with the directory above a name, and with the file or directory of that name
// if it exists.
func (m *Memory) do(op, name string, call func(above, n *node) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	above, err := m.find(path.Dir(path.Clean(name)))
	if err == nil {
		if above.IsDir() {
			err = call(above, above.entries[path.Base(name)])
		} else {
			err = syscall.ENOTDIR
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// Open opens a file for reading.
func (m *Memory) Open(name string) (f store.File, err error) {
	err = m.do("open", name, func(_, n *node) error {
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.IsDir():
			return store.ErrNotRegular
		}
		if m.HDFS {
			n = n.snapshot()
		}
		f = &memoryFile{m: m, n: n}
		return nil
	})
	return f, err
}

type memoryFile struct {
	m  *Memory
	n  *node
	at int64
}

func (f *memoryFile) Close() error { return nil }

func (f *memoryFile) Stat() (fs.FileInfo, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.n.snapshot(), nil
}

func (f *memoryFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return bytes.NewReader(f.n.content).ReadAt(b, at)
}

// Create creates a file, or replaces an existing one.
func (m *Memory) Create(name string) (w io.WriteCloser, err error) {
	if m.HDFS {
		if err := m.MkdirAll(path.Dir(name)); err != nil {
			return nil, err
		}
	}
	err = m.do("create", name, func(above, n *node) error {
		switch {
		case n != nil && n.IsDir():
			return syscall.EISDIR
		case n == nil || m.HDFS:
			if n != nil {
				n.deleted = true
			}
			n = &node{name: path.Base(name)}
			above.entries[n.name] = n
		default:
			n.content = nil
		}
		w = &memoryWriter{m: m, n: n, name: name}
		return nil
	})
	return w, err
}

type memoryWriter struct {
	m    *Memory
	n    *node
	name string
	at   int // the offset of the next write: another process may write the same file
}

func (w *memoryWriter) Write(b []byte) (int, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	old := w.n.content
	w.n.content = slices.Concat(old[:min(w.at, len(old))], make([]byte, max(0, w.at-len(old))), b, old[min(w.at+len(b), len(old)):])
	w.at += len(b)
	return len(b), nil
}

func (w *memoryWriter) Close() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if w.n.deleted && w.m.HDFS {
		return &fs.PathError{Op: "write", Path: w.name, Err: errors.New("the lease has expired")}
	}
	return nil
}

// ReadDir lists a directory, sorted by name.
func (m *Memory) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = m.do("readdir", name, func(_, n *node) error {
		switch {
		case n == nil:
			return fs.ErrNotExist
		case !n.IsDir():
			return syscall.ENOTDIR
		}
		for _, e := range slices.Sorted(maps.Keys(n.entries)) {
			entries = append(entries, &memoryEntry{n.entries[e].snapshot(), m, path.Join(name, e)})
		}
		return nil
	})
	return entries, err
}

type memoryEntry struct {
	*node
	m    *Memory
	path string
}

func (e *memoryEntry) Info() (fs.FileInfo, error) {
	if e.m.HDFS {
		return e.node, nil
	}
	return e.m.Stat(e.path)
}

// Stat describes a file or a directory.
func (m *Memory) Stat(name string) (info fs.FileInfo, err error) {
	err = m.do("stat", name, func(_, n *node) error {
		if n == nil {
			return fs.ErrNotExist
		}
		info = n.snapshot()
		return nil
	})
	return info, err
}

// Rename moves a file or a directory.
func (m *Memory) Rename(from, to string) error {
	return m.do("rename", from, func(above, n *node) error {
		if n == nil {
			return fs.ErrNotExist
		}
		below, err := m.find(path.Dir(path.Clean(to)))
		if err != nil {
			return err
		}
		if !below.IsDir() {
			return syscall.ENOTDIR
		}
		switch old := below.entries[path.Base(to)]; {
		case old == nil:
		case old.IsDir() && !(m.HDFS && n.IsDir() && len(old.entries) == 0):
			return fs.ErrExist
		case !old.IsDir() && n.IsDir():
			return syscall.ENOTDIR
		default:
			old.deleted = true
		}
		delete(above.entries, n.name)
		n.name = path.Base(to)
		below.entries[n.name] = n
		return nil
	})
}

// RemoveAll deletes a file or a directory with everything in it.
func (m *Memory) RemoveAll(name string) error {
	return missing(m.do("remove", name, func(above, n *node) error {
		if n != nil {
			delete(above.entries, n.name)
			n.delete()
		}
		return nil
	}))
}

func (n *node) delete() {
	n.deleted = true
	for _, e := range n.entries {
		e.delete()
	}
}

// remove deletes a file or an empty directory.
func (m *Memory) remove(name string) error {
	return missing(m.do("remove", name, func(above, n *node) error {
		if n == nil {
			return nil
		}
		if len(n.entries) > 0 {
			return syscall.ENOTEMPTY
		}
		delete(above.entries, n.name)
		n.deleted = true
		return nil
	}))
}

// missing returns err unless it is that of a file that does not exist.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// MkdirAll creates a directory and its parents.
func (m *Memory) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.find("/")
	for _, part := range strings.FieldsFunc(path.Clean("/"+name), func(r rune) bool { return r == '/' }) {
		if at.entries[part] == nil {
			at.entries[part] = &node{name: part, entries: make(map[string]*node)}
		}
		if at = at.entries[part]; !at.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
		}
	}
	return err
}

// Sync returns an error if there is no such file or directory on a local file system.
func (m *Memory) Sync(name string) error {
	if m.HDFS {
		return nil
	}
	_, err := m.Stat(name)
	return err
}

// Lock returns a lock that any number of drivers can have.
func (m *Memory) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Files returns the content of all files below a directory, by path.
func (m *Memory) Files(dir string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]string)
	var add func(at string, n *node)
	add = func(at string, n *node) {
		if !n.IsDir() {
			all[at] = string(n.content)
		}
		for name, e := range n.entries {
			add(path.Join(at, name), e)
		}
	}
	if n, err := m.find(dir); err == nil {
		add("", n)
	}
	return all
}

// Calls is a file system that passes each call to Call, also those of open files. Call performs
// the call with do, or does not, and returns its error.
type Calls struct {
	*Memory
	Call func(what string, do func() error) error
}

var _ store.FS = (*Calls)(nil)

// Open opens a file for reading.
func (c *Calls) Open(name string) (f store.File, err error) {
	err = c.Call("open "+name, func() (err error) { f, err = c.Memory.Open(name); return err })
	if err != nil {
		return nil, err
	}
	return &calledFile{f, c, name}, nil
}

type calledFile struct {
	store.File
	c    *Calls
	name string
}

func (f *calledFile) Read(b []byte) (n int, err error) {
	err = f.c.Call("read "+f.name, func() (err error) { n, err = f.File.Read(b); return err })
	return n, err
}

func (f *calledFile) ReadAt(b []byte, at int64) (n int, err error) {
	err = f.c.Call(fmt.Sprintf("read %s at %d", f.name, at), func() (err error) { n, err = f.File.ReadAt(b, at); return err })
	return n, err
}

// Create creates a file, or replaces an existing one.
func (c *Calls) Create(name string) (w io.WriteCloser, err error) {
	err = c.Call("create "+name, func() (err error) { w, err = c.Memory.Create(name); return err })
	if err != nil {
		return nil, err
	}
	return &calledWriter{w, c, name}, nil
}

type calledWriter struct {
	io.WriteCloser
	c    *Calls
	name string
}

func (w *calledWriter) Write(b []byte) (n int, err error) {
	err = w.c.Call("write "+w.name, func() (err error) { n, err = w.WriteCloser.Write(b); return err })
	return n, err
}

func (w *calledWriter) Close() error { return w.c.Call("close "+w.name, w.WriteCloser.Close) }

// ReadDir lists a directory, sorted by name.
func (c *Calls) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = c.Call("readdir "+name, func() (err error) { entries, err = c.Memory.ReadDir(name); return err })
	return entries, err
}

// Stat describes a file or a directory.
func (c *Calls) Stat(name string) (info fs.FileInfo, err error) {
	err = c.Call("stat "+name, func() (err error) { info, err = c.Memory.Stat(name); return err })
	return info, err
}

// Rename moves a file or a directory.
func (c *Calls) Rename(from, to string) error {
	return c.Call("rename "+from+" "+to, func() error { return c.Memory.Rename(from, to) })
}

// RemoveAll deletes a file or a directory with everything in it: in a local file system, in one
// call for each of them.
func (c *Calls) RemoveAll(name string) error {
	if c.HDFS {
		return c.Call("remove "+name, func() error { return c.Memory.RemoveAll(name) })
	}
	for {
		entries, _ := c.Memory.ReadDir(name)
		for _, e := range entries {
			if err := c.RemoveAll(path.Join(name, e.Name())); err != nil {
				return err
			}
		}
		err := c.Call("remove "+name, func() error { return c.Memory.remove(name) })
		if !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
}

// MkdirAll creates a directory and its parents.
func (c *Calls) MkdirAll(name string) error {
	return c.Call("mkdir "+name, func() error { return c.Memory.MkdirAll(name) })
}

// Sync makes a file durable.
func (c *Calls) Sync(name string) error {
	return c.Call("sync "+name, func() error { return c.Memory.Sync(name) })
}

// Differences returns the names that only one of two maps of files has, or whose contents differ.
func Differences(got, want map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			all = append(all, "left: "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[name]; !ok {
			all = append(all, "missing: "+name)
		} else if text != want[name] {
			all = append(all, "differs: "+name)
		}
	}
	return all
}
