package table_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedgames "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// solvedOnce returns the files of the table of 4×5 connect 3, which has several ranges. The
// game is solved once for all tests of damage.
var solvedOnce = sync.OnceValues(func() (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	g, err := connectn.New(4, 5, 3)
	if err != nil {
		return nil, err
	}
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Final: solve.FinalNo, UntilTier: -1}
	if _, err := solve.Run(context.Background(), data, g, o); err != nil {
		return nil, err
	}
	files = make(map[string][]byte)
	names, err := filepath.Glob(filepath.Join(dir, table.Dir, "*"))
	for _, name := range names {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return files, err
})

// solved returns a data directory with a copy of that table.
func solved(t *testing.T) (dir string, g *connectn.Rules) {
	t.Helper()
	g = must.Get(connectn.New(4, 5, 3))(t)
	files := must.Get(solvedOnce())(t)
	dir = t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, table.Dir), 0o777))
	for name, content := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, table.Dir, name), content, 0o666))
	}
	return dir, g
}

// rewrite changes a stored position of a tier in the table. change is called with its block and
// slot.
func rewrite(t *testing.T, dir string, whole game.Blockwise, p game.Position, change func(b *block.Block, slot int)) {
	t.Helper()
	g := mirror.HalfOf(whole)
	tier := g.Tier(p)
	name := filepath.Join(dir, table.TierFile(tier))
	rewritePlain(t, dir, whole, p, change)
	in := must.Get(blocks.OpenTier(store.Local{}, name, g, tier))(t)
	out := must.Get(os.Create(name + ".new"))(t)
	must.OK(t, errors.Join(blocks.WriteTable(t.Context(), out, g, in), in.Close(), os.Rename(name+".new", name), table.Seal(store.Local{}, dir, g.Spec())))
}

// rewritePlain is rewrite, with a file that is not compact, as earlier versions wrote all files.
func rewritePlain(t *testing.T, dir string, whole game.Blockwise, p game.Position, change func(b *block.Block, slot int)) {
	t.Helper()
	g := mirror.HalfOf(whole)
	tier, rng := g.Tier(p), p>>g.LowBits()
	name := filepath.Join(dir, table.TierFile(tier))
	in := must.Get(blocks.OpenTier(store.Local{}, name, g, tier))(t)
	out := must.Get(os.Create(name + ".new"))(t)
	w := blocks.NewWriter(out, g, tier)
	var ranges []uint64
	for e, err := range in.Entries() {
		must.OK(t, err)
		ranges = append(ranges, e.First)
	}
	c := in.Cursor(0)
	changed := false
	for i := 0; i <= in.Len(); i++ {
		b := new(block.Block)
		if !changed && (i == in.Len() || ranges[i] >= rng) {
			changed = true
			must.Get(c.Load(b, rng))(t)
			if b.Len() == 0 {
				b.Reset(tier, rng, g.LowBits(), g.Low(tier, rng))
			}
			slot, ok := b.Slot(uint32(p-rng<<g.LowBits()), 0)
			if !ok {
				t.Fatalf("%#x has no slot", p)
			}
			change(b, slot)
			if i < in.Len() && ranges[i] > rng {
				i-- // insert a new block before this one
			}
		} else if i < in.Len() {
			must.Get(c.Load(b, ranges[i]))(t)
		} else {
			break
		}
		must.OK(t, w.Add(b))
	}
	must.OK(t, errors.Join(w.Finish(nil), in.Close(), os.Rename(name+".new", name), table.Seal(store.Local{}, dir, g.Spec())))
}

func parse(t *testing.T, g game.Game, board string) game.Position {
	t.Helper()
	return must.Get(g.Parse(board))(t)
}

// verify checks the table of a data directory.
func verify(dir string) (positions uint64, err error) {
	tab, err := table.Open(dir, all.Kinds())
	if err != nil {
		return 0, err
	}
	defer tab.Close()
	return tab.Verify(context.Background())
}

// verifyRules checks the table of a data directory by the rules.
func verifyRules(t *testing.T, dir string) error {
	t.Helper()
	tab := must.Get(table.Open(dir, all.Kinds()))(t)
	defer tab.Close()
	_, _, err := table.Rules{}.Verify(t.Context(), tab)
	return err
}

