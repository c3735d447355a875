// Package remote reads the tables that are beside a site of static files, by requests of parts of their
// files. What opening a table and its files reads is recorded when the site is written: opening a table takes no
// request, and a file one. A look-up in an open file takes at most two: a page of an index and a block.
package remote

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Table describes the table of a data directory for a site.
type Table struct {
	Game  string           `json:"game"`
	Dir   string           `json:"dir"` // the directory that takes its place, from the root of the site
	Files map[string]*File `json:"files"`
	Index int64            `json:"index"` // bytes of IndexFile

	// Where the table is, when it is recorded, and the content of IndexFile.
	fsys  store.FS
	data  string
	index []byte
}

// IndexFile is the name of the file in Dir with what opening the files of the table reads. A browser loads it when it needs it: that of
// Dobutsu shogi has 3.6 MB.
const IndexFile = "index"

// A File is a file of a table, by its path in the data directory.
type File struct {
	Size  int64  `json:"size"`
	Parts []Part `json:"parts"` // that opening the table reads, then those that opening the file reads
}

// A Part is consecutive bytes of a file.
type Part struct {
	At     int64  `json:"at"`
	Length int64  `json:"length"`
	Bytes  []byte `json:"bytes,omitempty"` // nil: they are in IndexFile
	Index  int64  `json:"index,omitempty"` // their offset there
}

// Size returns the number of bytes of all files.
func (t *Table) Size() (all int64) {
	all = t.Index
	for _, f := range t.Files {
		all += f.Size
	}
	return all
}

// A Get returns the bytes from offset from to offset to, which is not included, of a file of size bytes. The
// name is its path from the root of the site.
type Get func(name string, from, to, size int64) ([]byte, error)

const (
	chunk  = 32 << 10 // bytes that a browser reads at a time, at least; neighbouring positions are often in the same
	recent = 256      // reads that are cached
	atOnce = 6        // reads that are made at the same time: a browser has so many connections to a server
)

// FS returns the data directory with the table as a file system, which reads what was not recorded by get. It
// is safe for concurrent use.
func (t *Table) FS(get Get) store.FS {
	return &remoteFS{table: t, get: get, chunk: chunk, places: make(chan struct{}, atOnce)}
}

type remoteFS struct {
	readOnly
	table *Table
	get   Get
	chunk int64 // bytes that are read at a time, at least

	places chan struct{} // has an element for each read that is being made

	mu   sync.Mutex
	read []*read // the newest last
}

// A read is a part that was read, or is being read, of the file of a name.
type read struct {
	name     string
	from, to int64
	bytes    func() ([]byte, error) // waits for it
}

// file returns a file and its information.
func (r *remoteFS) file(op, name string) (*File, info, error) {
	if f := r.table.Files[name]; f != nil {
		return f, info{path.Base(name), f.Size, 0}, nil
	}
	return nil, info{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Open opens a file.
func (r *remoteFS) Open(name string) (store.File, error) {
	f, info, err := r.file("open", name)
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(reader{r, f, path.Join(r.table.Dir, name)}, 0, f.Size), info}, nil
}

// ReadDir lists a directory.
func (r *remoteFS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	for file, f := range r.table.Files {
		if path.Dir(file) == name {
			entries = append(entries, fs.FileInfoToDirEntry(info{path.Base(file), f.Size, 0}))
		}
	}
	return entries, nil
}

// Stat describes a file, or a directory with files.
func (r *remoteFS) Stat(name string) (fs.FileInfo, error) {
	if entries, _ := r.ReadDir(name); len(entries) > 0 {
		return info{path.Base(name), 0, fs.ModeDir}, nil
	}
	_, info, err := r.file("stat", name)
	return info, err
}

// A reader reads a file.
type reader struct {
	fs   *remoteFS
	file *File
	name string // from the root of the site
}

// ReadAt reads bytes that exist.
func (r reader) ReadAt(b []byte, at int64) (int, error) {
	name, size, end, parts := r.name, r.file.Size, at+int64(len(b)), r.file.Parts
	from, to := at, end
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.At <= at && end <= p.At+p.Length }); i >= 0 {
		p := parts[i]
		if p.Bytes != nil {
			return copy(b, p.Bytes[at-p.At:]), nil
		}
		// All parts of the file are read at once.
		name, size, at, end = path.Join(r.fs.table.Dir, IndexFile), r.fs.table.Index, at-p.At+p.Index, end-p.At+p.Index
		first, last := parts[slices.IndexFunc(parts, func(p Part) bool { return p.Bytes == nil })], parts[len(parts)-1]
		from, to = first.Index, last.Index+last.Length
	}
	chunk := r.fs.chunk
	from, to = from-from%chunk, min(to+chunk-1-(to+chunk-1)%chunk, size)
	found := r.fs.part(name, at, end, func() *read {
		return &read{name, from, to, sync.OnceValues(func() ([]byte, error) {
			r.fs.places <- struct{}{}
			bytes, err := r.fs.get(name, from, to, size)
			<-r.fs.places
			if err == nil && int64(len(bytes)) != to-from {
				err = io.ErrUnexpectedEOF
			}
			return bytes, err
		})}
	})
	bytes, err := found.bytes()
	if err != nil { // the next reader tries again
		r.fs.mu.Lock()
		defer r.fs.mu.Unlock()
		r.fs.read = slices.DeleteFunc(r.fs.read, func(d *read) bool { return d == found })
		return 0, err
	}
	return copy(b, bytes[at-found.from:]), nil
}

// part returns the read that has the bytes from at to end of a file, or else a new one.
func (r *remoteFS) part(name string, at, end int64, begin func() *read) *read {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.read, func(d *read) bool { return d.name == name && d.from <= at && end <= d.to })
	if i >= 0 {
		return r.read[i]
	}
	if len(r.read) == recent {
		r.read = slices.Delete(r.read, 0, 1)
	}
	d := begin()
	r.read = append(r.read, d)
	return d
}

// A section is an open file.
type section struct {
	*io.SectionReader
	info fs.FileInfo
}

func (s section) Stat() (fs.FileInfo, error) { return s.info, nil }
func (section) Close() error                 { return nil }

// info is the information about a file.
type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) Sys() any           { return nil }

// readOnly has the methods of a store.FS that write: they fail.
type readOnly struct{}

func (readOnly) Create(string) (io.WriteCloser, error) { return nil, errors.ErrUnsupported }
func (readOnly) Rename(string, string) error           { return errors.ErrUnsupported }
func (readOnly) RemoveAll(string) error                { return errors.ErrUnsupported }
func (readOnly) MkdirAll(string) error                 { return errors.ErrUnsupported }
func (readOnly) Sync(string) error                     { return errors.ErrUnsupported }
func (readOnly) Lock(string) (io.Closer, error)        { return nil, errors.ErrUnsupported }
