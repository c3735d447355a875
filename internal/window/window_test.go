package window

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// someBytes returns n bytes that differ from those at other places.
func someBytes(n int) []byte {
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return content
}

// A remote is a file of which windows are read.
type remote struct {
	content []byte
	opened  atomic.Int64
	closed  atomic.Int64

	mu    sync.Mutex
	asked string // "AT+N" of every window
	err   error
	wait  func() // called at the begin of a read; may be nil
}

// open returns a Source of the file.
func (r *remote) open() Source {
	r.opened.Add(1)
	return &place{r: r}
}

// file returns the File whose head has n bytes.
func (r *remote) file(t *testing.T, n int, sizes Sizes) *file {
	info := must.Get(fs.Stat(fstest.MapFS{"x": {Data: r.content}}, "x"))(t)
	return must.Get(Open("/x", info, bytes.Clone(r.content[:n]), r.open(), r.open, sizes))(t).(*file)
}

// questions returns the windows that were asked for since the last call.
func (r *remote) questions() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = ""
	return asked
}

// A place is a Source of a remote file.
type place struct {
	r      *remote
	closed bool
}

func (p *place) ReadWindow(b []byte, at int64) error {
	if p.r.wait != nil {
		p.r.wait()
	}
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	p.r.asked += fmt.Sprintf(" %d+%d", at, len(b))
	if p.closed || p.r.err != nil {
		return errors.Join(p.r.err, errors.New("/x cannot be read"))
	}
	copy(b, p.r.content[at:at+int64(len(b))])
	return nil
}

func (p *place) Close() error {
	p.closed = true
	p.r.closed.Add(1)
	return nil
}

// TestWindows checks which windows a reader asks for.
func TestWindows(t *testing.T) {
	for _, test := range []struct {
		sizes Sizes
		reads [][3]any // offset, number of bytes, windows
	}{
		{Sizes{First: 100, Max: 100}, [][3]any{
			{0, 10, ""},          // in the head
			{10, 10, " 10+100"},  // after it
			{20, 90, ""},         // the rest of this window
			{110, 1, " 110+100"}, // the next one
			{109, 2, " 109+100"}, // the byte before it takes a new reader
			{208, 3, " 210+100"}, // over the end of the window that was read first
			{950, 60, " 950+50"}, // over the end of the file
			{1000, 1, ""}, {2000, 1, ""},
		}},
		{Sizes{First: 100, Max: 400}, [][3]any{{500, 1, " 500+100"}, {600, 1, " 600+100"}, {700, 1, " 700+200"}, {900, 1, " 900+100"}}},
	} {
		r := &remote{content: someBytes(1000)}
		f := r.file(t, 10, test.sizes)
		for _, read := range test.reads {
			at, b := read[0].(int), make([]byte, read[1].(int))
			n, err := f.ReadAt(b, int64(at))
			want := r.content[min(at, 1000):min(at+len(b), 1000)]
			if !bytes.Equal(b[:n], want) || (err == io.EOF) != (len(want) < len(b)) || err != nil && err != io.EOF {
				t.Errorf("%d bytes at %d: %d bytes, %v", len(b), at, n, err)
			}
			if got := r.questions(); got != read[2] {
				t.Errorf("%d bytes at %d asked for%s, want%s", len(b), at, got, read[2])
			}
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("offset -1: %v", err)
		}
		must.OK(t, f.Close())
		if r.opened.Load() != r.closed.Load() {
			t.Errorf("%d sources are open, %d closed", r.opened.Load(), r.closed.Load())
		}
	}
}

// TestAhead checks that the window after one that follows another is read before a reader asks for it.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &remote{content: someBytes(1000)}
		f := r.file(t, 10, Sizes{First: 10, Max: 400, Ahead: true})
		for _, read := range []struct {
			at   int64
			want string
		}{{10, " 10+10 20+20"}, {19, ""}, {20, " 40+40"}} {
			if _, err := f.ReadAt(make([]byte, 1), read.at); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if got := r.questions(); got != read.want {
				t.Errorf("a byte at %d asked for%s, want%s", read.at, got, read.want)
			}
		}
		must.OK(t, f.Close())
	})
}