// last returns the last position of the table of solved that is stored.
func last(t *testing.T) string {
	t.Helper()
	dir, g := solved(t)
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	var found game.Position
	for b, err := range tab.All() {
		must.OK(t, err)
		for _, p := range b.Positions {
			if mirror.HalfOf(g).IsStored(p) {
				found = p
			}
		}
	}
	return string(g.AppendText(nil, found))
}

// TestVerifyDamage damages a correct table in every way, and checks that Verify describes the
// damage and its position, and that Rules finds it.
func TestVerifyDamage(t *testing.T) {
	const (
		start    = ".........." + ".........."
		reached  = ".........." + "O....XOX.." // X wins from here, in tier 4
		finished = ".........." + "OO...XXX.."
		floating = ".........." + "OO...XXXO." // after the end of the game
	)
	for _, test := range []struct {
		name   string
		board  string
		change func(b *block.Block, slot int)
		want   string
	}{
		{"nothing", reached, func(*block.Block, int) {}, ""},
		{"value of the start", start, func(b *block.Block, slot int) { b.Val[slot] ^= 1 << 3 }, "as its moves lead to"},
		{"value of the last position", last(t), func(b *block.Block, slot int) { b.Val[slot] ^= 3 }, "the rules decide it"},
		{"value", reached, func(b *block.Block, slot int) { b.Val[slot] ^= 3 }, "as its moves lead to"},
		{"remoteness", reached, func(b *block.Block, slot int) { b.Val[slot] += 8 }, "as its moves lead to"},
		{"no outcome", reached, func(b *block.Block, slot int) { b.Val[slot] = 4 }, "no outcome"},
		{"no value", reached, func(b *block.Block, slot int) { b.Done.Remove(slot); b.Open.Add(slot) }, "has no value"},
		{"finished too early", reached, func(b *block.Block, slot int) { b.Val[slot] = byte(game.NewValue(game.FirstWins, 0)) }, "not terminal"},
		{"not finished", finished, func(b *block.Block, slot int) { b.Val[slot] = byte(game.NewValue(game.FirstWins, 1)) }, "the rules decide it"},
		{"removed", reached, func(b *block.Block, slot int) { b.Done.Remove(slot) }, "is missing"},
		{"unreachable", floating, func(b *block.Block, slot int) { b.Done.Add(slot); b.Val[slot] = 2 }, "cannot be reached"},
	} {
		for form, rewrite := range map[string]func(*testing.T, string, game.Blockwise, game.Position, func(*block.Block, int)){"compact": rewrite, "plain": rewritePlain} {
			t.Run(test.name+", "+form, func(t *testing.T) {
				dir, g := solved(t)
				p := parse(t, g, test.board)
				rewrite(t, dir, g, p, test.change)
				n, err := verify(dir)
				rulesErr := verifyRules(t, dir)
				if test.want == "" {
					if err != nil || n != 195472 || rulesErr != nil {
						t.Fatalf("got %d positions, %v and %v", n, err, rulesErr)
					}
					return
				}
				var fault *table.Fault
				if !errors.As(err, &fault) {
					t.Fatalf("got %v, want a fault", err)
				}
				if fault.Position != p || !strings.Contains(fault.Reason, test.want) {
					t.Errorf("got %v, want %q at %#x", err, test.want, p)
				}
				leads := func(from game.Position) bool {
					return slices.ContainsFunc(g.Moves(nil, from), func(m game.Move) bool { return m.To == p })
				}
				if !errors.As(rulesErr, &fault) || fault.Position != p && !leads(fault.Position) {
					t.Errorf("by the rules: got %v, want a fault at %#x or before it", rulesErr, p)
				}
			})
		}
	}
}

// TestVerifyFirst checks that of two faults, Verify returns the one nearer to the end of the
// game, on which the other may depend.
func TestVerifyFirst(t *testing.T) {
	dir, g := solved(t)
	early, late := parse(t, g, ".........."+".....X...."), parse(t, g, ".........."+"O....XOX..")
	for _, p := range []game.Position{early, late} {
		rewrite(t, dir, g, p, func(b *block.Block, slot int) { b.Val[slot] += 8 })
	}
	_, err := verify(dir)
	var fault *table.Fault
	if !errors.As(err, &fault) || fault.Position != late {
		t.Errorf("got %v, want the fault at %#x", err, late)
	}
}

