package pipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestGroup checks that splits have all pieces in order, that none is empty, that there are no
// more splits than requested, and one for each piece if these are few, and that the name of a
// split describes its content.
func TestGroup(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, most := random.IntN(40), 1+random.IntN(12)
		var ps []split
		var want strings.Builder
		for i := range n {
			text := fmt.Sprintf("%d\n", i)
			want.WriteString(text)
			write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
			ps = append(ps, split{fmt.Sprint("file", i/2), int64(random.IntN(4) * random.IntN(1000)), write})
		}
		ss := group(ps, most)
		if len(ss) > most || len(ss) < min(n, 1) || n <= most && len(ss) != n {
			t.Fatalf("%d pieces, %d splits at most: %d splits", n, most, len(ss))
		}
		var got bytes.Buffer
		for _, s := range ss {
			before, next := got.Len(), 0
			must.OK(t, s.write(&got))
			output := got.String()[before:]
			if _, err := fmt.Sscan(output, &next); err != nil {
				t.Fatalf("an empty split: %v", err)
			}
			last := next + strings.Count(output, "\n") - 1
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

// TestGroupEven checks that splits are of about the same size.
func TestGroupEven(t *testing.T) {
	var ps []split
	for range 1000 {
		ps = append(ps, split{"file", 1, func(w io.Writer) error { _, err := w.Write([]byte{'x'}); return err }})
	}
	for _, s := range group(ps, 8) {
		var got bytes.Buffer
		if err := s.write(&got); err != nil || got.Len() < 100 || got.Len() > 150 {
			t.Errorf("%d of 1000 pieces in one of 8 splits, %v", got.Len(), err)
		}
	}
}

// TestAppendRows checks that the output of a reducer becomes a part, and that a line of
// another kind is reported with its number.
func TestAppendRows(t *testing.T) {
	g := must.Get(mnk.New(2, 2, 2))(t)
	for _, test := range []struct {
		kind layers.Kind
		text string
		want string // the error; "": the part has the same lines
	}{
		{layers.Predecessors, "", ""},
		{layers.Predecessors, "00\n", ""},
		{layers.Predecessors, "12\tp02\n12\tp10\n21\tp01\n", ""},
		{layers.Values, "12\t6\n21\t40000\n", ""},
		{layers.Values, "12\t6\n21\tp01\n", `out:2: expected a position with a value, found "21\tp01"`},
		{layers.Predecessors, "12\t6\n", `out:1: expected a position with a predecessor: after the tab p and its key, found "12\t6"`},
		{layers.Predecessors, "12\tp02\nx\n", `out:2: expected a key of 2 hexadecimal digits, then nothing or a tab, found "x"`},
	} {
		for _, codec := range []jobdir.Codec{jobdir.Text, jobdir.Packed} {
			name := filepath.Join(t.TempDir(), jobdir.PartName(0, codec))
			f := must.Get(os.Create(name))(t)
			w := layers.NewPartWriter(f, g, 2, test.kind, codec)
			err := w.Finish(w.AppendLines(strings.NewReader(test.text), "out"))
			if output := fmt.Sprint(err); test.want != "" && output != test.want || test.want == "" && err != nil {
				t.Errorf("%q, %s: %v, want %q", test.text, codec, err, test.want)
			}
			if test.want != "" || codec == jobdir.Text {
				continue
			}
			s := must.Get(layers.OpenFile(store.Local{}, name, g, 2, test.kind, nil))(t)
			var got bytes.Buffer
			for _, p := range packedPieces(runner.Rows{Name: name, Kind: test.kind, Source: s}, 2) {
				err = errors.Join(err, p.write(&got))
			}
			if err := errors.Join(err, s.Close()); err != nil || got.String() != test.text {
				t.Errorf("%q comes back as %q, %v", test.text, &got, err)
			}
		}
	}
}
