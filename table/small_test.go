package table_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/table"
)

// solvedSmall solves a board into a new data directory, and opens its table, small or full.
func solvedSmall(t *testing.T, g game.Tiered, small bool) (tab *table.Table, dir string) {
	t.Helper()
	dir = t.TempDir()
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Codec: jobdir.Packed, Final: solve.FinalNo, UntilTier: -1, Small: small}
	if _, err := solve.Run(context.Background(), data, g, o); err != nil {
		t.Fatal(err)
	}
	if tab, err = table.OpenOf(store.Local{}, dir, g); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tab.Close() })
	return tab, dir
}

// TestSmall compares everything that is read from a small table with what is read from a full one:
// the values of all positions, look-ups of these and of positions that play cannot reach,
// predecessors, statistics, and a sample.
func TestSmall(t *testing.T) {
	smallTables(t, [][3]int{{4, 4, 3}, {4, 5, 3}, {3, 5, 3}, {4, 3, 4}, {1, 5, 2}, {2, 5, 2}, {3, 3, 1}, {1, 1, 1}, {6, 2, 4}})
}

// TestLongSmall does the same for boards with more ranges.
func TestLongSmall(t *testing.T) {
	longtest.Skip(t)
	smallTables(t, [][3]int{{5, 4, 4}, {6, 3, 4}, {4, 6, 4}})
}