// TestVerifyReport checks the reported progress of both passes.
func TestVerifyReport(t *testing.T) {
	dir, g := solved(t)
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	var shares []float64
	must.Get(tab.VerifyReport(t.Context(), func(share float64) { shares = append(shares, share) }))(t)
	if len(shares) != 2*g.Tiers()+1 || !slices.IsSorted(shares) || shares[0] <= 0 || shares[len(shares)-1] > 1 || shares[g.Tiers()] != 0.5 {
		t.Errorf("%v", shares)
	}
}

// TestVerifyFiles damages the files themselves, also the first, the middle and the last byte of each part of
// a compact file. Look-ups of the tier then give an error or the right value, and a check of a sample an error.
func TestVerifyFiles(t *testing.T) {
	type damage struct {
		name   string
		damage func(t *testing.T, file string)
		want   string
	}
	tests := []damage{
		{"missing", func(t *testing.T, file string) { remove(t, file) }, "missing"},
		{"cut short", func(t *testing.T, file string) { cut(t, file, 100) }, "cut short"},
		{"empty", func(t *testing.T, file string) { cut(t, file, 1<<20) }, "cut short: 0 of"},
		{"a byte changed", func(t *testing.T, file string) { flip(t, file) }, "checksum"},
		{"incomplete", func(t *testing.T, file string) { remove(t, filepath.Join(filepath.Dir(file), store.Success)) }, "incomplete"},
		{"codes, with the right checksums", func(t *testing.T, file string) {
			recode(t, file, func(p *streamfmt.Packer) { p.Bytes[len(p.Bytes)-1] ^= 0x10 })
		}, "codes of values are damaged"},
	}
	const tier = 9
	dir, _ := solved(t)
	parts := must.Get(partsOf(filepath.Join(dir, table.TierFile(tier))))(t)
	for _, part := range parts {
		for name, at := range map[string]int{"first": part.from, "middle": (part.from + part.to) / 2, "last": part.to - 1} {
			tests = append(tests, damage{part.name + ", " + name + " byte", func(t *testing.T, file string) { flipAt(t, file, at, 0x10) }, part.want})
		}
	}
	tab := must.Get(table.Open(dir, all.Kinds()))(t)
	defer tab.Close()
	right := make(map[game.Position]game.Value) // the values of the tier
	for b, err := range tab.All() {
		must.OK(t, err)
		for i, p := range b.Positions {
			if b.Tier == tier {
				right[p] = b.Values[i]
			}
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, _ := solved(t)
			file := filepath.Join(dir, table.TierFile(tier))
			opened, err := table.Open(dir, all.Kinds())
			must.OK(t, err)
			defer opened.Close()
			test.damage(t, file)
			_, err = verify(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) || test.name != "incomplete" && !strings.Contains(err.Error(), file) {
				t.Errorf("got %v, want %q and the name of the file", err, test.want)
			}
			// The file was opened before it was damaged, or is opened now.
			lookUp(t, opened, right, file)
			if tab, err := table.Open(dir, all.Kinds()); err == nil {
				defer tab.Close()
				if _, _, err := (table.Rules{Sample: 10_000}).Verify(t.Context(), tab); err == nil || !strings.Contains(err.Error(), file) {
					t.Errorf("a sample: got %v, want the name of the file", err)
				}
				if lookUp(t, tab, right, file) == 0 {
					t.Errorf("all positions were found")
				}
			}
		})
	}
}

// TestVerifyCounts changes the numbers of positions that a file records, and not its blocks.
func TestVerifyCounts(t *testing.T) {
	dir, _ := solved(t)
	file := filepath.Join(dir, table.TierFile(9))
	recode(t, file, func(p *streamfmt.Packer) { p.Counts[5*4+1]++; p.Counts[5*4+2]-- })
	_, err := verify(dir)
	for _, err := range []error{err, verifyRules(t, dir)} {
		if err == nil || !strings.HasPrefix(err.Error(), file+": the recorded counts differ") {
			t.Errorf("got %v", err)
		}
	}
}

