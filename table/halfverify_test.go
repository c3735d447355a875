package table_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedgames "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// board returns a board of connect 3.
func board(t *testing.T, width, height int) *connectn.Rules {
	t.Helper()
	return must.Get(connectn.New(width, height, 3))(t)
}

// TestVerifyImages changes balanced positions and their mirror images in tables.
func TestVerifyImages(t *testing.T) {
	for _, size := range [][2]int{{2, 10}, {3, 4}} { // one range, and several
		g := board(t, size[0], size[1])
		correct := solvedgames.Dir(t, g)
		var paired, single game.Position // a pair of different positions, and a position of which one is stored
		tab := must.Get(table.OpenOf(store.Local{}, correct, g))(t)
		half := mirror.HalfOf(g)
		for batch, err := range tab.All() {
			must.OK(t, err)
			for i, p := range batch.Positions {
				if g.Tier(p) != 6 || batch.Values[i].Remoteness() < 2 || !half.IsStored(p) || g.Mirror(p) == p {
					continue
				}
				if half.IsStored(g.Mirror(p)) {
					paired = p
				} else {
					single = p
				}
			}
		}
		unreached := game.Position(0) // one of a pair that is not in the table
		for ; g.Check(unreached) != nil || g.Tier(unreached) != 6 || !half.IsStored(unreached) || !half.IsStored(g.Mirror(unreached)) ||
			found(t, tab, unreached) || g.Primitive(unreached) != 0; unreached++ {
		}
		must.OK(t, tab.Close())
		remove := func(b *block.Block, slot int) { b.Done.Remove(slot) }
		wrong := func(b *block.Block, slot int) { b.Val[slot] += 8 }
		add := func(b *block.Block, slot int) { b.Done.Add(slot); b.Val[slot] = 5 }
		for _, test := range []struct {
			name    string
			changed []game.Position
			change  func(b *block.Block, slot int)
			want    string
		}{
			{"nothing", nil, nil, ""},
			{"mirror image missing", []game.Position{paired}, remove, "missing"},
			{"both missing", []game.Position{paired, g.Mirror(paired)}, remove, "missing"},
			{"position missing", []game.Position{single}, remove, "missing"},
			{"position stored twice", []game.Position{g.Mirror(single)}, add, "cannot be reached"},
			{"unreachable pair", []game.Position{unreached, g.Mirror(unreached)}, add, "cannot be reached"},
			{"value of a mirror image", []game.Position{paired}, wrong, "as its moves lead to"},
			{"both values", []game.Position{paired, g.Mirror(paired)}, wrong, "as its moves lead to"},
			{"value of a position", []game.Position{single}, wrong, "as its moves lead to"},
		} {
			dir := t.TempDir()
			must.OK(t, os.CopyFS(filepath.Join(dir, table.Dir), os.DirFS(filepath.Join(correct, table.Dir))))
			for _, p := range test.changed {
				rewrite(t, dir, g, p, test.change)
			}
			tab, err := table.OpenOf(store.Local{}, dir, g)
			must.OK(t, err)
			_, err = tab.Verify(t.Context())
			_, _, rulesErr := table.Rules{}.Verify(t.Context(), tab)
			must.OK(t, tab.Close())
			if test.want == "" {
				if err != nil || rulesErr != nil {
					t.Errorf("%s: %v, by rules %v", g.Spec(), err, rulesErr)
				}
				continue
			}
			var fault *table.Fault
			if !errors.As(err, &fault) || !slices.Contains(test.changed, fault.Position) || !strings.Contains(fault.Reason, test.want) {
				t.Errorf("%s, %s: got %v, want %q at one of %#x", g.Spec(), test.name, err, test.want, test.changed)
			}
			if rulesErr == nil {
				t.Errorf("%s, %s: the rules find no fault", g.Spec(), test.name)
			}
		}
	}
}

