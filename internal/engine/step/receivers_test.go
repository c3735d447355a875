package step

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// descending is a step of which each range sends messages to one range, and a higher range to a
// lower one.
type descending struct{ Step }

func (descending) Outputs(dst []uint64, _ int, rng uint64) []uint64 { return append(dst, ^rng&0xfff) }

// TestReceivers checks that Receivers lists all ranges that receive messages once, ascending,
// however small its intervals are, and that it notices targets that do not ascend.
func TestReceivers(t *testing.T) {
	board := must.Get(connectn.New(5, 5, 4))(t)
	g, possible := game.Tiered(board), New(Possible, board)
	rangeBits := g.KeyBits() - g.LowBits()
	r := rand.New(rand.NewPCG(1, 2))
	for tier := range g.Tiers() {
		name := filepath.Join(t.TempDir(), "part-00000.blocks")
		out := must.Get(os.Create(name))(t)
		w := jobdir.NewWriter(out, g, tier, jobdir.Packed)
		var want []uint64
		for rng := range uint64(1) << rangeBits {
			low := g.Low(tier, rng)
			if low == nil || r.IntN(3) == 0 {
				continue
			}
			var b block.Block
			b.Reset(tier, rng, g.LowBits(), low)
			b.Open.Add(r.IntN(len(low)))
			must.OK(t, w.Add(&b))
			want = possible.Outputs(want, tier, rng)
		}
		must.OK(t, w.Finish(nil))
		slices.Sort(want)
		want = slices.Compact(want)
		in := must.Get(jobdir.OpenTierFiles(store.Local{}, []string{name}, g, tier))(t)
		defer in.Close()
		all := func(receivers *Receivers) (got []uint64, err error) {
			for {
				rng, ok, err := receivers.Next()
				if !ok || err != nil {
					return got, err
				}
				got = append(got, rng)
			}
		}
		for _, nearBits := range []uint{0, 1, 3, 6, 7, rangeBits - 1, rangeBits} {
			receivers := newReceivers(possible, rangeBits, nearBits, in)
			if got, err := all(receivers); err != nil || !slices.Equal(got, want) || receivers.Share() != min(1, float64(in.Len())) {
				t.Errorf("tier %d, intervals of 1<<%d: %d ranges, %v, want %d; share %v", tier, nearBits, len(got), err, len(want), receivers.Share())
			}
		}
		if got, err := all(NewReceivers(possible, g, in)); err != nil || !slices.Equal(got, want) {
			t.Errorf("tier %d: %d ranges, %v, want %d", tier, len(got), err, len(want))
		}
		if _, err := all(newReceivers(descending{possible}, rangeBits, 3, in)); in.Len() > 20 && (err == nil || !strings.Contains(err.Error(), "do not ascend")) {
			t.Errorf("tier %d: targets that descend: %v", tier, err)
		}
	}
}