// recode writes a compact file of 4×5 connect 3 again, with a change in its longest block, which ends with codes.
// All checksums are right.
func recode(t *testing.T, file string, change func(p *streamfmt.Packer)) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	f := must.Get(streamfmt.OpenFile(bytes.NewReader(text), int64(len(text)), file))(t)
	g, number := mirror.HalfOf(board(t, 4, 5)), f.Stages[0]
	tier := must.Get(blocks.OpenTier(store.Local{}, file, g, number))(t)
	defer tier.Close()
	var out bytes.Buffer
	w := streamfmt.NewWriter(&out, g.Spec(), f.Kind, f.Model)
	entries := must.Get(f.Cells(number))(t)
	longest := slices.MaxFunc(entries, func(a, b streamfmt.Cell) int { return cmp.Compare(a.Length, b.Length) })
	c, b := tier.Cursor(0), new(block.Block)
	for _, e := range entries {
		must.Get(c.Load(b, e.First))(t)
		var p streamfmt.Packer
		p.SetCompact(game.DeducerOf(g), f.Model)
		_, balanced := g.Stored(number, e.First)
		p.AddHalf(b, balanced)
		if e == longest {
			change(&p)
			p.Cells[0].Sum = crc32.Checksum(p.Bytes, crc32.MakeTable(crc32.Castagnoli))
		}
		must.OK(t, w.Append(&p))
	}
	data := filepath.Dir(filepath.Dir(file))
	must.OK(t, errors.Join(w.Close(), os.WriteFile(file, out.Bytes(), 0o666), table.Seal(store.Local{}, data, g.Spec())))
}

// lookUp looks positions of a file up, and returns the number of errors, which must name the file. There may
// be no wrong answer.
func lookUp(t *testing.T, tab *table.Table, right map[game.Position]game.Value, file string) (errs int) {
	t.Helper()
	for p, want := range right {
		v, ok, err := tab.Lookup(p)
		if err != nil {
			if errs++; !strings.Contains(err.Error(), file) {
				t.Fatalf("%#x: error %v does not name %s", p, err, file)
			}
		} else if v != want || !ok {
			t.Fatalf("%#x: %d, %v, want %d", p, v, ok, want)
		}
	}
	return errs
}

// A filePart is the bytes of a part of a compact file, and what the error for its damage says.
type filePart struct {
	name     string
	from, to int
	want     string
}

// partsOf returns the parts of a compact file that has one page, see streamfmt.
func partsOf(name string) ([]filePart, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := streamfmt.OpenFile(bytes.NewReader(text), int64(len(text)), name)
	if err != nil {
		return nil, err
	}
	entries, err := file.Cells(file.Stages[0])
	if err != nil || file.Model == nil {
		return nil, fmt.Errorf("%s is not compact, %v", name, err)
	}
	const tailSize = 24
	first, last, tail := entries[0], entries[len(entries)-1], len(text)-tailSize
	page := int(last.Offset) + int(last.Length)
	directory := int(binary.LittleEndian.Uint64(text[tail:]))
	return []filePart{
		{"head", 0, int(first.Offset), ""},
		{"first block", int(first.Offset), int(first.Offset) + int(first.Length), "checksum"},
		{"last block", int(last.Offset), page, "checksum"},
		{"page", page, directory, "in its index, in the page at byte"},
		{"directory, counts and model", directory, tail, "the checksum is wrong"},
		{"tail", tail, len(text), ""},
	}, nil
}

func remove(t *testing.T, file string) {
	t.Helper()
	must.OK(t, os.Remove(file))
}

// cut truncates a file by n bytes.
func cut(t *testing.T, file string, n int64) {
	t.Helper()
	info := must.Get(os.Stat(file))(t)
	must.OK(t, os.Truncate(file, max(0, info.Size()-n)))
}

// flip changes a byte in the middle of a file.
func flip(t *testing.T, file string) {
	t.Helper()
	info := must.Get(os.Stat(file))(t)
	flipAt(t, file, int(info.Size()/2), 0x10)
}

// flipAt changes bits of a byte of a file.
func flipAt(t *testing.T, file string, at int, bits byte) {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	data[at] ^= bits
	must.OK(t, os.WriteFile(file, data, 0o666))
}