func smallTables(t *testing.T, boards [][3]int) {
	t.Helper()
	for _, b := range boards {
		g, err := connectn.New(b[0], b[1], b[2])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(g.Spec(), func(t *testing.T) {
			full, _ := solvedSmall(t, g, false)
			small, _ := solvedSmall(t, g, true)
			want, err := full.Stats()
			if err != nil {
				t.Fatal(err)
			}
			got, err := small.Stats()
			if err != nil || got.Stored >= want.Stored {
				t.Errorf("%d positions are stored, %v, %d in the full table", got.Stored, err, want.Stored)
			}
			for _, s := range []*table.Stats{&got, &want} {
				s.Stored = 0
				for i := range s.Tiers {
					s.Tiers[i].Stored = 0
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("statistics %+v, want %+v", got, want)
			}
			everything(t, full, small)
			if n, err := small.Verify(t.Context()); err != nil || n != want.Positions {
				t.Errorf("Verify: %d positions, %v", n, err)
			}
			for _, sample := range []uint64{0, 50} {
				if _, n, err := (table.Rules{Sample: sample}).Verify(t.Context(), small); err != nil || n != want.Positions {
					t.Errorf("Rules: %d positions, %v", n, err)
				}
			}
		})
	}
}

// everything compares the values of all positions of two tables, and look-ups: of the positions,
// of neighbouring keys, and of the predecessors of some.
func everything(t *testing.T, full, small *table.Table) {
	type pair struct {
		p game.Position
		v game.Value
	}
	var all [2][]pair
	for i, tab := range []*table.Table{full, small} {
		for b, err := range tab.All() {
			if err != nil {
				t.Fatal(err)
			}
			for j, p := range b.Positions {
				all[i] = append(all[i], pair{p, b.Values[j]})
			}
		}
	}
	if !slices.Equal(all[0], all[1]) {
		t.Fatalf("%d positions, want %d, or their values differ", len(all[1]), len(all[0]))
	}
	each := 1 + len(all[0])/50_000
	for i := 0; i < len(all[0]); i += each {
		p := all[0][i]
		if v, ok, err := small.Lookup(p.p); v != p.v || !ok || err != nil {
			t.Fatalf("%#x: %v, %v, %v, want %v", p.p, v, ok, err, p.v)
		}
		for _, q := range []game.Position{p.p + 1, p.p ^ 2, p.p ^ 16, p.p ^ 1<<9} {
			if full.Game().Check(q) != nil {
				continue
			}
			want, reached, err := full.Lookup(q)
			if err != nil {
				t.Fatal(err)
			}
			if v, ok, err := small.Lookup(q); v != want || ok != reached || err != nil {
				t.Fatalf("%#x: %v, %v, %v, want %v, %v", q, v, ok, err, want, reached)
			}
		}
		if i%97 > 0 {
			continue
		}
		want, err := full.Predecessors(p.p)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := small.Predecessors(p.p); err != nil || !slices.Equal(got, want) || i > 0 && len(got) == 0 ||
			!slices.IsSortedFunc(got, func(a, b table.Predecessor) int { return cmp.Compare(a.Position, b.Position) }) {
			t.Fatalf("predecessors of %#x: %v, %v, want %v", p.p, got, err, want)
		}
	}
}

// TestSmallSample checks that the positions of a sample of a small table have the values of the
// full table.
func TestSmallSample(t *testing.T) {
	g, err := connectn.New(4, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	full, _ := solvedSmall(t, g, false)
	small, _ := solvedSmall(t, g, true)
	scan, err := small.Scan(t.Context(), func(tier int) bool { return tier != 8 })
	if err != nil {
		t.Fatal(err)
	}
	picked, ok, err := scan.Sample(t.Context(), 200, 1, func(v game.Value) bool { return v.Remoteness() > 2 })
	n, odd := 0, false
	for _, b := range picked {
		odd = odd || b.Tier%2 == 1
		for i, p := range b.Positions {
			n++
			if v, ok, err := full.Lookup(p); v != b.Values[i] || v.Remoteness() <= 2 || b.Tier == 8 || !ok || err != nil {
				t.Errorf("%#x: %v, want %v, %v, %v", p, b.Values[i], v, ok, err)
			}
		}
	}
	if !ok || err != nil || n != 200 || !odd {
		t.Errorf("%d positions, %v, %v", n, ok, err)
	}
}

// TestSmallFaults puts faults into a small table, one at a time. Each must be found.
func TestSmallFaults(t *testing.T) {
	g, err := connectn.New(4, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	reseal := func(t *testing.T, dir string, change func(*store.Seal)) {
		seal, err := store.ReadSeal(store.Local{}, filepath.Join(dir, table.Dir))
		if err != nil {
			t.Fatal(err)
		}
		change(seal)
		if err := seal.Write(store.Local{}, filepath.Join(dir, table.Dir)); err != nil {
			t.Fatal(err)
		}
	}
	change := func(t *testing.T, dir string, change func(b *block.Block, slot int)) {
		p := parse(t, g, "XO  OX  XO  OX  ")
		var omitted []store.OmittedFile
		reseal(t, dir, func(s *store.Seal) { omitted = s.Omitted })
		rewrite(t, dir, g, p, change)
		reseal(t, dir, func(s *store.Seal) { s.Omitted = omitted })
	}
	for name, test := range map[string]struct {
		fault func(t *testing.T, dir string)
		want  string
	}{
		"wrong counts": {func(t *testing.T, dir string) {
			reseal(t, dir, func(s *store.Seal) {
				for v := range s.Omitted[3].Counts {
					s.Omitted[3].Counts[v]++
					break
				}
			})
		}, "tier-07.blocks: the counts in _SUCCESS differ"},
		"wrong value": {func(t *testing.T, dir string) {
			change(t, dir, func(b *block.Block, slot int) { b.Val[slot] += 8 })
		}, "as its moves lead to, found"},
		"missing position": {func(t *testing.T, dir string) {
			change(t, dir, func(b *block.Block, slot int) { b.Done.Remove(slot) })
		}, "is missing"},
		"unreachable position": {func(t *testing.T, dir string) {
			change(t, dir, func(b *block.Block, _ int) {
				slot := 0
				for b.Done.Has(slot) {
					slot++
				}
				b.Done.Add(slot)
				b.Val[slot] = 1
			})
		}, "cannot be reached"},
		"flipped bit": {func(t *testing.T, dir string) {
			name := filepath.Join(dir, table.TierFile(g, 8))
			bytes, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			bytes[len(bytes)/3] ^= 4
			if err := os.WriteFile(name, bytes, 0o666); err != nil {
				t.Fatal(err)
			}
		}, "tier-08.blocks: damaged"},
		"stored tier omitted": {func(t *testing.T, dir string) {
			reseal(t, dir, func(s *store.Seal) {
				f := s.Files[4]
				s.Files = slices.Delete(s.Files, 4, 5)
				s.Omitted = append(s.Omitted, store.OmittedFile{Name: f.Name})
			})
		}, "tier-08.blocks: missing: _SUCCESS does not name it"},
		"one more tier": {func(t *testing.T, dir string) {
			reseal(t, dir, func(s *store.Seal) { s.Omitted = s.Omitted[1:] })
		}, "16 files, but"},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := solvedSmall(t, g, true)
			test.fault(t, dir)
			tab, err := table.OpenOf(store.Local{}, dir, g)
			if err == nil {
				_, err = tab.Verify(t.Context())
				err = errors.Join(err, tab.Close())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
