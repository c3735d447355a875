package connectn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

var _ game.Blockwise = (*Rules)(nil)

// The contract of game.Blockwise, on boards of various shapes.
func TestContract(t *testing.T) {
	for _, b := range [][3]int{
		{2, 2, 2}, {3, 3, 3}, {4, 3, 3}, {5, 2, 3}, {1, 8, 4}, {8, 1, 3},
		{5, 5, 4}, {7, 6, 4}, {8, 7, 4}, {3, 20, 4}, {2, 31, 4}, {1, 63, 4},
		{32, 1, 3},
	} {
		gametest.Contract(t, mustNew(t, b[0], b[1], b[2]))
	}
}

// On small boards, the blocks of a tier contain each legal position once, in ascending order,
// and nothing else; and all slots of Within agree with the rules, reachable or not.
func TestBlocksHoldEveryPosition(t *testing.T) {
	for _, b := range [][3]int{{1, 1, 1}, {2, 2, 2}, {3, 2, 3}, {6, 1, 3}, {2, 3, 3}, {1, 6, 2}} {
		g := mustNew(t, b[0], b[1], b[2])
		all := make([][]game.Position, g.Tiers()+1)
		for p := range game.Position(1) << g.KeyBits() {
			if g.Check(p) == nil {
				all[g.Tier(p)] = append(all[g.Tier(p)], p)
			}
		}
		for tier, want := range all {
			var got []game.Position
			for rng := range uint64(1) << (g.KeyBits() - g.LowBits()) {
				for _, low := range g.Low(tier, rng) {
					got = append(got, rng<<g.LowBits()|uint64(low))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, tier %d: blocks hold %x, want %x", g.Spec(), tier, got, want)
			}
			for _, p := range want {
				if g.Primitive(p) == 0 {
					gametest.CheckBlockwise(t, g, p)
				}
			}
			if g.Slots(tier) != float64(len(want)) {
				t.Errorf("%s, tier %d: Slots is %v, want %d", g.Spec(), tier, g.Slots(tier), len(want))
			}
		}
		for _, tier := range []int{-1, g.Tiers() + 1} {
			if low := g.Low(tier, 0); low != nil {
				t.Errorf("%s: tier %d has slots %v", g.Spec(), tier, low)
			}
		}
	}
}

// rangeBoards have few enough ranges to check all of them.
var rangeBoards = [][3]int{{3, 3, 3}, {5, 5, 4}, {3, 7, 4}, {2, 10, 4}, {11, 1, 3}}

// ranges returns the ranges of a board, with any number of pieces, in ascending order.
func ranges(g *Rules) []uint64 {
	list := []uint64{0}
	for range g.width - g.columns {
		var longer []uint64
		for _, rng := range list {
			for column := range uint64(1)<<g.bits - 1 { // all ones would be one piece too many
				longer = append(longer, rng<<g.bits|column)
			}
		}
		list = longer
	}
	return list
}

// Slots is the number of slots of all ranges. Border is the range at which the number of slots
// passes the fraction: the slots below it are at most the fraction, and with it at least.
func TestSlotsAndBorder(t *testing.T) {
	for _, b := range rangeBoards {
		g := mustNew(t, b[0], b[1], b[2])
		list := ranges(g)
		sums := make([]float64, len(list)+1) // number of slots before each range
		for tier := range g.Tiers() + 1 {
			for i, rng := range list {
				sums[i+1] = sums[i] + float64(len(g.Low(tier, rng)))
			}
			checkBorders(t, g, tier, list, sums)
		}
	}
}

// checkBorders checks Slots and Border of a tier against its ranges, and the number of slots before each.
func checkBorders(t *testing.T, g game.Blockwise, tier int, list []uint64, sums []float64) {
	t.Helper()
	if got, want := g.Slots(tier), sums[len(list)]; got != want {
		t.Errorf("%T %s, tier %d: Slots is %v, want %v", g, g.Spec(), tier, got, want)
	}
	for _, f := range []float64{0, 0.01, 0.25, 1. / 3, 0.75, 0.999} {
		border := g.Border(tier, f)
		i, ok := slices.BinarySearch(list, border)
		if want := f * g.Slots(tier); !ok || sums[i] > want+0.01 || sums[i+1] < want-0.01 {
			t.Errorf("%T %s, tier %d: Border(%.3f) is %#x: %v slots lie below, %v with it, want %v",
				g, g.Spec(), tier, f, border, sums[i], sums[i+1], want)
		}
	}
}

func TestSlotsOfOneColumn(t *testing.T) {
	g := mustNew(t, 1, 40, 4)
	for tier := range 41 {
		if got, want := g.Slots(tier), math.Round(binomial(tier, tier/2)); math.Abs(got-want) > want*1e-12 {
			t.Errorf("1×40, tier %d: Slots is %v, want %v", tier, got, want)
		}
	}
}

// binomial computes a row of Pascal's triangle.
func binomial(n, k int) float64 {
	row := make([]float64, n+1)
	row[0] = 1
	for range n {
		for i := n; i > 0; i-- {
			row[i] += row[i-1]
		}
	}
	return row[k]
}

// A range that no board has, or whose number of pieces does not match the tier, has no
// slots.
func TestLowOfNoRange(t *testing.T) {
	g := mustNew(t, 5, 5, 4) // two columns of six bits are the range, three are low
	for _, tt := range []struct {
		name string
		tier int
		rng  uint64
	}{
		{"more pieces than the tier", 0, 1},
		{"more X's than the tier", 1, 3 << 6},   // two O's
		{"more X's than the tier", 2, 2<<6 | 2}, // two X's
		{"fewer pieces than the low columns leave over", 16, 0},
		{"a column of ones", 20, 1<<6 - 1},
		{"a column of ones on the left", 20, (1<<6 - 1) << 6},
		{"more columns than the board has", 10, 1<<12 | 3},
	} {
		if low := g.Low(tt.tier, tt.rng); low != nil {
			t.Errorf("%s: tier %d, range %#x has %d slots", tt.name, tt.tier, tt.rng, len(low))
		}
	}
}

// Finish agrees with Primitive, for those open slots in which the player who did not move last
// has no line (such positions cannot occur in play).
func TestFinishAgainstPrimitive(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, tt := range []struct{ width, height, connect, games, most int }{
		{2, 2, 2, 5, 100}, {4, 3, 3, 3, 300}, {5, 5, 4, 2, 200}, {7, 6, 4, 1, 200}, {8, 7, 4, 1, 200},
		{3, 20, 4, 1, 100}, {2, 31, 4, 2, 100}, {1, 63, 4, 1, 100},
	} {
		g := mustNew(t, tt.width, tt.height, tt.connect)
		b := new(block.Block)
		for range tt.games {
			for tier, p := range gametest.Walk(r, g, g.Tiers()) {
				rng := p >> g.LowBits()
				low := g.Low(tier, rng)
				b.Reset(tier, rng, g.LowBits(), low)
				// In large blocks, only some slots are open.
				for i := range low {
					if r.IntN(len(low)) < tt.most {
						b.Open.Add(i)
					}
				}
				open := b.Open.Append(nil)
				g.Finish(b)
				checkFinished(t, g, b, open)
			}
		}
	}
}

// checkFinished requires that open slots are done if they are terminal, and that all
// others are unchanged.
func checkFinished(t *testing.T, g *Rules, b *block.Block, open []uint32) {
	t.Helper()
	other := g.TierToMove(b.Tier) // the player who did not move last
	if b.Count() != len(open) {
		t.Fatalf("%s, tier %d: of %d records Finish leaves %d", g.Spec(), b.Tier, len(open), b.Count())
	}
	for _, slot := range open {
		i := int(slot)
		p := b.Key(i)
		if g.lines.in(g.bitboard(p, other)) != 0 {
			continue
		}
		want := g.Primitive(p)
		if b.Open.Has(i) != (want == 0) || b.Done.Has(i) != (want != 0) || b.Val[i] != byte(want) {
			t.Fatalf("%s: %q: Finish leaves open %v, done %v, value %d, want value %d",
				g.Spec(), g.AppendText(nil, p), b.Open.Has(i), b.Done.Has(i), b.Val[i], want)
		}
	}
}

// Finish does not change slots that are already done.
func TestFinishLeavesDoneAlone(t *testing.T) {
	g := mustNew(t, 3, 3, 3)
	p := must.Get(g.Parse("XO XO X  "))(t)
	b := new(block.Block)
	b.Reset(5, 0, g.LowBits(), g.Low(5, 0))
	slot, _ := b.Slot(uint32(p), 0)
	b.Done.Add(slot)
	b.Val[slot] = 77
	g.Finish(b)
	if !b.Done.Has(slot) || b.Open.Has(slot) || b.Val[slot] != 77 || b.Count() != 1 {
		t.Errorf("Finish changes a record that was done: value %d", b.Val[slot])
	}
}

// Borders ascend with the fraction and are valid ranges, on every board and in every
// tier.
func TestBorderAscends(t *testing.T) {
	for _, b := range boards {
		g := mustNew(t, b[0], b[1], b[2])
		top := g.KeyBits() - g.LowBits()
		for tier := 0; tier <= g.Tiers(); tier += 4 {
			last := uint64(0)
			for i := range 8 {
				f := float64(i) / 7
				border := g.Border(tier, f)
				if border < last {
					t.Fatalf("%s, tier %d: Border(%v) is %#x, below the one before, %#x", g.Spec(), tier, f, border, last)
				}
				if border>>top != 0 {
					t.Fatalf("%s, tier %d: Border(%v) is %#x, no range of %d bits", g.Spec(), tier, f, border, top)
				}
				last = border
			}
		}
	}
}

// Several goroutines may request the tables of a new game concurrently.
func TestTablesConcurrently(t *testing.T) {
	one := mustNew(t, 5, 5, 4)
	many := must.Get(New(5, 5, 4))(t)
	positions := gametest.Walk(rand.New(rand.NewPCG(9, 9)), one, one.Tiers())
	results := make(chan string)
	tables := func(g *Rules) string {
		var s strings.Builder
		for tier, p := range positions {
			rng := p >> g.LowBits()
			sum := uint64(0)
			table, _ := g.Within(tier, rng)
			for i, c := range table {
				sum += uint64(i+1) * uint64(c)
			}
			fmt.Fprintln(&s, len(g.Low(tier, rng)), sum)
		}
		return s.String()
	}
	for range 4 {
		go func() { results <- tables(many) }()
	}
	want := tables(one)
	for range 4 {
		if got := <-results; got != want {
			t.Errorf("the tables are\n%swant\n%s", got, want)
		}
	}
}
