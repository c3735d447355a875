package blocks_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/testing/records"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/streamfmt"
)

// gather reads all blocks and calls use for each.
func gather(g game.Blockwise, in io.Reader, sorted bool, use func(*block.Block)) error {
	return blocks.ReadBlocks(g, in, "in", sorted, blocks.AddRecord, func(b *block.Block) error {
		use(b)
		return nil
	})
}

// lines appends the lines of a block.
func lines(dst []byte, b *block.Block, width int) []byte {
	return blocks.AppendLines(dst, b, width, streamfmt.Done)
}

var games = []struct{ width, height, connect int }{{3, 3, 3}, {4, 3, 3}, {5, 5, 4}, {8, 7, 4}, {2, 31, 4}}

// TestRoundTrip checks that sorted lines become one block for each range, and that the
// blocks become the same lines.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range games {
		g := solved.Game(t, fmt.Sprintf("connectn width=%d height=%d connect=%d", size.width, size.height, size.connect)).(game.Blockwise)
		width := streamfmt.KeyWidth(g.KeyBits())
		for _, tier := range []int{0, 1, 2, 5, 8} {
			recs := records.Random(r, g, tier, 200)
			want := records.Text(recs, width)
			var got []byte
			var ranges []uint64
			records := 0
			err := gather(g, strings.NewReader(want), true, func(b *block.Block) {
				if b.Tier != tier || b.LowBits != g.LowBits() {
					t.Errorf("%s: a block of tier %d with %d low bits", g.Spec(), b.Tier, b.LowBits)
				}
				ranges = append(ranges, b.Range)
				records += b.Count()
				got = lines(got, b, width)
			})
			if err != nil || string(got) != want {
				t.Errorf("%s, tier %d: the lines change on their way: %v", g.Spec(), tier, err)
			}
			if records != len(recs) {
				t.Errorf("%s, tier %d: %d records, want %d", g.Spec(), tier, records, len(recs))
			}
			if !slices.IsSorted(ranges) || len(slices.Compact(ranges)) != len(ranges) {
				t.Errorf("%s, tier %d: blocks of the ranges %x", g.Spec(), tier, ranges)
			}
		}
	}
}

// TestUnsorted checks that unsorted lines of several tiers, some of them duplicates, give
// the same records as sorted ones.
func TestUnsorted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range games {
		g := solved.Game(t, fmt.Sprintf("connectn width=%d height=%d connect=%d", size.width, size.height, size.connect)).(game.Blockwise)
		width := streamfmt.KeyWidth(g.KeyBits())
		var recs []streamfmt.Record
		for tier := range 6 {
			recs = append(recs, records.Random(r, g, tier, 50)...)
		}
		want := map[uint64]streamfmt.Record{}
		for _, rec := range recs {
			want[rec.Key] = rec
		}
		recs = append(recs, recs[:len(recs)/2]...)
		r.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
		got := map[uint64]streamfmt.Record{}
		err := gather(g, strings.NewReader(records.Text(recs, width)), false, func(b *block.Block) {
			for i := range b.Len() {
				key := b.Key(i)
				if b.Open.Has(i) {
					got[key] = streamfmt.Record{Key: key}
				}
				if b.Done.Has(i) {
					got[key] = streamfmt.Record{Key: key, Kind: streamfmt.Done, Value: b.Val[i]}
				}
				if (b.Open.Has(i) || b.Done.Has(i)) && g.Tier(key) != b.Tier {
					t.Errorf("%s: key %#x of tier %d in a block of tier %d", g.Spec(), key, g.Tier(key), b.Tier)
				}
			}
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d records, want %d: %v", g.Spec(), len(got), len(want), err)
		}
	}
}

// TestTiersComeApart checks that records of one range and two tiers give two blocks. On
// 2×2, keys have two digits: 00 is empty, 02 and 10 have an X, 11 an X and an O.
func TestTiersComeApart(t *testing.T) {
	g := solved.Game(t, "connectn width=2 height=2 connect=2").(game.Blockwise)
	var got []string
	err := gather(g, strings.NewReader("00\n02\t6\n10\n11\n00\n12\n"), false, func(b *block.Block) {
		got = append(got, fmt.Sprintf("tier %d: %q", b.Tier, lines(nil, b, 2)))
	})
	want := `in:6: expected a position (0x12 is not a board: 2 X and 0 O, but X moves first and the turns alternate), found "12"`
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
	if want := []string{`tier 0: "00\n"`, `tier 1: "02\t6\n10\n"`, `tier 2: "11\n"`}; !slices.Equal(got, want) {
		t.Errorf("blocks %q, want %q", got, want)
	}
}

