package streamfmt_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// denseRows returns n rows of Values like those of a large game with dense keys: every sixteenth key has a value, of up to
// 173 plies.
func denseRows(n int) []streamfmt.Row {
	r := rand.New(rand.NewPCG(1, 5))
	rows, key := make([]streamfmt.Row, n), uint64(0)
	for i := range rows {
		key += 1 + uint64(r.ExpFloat64()*15.3)
		plies := min(173, uint64(r.ExpFloat64()*12))
		rows[i] = streamfmt.Row{Key: key, Word: plies<<2 | 1 + plies&1}
	}
	return rows
}

// BenchmarkCells packs and reads cells, coded and not.
func BenchmarkCells(b *testing.B) {
	rows := denseRows(1 << 16)
	for _, coded := range []bool{false, true} {
		name := "bytes/"
		var p streamfmt.Packer
		if coded {
			name = "coded/"
			p.SetCoded()
		}
		perRow := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
			b.ReportMetric(float64(8*len(p.Bytes))/float64(len(rows)), "bits/row")
		}
		b.Run(name+"pack", func(b *testing.B) {
			for b.Loop() {
				p.Reset()
				p.AddRows(0, rows)
			}
			perRow(b)
		})
		b.Run(name+"read", func(b *testing.B) {
			var out bytes.Buffer
			w := streamfmt.NewWriter(&out, "game a=1", streamfmt.Values, nil)
			p.Reset()
			p.AddRows(0, rows)
			must.OK(b, w.Append(&p))
			must.OK(b, w.Close())
			f := must.Get(streamfmt.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()), "x.pack"))(b)
			cells := must.Get(f.Cells(0))(b)
			var c streamfmt.RowReader
			var got []streamfmt.Row
			for b.Loop() {
				for i := range cells {
					got = must.Get(c.Append(got[:0], f, cells[i:], 1<<64-1))(b)
				}
			}
			perRow(b)
		})
	}
}
