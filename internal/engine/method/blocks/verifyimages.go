package blocks

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// claimsMemory is the number of bytes for the claims of a tier that are in memory at a time.
const claimsMemory = 128 << 20

// imageCheck compares the balanced positions of a tier with their mirror images, for a table that
// stores half of the positions. The moves to stored positions determine a claim for each: a byte,
// 0 if there is none. What a position and its mirror image claim determines whether both are
// correct. Each mirror image is found with Mirror, position by position: the check uses none of
// the code by which the table was computed.
//
// If the claims of a tier need too much memory, the check makes several passes, each with the
// claims of some ranges.
type imageCheck struct {
	t    *Table
	tier int
	// claim returns a function that computes the claims of a range, by slot, and reads its block.
	claim func() func(found *block.Block, rng uint64) (claims []byte, err error)
	// check compares a position with its mirror image.
	check func(p, image game.Position, v game.Value, own, other byte) error

	mu     sync.Mutex
	most   int // bytes of claims
	bytes  int
	known  map[uint64]rangeClaims
	later  []uint64 // ranges whose claims did not fit
	ranges []uint64 // all ranges with balanced positions in the table, ascending
}

// rangeClaims are the claims of a range.
type rangeClaims struct {
	low    []uint32
	claims []byte
}

// add adds the claims of a range with balanced positions.
func (c *imageCheck) add(b *block.Block, claims []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes+len(claims) > c.most && c.bytes > 0 {
		c.later = append(c.later, b.Range)
		return
	}
	c.bytes += len(claims)
	c.known[b.Range] = rangeClaims{b.Low, claims}
}

// run compares all positions, after the claims of each range have been added once.
func (c *imageCheck) run(ctx context.Context) error {
	for rng := range c.known {
		c.ranges = append(c.ranges, rng)
	}
	c.ranges = append(c.ranges, c.later...)
	slices.Sort(c.ranges)
	for {
		if err := c.compare(ctx); err != nil || len(c.later) == 0 {
			return err
		}
		next := c.later
		slices.Sort(next)
		c.known, c.bytes, c.later = make(map[uint64]rangeClaims), 0, nil
		if err := eachOf(ctx, next, func() func(uint64) error {
			claim := c.claim()
			var found block.Block
			return func(rng uint64) error {
				c.mu.Lock()
				full := c.bytes >= c.most
				if full {
					c.later = append(c.later, rng)
				}
				c.mu.Unlock()
				if full {
					return nil
				}
				claims, err := claim(&found, rng)
				if err == nil {
					c.add(&found, claims)
				}
				return err
			}
		}); err != nil {
			return err
		}
	}
}

// compare compares all positions whose mirror images are in ranges with known claims.
func (c *imageCheck) compare(ctx context.Context) error {
	t := c.t
	return eachOf(ctx, c.ranges, func() func(uint64) error {
		var found block.Block
		claim, here := c.claim(), t.tiers[c.tier].Cursor(stored.Ahead)
		return func(rng uint64) error {
			own, err := c.known[rng].claims, error(nil)
			if own == nil {
				own, err = claim(&found, rng)
			} else {
				_, err = here.Load(&found, rng)
			}
			if err != nil {
				return err
			}
			balanced := t.balancedIn(c.tier, rng)
			for slot := range found.Done.All() {
				if !balanced.Has(slot) {
					continue
				}
				p := found.Key(slot)
				image := t.half.Mirror(p)
				other, ok := c.of(image)
				if !ok {
					continue
				}
				if err := c.check(p, image, game.Value(found.Val[slot]), own[slot], other); err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// of returns the claim of a mirror image; ok is false if another pass knows it.
func (c *imageCheck) of(image game.Position) (claim byte, ok bool) {
	rng := image >> c.t.g.LowBits()
	known, ok := c.known[rng]
	if !ok {
		_, exists := slices.BinarySearch(c.ranges, rng)
		return 0, !exists
	}
	low := uint32(image - rng<<c.t.g.LowBits()) // LowBits is at most 31
	slot := c.t.half.Slot(low)
	if slot >= len(known.low) || known.low[slot] != low {
		return 0, true
	}
	return known.claims[slot], true
}

// Claims of the forward pass.
const (
	claimExists  = 1 // the position is in the table, but no move from a stored position leads to it
	claimReached = 2
)

// forwardImages checks that the mirror image of each balanced position is in the table, and that a
// move from a stored position leads to one of the two.
func (t *Table) forwardImages(tier int) *imageCheck {
	cache := NewCache(verifyCache)
	return t.imageCheck(tier, func() func(*block.Block, uint64) ([]byte, error) {
		messages, here := t.positions(tier, cache), t.tiers[tier].Cursor(stored.Ahead)
		var reached block.Block
		return func(found *block.Block, rng uint64) ([]byte, error) {
			_, err := here.Load(found, rng)
			if err == nil {
				_, err = messages.Load(&reached, rng)
			}
			if err == nil {
				err = messages.Merge(&reached)
			}
			return reachedClaims(found, reached.Open, t.balancedIn(tier, rng)), err
		}
	}, func(p, image game.Position, _ game.Value, own, other byte) error {
		switch {
		case own == claimReached && other == 0:
			return &stored.Fault{Position: image, Reason: "is missing, but its mirror image is in the table"}
		case own == claimExists && other != claimReached:
			return &stored.Fault{Position: p, Reason: "cannot be reached"}
		}
		return nil
	})
}

// reachedClaims returns the claims of a block, of which the positions in reached are reached.
func reachedClaims(found *block.Block, reached, balanced block.Set) []byte {
	claims := make([]byte, found.Len())
	for slot := range found.Done.All() {
		if balanced.Has(slot) {
			claims[slot] = claimExists
			if reached.Has(slot) {
				claims[slot] = claimReached
			}
		}
	}
	return claims
}

// backwardImages checks that the value of each balanced position that is not terminal is the better of
// what its own moves to stored positions and those of its mirror image lead to. A claim is a score.
func (t *Table) backwardImages(tier int) *imageCheck {
	value := &t.g.Values().Scores(t.g.TierToMove(tier)).Value
	cache := NewCache(verifyCache)
	return t.imageCheck(tier, func() func(*block.Block, uint64) ([]byte, error) {
		messages := t.foundMessages(tier, cache)
		var scores block.Block
		return func(found *block.Block, rng uint64) ([]byte, error) {
			_, err := messages.load(found, &scores, rng)
			if err == nil {
				err = messages.pull.Merge(&scores)
			}
			return slices.Clone(scores.Val[:scores.Len()]), err
		}
	}, func(p, _ game.Position, v game.Value, own, other byte) error {
		if v.Remoteness() == 0 {
			return nil
		}
		return t.checkValue(p, v, value[max(own, other)])
	})
}

func (t *Table) imageCheck(tier int, claim func() func(*block.Block, uint64) ([]byte, error), check func(p, image game.Position, v game.Value, own, other byte) error) *imageCheck {
	return &imageCheck{t: t, tier: tier, claim: claim, check: check, most: cmp.Or(t.Claims, claimsMemory), known: make(map[uint64]rangeClaims)}
}
