package streamfmt

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// randomState returns a random state; density is the share of reached positions.
func randomState(r *rand.Rand, n int, density float64) *block.State {
	s := new(block.State)
	s.Reset(n)
	one := make(block.Set, block.Words(n))
	for i := range n {
		if r.Float64() < density {
			s.Reached.Add(i)
			clear(one)
			one.Add(i)
			s.Decide(uint8(r.IntN(4)), r.IntN(block.MaxCount+1), one)
			if n%2 == 0 && r.IntN(3) == 0 {
				s.MakeOdd()
				s.Odd.Add(i)
			}
		}
	}
	return s
}

func equalStates(s, t *block.State) bool {
	p, q := s.Planes(), t.Planes()
	for i := range p {
		if !slices.Equal(p[i], q[i]) {
			return false
		}
	}
	return slices.Equal(s.Odd, t.Odd) || s.Odd.Empty() && t.Odd.Empty()
}

// rangeFile returns a range file of the states, for ranges 3, 6, 9, …
func rangeFile(t testing.TB, n int, states ...*block.State) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(NewRangeWriter(&out, "game a=1"))(t)
	for i, s := range states {
		var p Packer
		p.AddState(uint64(3*i+3), n, s)
		s.Count((*[256]uint64)(&p.Counts))
		must.OK(t, w.Append(&p))
	}
	must.OK(t, w.Close())
	return out.Bytes()
}

// TestRangeFile checks that states are read as they were written, and take at most 1.2 bytes a
// hash.
func TestRangeFile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 63, 64, 729, 59049} {
		var states []*block.State
		for _, density := range []float64{0, 0.001, 0.3, 1} {
			states = append(states, randomState(r, n, density))
		}
		data := rangeFile(t, n, states...)
		if n > 10000 && float64(len(data)) > 1.2*float64(n*len(states)) {
			t.Errorf("%d bytes for %d hashes", len(data), n*len(states))
		}
		if worst := rangeFile(t, n, states[3]); n > 10000 && float64(len(worst)) > 1.2*float64(n) {
			t.Errorf("%d bytes for %d hashes at worst", len(worst), n)
		}
		f := must.Get(OpenRangeFile(bytes.NewReader(data), int64(len(data)), "f"))(t)
		c := f.Cursor(1000)
		var got block.State
		var counts Counts
		for i, want := range states {
			e, ok, err := f.Cursor(0).Find(uint64(3*i + 3))
			if err != nil || !ok {
				t.Fatal(err, ok)
			}
			if err := c.ReadState(e, n, &got); err != nil || !equalStates(&got, want) {
				t.Fatalf("%d slots, state %d: not what was written: %v", n, i, err)
			}
			want.Count((*[256]uint64)(&counts))
		}
		if counts != f.Counts() {
			t.Error("the counts are wrong")
		}
	}
}

// TestRangeFileDamaged checks that a changed byte anywhere is an error of one line that names
// the file.
func TestRangeFileDamaged(t *testing.T) {
	data := rangeFile(t, 100, randomState(rand.New(rand.NewPCG(3, 4)), 100, 0.5))
	if _, err := OpenFile(bytes.NewReader(data), int64(len(data)), "f"); err == nil || !strings.Contains(err.Error(), "not a block file") {
		t.Errorf("as a block file: %v", err)
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x10
		err := readStates(bad, 100)
		if err == nil || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for i := range data {
		if err := readStates(data[:i], 100); err == nil || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	planes := randomState(rand.New(rand.NewPCG(3, 4)), 100, 0.5)
	planes.Reached.Remove(int(planes.Result[0].Append(nil)[0]))
	if err := readStates(rangeFile(t, 100, planes), 100); err == nil || !strings.Contains(err.Error(), "range 0x3") {
		t.Errorf("a result of what is not reached: %v", err)
	}
}

// readStates reads all states of a range file.
func readStates(data []byte, n int) error {
	f, err := OpenRangeFile(bytes.NewReader(data), int64(len(data)), "f")
	if err != nil {
		return err
	}
	entries, err := f.Entries()
	if err != nil {
		return err
	}
	c := f.Cursor(0)
	var s block.State
	for _, e := range entries {
		if err := c.ReadState(e, n, &s); err != nil {
			return err
		}
	}
	return nil
}

// TestInboxPacked packs a random inbox as a pair, and reads it back.
func TestInboxPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var h, got block.Inbox
	for _, n := range []int{1, 64, 729} {
		h.Reset(n)
		for i := range n {
			h.Times.Put(i, r.IntN(block.MaxCount+1))
		}
		h.Some.Add(n - 1)
		must.OK(t, new(Decoder).DecodeInbox(new(Encoder).AppendInbox(nil, n, &h), n, &got))
		p, q := h.Planes(), got.Planes()
		for i := range p {
			if !slices.Equal(p[i], q[i]) {
				t.Errorf("plane %d differs", i)
			}
		}
	}
}

// FuzzDecodePlanes decodes arbitrary bytes. There must be no panic, and planes that decode
// must be equal after packing and decoding them again.
func FuzzDecodePlanes(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 65, 1000} {
		for _, density := range []float64{0, 0.01, 1} {
			planes := randomState(r, n, density).Planes()
			f.Add(new(Encoder).AppendPlanes(nil, n, planes[:]...), n)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n = 1 + n&0xfff
		var s, again block.State
		s.Reset(n)
		planes := s.Planes()
		if new(Decoder).DecodePlanes(data, n, planes[:]...) != nil || checkState(planes[:]) != nil {
			return
		}
		again.Reset(n)
		back := again.Planes()
		if err := new(Decoder).DecodePlanes(new(Encoder).AppendPlanes(nil, n, planes[:]...), n, back[:]...); err != nil || !equalStates(&s, &again) {
			t.Errorf("not the same again: %v", err)
		}
	})
}

// FuzzOpenRangeFile checks that no bytes cause a panic.
func FuzzOpenRangeFile(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	f.Add(rangeFile(f, 100, randomState(r, 100, 0.5), randomState(r, 100, 0)), true)
	f.Add(rangeFile(f, 100), false)
	f.Fuzz(func(t *testing.T, data []byte, mended bool) {
		if mended {
			data = mend(data)
		}
		readStates(data, 100)
	})
}
