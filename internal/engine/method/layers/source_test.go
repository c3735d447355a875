package layers_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/streamfmt"
)

// dirOf creates a sealed directory data_first1 with a shard and an outbox, and returns the
// game and the directory.
func dirOf(t *testing.T) (game.Tiered, string) {
	t.Helper()
	g := tiny(t, 3, 2, 3)
	return g, filepath.Join(solved.Dir(t, g, func(o *solve.Options) { o.KeepAll = true }), "data_first1")
}

// openAll opens a directory, and reads its shards and its messages to the next tier.
func openAll(dir string, g game.Tiered, tier int, kind layers.Kind) error {
	d, err := layers.OpenDir(store.Local{}, dir, g)
	if err != nil {
		return err
	}
	for _, open := range []func() (*layers.Source, error){
		func() (*layers.Source, error) { return layers.Open(store.Local{}, g, kind, tier, dir) },
		func() (*layers.Source, error) { return layers.OpenInbox([]*layers.Dir{d}, step.At(tier+1, 0), kind) },
	} {
		s, err := open()
		if err != nil {
			return err
		}
		defer s.Close()
		var l layers.Loader
		if _, err := l.Load(nil, s, layers.Interval{Last: math.MaxUint64}); err != nil {
			return err
		}
	}
	return nil
}

// TestDamage checks that a damaged file is reported by name.
func TestDamage(t *testing.T) {
	edit := func(name string, edit func(string) string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			name := filepath.Join(dir, name)
			b := must.Get(os.ReadFile(name))(t)
			must.OK(t, os.WriteFile(name, []byte(edit(string(b))), 0o666))
		}
	}
	turn := func(at int) func(string) string {
		return func(s string) string {
			b := []byte(s)
			if at < 0 {
				at += len(b)
			}
			b[at] ^= 4
			return string(b)
		}
	}
	for _, c := range []struct {
		what   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"a part's cell", edit("_part-00000.pack", turn(45)), "_part-00000.pack: damaged: the cell at byte"},
		{"an outbox's cell", edit("_to-00000.pack", turn(45)), "_to-00000.pack: damaged: the cell at byte"},
		{"an outbox's tail", edit("_to-00000.pack", turn(-20)), "_to-00000.pack: damaged at its end"},
		{"the game in a file", edit("_part-00000.pack", turn(12)), "_part-00000.pack: damaged at its beginning or end: the checksum is wrong"},
		{"a part cut", edit("_part-00000.pack", func(s string) string { return s[:50] }), "_part-00000.pack: cut short: 50 of"},
		{"an outbox missing", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "_to-00000.pack")) }, "_to-00000.pack: missing"},
	} {
		g, dir := dirOf(t)
		c.damage(t, dir)
		err := openAll(dir, g, 1, layers.Predecessors)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if err != nil && !jobdir.Damaged(err) {
			t.Errorf("%s: %v is no damage", c.what, err)
		}
	}
}

// TestOther checks that a file of another game, kind or tier is refused, and named in the
// error.
func TestOther(t *testing.T) {
	g, dir := dirOf(t)
	for _, c := range []struct {
		what string
		g    game.Tiered
		tier int
		kind layers.Kind
		want string
	}{
		{"game", tiny(t, 3, 2, 2), 1, layers.Predecessors, "of another game: expected \"mnk "},
		{"tier", g, 2, layers.Predecessors, "tier 1"},
		{"kind", g, 1, layers.Values, "expected "},
	} {
		err := openAll(dir, c.g, c.tier, c.kind)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("another %s: %v", c.what, err)
		}
	}
	// Without a seal, a packed file itself contains the name of its game.
	must.OK(t, os.WriteFile(filepath.Join(dir, store.Success), nil, 0o666))
	if err := openAll(dir, tiny(t, 3, 2, 2), 1, layers.Predecessors); err == nil || !strings.Contains(err.Error(), "pack: of another game: expected \"mnk ") {
		t.Errorf("another game, without a seal: %v", err)
	}
	if err := openAll(dir, g, 1, layers.Predecessors); err != nil {
		t.Errorf("without a seal: %v", err)
	}
}

