package layers_test

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// TestDamagedPairs checks that a reducer refuses pairs that no mapper of its job sends, and a mapper splits that its files do not
// have.
func TestDamagedPairs(t *testing.T) {
	g := must.Get(mnk.New(3, 3, 3))(t)
	start := layers.Start(g)[0].Key
	successor := g.Moves(nil, start)[0].To
	rows := []layers.Row{{Key: successor, Word: start}}
	list := func(spec string, tier int, kind layers.Kind) []byte {
		var out bytes.Buffer
		var p streamfmt.Packer
		p.AddRows(tier, rows)
		w := streamfmt.NewWriter(&out, spec, kind, nil)
		must.OK(t, w.Append(&p))
		must.OK(t, w.Close())
		return out.Bytes()
	}
	whole := list(g.Spec(), 1, layers.Predecessors)
	broken := bytes.Clone(whole)
	broken[len(broken)/2] ^= 1
	pair := streamfmt.AppendPair(nil, successor, whole)
	reduce := func(in []byte, borders ...uint64) error {
		o := step.Options{Source: "in", Tier: 1, Packed: true, Borders: borders, Create: make(outbox).create}
		_, err := layers.New(g).Reduce(step.Possible, bytes.NewReader(in), io.Discard, o)
		return err
	}
	dir := t.TempDir()
	name := filepath.Join(dir, jobdir.PartName(0))
	must.OK(t, store.WriteFile(store.Local{}, name, whole))
	mapped := func(line string) error {
		o := step.Options{Source: "in", Tier: 1, Packed: true, FS: store.Local{}}
		_, err := layers.New(g).Map(step.Solve, strings.NewReader(line), io.Discard, o)
		return err
	}
	must.OK(t, reduce(pair))
	must.OK(t, mapped(name+"\t0\t1"))
	for want, err := range map[string]error{
		"in: pair 1: cut short":          reduce(pair[:len(pair)-1]),
		"in: damaged":                    reduce(streamfmt.AppendPair(nil, successor, broken)),
		"in: expected rows of tier 1 of": reduce(streamfmt.AppendPair(nil, successor+1, whole)),
		"in: expected rows of tier":      reduce(streamfmt.AppendPair(nil, successor, list("mnk width=2", 1, layers.Predecessors))),
		"in: expected rows of":           reduce(streamfmt.AppendPair(nil, successor, list(g.Spec(), 2, layers.Predecessors))),
		"in: expected ":                  reduce(streamfmt.AppendPair(nil, successor, list(g.Spec(), 1, layers.Values))),
		"in: expected a key of partition 0 (see --borders), in ascending order, found": reduce(pair, successor),
		name + ": expected 2 cells, found 1":                                           mapped(name + "\t0\t2"),
		"in:1: expected an input split":                                                mapped(name + "\t0"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSplits checks that a mapper reads the cells of its split, and no others.
func TestSplits(t *testing.T) {
	g := must.Get(mnk.New(4, 4, 4))(t)
	name := filepath.Join(t.TempDir(), jobdir.PartName(0))
	w := layers.NewPartWriter(must.Get(store.Local{}.Create(name))(t), g, 1, layers.Predecessors)
	rows := make([]layers.Row, 2*streamfmt.CellRows+9)
	for i := range rows {
		rows[i] = layers.Row{Key: uint64(i), Word: uint64(i)}
	}
	must.OK(t, w.Finish(w.Append(rows)))
	for from := range 3 {
		for to := from; to <= 3; to++ {
			o := step.Options{Source: "in", Tier: 1, Packed: true, FS: store.Local{}}
			var out bytes.Buffer
			n, err := layers.New(g).Map(step.Solve, strings.NewReader(step.SplitsLine([]step.Split{{File: name, From: uint64(from), To: uint64(to)}})), &out, o)
			want := int64(min(to*streamfmt.CellRows, len(rows)) - from*streamfmt.CellRows)
			if err != nil || n.In != want || n.Records != want {
				t.Errorf("cells %d to %d: %d rows read, %d sent, want %d; %v", from, to, n.In, n.Records, want, err)
			}
		}
	}
}
