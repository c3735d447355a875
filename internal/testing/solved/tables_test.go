package solved

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

const changedTier = 9

// rewrite solves a game, and writes a file of its table again, not compact, after a change of its blocks.
func rewrite(t *testing.T, whole game.Game, change func(g *mirror.Half, b *block.Block)) (dir string) {
	t.Helper()
	g := mirror.HalfOf(whole.(game.Blockwise))
	dir = Dir(t, whole)
	name := filepath.Join(dir, table.TierFile(changedTier))
	in := must.Get(blocks.OpenTier(store.Local{}, name, g, changedTier))(t)
	out := must.Get(os.Create(name + ".new"))(t)
	w := blocks.NewWriter(out, g, changedTier)
	c := in.Cursor(0)
	for e, err := range in.Entries() {
		must.OK(t, err)
		b := new(block.Block)
		must.Get(c.Load(b, e.First))(t)
		change(g, b)
		must.OK(t, w.Add(b))
	}
	must.OK(t, errors.Join(w.Finish(nil), in.Close(), os.Rename(name+".new", name), table.Seal(store.Local{}, dir, g.Spec())))
	return dir
}

// TestTableDifferences compares tables of two ways of solving, whose files have other bytes, and tables of which a file has another
// form, another value or another position.
func TestTableDifferences(t *testing.T) {
	g := Game(t, "connectn width=4 height=4 connect=3")
	one, other := Dir(t, g), Dir(t, g, func(o *solve.Options) { o.Lines, o.KeepAll, o.Reducers = true, true, 3 })
	if diff := TableDifferences(store.Local{}, one, other); diff != nil {
		t.Errorf("another way: %q", diff)
	}
	name := table.TierFile(changedTier)
	if a, b := must.Get(os.ReadFile(filepath.Join(one, name)))(t), must.Get(os.ReadFile(filepath.Join(other, name)))(t); slices.Equal(a, b) {
		t.Error("both ways have the same bytes")
	}
	plain := rewrite(t, g, func(*mirror.Half, *block.Block) {})
	if TableDifferences(store.Local{}, plain, one) == nil {
		t.Error("a file that is not compact makes no difference")
	}
	for what, change := range map[string]func(b *block.Block, slots []uint32){
		"value": func(b *block.Block, slots []uint32) {
			b.Val[slots[0]], b.Val[slots[1]] = b.Val[slots[1]], b.Val[slots[0]]
		},
		"number of a value": func(b *block.Block, slots []uint32) { b.Val[slots[0]] = b.Val[slots[1]] },
		"position": func(b *block.Block, slots []uint32) {
			b.Done.Remove(int(slots[0]))
			b.Val[slots[0]] = 0
		},
	} {
		changed := false
		dir := rewrite(t, g, func(g *mirror.Half, b *block.Block) {
			slots := b.Done.Append(nil)
			_, balanced := g.Stored(changedTier, b.Range)
			slots = slices.DeleteFunc(slots, func(s uint32) bool { return balanced != nil && balanced.Has(int(s)) })
			if i := slices.IndexFunc(slots, func(s uint32) bool { return b.Val[s] != b.Val[slots[0]] }); i > 0 && !changed {
				changed = true
				change(b, []uint32{slots[0], slots[i]})
			}
		})
		if diff := TableDifferences(store.Local{}, dir, plain); diff == nil || !changed {
			t.Errorf("%s: %q, changed: %v", what, diff, changed)
		}
	}
}