// TestLineErrors checks that an invalid line is reported with its number, after the blocks
// before it, and that its own block is not returned.
func TestLineErrors(t *testing.T) {
	g := solved.Game(t, "connectn width=2 height=2 connect=2").(game.Blockwise)
	for _, tt := range []struct {
		name, in string
		want     string
		before   string // lines of the blocks before the error
	}{
		{"no record at the beginning", "zz\n02\n", `in:1: expected a key of 2 hexadecimal digits (0-9, a-f), found "zz"`, ""},
		{"no record within a block", "02\nzz\n", `in:2: expected a key of 2 hexadecimal digits (0-9, a-f), found "zz"`, ""},
		{"no position at the beginning", "01\n", `in:1: expected a position (0x1 is not a board: 0 X and 1 O, but X moves first and the turns alternate), found "01"`, ""},
		{"no position within a block", "02\n07\t5\n", `in:2: expected a position (0x7 is not a board of 2×2: column 1 holds more than 2 pieces), found "07\t5"`, ""},
		{"more bits than the board has", "02\n10\nff\n", `in:3: expected a position (0xff is not a board of 2×2: it has more than 6 bits), found "ff"`, ""},
		{"not sorted", "02\n10\t6\n02\n", `in:3: expected keys in ascending order (LC_ALL=C sort), found "02"`, ""},
		{"another tier in the same range", "02\n11\n", `in:2: expected a position of tier 1, as those before it (this one is of tier 2), found "11"`, ""},
		{"a value that another line denies", "02\n10\t6\n10\t10\n", `in:3: expected the value 6 that another line gave this key, found "10\t10"`, ""},
		{"a value without an outcome", "02\n10\t4\n", `in:2: expected a value with an outcome in its two low bits, found "10\t4"`, ""},
		{"a message", "02\n10\tm6\n", `in:2: expected a position, no message, found "10\tm6"`, ""},
	} {
		var before []byte
		err := gather(g, strings.NewReader(tt.in), true, func(b *block.Block) {
			before = lines(before, b, 2)
		})
		var bad *streamfmt.LineError
		if !errors.As(err, &bad) || err.Error() != tt.want {
			t.Errorf("%s: error\n%v, want\n%s", tt.name, err, tt.want)
		}
		if string(before) != tt.before {
			t.Errorf("%s: before the error come %q, want %q", tt.name, before, tt.before)
		}
	}
}

// TestUnsortedRanges checks that keys must also ascend from range to range, not only within
// one.
func TestUnsortedRanges(t *testing.T) {
	g := solved.Game(t, "connectn width=8 height=7 connect=4").(game.Blockwise) // 16 digits; the two low columns take 16 bits
	in := "0000000002000000\n0000000000020000\n"
	err := gather(g, strings.NewReader(in), true, func(*block.Block) {})
	want := `in:2: expected keys in ascending order (LC_ALL=C sort), found "0000000000020000"`
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
	in3 := "0000000000020000\n0000000002000000\n0000000200000001\n"
	err = gather(g, strings.NewReader(in3), true, func(*block.Block) {})
	if want := "in:3: expected a position of tier 1, as those before it (this one is of tier 2)"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
	blocks := 0
	if err := gather(g, strings.NewReader(in), false, func(*block.Block) { blocks++ }); err != nil || blocks != 2 {
		t.Errorf("not sorted: %d blocks, %v, want 2", blocks, err)
	}
}

// TestTwice checks that a key may occur several times. If it occurs both open and with a
// value, it has the value, in either order.
func TestTwice(t *testing.T) {
	g := solved.Game(t, "connectn width=2 height=2 connect=2").(game.Blockwise)
	for in, want := range map[string]string{
		"02\n02\n":                "02\n",
		"02\t6\n02\t6\n":          "02\t6\n",
		"02\n02\t6\n":             "02\t6\n",
		"02\t6\n02\n":             "02\t6\n",
		"02\n02\t6\n02\n02\t6\n":  "02\t6\n",
		"02\t\n02\n10\t7\n10\t\n": "02\n10\t7\n",
	} {
		var got []byte
		err := gather(g, strings.NewReader(in), true, func(b *block.Block) {
			got = lines(got, b, 2)
		})
		if err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestNoLines(t *testing.T) {
	g := solved.Game(t, "connectn width=2 height=2 connect=2").(game.Blockwise)
	if err := gather(g, strings.NewReader(""), true, func(b *block.Block) { t.Errorf("a block of tier %d", b.Tier) }); err != nil {
		t.Error(err)
	}
}

// TestReadError checks that the error of a failed read is returned, and that no incomplete block is used.
func TestReadError(t *testing.T) {
	broken := errors.New("the wire is cut")
	in := io.MultiReader(strings.NewReader("02\n10\t6\n"), iotest.ErrReader(broken))
	g := solved.Game(t, "connectn width=2 height=2 connect=2").(game.Blockwise)
	if err := gather(g, in, true, func(b *block.Block) { t.Errorf("a block of tier %d", b.Tier) }); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// slotless is a game without the last low part of each range, which Check accepts all the same.
type slotless struct{ game.Blockwise }

func (g slotless) Low(tier int, rng uint64) []uint32 {
	low := g.Blockwise.Low(tier, rng)
	return low[:max(0, len(low)-1)]
}

// TestSlotless checks that a key that Check accepts, but that Low lacks, is an error, whether the
// lines are sorted or not: its cell never gets a record.
func TestSlotless(t *testing.T) {
	g := slotless{solved.Game(t, "connectn width=3 height=3 connect=3").(game.Blockwise)}
	low := g.Blockwise.Low(2, 0)
	var text []byte
	for _, part := range low[len(low)-2:] {
		text = streamfmt.AppendRecord(text, streamfmt.Record{Key: uint64(part)}, streamfmt.KeyWidth(g.KeyBits()))
	}
	for _, sorted := range []bool{false, true} {
		n := 0
		err := gather(g, strings.NewReader(string(text)), sorted, func(b *block.Block) { n += b.Count() })
		if want := "in:2: expected a position with a slot in its range, found "; err == nil || !strings.Contains(err.Error(), want) || n > 1 {
			t.Errorf("sorted %v: %d records, %v, want %q", sorted, n, err, want)
		}
	}
}
