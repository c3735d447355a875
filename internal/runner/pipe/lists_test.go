package pipe

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGroup wants splits to have all pieces in their order, none to be empty, no more of
// them than asked for, and one of each piece where these are few; and the name of a split
// to say what it has.
func TestGroup(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, most := random.IntN(40), 1+random.IntN(12)
		var ps []piece
		var want strings.Builder
		for i := range n {
			text := fmt.Sprintf("%d\n", i)
			want.WriteString(text)
			write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
			ps = append(ps, piece{split{fmt.Sprint("file", i/2), write}, int64(random.IntN(4) * random.IntN(1000))})
		}
		ss := group(ps, most)
		if len(ss) > most || len(ss) < min(n, 1) || n <= most && len(ss) != n {
			t.Fatalf("%d pieces, %d splits at most: %d splits", n, most, len(ss))
		}
		var got bytes.Buffer
		for _, s := range ss {
			before, next := got.Len(), 0
			if err := s.write(&got); err != nil {
				t.Fatal(err)
			}
			said := got.String()[before:]
			if _, err := fmt.Sscan(said, &next); err != nil {
				t.Fatalf("an empty split: %v", err)
			}
			last := next + strings.Count(said, "\n") - 1
			name := fmt.Sprint("file", next/2)
			if more := last/2 - next/2; more > 0 {
				name += fmt.Sprintf(" and %d more", more)
			}
			if s.source != name {
				t.Errorf("pieces %d to %d are %q, want %q", next, last, s.source, name)
			}
		}
		if got.String() != want.String() {
			t.Fatalf("%d pieces, %d splits at most: %q", n, most, &got)
		}
	}
}

// TestGroupEven wants splits to be of about the same size.
func TestGroupEven(t *testing.T) {
	var ps []piece
	for range 1000 {
		ps = append(ps, piece{split{"file", func(w io.Writer) error { _, err := w.Write([]byte{'x'}); return err }}, 1})
	}
	for _, s := range group(ps, 8) {
		var got bytes.Buffer
		if err := s.write(&got); err != nil || got.Len() < 100 || got.Len() > 150 {
			t.Errorf("%d of 1000 pieces in one of 8 splits, %v", got.Len(), err)
		}
	}
}
