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

// mapInputs divides the rows of sources among at most n mappers. A split is consecutive cells of a file.
func mapInputs(n int, sources ...*Source) (inputs []step.MapInput) {
	all, rows := int64(0), int64(0)
	for _, s := range sources {
		all += s.rows
	}
	for _, s := range sources {
		for _, f := range s.files {
			for i, c := range f.cells {
				if rows >= all*int64(len(inputs))/int64(n) {
					inputs = append(inputs, step.MapInput{Place: step.Place{File: f.name, At: int64(c.Offset)}})
				}
				in, at := &inputs[len(inputs)-1], uint64(i)
				if last := len(in.Splits) - 1; last >= 0 && in.Splits[last].File == f.name {
					in.Splits[last].To = at + 1
				} else {
					in.Splits = append(in.Splits, step.Split{File: f.name, From: at, To: at + 1})
				}
				rows += int64(c.Records)
			}
		}
	}
	return inputs
}

// mapSplits reads the rows of the splits of in, and writes pairs.
func (f *filter) mapSplits(name string, in io.Reader) error {
	var seals jobdir.Seals
	var loader Loader
	var rows []Row
	add, emit := f.collect(f.writePairs)
	err := step.EachSplit(in, f.o.Source, func(split step.Split) error {
		seal, err := seals.Of(f.o.FS, split.File)
		if err != nil {
			return err
		}
		box := &file{fsys: f.o.FS, name: split.File, seal: seal, g: f.g}
		at, kind := step.At(f.o.Tier, f.o.Pass), WritesOf(name, f.g, f.o.Tier).Sent
		part := strings.HasPrefix(path.Base(split.File), store.PartPrefix)
		if part {
			at, kind = step.At(f.o.Tier, 0), Predecessors
		}
		s, err := openSource([]*file{box}, int(at), kind, part)
		if err != nil {
			return err
		}
		defer s.Close()
		if split.To > uint64(s.Cells()) {
			return &store.DamageError{Name: split.File, Reason: fmt.Sprintf("expected %d cells, found %d", split.To, s.Cells())}
		}
		const cells = pieceRows / streamfmt.CellRows
		for i := int(split.From); i < int(split.To); i += cells {
			if rows, err = loader.stretch(rows, stretch{s, 0, i, min(i+cells, int(split.To))}); err != nil {
				return err
			}
			f.In += int64(len(rows))
			for _, row := range rows {
				if err := add(row, kind); err != nil {
					return err
				}
			}
		}
		return nil
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

// eachPaired calls do for the rows of sorted pairs, in ascending order of their keys; see each.
func (f *filter) eachPaired(in io.Reader, do func(row Row, kind Kind) (want string, err error)) error {
	var held [Messages + 1][]Row // by kind
	pairs, cells := streamfmt.NewPairReader(in, f.o.Source), new(streamfmt.RowReader)
	enough := f.rows / 2
	for {
		first, packed, err := pairs.Next()
		ended := err == io.EOF
		if ended || err == nil && len(held[Predecessors])+len(held[Messages]) >= enough {
			err = f.release(&held, first, ended, do)
			// The pairs of many mappers may overlap: a row is sorted a few times only.
			enough = max(f.rows/2, 2*(len(held[Predecessors])+len(held[Messages])))
		}
		if ended || err != nil {
			return err
		}
		list, err := streamfmt.OpenFile(bytes.NewReader(packed), int64(len(packed)), f.o.Source)
		if err != nil {
			return err
		}
		of, err := list.Cells(f.o.Tier)
		kind := list.Kind
		if err == nil && (list.Spec != f.g.Spec() || kind > Messages || len(of) == 0 || of[0].First != first) {
			err = fmt.Errorf("%s: expected rows of tier %d of %s, found %s of %s", f.o.Source, f.o.Tier, f.g.Spec(), kind, list.Spec)
		}
		for i := 0; i < len(of) && err == nil; i++ {
			held[kind], err = cells.Append(held[kind], list, of[i:], math.MaxUint64)
			f.In += int64(of[i].Records)
		}
		if err != nil {
			return err
		}
	}
}

// release calls do for held rows with keys below that of the next pair, or for all, and removes them.
func (f *filter) release(held *[Messages + 1][]Row, next uint64, all bool, do func(row Row, kind Kind) (want string, err error)) error {
	for _, rows := range held {
		f.sorter.sort(rows)
	}
	rest := *held
	for {
		kind := Predecessors
		if a, b := rest[Predecessors], rest[Messages]; len(b) > 0 && (len(a) == 0 || b[0].Key < a[0].Key) {
			kind = Messages
		}
		if len(rest[kind]) == 0 || !all && rest[kind][0].Key >= next {
			break
		}
		row := rest[kind][0]
		want, err := do(row, kind)
		if want != "" {
			err = fmt.Errorf("%s: expected %s, found %x", f.o.Source, want, row.Key)
		}
		if err != nil {
			return err
		}
		rest[kind] = rest[kind][1:]
	}
	for kind, rows := range rest {
		held[kind] = held[kind][:copy(held[kind], rows)]
	}
	return nil
}