// TestOpenNothing checks the error for a data directory without a table.
func TestOpenNothing(t *testing.T) {
	if _, err := table.Open(t.TempDir(), all.Kinds()); err == nil || !strings.Contains(err.Error(), "has not been solved yet") {
		t.Errorf("got %v", err)
	}
}

// TestOpenOtherGame checks that a table is refused in a data directory of another game.
func TestOpenOtherGame(t *testing.T) {
	dir, g := solved(t)
	text, err := store.MarshalSummed(store.Manifest{Format: store.FormatVersion, Game: "mnk width=3 height=3 connect=3"})
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(dir, store.ManifestFile), text, 0o666))
	if _, err := table.Open(dir, all.Kinds()); err == nil || !strings.Contains(err.Error(), `of another game: expected "mnk width=3 height=3 connect=3", found "`+g.Spec()+`"`) {
		t.Errorf("got %v", err)
	}
}

// TestOpenWrongFiles opens tables whose files do not fit together, with a right seal.
func TestOpenWrongFiles(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"tier-00.pack", "tier-01.pack: it stores half of the positions, and other files do not"}, // it stores all
		{"tier-09.pack", "tier-09.pack: it stores half of the positions, and other files do not"},
		{"tier-99.pack", `22 files, but those of the 21 tiers of "connectn width=4 height=5 connect=3" are 21`},
	} {
		dir, g := solved(t)
		out := must.Get(os.Create(filepath.Join(dir, table.Dir, test.name)))(t)
		w := streamfmt.NewWriter(out, g.Spec(), streamfmt.Blocks, nil)
		must.OK(t, errors.Join(w.Close(), out.Close(), table.Seal(store.Local{}, dir, g.Spec())))
		if _, err := table.Open(dir, all.Kinds()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// TestCurrent checks whether a table is still there after its seal was written again, and deleted.
func TestCurrent(t *testing.T) {
	dir, _ := solved(t)
	seal := filepath.Join(dir, table.Dir, store.Success)
	tab := must.Get(table.Open(dir, all.Kinds()))(t)
	defer tab.Close()
	if !tab.Current() {
		t.Error("nothing has changed")
	}
	must.OK(t, os.Chtimes(seal, time.Time{}, time.Unix(0, 0)))
	if tab.Current() {
		t.Error("the seal has another time")
	}
	remove(t, seal)
	if tab.Current() {
		t.Error("the seal is missing")
	}
}

// TestOpenClearing checks the table of a data directory in which --overwrite was interrupted
// while it deleted an old run: it is complete and readable, or missing.
func TestOpenClearing(t *testing.T) {
	dir, g := solved(t)
	text, err := store.MarshalSummed(store.Manifest{Format: store.FormatVersion, Game: "mnk width=3 height=3 connect=3", Clearing: true})
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(dir, store.ManifestFile), text, 0o666))
	tab := must.Get(table.Open(dir, all.Kinds()))(t)
	defer tab.Close()
	if v, ok, err := tab.Lookup(g.Start()); tab.Game().Spec() != g.Spec() || v == 0 || !ok || err != nil {
		t.Errorf("%s: %d, %v, %v", tab.Game().Spec(), v, ok, err)
	}
}

// TestLookup visits all positions of 4×5 connect 3 up to a ply, looks each of them up, and
// checks that its value follows from its choices.
func TestLookup(t *testing.T) {
	dir, g := solved(t)
	tab := must.Get(table.Open(dir, all.Kinds()))(t)
	defer tab.Close()
	tier := []game.Position{g.Start()}
	for ply := range 7 {
		next := make(map[game.Position]bool)
		for _, p := range tier {
			v, ok, err := tab.Lookup(p)
			if err != nil || !ok {
				t.Fatalf("%#x: found %v, %v", p, ok, err)
			}
			choices := must.Get(tab.Choices(p))(t)
			if primitive := g.Primitive(p); (primitive != 0) != (len(choices) == 0) || primitive != 0 && primitive != v {
				t.Fatalf("%#x: %d choices, value %s, the rules say %s", p, len(choices), v, primitive)
			}
			for i, c := range choices {
				next[c.To] = true
				if i == 0 && (c.Value.Outcome() != v.Outcome() || c.Value.Remoteness()+1 != v.Remoteness()) {
					t.Fatalf("%#x is %s, but its best move leads to %s", p, v, c.Value)
				}
			}
		}
		if counts, err := tab.Counts(ply); err != nil || counts.Total() != uint64(len(tier)) {
			t.Errorf("tier %d: %d positions, %v; want %d", ply, counts.Total(), err, len(tier))
		}
		tier = slices.Sorted(maps.Keys(next))
	}
	if _, ok, err := tab.Lookup(parse(t, g, "XXXO.OO.............")); ok || err != nil {
		t.Errorf("a position after the end of play: found %v, %v", ok, err)
	}
	if _, _, err := tab.Lookup(1 << 24); err == nil {
		t.Error("a hash that is no board was looked up")
	}
}

