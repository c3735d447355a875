package solved

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

const changedTier = 9

// rewrite writes a file of a table again, after a change of its blocks. If plain is set, the file is not
// compact.
func rewrite(t *testing.T, dir string, g *mirror.Half, plain bool, change func(b *block.Block)) {
	t.Helper()
	name := filepath.Join(dir, table.TierFile(changedTier))
	text := must.Get(os.ReadFile(name))(t)
	tier := must.Get(blocks.OpenTier(store.Local{}, name, g, changedTier))(t)
	defer tier.Close()
	var ranges []uint64
	for e, err := range tier.Entries() {
		must.OK(t, err)
		ranges = append(ranges, e.First)
	}
	var out bytes.Buffer
	var p streamfmt.Packer
	file := must.Get(streamfmt.OpenFile(bytes.NewReader(text), int64(len(text)), name))(t)
	m := file.Model
	if plain {
		m = nil
	} else {
		p.SetCompact(game.DeducerOf(g), m)
	}
	w := streamfmt.NewWriter(&out, g.Spec(), streamfmt.HalfBlocks, m)
	c, b := tier.Cursor(0), new(block.Block)
	for _, rng := range ranges {
		must.Get(c.Load(b, rng))(t)
		change(b)
		_, balanced := g.Stored(changedTier, rng)
		p.Reset()
		p.AddHalf(b, balanced)
		must.OK(t, w.Append(&p))
	}
	must.OK(t, errors.Join(w.Close(), os.WriteFile(name, out.Bytes(), 0o666), table.Seal(store.Local{}, dir, g.Spec())))
}

// TestTableDifferences changes a file of a table, and compares it with the table of another way of solving,
// whose files have other bytes.
func TestTableDifferences(t *testing.T) {
	whole := Game(t, "connectn width=4 height=4 connect=3")
	g := mirror.HalfOf(whole.(game.Blockwise))
	want := Dir(t, whole, func(o *solve.Options) { o.Lines, o.KeepAll, o.Reducers = true, true, 3 })
	name := filepath.Base(table.TierFile(changedTier))
	for _, test := range []struct {
		what   string
		plain  bool
		change func(b *block.Block, slots []uint32)
		want   string
	}{
		{"nothing", false, func(*block.Block, []uint32) {}, ""},
		{"value", false, func(b *block.Block, slots []uint32) {
			b.Val[slots[0]], b.Val[slots[1]] = b.Val[slots[1]], b.Val[slots[0]]
		}, name + ": 0x"},
		{"number of a value", false, func(b *block.Block, slots []uint32) { b.Val[slots[0]] = b.Val[slots[1]] }, name + ": it counts "},
		{"position", false, func(b *block.Block, slots []uint32) { b.Done.Remove(int(slots[0])); b.Val[slots[0]] = 0 }, name + ": it counts "},
		{"form", true, func(*block.Block, []uint32) {}, "differs: " + name},
	} {
		dir := Dir(t, whole)
		changed := false
		rewrite(t, dir, g, test.plain, func(b *block.Block) {
			slots := b.Done.Append(nil)
			_, balanced := g.Stored(changedTier, b.Range)
			slots = slices.DeleteFunc(slots, func(s uint32) bool { return balanced != nil && balanced.Has(int(s)) })
			if i := slices.IndexFunc(slots, func(s uint32) bool { return b.Val[s] != b.Val[slots[0]] }); i > 0 && !changed {
				changed = true
				test.change(b, []uint32{slots[0], slots[i]})
			}
		})
		if !changed {
			t.Fatal("no block has two values")
		}
		diff := TableDifferences(store.Local{}, dir, want)
		if test.want == "" && len(diff) > 0 || test.want != "" && (len(diff) == 0 || !slices.ContainsFunc(diff, func(d string) bool { return strings.HasPrefix(d, test.want) })) {
			t.Errorf("%s: %q, want %q", test.what, diff, test.want)
		}
	}
	a, err := contents(store.Local{}, filepath.Join(Dir(t, whole), table.Dir))
	b, wantErr := contents(store.Local{}, filepath.Join(want, table.Dir))
	if err := errors.Join(err, wantErr); err != nil || a[name] == b[name] {
		t.Errorf("both ways have the same bytes, %v", err)
	}
}
