package hadoop

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// A fakeReader reads bytes, or fails.
type fakeReader struct {
	*bytes.Reader
	seeks int
	err   error
}

func (r *fakeReader) Read(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.Reader.Read(b)
}

func (r *fakeReader) Seek(offset int64, whence int) (int64, error) {
	r.seeks++
	return r.Reader.Seek(offset, whence)
}

func (r *fakeReader) Close() error { return nil }

// A sized is the FileInfo of a file of this size.
type sized struct {
	fs.FileInfo
	size int64
}

func (i sized) Size() int64 { return i.size }

// TestSource reads windows of a file. To continue, or to skip a few bytes, needs no seek.
func TestSource(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), clientSkips)
	in := &fakeReader{Reader: bytes.NewReader(content)}
	s := &source{in: in, name: "/x", info: sized{size: int64(len(content))}, blockSize: 1 << 20} // fs is nil: to open it again panics
	for _, test := range []struct{ at, n, seeks int }{
		{0, 7, 0},
		{7, 100, 0},
		{117, 100, 0},
		{217 + clientSkips, 100, 0},
		{318 + 2*clientSkips, 100, 1},
		{117, 100, 1},
		{len(content) - 3, 3, 1},
	} {
		in.seeks = 0
		b := make([]byte, test.n)
		if err := s.ReadWindow(b, int64(test.at)); err != nil || !bytes.Equal(b, content[test.at:test.at+test.n]) || in.seeks != test.seeks {
			t.Errorf("%d bytes at %d: %v, %d seeks, want %d", test.n, test.at, err, in.seeks, test.seeks)
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
		s := &source{in: &fakeReader{err: errors.New(test.text)}, name: "/x", info: sized{size: 3 * blockSize}, place: blockSize, blockSize: blockSize}
		err := s.read(make([]byte, 1), blockSize)
		damage, place := new(store.DamageError), new(fs.PathError)
		if errors.As(err, &damage) != (test.reason != "") || test.reason == "" && !errors.As(err, &place) {
			t.Errorf("%s: %v", test.text, err)
		}
		if !strings.Contains(err.Error(), "/x") || !strings.Contains(err.Error(), "block 2 of 3") || !strings.HasSuffix(err.Error(), test.reason) {
			t.Errorf("%s: %v, want block 2 of 3, and %q", test.text, err, test.reason)
		}
	}
}