// TestLookupUnreached looks up every combination of pieces, and checks that unreachable
// positions are not found, in tables of blocks and of layers, with and without tiers.
func TestLookupUnreached(t *testing.T) {
	rules := must.Get(connectn.New(3, 3, 3))(t)
	quick := must.Get(quickcross.New(3, 2, 2))(t)
	unreached := parse(t, rules, "OO.XXXO..") // X has won, and O has moved after that
	for name, g := range map[string]game.Game{"blocks": rules, "layers": struct{ game.Tiered }{rules}, "without tiers": quick} {
		tab := solvedgames.Table(t, g)
		want, not := gametest.Search(g), 0
		for p := range game.Position(1) << g.KeyBits() {
			if g.Check(p) != nil {
				continue
			}
			v, reached := want[p]
			if !reached {
				not++
			}
			if found, ok, err := tab.Lookup(p); err != nil || ok != reached || found != v {
				t.Fatalf("%s: %q: %d, found: %v, %v; want %d, %v", name, g.AppendText(nil, p), found, ok, err, v, reached)
			}
		}
		if _, reached := want[unreached]; not == 0 || name != "without tiers" && reached {
			t.Errorf("%s: play reaches all positions", name)
		}
	}
}

// TestLookupReads checks that look-ups in the order of tiers and keys read each block once,
// for all of its positions.
func TestLookupReads(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=5 connect=3", "mnk width=3 height=3 connect=3", "quickcross width=3 height=3 connect=3"} {
		g := must.Get(all.Kinds().Parse(spec))(t)
		reads := &storetest.Reads{FS: store.Local{}}
		tab := must.Get(table.OpenOf(reads, solvedgames.Dir(t, g), g))(t)
		defer tab.Close()
		var batches, looked int64
		for b, err := range tab.All() {
			must.OK(t, err)
			batches++
			before := reads.Calls.Load()
			for i, p := range b.Positions {
				if v, ok, err := tab.Lookup(p); v != b.Values[i] || !ok || err != nil {
					t.Fatalf("%s: %#x: %d, %v, %v, want %d", spec, p, v, ok, err, b.Values[i])
				}
			}
			looked += reads.Calls.Load() - before
		}
		// One page of the index and one block each; for a list, its head, its tail, its page
		// and some cells.
		if most := 5 * batches; looked > most {
			t.Errorf("%s: %d reads of %d batches, want %d at most", spec, looked, batches, most)
		}
	}
}

