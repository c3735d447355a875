// Package window reads files over a network in windows: more bytes at a time than the reader asks for. It keeps one
// window for each place at which a file is read.
package window

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// maxReaders is the number of places in a file for which a window is kept.
const maxReaders = 16

// A File can be read sequentially and at any offset, also at several offsets concurrently.
type File interface {
	fs.File
	io.ReaderAt
}

// A Source reads a file that is open at one place.
type Source interface {
	// ReadWindow reads len(b) bytes at an offset. After an error, the Source is closed.
	ReadWindow(b []byte, at int64) error
	io.Closer
}

// Sizes are the sizes of windows, in bytes.
type Sizes struct {
	First int // the first window at a place
	Max   int // each window that follows another one has twice its size, up to this

	// Ahead reads the next window while one that follows another is used. A Source is then
	// asked for several windows concurrently.
	Ahead bool
}

// Open returns a file whose first bytes are known. The first place is read by a source that has read them, others by
// sources that open returns. A file that has no more bytes is kept in memory, and the source is closed.
func Open(name string, info fs.FileInfo, head []byte, source Source, open func() Source, sizes Sizes) (File, error) {
	if int64(len(head)) == info.Size() {
		return &small{bytes.NewReader(head), info}, source.Close()
	}
	f := &file{name: name, info: info, open: open, sizes: sizes}
	f.idle = []*reader{f.newReader(source, head)}
	f.Reader = io.NewSectionReader(f, 0, info.Size())
	return f, nil
}

// A small file is a file whose content is in memory.
type small struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *small) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *small) Close() error               { return nil }

// A file is a large file with several readers.
type file struct {
	name  string
	info  fs.FileInfo
	open  func() Source
	sizes Sizes
	io.Reader

	mu     sync.Mutex
	idle   []*reader // least recently used first
	closed bool
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// A reader reads a file at one place, and keeps the window that it read last.
type reader struct {
	source Source
	size   int64 // of the file
	sizes  Sizes
	window []byte
	start  int64
	next   int         // size of the next window
	ahead  chan result // receives the window that is being read ahead; nil: none
}

// A result is a window that was read, or the error.
type result struct {
	window []byte
	err    error
}

func (f *file) newReader(source Source, window []byte) *reader {
	return &reader{source: source, size: f.info.Size(), sizes: f.sizes, window: window, next: f.sizes.First}
}

func (r *reader) end() int64 { return r.start + int64(len(r.window)) }

// fill reads the window that begins at offset at.
func (r *reader) fill(at int64) error {
	follows := at == r.end() && at > 0
	if !follows {
		r.next, r.ahead = r.sizes.First, nil
	}
	var got result
	if r.ahead != nil {
		got = <-r.ahead
	} else {
		got = r.read(r.window, at)
	}
	r.ahead, r.window, r.start = nil, got.window, at
	if got.err != nil || !follows {
		return got.err
	}
	r.next = min(2*r.next, r.sizes.Max)
	if end := r.end(); r.sizes.Ahead && end < r.size {
		ahead := make(chan result, 1)
		r.ahead = ahead
		go func(next reader) { ahead <- next.read(nil, end) }(*r)
	}
	return nil
}

// read reads the next window, at offset at, into b if that is large enough.
func (r *reader) read(b []byte, at int64) result {
	n := int(min(int64(r.next), r.size-at))
	if cap(b) < n {
		b = make([]byte, n)
	}
	err := r.source.ReadWindow(b[:n], at)
	if err != nil {
		n = 0
	}
	return result{b[:n], err}
}

// readAt reads at an offset.
func (r *reader) readAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		place := at + int64(n)
		if place >= r.size {
			return n, io.EOF
		}
		if place < r.start || place >= r.end() {
			if err := r.fill(place); err != nil {
				return n, err
			}
		}
		n += copy(b[n:], r.window[place-r.start:])
	}
	return n, nil
}

// take returns an idle reader whose window includes or ends at the offset at, or the one that has read only a short
// head of the file: its source is open already, and a window there costs as much as by a new one. Otherwise, it returns
// a new reader, or the least recently used one if there are many.
func (f *file) take(at int64) (*reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, f.failure(fs.ErrClosed)
	}
	i := slices.IndexFunc(f.idle, func(r *reader) bool { return r.start <= at && at <= r.end() })
	if i < 0 {
		i = slices.IndexFunc(f.idle, func(r *reader) bool { return r.start == 0 && len(r.window) < f.sizes.First })
	}
	if i < 0 && len(f.idle) < maxReaders {
		return f.newReader(f.open(), nil), nil
	}
	r := f.idle[max(i, 0)]
	f.idle = slices.Delete(f.idle, max(i, 0), max(i, 0)+1)
	return r, nil
}

func (f *file) failure(err error) error { return &fs.PathError{Op: "read", Path: f.name, Err: err} }

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, f.failure(fs.ErrInvalid)
	}
	r, err := f.take(at)
	if err != nil {
		return 0, err
	}
	if n, err = r.readAt(b, at); err != nil && err != io.EOF {
		r.source.Close()
		return n, err
	}
	f.give(r)
	return n, err
}

// give returns a reader to the idle ones, of which it closes the oldest if there are too many.
func (f *file) give(r *reader) {
	f.mu.Lock()
	if !f.closed {
		f.idle = append(f.idle, r)
		r = nil
		if len(f.idle) > maxReaders {
			r = f.idle[0]
			f.idle = slices.Delete(f.idle, 0, 1)
		}
	}
	f.mu.Unlock()
	if r != nil {
		r.source.Close()
	}
}

// Close closes the sources of all idle readers. ReadAt closes those that are at work.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	var errs []error
	for _, r := range f.idle {
		errs = append(errs, r.source.Close())
	}
	f.idle = nil
	return errors.Join(errs...)
}