// TestCut checks that intervals are consecutive, cover all keys, have the right size and
// together contain all rows, for several numbers of files.
func TestCut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	const tier = 1
	for _, files := range []int{1, 3, 80} {
		g := tiny(t, 4, 4, 4)
		dir := t.TempDir()
		var all []layers.Row
		var sources []*layers.Source
		var names []string
		for i := range files {
			var rows []layers.Row
			for range 20000 / files {
				rows = append(rows, layers.Row{Key: rnd.Uint64() >> rnd.IntN(60), Word: rnd.Uint64()})
			}
			for range 3000 / files {
				rows = append(rows, layers.Row{Key: 77, Word: rnd.Uint64()})
			}
			if i == 0 {
				rows = append(rows, layers.Row{Key: math.MaxUint64}, layers.Row{Key: 0})
			}
			all = append(all, rows...)
			slices.SortFunc(rows, layers.CompareRows)
			name := filepath.Join(dir, fmt.Sprint(i, jobdir.Suffix))
			f := must.Get(os.Create(name))(t)
			w := layers.NewPartWriter(f, g, tier, layers.Predecessors)
			must.OK(t, w.Finish(w.Append(rows)))
			names = append(names, name)
		}
		each := 1
		if files > 3 {
			each = files
		}
		for of := range slices.Chunk(names, each) {
			s := must.Get(layers.Open(store.Local{}, g, layers.Predecessors, tier, of...))(t)
			defer s.Close()
			sources = append(sources, s)
		}
		slices.SortFunc(all, layers.CompareRows)
		for _, most := range []int{0, 500, 5000, 22000, len(all) - 1, len(all), 1 << 30} {
			intervals := layers.Cut(most, sources...)
			if intervals[0].First != 0 || intervals[len(intervals)-1].Last != math.MaxUint64 {
				t.Errorf("%d files, most %d: from %#x to %#x", files, most, intervals[0].First, intervals[len(intervals)-1].Last)
			}
			if one := len(intervals) == 1; one != (most >= len(all)) || most == 5000 && len(intervals) < 4 {
				t.Errorf("%d files, most %d: %d intervals", files, most, len(intervals))
			}
			var got []layers.Row
			var l layers.Loader
			for i, sh := range intervals {
				if i > 0 && sh.First != intervals[i-1].Last+1 || sh.First > sh.Last {
					t.Errorf("%d files, most %d: interval %+v after %+v", files, most, sh, intervals[i-1])
				}
				var of []layers.Row
				for _, s := range sources {
					rows := must.Get(l.Load(nil, s, sh))(t)
					if !slices.IsSortedFunc(rows, layers.CompareRows) {
						t.Fatalf("%d files: interval %d is not sorted", files, i)
					}
					of = append(of, rows...)
				}
				slices.SortFunc(of, layers.CompareRows)
				if len(of) > most+3000+files*streamfmt.CellRows {
					t.Errorf("%d files, most %d: an interval of %d rows", files, most, len(of))
				}
				got = append(got, of...)
				if most == 0 && i > 100 {
					break // almost one interval for each key
				}
			}
			if !slices.Equal(got, all[:len(got)]) || most > 0 && len(got) != len(all) {
				t.Errorf("%d files, most %d: other rows, %d of %d", files, most, len(got), len(all))
			}
		}
	}
}

// TestSort sorts random rows with keys of several distributions.
func TestSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 9))
	for round := range 300 {
		n := rnd.IntN(3 * 64)
		if round%10 == 0 {
			n = rnd.IntN(20000)
		}
		mask := rnd.Uint64() & rnd.Uint64()
		if round%3 == 0 {
			mask = rnd.Uint64() >> rnd.IntN(64)
		}
		rows := make([]layers.Row, n)
		for i := range rows {
			rows[i] = layers.Row{Key: rnd.Uint64() & mask, Word: rnd.Uint64() >> rnd.IntN(64)}
		}
		want := slices.Clone(rows)
		slices.SortFunc(want, layers.CompareRows)
		layers.SortRows(rows)
		if !slices.Equal(rows, want) {
			t.Fatalf("round %d: %d rows, mask %#x: not sorted", round, n, mask)
		}
	}
}