// TestSampleReads checks that a sample reads the blocks of its positions and of their
// successors, not complete tiers.
func TestSampleReads(t *testing.T) {
	dir, g := solved(t)
	files := must.Get(solvedOnce())(t)
	all := int64(0)
	for _, content := range files {
		all += int64(len(content))
	}
	reads := &storetest.Reads{FS: store.Local{}}
	tab := must.Get(table.OpenOf(reads, dir, g))(t)
	defer tab.Close()
	reads.Bytes.Store(0)
	const samples = 5
	for seed := range uint64(samples) {
		if n, _, err := (table.Rules{Sample: 1, Seed: seed}).Verify(t.Context(), tab); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := reads.Bytes.Load(); n > all/2 {
		t.Errorf("%d samples to check read %d bytes of %d", samples, n, all)
	}
	reads.Bytes.Store(0)
	for seed := range uint64(samples) {
		picked, err := tab.Sample(t.Context(), 1, seed, table.Selection{Value: func(v game.Value) bool { return v.Outcome() != game.SecondWins }})
		if err != nil || len(picked) != 1 || len(picked[0].Positions) != 1 || picked[0].Values[0].Outcome() == game.SecondWins {
			t.Fatal(picked, err)
		}
		if v, ok, err := tab.Lookup(picked[0].Positions[0]); v != picked[0].Values[0] || !ok || err != nil {
			t.Fatal(v, ok, err)
		}
	}
	if n := reads.Bytes.Load(); n > all/2 {
		t.Errorf("%d samples read %d bytes of %d", samples, n, all)
	}
}

// TestScanEnds checks that a scan ends with its context.
func TestScanEnds(t *testing.T) {
	dir, g := solved(t)
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	ctx, cancel := context.WithCancel(t.Context())
	scan := must.Get(tab.Scan(ctx, table.Selection{}))(t)
	read, b := scan.Reader(), new(table.Batch)
	must.OK(t, read(0, b))
	cancel()
	for _, read := range []func(int, *table.Batch) error{read, scan.Reader()} {
		if err := read(scan.Len()/2, b); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
}

// TestSampleReadsOnce checks that a sample reads a block once for all its places: it does not
// read it again for the values and, if the sample is large, does not read all blocks with all
// values.
func TestSampleReadsOnce(t *testing.T) {
	dir, g := solved(t)
	reads := &storetest.Reads{FS: store.Local{}}
	tab := must.Get(table.OpenOf(reads, dir, g))(t)
	defer tab.Close()
	scan := must.Get(tab.Scan(t.Context(), table.Selection{}))(t)
	for _, n := range []uint64{100, 1000, 4000} {
		reads.Calls.Store(0)
		picked, err := tab.Sample(t.Context(), n, 1, table.Selection{})
		if err != nil {
			t.Fatalf("a sample of %d: %v", n, err)
		}
		pages := (g.Tiers() + 1) * runtime.GOMAXPROCS(0) // of the index: one for each worker and tier
		if most := int64(scan.Len()/4 + pages); reads.Calls.Load() > most {
			t.Errorf("a sample of %d read %d times, want %d at most of %d blocks", n, reads.Calls.Load(), most, scan.Len())
		}
		different := make(map[game.Position]bool)
		for _, b := range picked {
			if !slices.IsSorted(b.Positions) {
				t.Errorf("positions of tier %d do not ascend", b.Tier)
			}
			for i, p := range b.Positions {
				different[p] = true
				if v, ok, err := tab.Lookup(p); v != b.Values[i] || !ok || err != nil || g.Tier(p) != b.Tier {
					t.Fatalf("tier %d, %#x: value %d, looked up %d, %v, %v", b.Tier, p, b.Values[i], v, ok, err)
				}
			}
		}
		if uint64(len(different)) != n {
			t.Errorf("%d positions, want %d", len(different), n)
		}
	}
}

// TestHalfStats checks the number of stored positions of each tier, and the checksum of the content, which is the same in
// every table of the game, and the sum of those in the seal.
func TestHalfStats(t *testing.T) {
	dir, g := solved(t)
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	stored := make([]uint64, g.Tiers()+1)
	for b, err := range tab.All() {
		must.OK(t, err)
		for _, p := range b.Positions {
			if mirror.HalfOf(g).IsStored(p) {
				stored[b.Tier]++
			}
		}
	}
	s := must.Get(tab.Stats())(t)
	var text bytes.Buffer
	must.OK(t, s.WriteJSON(&text))
	var got struct{ Tiers []struct{ Stored uint64 } }
	must.OK(t, json.Unmarshal(text.Bytes(), &got))
	for tier, n := range stored {
		if got.Tiers[tier].Stored != n {
			t.Errorf("tier %d stores %d positions, want %d", tier, got.Tiers[tier].Stored, n)
		}
	}
	var sum uint64
	for _, f := range must.Get(store.ReadSeal(store.Local{}, filepath.Join(dir, table.Dir)))(t).Files {
		sum += must.Get(strconv.ParseUint(f.Content, 16, 64))(t)
	}
	if want := "5a7f362cb65b4d0d"; s.Content != want || fmt.Sprintf("%016x", sum) != want {
		t.Errorf("content %s, by the seal %016x, want %s", s.Content, sum, want)
	}
}
