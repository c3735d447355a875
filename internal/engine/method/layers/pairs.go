package layers

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path"
	"sort"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// Between mappers and reducers on a cluster, packed rows are pairs, see package streamfmt: the value is a pack file of
// sorted rows of one kind and one partition, the key is the first of their keys. So Hadoop sorts one record for some
// thousand rows.

// pairRows is the maximum number of rows of a pair.
const pairRows = 4 * streamfmt.CellRows

// mapSplits reads the rows of the splits of in, and writes pairs.
func (f *filter) mapSplits(name string, in io.Reader) error {
	add, emit := f.collect(f.writePairs)
	err := step.EachSplit(in, f.o, func(split step.Split, of jobdir.File) error {
		at, kind := step.At(f.o.Tier, f.o.Pass), WritesOf(name, f.g, f.o.Tier).Sent
		sent := strings.HasPrefix(path.Base(split.File), store.OutboxPrefix)
		if !sent {
			at, kind = step.At(f.o.Tier, 0), Predecessors
		}
		s, err := openFiles(at, kind, &file{fsys: f.o.FS, File: of, g: f.g, sent: sent})
		if err != nil {
			return err
		}
		defer s.Close()
		if split.From > split.To || split.To > uint64(s.Cells()) {
			return &store.DamageError{Name: split.File, Reason: fmt.Sprintf("expected %d cells, found %d", split.To, s.Cells())}
		}
		for _, f := range s.files {
			f.cells = f.cells[split.From:split.To]
		}
		return s.Each(func(rows []Row) error {
			f.In += int64(len(rows))
			for _, row := range rows {
				if err := add(row, kind); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return emit()
}

// writePairs writes sorted rows as pairs.
func (f *filter) writePairs(rows []Row, kind Kind) error {
	borders := f.o.Borders
	for len(rows) > 0 {
		for len(borders) > 0 && borders[0] <= rows[0].Key {
			borders = borders[1:]
		}
		n := min(len(rows), pairRows)
		if len(borders) > 0 {
			n = sort.Search(n, func(i int) bool { return rows[i].Key >= borders[0] })
		}
		var packed bytes.Buffer
		var packer streamfmt.Packer
		w := streamfmt.NewWriter(&packed, f.g.Spec(), kind, nil)
		packer.AddRows(f.o.Tier, rows[:n])
		w.Append(&packer) // packed never fails
		w.Close()
		f.Buf = streamfmt.AppendPair(f.Buf, rows[0].Key, packed.Bytes())
		f.Records += int64(n)
		if err := f.Spill(); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// readPairs reads sorted pairs.
func (r *reducer) readPairs(in io.Reader) error {
	pairs := streamfmt.NewPairReader(in, r.o.Source)
	for enough := r.limit / 2; ; {
		first, packed, err := pairs.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case first > 0 && r.rowsHeld() >= enough:
			if err := r.flush(first - 1); err != nil {
				return err
			}
			// The pairs of many mappers may overlap: a row is sorted a few times only.
			enough = max(r.limit/2, 2*r.rowsHeld())
		}
		list, err := streamfmt.OpenFile(bytes.NewReader(packed), int64(len(packed)), r.o.Source)
		if err != nil {
			return err
		}
		cells, err := list.Cells(r.o.Tier)
		switch {
		case err != nil:
			return err
		case list.Spec != r.g.Spec() || list.Kind > Messages || len(cells) == 0 || cells[0].First != first:
			return fmt.Errorf("%s: expected rows of tier %d of %s, found %s of %s", r.o.Source, r.o.Tier, r.g.Spec(), list.Kind, list.Spec)
		}
		if want := r.place(first, cells[len(cells)-1].Last); want != "" {
			return fmt.Errorf("%s: expected %s, found %x", r.o.Source, want, first)
		}
		of := r.held.of(list.Kind)
		for i, c := range cells {
			if *of, err = r.loader.cells.Append(*of, list, cells[i:], math.MaxUint64); err != nil {
				return err
			}
			r.In += int64(c.Records)
		}
	}
}
