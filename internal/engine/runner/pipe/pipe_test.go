package pipe

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestGroup checks that splits have all pieces in order, that none is empty, that there are no
// more splits than requested, and one for each piece if these are few, and that the name of a
// split describes its content.
func TestGroup(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, most := random.IntN(40), 1+random.IntN(12)
		var ps []runner.Piece
		var want strings.Builder
		for i := range n {
			text := fmt.Sprintf("%d\n", i)
			want.WriteString(text)
			write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
			ps = append(ps, runner.Piece{Source: fmt.Sprint("file", i/2), Size: int64(random.IntN(4) * random.IntN(1000)), Write: write})
		}
		ss := group(ps, most)
		if len(ss) > most || len(ss) < min(n, 1) || n <= most && len(ss) != n {
			t.Fatalf("%d pieces, %d splits at most: %d splits", n, most, len(ss))
		}
		var got bytes.Buffer
		for _, s := range ss {
			before, next := got.Len(), 0
			must.OK(t, s.Write(&got))
			output := got.String()[before:]
			if _, err := fmt.Sscan(output, &next); err != nil {
				t.Fatalf("an empty split: %v", err)
			}
			last := next + strings.Count(output, "\n") - 1
			name := fmt.Sprint("file", next/2)
			if more := last/2 - next/2; more > 0 {
				name += fmt.Sprintf(" and %d more", more)
			}
			if s.Source != name {
				t.Errorf("pieces %d to %d are %q, want %q", next, last, s.Source, name)
			}
		}
		if got.String() != want.String() {
			t.Fatalf("%d pieces, %d splits at most: %q", n, most, &got)
		}
	}
}

// TestGroupEven checks that splits are of about the same size.
func TestGroupEven(t *testing.T) {
	var ps []runner.Piece
	for range 1000 {
		ps = append(ps, runner.Piece{Source: "file", Size: 1, Write: func(w io.Writer) error { _, err := w.Write([]byte{'x'}); return err }})
	}
	for _, s := range group(ps, 8) {
		var got bytes.Buffer
		if err := s.Write(&got); err != nil || got.Len() < 100 || got.Len() > 150 {
			t.Errorf("%d of 1000 pieces in one of 8 splits, %v", got.Len(), err)
		}
	}
}
