package hadoop

import (
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/window"
)

const (
	// wholeFile is the size up to which Open reads the complete file: another connection to a
	// data node costs more.
	wholeFile = 256 << 10
	// headSize is the number of bytes of a larger file that Open reads: many callers need the head, and then
	// the tail. windowSize is the number that are read at a time after that: twice what a cursor of a tier asks for.
	headSize, windowSize = 2 << 10, 128 << 10
	// clientSkips is the largest number of bytes that the client skips in Seek without a new connection.
	clientSkips = 64 << 10
)

// Open opens a file for reading, also at several offsets concurrently.
func (f *FS) Open(name string) (store.File, error) {
	s := &source{fs: f, name: name}
	var head []byte
	err := s.open(func() error {
		n := s.info.Size()
		if n > wholeFile {
			n = headSize
		}
		head = make([]byte, n)
		return s.read(head, 0)
	})
	if err != nil {
		return nil, err
	}
	open := func() window.Source { return &source{fs: f, name: name} }
	return window.Open(name, s.info, head, s, open, window.Sizes{First: windowSize, Max: windowSize})
}

// A source reads a file sequentially from an offset. To continue is cheap; to seek takes a new connection to a data
// node.
type source struct {
	fs    *FS
	name  string
	info  fs.FileInfo
	in    io.ReadSeekCloser // nil: not open
	place int64             // of in

	blockSize int64
}

// open opens the file and calls read, as often as FS.open does: a client asks the name node only before its first read.
func (s *source) open(read func() error) error {
	return s.fs.do(func(client *nameClient) error {
		in, err := client.Open(s.name)
		if err != nil {
			return err
		}
		s.in, s.place, s.info = in, 0, in.Stat()
		s.blockSize = int64(s.info.Sys().(*hdfs.FileStatus).GetBlocksize())
		if err = read(); err != nil {
			s.Close()
		}
		return err
	})
}

// ReadWindow implements window.Source. If all replicas of a block fail, it asks the name node again
// where they are: others may have been reported since the file was opened.
func (s *source) ReadWindow(b []byte, at int64) error {
	if s.in != nil {
		err := s.read(b, at)
		if err == nil || refusedByServer(err) {
			return plain(err)
		}
		s.Close()
	}
	return s.open(func() error { return s.read(b, at) })
}

// Close closes the connection, if there is one.
func (s *source) Close() error {
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	return in.Close()
}

// read reads at an offset.
func (s *source) read(b []byte, at int64) error {
	// Do not use ReadAt, or Seek to the current offset: both open a new connection. Do not use Seek to skip
	// at most clientSkips bytes either: the client does not count them, and if the data node fails after that, it
	// continues at a wrong offset.
	if gap := at - s.place; gap > 0 && gap <= clientSkips {
		n, err := io.CopyN(io.Discard, s.in, gap)
		if s.place += n; err != nil {
			return s.failure(err)
		}
	} else if gap != 0 {
		if _, err := s.in.Seek(at, io.SeekStart); err != nil {
			return err
		}
		s.place = at
	}
	n, err := io.ReadFull(s.in, b)
	s.place += int64(n)
	return s.failure(err)
}

// failure returns the error of a failed read, with the names of the file and of the block. If the name node knows no
// replica of the block, or the data node that was asked last has lost or damaged its own, it is a *store.DamageError.
// Otherwise, the data nodes may come back.
func (s *source) failure(err error) error {
	if err == nil {
		return nil
	}
	if refusedByServer(err) {
		return &fs.PathError{Op: "read", Path: s.name, Err: err}
	}
	block := fmt.Sprintf("block %d of %d", s.place/s.blockSize+1, (s.info.Size()-1)/s.blockSize+1)
	text := err.Error()
	has := func(what string) bool { return strings.Contains(text, what) }
	switch { // by text, as the client's errors are of no other type
	case has("no available datanodes"), has("ReplicaNotFoundException"), has("FileNotFoundException"):
		return &store.DamageError{Name: s.name, Reason: block + " is lost: no data node has it"}
	case has("invalid checksum"):
		return &store.DamageError{Name: s.name, Reason: block + " is damaged on its data nodes"}
	}
	return &fs.PathError{Op: "read", Path: s.name, Err: fmt.Errorf("%s: %w", block, err)}
}