// TestOrder checks that shards are refused if their keys do not ascend or if a position
// occurs twice.
func TestOrder(t *testing.T) {
	g := tiny(t, 3, 2, 3)
	var rows []layers.Row
	for _, m := range g.Moves(nil, g.Start()) {
		rows = append(rows, layers.Row{Key: m.To, Word: g.Start()})
	}
	slices.SortFunc(rows, layers.CompareRows)
	for _, overlap := range []int{0, 1} {
		dir := filepath.Join(t.TempDir(), "data_first1")
		must.OK(t, os.Mkdir(dir, 0o777))
		parts := [][]layers.Row{rows[3:], rows[:3]}
		if overlap > 0 {
			parts = [][]layers.Row{rows[:3], rows[2:]}
		}
		for i, part := range parts {
			f := must.Get(os.Create(filepath.Join(dir, jobdir.PartName(i))))(t)
			w := layers.NewPartWriter(f, g, 1, layers.Predecessors)
			must.OK(t, w.Finish(w.Append(part)))
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, store.Success), nil, 0o666))
		err := openAll(dir, g, 1, layers.Predecessors)
		if err == nil || !strings.HasSuffix(err.Error(), ": its keys do not come after those of the previous shard") {
			t.Errorf("overlap of %d: parts in another order: %v", overlap, err)
		}
	}

	// Rows that were given to one writer in the wrong order.
	name := filepath.Join(t.TempDir(), "tier-01.pack")
	for what, rows := range map[string][]layers.Row{"twice": {{Key: 1, Word: 6}, {Key: 1, Word: 6}}, "down": {{Key: 8, Word: 6}, {Key: 2, Word: 6}}} {
		f := must.Get(os.Create(name))(t)
		w := layers.NewPartWriter(f, g, 1, layers.Values)
		many := make([]layers.Row, streamfmt.CellRows-1)
		for i := range many {
			many[i] = rows[0]
		}
		must.OK(t, w.Finish(errors.Join(w.Append(many), w.Append(rows))))
		_, err := layers.Open(store.Local{}, g, layers.Values, 1, name)
		if err == nil || err.Error() != name+": its keys do not ascend" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestManyFiles checks that a source with more files than may be open at the same time has
// all their rows, and leaves no file open.
func TestManyFiles(t *testing.T) {
	g := tiny(t, 4, 4, 4)
	const files = 300
	dir := filepath.Join(t.TempDir(), "data_second1")
	must.OK(t, os.Mkdir(dir, 0o777))
	must.OK(t, os.WriteFile(filepath.Join(dir, store.Success), nil, 0o666))
	want := slices.Repeat([]layers.Row{{Key: g.Moves(nil, g.Start())[0].To, Word: g.Start()}}, files)
	for i := range want {
		out := must.Get(store.Local{}.Create(filepath.Join(dir, layers.OutboxName(i))))(t)
		w := layers.NewPartWriter(out, g, 1, layers.Predecessors)
		must.OK(t, w.Finish(w.Append(want[i:i+1])))
	}
	fsys := &storetest.OpenFiles{FS: store.Local{}}
	d := must.Get(layers.OpenDir(fsys, dir, g))(t)
	s := must.Get(layers.OpenInbox([]*layers.Dir{d}, step.At(1, 0), layers.Predecessors))(t)
	rows, err := new(layers.Loader).Load(nil, s, layers.Interval{Last: math.MaxUint64})
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%d rows of %d, %v", len(rows), files, err)
	}
	if _, most := fsys.Counts(); most < layers.MaxOpen || most > layers.MaxOpen+1 {
		t.Errorf("of %d files %d were open at a time", files, most)
	}
	err = s.Close()
	if now, _ := fsys.Counts(); err != nil || now != 0 {
		t.Errorf("%d files are left open, %v", now, err)
	}
}