// TestRandomReads reads files at random places, from several goroutines.
func TestRandomReads(t *testing.T) {
	for _, sizes := range []Sizes{{First: 100, Max: 100}, {First: 100, Max: 1000}, {First: 100, Max: 1000, Ahead: true}} {
		r := &remote{content: someBytes(100_000)}
		f := r.file(t, 50, sizes)
		var readers sync.WaitGroup
		for seed := range uint64(4) {
			readers.Go(func() {
				random := rand.New(rand.NewPCG(seed, 0))
				at := 0
				for range 1000 {
					if random.IntN(3) == 0 {
						at = random.IntN(len(r.content))
					}
					b := make([]byte, random.IntN(min(300, len(r.content)-at)+1))
					if n, err := f.ReadAt(b, int64(at)); err != nil || !bytes.Equal(b[:n], r.content[at:at+len(b)]) {
						t.Errorf("%+v: %d bytes at %d: %d bytes, %v", sizes, len(b), at, n, err)
					}
					at += len(b)
				}
			})
		}
		readers.Wait()
		all := must.Get(io.ReadAll(f))(t)
		if !bytes.Equal(all, r.content) {
			t.Errorf("%+v: read sequentially, other bytes", sizes)
		}
		must.OK(t, f.Close())
		if r.opened.Load() != r.closed.Load() {
			t.Errorf("%+v: %d sources are open, %d closed", sizes, r.opened.Load(), r.closed.Load())
		}
	}
}

// TestSmall opens files of which the head is all.
func TestSmall(t *testing.T) {
	for _, size := range []int{0, 1, 100} {
		r := &remote{content: someBytes(size)}
		info := must.Get(fs.Stat(fstest.MapFS{"x": {Data: r.content}}, "x"))(t)
		f := must.Get(Open("/x", info, r.content, r.open(), nil, Sizes{}))(t)
		got := must.Get(io.ReadAll(f))(t)
		if !bytes.Equal(got, r.content) || r.closed.Load() != 1 {
			t.Errorf("%d bytes: read %d; %d sources are closed", size, len(got), r.closed.Load())
		}
	}
}

// TestHead checks that the source that has read a short head of a file reads its tail, too.
func TestHead(t *testing.T) {
	for head, opened := range map[int]int64{10: 1, 100: 2} {
		r := &remote{content: someBytes(1000)}
		f := r.file(t, head, Sizes{First: 100, Max: 100})
		for _, at := range []int64{0, 980} {
			b := make([]byte, 10)
			if _, err := f.ReadAt(b, at); err != nil || !bytes.Equal(b, r.content[at:at+10]) {
				t.Errorf("head of %d bytes, at %d: %q, %v", head, at, b, err)
			}
		}
		if n := r.opened.Load(); n != opened {
			t.Errorf("head of %d bytes: %d sources, want %d", head, n, opened)
		}
	}
}

// TestFailure checks that the error of a source is that of the read, and that another source reads after it.
func TestFailure(t *testing.T) {
	r := &remote{content: someBytes(1000), err: errors.New("lost")}
	f := r.file(t, 10, Sizes{First: 100, Max: 100})
	b := make([]byte, 30)
	if n, err := f.ReadAt(b, 0); n != 10 || !errors.Is(err, r.err) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if r.closed.Load() != 1 {
		t.Error("the source is not closed")
	}
	r.err = nil
	if n, err := f.ReadAt(b, 0); err != nil || !bytes.Equal(b[:n], r.content[:30]) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestReaders reads at many places of a file at once: maxReaders readers remain. A source that is at work when the file
// is closed is closed after its read.
func TestReaders(t *testing.T) {
	const many = 4 * maxReaders
	for _, closes := range []bool{false, true} {
		reads, continues := make(chan bool), make(chan bool)
		r := &remote{content: someBytes(100 * many), wait: func() { reads <- true; <-continues }}
		f := r.file(t, 1, Sizes{First: 1, Max: 1})
		var begun sync.WaitGroup
		for i := range many {
			begun.Go(func() {
				if _, err := f.ReadAt(make([]byte, 1), int64(10+100*i)); err != nil {
					t.Error(err)
				}
			})
		}
		for range many {
			<-reads
		}
		left := maxReaders
		if closes {
			left = 0
			must.OK(t, f.Close())
		}
		close(continues)
		begun.Wait()
		if open := r.opened.Load() - r.closed.Load(); len(f.idle) != left || open != int64(left) {
			t.Errorf("%d idle readers, %d open sources, want %d", len(f.idle), open, left)
		}
		if closes {
			if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("a read after Close: %v", err)
			}
		}
	}
}
