package gametest_test

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// mishalved is a Halved game whose methods may be wrong.
type mishalved struct {
	game.Halved
	stored func(tier int, rng uint64, stored, balanced block.Set) (block.Set, block.Set)
	mirror func(game.Position) game.Position
	slot   int // added to Slot
}

func (g mishalved) Stored(tier int, rng uint64) (stored, balanced block.Set) {
	stored, balanced = g.Halved.Stored(tier, rng)
	if g.stored != nil {
		return g.stored(tier, rng, stored, balanced)
	}
	return stored, balanced
}

func (g mishalved) Mirror(p game.Position) game.Position {
	if g.mirror != nil {
		return g.mirror(p)
	}
	return g.Halved.Mirror(p)
}

func (g mishalved) Slot(low uint32) int { return g.Halved.Slot(low) + g.slot }

// A Halved game satisfies the contract; one with a method that is wrong does not.
func TestHalvedContract(t *testing.T) {
	for _, size := range [][2]int{{4, 3}, {5, 4}} { // a range is stored as a whole, or by slots
		rules := must.Get(connectn.New(size[0], size[1], 3))(t)
		if f := failure(t, mishalved{Halved: rules}); f != "" {
			t.Errorf("%s: %s", rules.Spec(), f)
		}
		all := func(tier int, rng uint64) block.Set {
			n := len(rules.Low(tier, rng))
			set := make(block.Set, block.Words(n))
			set.Fill(n)
			return set
		}
		for want, wrong := range map[string]mishalved{
			"neither it nor its mirror image": {stored: func(int, uint64, block.Set, block.Set) (block.Set, block.Set) { return nil, nil }},
			"balanced is false": {stored: func(tier int, rng uint64, stored, _ block.Set) (block.Set, block.Set) {
				return stored, nil
			}},
			"not stored": {stored: func(tier int, rng uint64, stored, balanced block.Set) (block.Set, block.Set) {
				if tier%2 == 0 {
					return stored, balanced
				}
				other := all(tier, rng) // in odd tiers, the other half
				for slot := range stored.All() {
					other.Remove(slot)
				}
				if balanced != nil {
					other.Union(balanced)
				}
				if other.Empty() {
					return nil, nil
				}
				return other, balanced
			}},
			"are not those parts of": {mirror: func(p game.Position) game.Position {
				if rules.Check(p) != nil {
					return rules.Mirror(p) + 1
				}
				return rules.Mirror(p)
			}},
			"Slot is": {slot: 1},
			"Stored returns a set": {stored: func(_ int, _ uint64, stored, _ block.Set) (block.Set, block.Set) {
				return stored, make(block.Set, len(stored))
			}},
		} {
			wrong.Halved = rules
			if f := failure(t, wrong); !strings.Contains(f, want) {
				t.Errorf("%s: %q, want %q", rules.Spec(), f, want)
			}
		}
	}
}
