package hadoop

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// A fakeReader reads bytes, or fails.
type fakeReader struct {
	*bytes.Reader
	seeks  int
	err    error
	closed *atomic.Int64 // counts calls of Close; may be nil

	reads     chan<- bool // gets a value at the begin of a read; may be nil
	continues <-chan bool // a read waits until it is closed
}

func (r *fakeReader) Read(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.reads != nil {
		r.reads <- true
		<-r.continues
	}
	return r.Reader.Read(b)
}

func (r *fakeReader) Seek(offset int64, whence int) (int64, error) {
	r.seeks++
	return r.Reader.Seek(offset, whence)
}

func (r *fakeReader) Close() error {
	if r.closed != nil {
		r.closed.Add(1)
	}
	return nil
}

// TestReader reads a file at the edges of its windows. To continue needs no seek.
func TestReader(t *testing.T) {
	const size = 3*windowSize + 100
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i ^ i>>8 ^ i>>16)
	}
	in := &fakeReader{Reader: bytes.NewReader(content)}
	r := &reader{in: in, name: "/x", size: size, blockSize: size}
	for _, test := range []struct {
		at       int64
		n, seeks int
	}{
		{0, 1, 0},
		{1, windowSize - 1, 0},     // the rest of the first window
		{windowSize, 10, 0},        // the begin of the second
		{windowSize - 1, 1, 1},     // the byte before it
		{windowSize - 1, 2, 0},     // in one window
		{2*windowSize - 2, 3, 0},   // over the end of this window
		{size - 99, 99, 0},         // the last bytes, after a few that are skipped
		{size - 99, 100, 0},        // and one more, which is not there
		{0, 3*windowSize + 200, 1}, // everything
		{size, 1, 0},               // nothing
	} {
		in.seeks = 0
		b := make([]byte, test.n)
		n, err := r.readAt(b, test.at)
		want := content[test.at:min(test.at+int64(test.n), size)]
		if !bytes.Equal(b[:n], want) || (err == io.EOF) != (len(want) < test.n) || err != nil && err != io.EOF || in.seeks != test.seeks {
			t.Errorf("%d bytes at %d: %d bytes, %v, %d seeks; want %d and %d seeks", test.n, test.at, n, err, in.seeks, len(want), test.seeks)
		}
	}
}

// TestTail checks that the reader that Open has made for the head of a large file reads its tail, too.
func TestTail(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), wholeFile)
	size := int64(len(content))
	in := &fakeReader{Reader: bytes.NewReader(content)}
	head := &reader{in: in, name: "/x", size: size, blockSize: size, window: make([]byte, 0, firstWindow)}
	must.OK(t, head.fill(0))
	f := &file{name: "/x", idle: []*reader{head}} // fs is nil: another reader panics
	for _, at := range []int64{1, size - 20} {
		b := make([]byte, 10)
		if _, err := f.ReadAt(b, at); err != nil || !bytes.Equal(b, content[at:at+10]) {
			t.Errorf("at %d: %q, %v", at, b, err)
		}
	}
	if in.seeks != 1 || len(f.idle) != 1 {
		t.Errorf("%d seeks of %d readers, want 1 of 1", in.seeks, len(f.idle))
	}
}

// TestIdleReaders reads at many places of a file at once: maxIdleReaders readers remain. A reader that is at work when
// the file is closed is closed after its read.
func TestIdleReaders(t *testing.T) {
	const many, size = 4 * maxIdleReaders, 1 << 20
	for _, closes := range []bool{false, true} {
		var closed atomic.Int64
		reads, continues := make(chan bool), make(chan bool)
		f := &file{name: "/x"} // fs is nil: another reader panics
		var begun sync.WaitGroup
		for i := range many {
			at := int64(i) * size / many
			in := &fakeReader{Reader: bytes.NewReader(make([]byte, size)), closed: &closed, reads: reads, continues: continues}
			must.Get(in.Seek(at, io.SeekStart))(t)
			f.idle = append(f.idle, &reader{in: in, name: "/x", size: size, start: at, blockSize: size})
		}
		for i := range many {
			begun.Go(func() {
				if _, err := f.ReadAt(make([]byte, 1), int64(i)*size/many); err != nil {
					t.Error(err)
				}
			})
		}
		for range many {
			<-reads
		}
		left := maxIdleReaders
		if closes {
			left = 0
			must.OK(t, f.Close())
		}
		close(continues)
		begun.Wait()
		if len(f.idle) != left || closed.Load() != int64(many-left) {
			t.Errorf("%d idle readers, want %d; %d of %d are closed", len(f.idle), left, closed.Load(), many)
		}
		if _, err := f.ReadAt(make([]byte, 1), 0); closes && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a read after Close: %v", err)
		}
	}
}

// TestReadFailure checks which errors of data nodes mean that a block is damaged, and which block is named.
func TestReadFailure(t *testing.T) {
	for _, test := range []struct {
		text   string
		reason string // of a DamageError; "": another error
	}{
		{"no available datanodes", "is lost: no data node has it"},
		{"read failed: ERROR (org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException: Replica not found)", "is lost: no data node has it"},
		{"read failed: ERROR (java.io.FileNotFoundException: blk_1 (No such file))", "is lost: no data node has it"},
		{"invalid checksum from the datanode", "is damaged on its data nodes"},
		{"read tcp: i/o timeout", ""},
	} {
		const blockSize = 128 << 20
		r := &reader{in: &fakeReader{err: errors.New(test.text)}, name: "/x", size: 3 * blockSize, start: blockSize, blockSize: blockSize}
		_, err := r.readAt(make([]byte, 1), blockSize)
		damage, place := new(store.DamageError), new(fs.PathError)
		if errors.As(err, &damage) != (test.reason != "") || test.reason == "" && !errors.As(err, &place) {
			t.Errorf("%s: %v", test.text, err)
		}
		if !strings.Contains(err.Error(), "/x") || !strings.Contains(err.Error(), "block 2 of 3") || !strings.HasSuffix(err.Error(), test.reason) {
			t.Errorf("%s: %v, want block 2 of 3, and %q", test.text, err, test.reason)
		}
	}
}