// found reports whether a table has a position.
func found(t *testing.T, tab *table.Table, p game.Position) bool {
	t.Helper()
	_, ok, err := tab.Lookup(p)
	must.OK(t, err)
	return ok
}

// TestVerifyRanges deletes each range of a tier. To some of them, only the mirror images of stored positions have moves.
func TestVerifyRanges(t *testing.T) {
	g := board(t, 3, 4)
	correct := solvedgames.Dir(t, g)
	tab := must.Get(table.OpenOf(store.Local{}, correct, g))(t)
	defer tab.Close()
	ranges := make(map[uint64]game.Position)
	for batch, err := range tab.All() {
		must.OK(t, err)
		for _, p := range batch.Positions {
			if batch.Tier == 6 && mirror.HalfOf(g).IsStored(p) {
				ranges[p>>g.LowBits()] = p
			}
		}
	}
	for rng, p := range ranges {
		dir := t.TempDir()
		must.OK(t, os.CopyFS(filepath.Join(dir, table.Dir), os.DirFS(filepath.Join(correct, table.Dir))))
		rewrite(t, dir, g, p, func(b *block.Block, _ int) { clear(b.Done) })
		if _, err := verify(dir); err == nil || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("range %#x: %v", rng, err)
		}
	}
}

// TestWhole checks that a scan of a table that stores half of the positions has all of them, each once, those of a batch in its
// bound.
func TestWhole(t *testing.T) {
	for _, size := range [][2]int{{3, 4}, {4, 3}, {2, 5}, {6, 2}, {1, 6}} {
		g := board(t, size[0], size[1])
		right := gametest.Search(g)
		tab := solvedgames.Table(t, g)
		seen, batch := make(map[game.Position]bool), 0
		var bounds []int
		for _, part := range must.Get(tab.Parts())(t) {
			for i := range part.Len {
				_, most, err := part.Range(i)
				must.OK(t, err)
				bounds = append(bounds, most)
			}
		}
		for b, err := range tab.All() {
			must.OK(t, err)
			if n := len(b.Positions); n > bounds[batch] || 2*n < bounds[batch] {
				t.Errorf("%s: %d positions in batch %d, at most %d are expected", g.Spec(), n, batch, bounds[batch])
			}
			batch++
			for i, p := range b.Positions {
				if v, ok := right[p]; !ok || v != b.Values[i] || b.Tier != g.Tier(p) || seen[p] {
					t.Fatalf("%s: tier %d: %d: %v, want %v, %t", g.Spec(), b.Tier, p, b.Values[i], v, ok)
				}
				seen[p] = true
			}
		}
		if len(seen) != len(right) || batch != len(bounds) {
			t.Errorf("%s: %d positions in %d batches, want %d in %d", g.Spec(), len(seen), batch, len(right), len(bounds))
		}
	}
}

// wrapped is a board of one range whose mirror images are wrong: those of a low part with number 65,536
// or above in its list are those of a part with a lower number.
type wrapped struct{ *connectn.Rules }

func (g wrapped) Mirror(p game.Position) game.Position {
	if g.Check(p) == nil {
		if low := g.Low(g.Tier(p), 0); len(low) > 1<<16 {
			slot, _ := slices.BinarySearch(low, uint32(p))
			p = game.Position(low[slot&(1<<16-1)])
		}
	}
	return g.Rules.Mirror(p)
}

// Verify refuses a table that was computed with wrong mirror images.
func TestVerifyWrongImages(t *testing.T) {
	g := board(t, 2, 10)
	dir := solvedgames.Dir(t, wrapped{g})
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	if n, err := tab.Positions(); err != nil || n != 36313 {
		t.Errorf("the wrong table has %d positions, %v, want 36,313", n, err)
	}
	var fault *table.Fault
	if _, err := tab.Verify(t.Context()); !errors.As(err, &fault) {
		t.Errorf("got %v, want a fault", err)
	}
	if _, _, err := (table.Rules{}).Verify(t.Context(), tab); err == nil {
		t.Error("the rules find no fault")
	}
}
