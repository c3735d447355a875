package blocks

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
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
// If the claims of a tier need too much memory, the check is repeated, each time with the
// claims of some ranges.
type imageCheck struct {
	mu    sync.Mutex
	bytes int // the size of known
	known map[uint64]rangeClaims
	later []uint64 // ranges whose claims did not fit
}

// rangeClaims are the claims of a range, by slot.
type rangeClaims struct {
	low    []uint32
	claims []byte
}

// Claims of the forward pass. A claim of the backward pass is a score.
const (
	claimExists  = 1 // the position is in the table, but no move from a stored position leads to it
	claimReached = 2
)

// claims returns the claims of a range, by slot.
func (m *merger) claims() []byte {
	if m.name == step.Solve {
		return slices.Clone(m.want.Val[:m.want.Len()])
	}
	claims := make([]byte, m.found.Len())
	for slot := range m.found.Done.All() {
		if m.balanced.Has(slot) {
			claims[slot] = claimExists
			if m.want.Open.Has(slot) {
				claims[slot] = claimReached
			}
		}
	}
	return claims
}

// fits reports whether there is memory for the claims of a range. If not, its turn comes later.
func (p *pass) fits(rng uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := len(p.stores.Low(p.tier, rng))
	if p.bytes > 0 && p.bytes+size > cmp.Or(p.Claims, claimsMemory) {
		p.later = append(p.later, rng)
		return false
	}
	p.bytes += size
	return true
}

// claim adds the claims of a range with balanced positions, if they fit.
func (p *pass) claim(m *merger) {
	if p.fits(m.found.Range) {
		p.setClaims(m)
	}
}

func (p *pass) setClaims(m *merger) {
	claims := m.claims()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[m.found.Range] = rangeClaims{m.found.Low, claims}
}

// compareImages compares all positions, after claim was called for each range.
func (p *pass) compareImages(ctx context.Context) error {
	ranges := slices.Sorted(maps.Keys(p.known))
	ranges = append(ranges, p.later...)
	slices.Sort(ranges)
	for {
		if err := p.compareKnown(ctx, ranges); err != nil || len(p.later) == 0 {
			return err
		}
		next := p.later
		slices.Sort(next)
		p.known, p.bytes, p.later = make(map[uint64]rangeClaims), 0, nil
		if err := eachOf(ctx, next, func() func(uint64) error {
			m := p.merger()
			return func(rng uint64) error {
				if !p.fits(rng) {
					return nil
				}
				if err := m.load(rng); err != nil {
					return err
				}
				p.setClaims(m)
				return nil
			}
		}); err != nil {
			return err
		}
	}
}

// compareKnown compares the positions of some ranges, which are all that have balanced positions in the table, with their mirror
// images in ranges with known claims.
func (p *pass) compareKnown(ctx context.Context, ranges []uint64) error {
	return eachOf(ctx, ranges, func() func(uint64) error {
		m := p.merger()
		return func(rng uint64) error {
			own, err := p.known[rng].claims, error(nil)
			if own != nil {
				_, err = m.here.Load(&m.found, rng)
			} else if err = m.load(rng); err == nil {
				own = m.claims()
			}
			if err != nil {
				return err
			}
			balanced := p.balancedIn(p.tier, rng)
			for slot := range m.found.Done.All() {
				if !balanced.Has(slot) {
					continue
				}
				position := m.found.Key(slot)
				image := p.half.Mirror(position)
				if other, ok := p.claimOf(image, ranges); ok {
					err = p.checkImages(position, image, game.Value(m.found.Val[slot]), own[slot], other)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// claimOf returns the claim of a mirror image; ok is false if it is known another time.
func (p *pass) claimOf(image game.Position, ranges []uint64) (claim byte, ok bool) {
	rng := image >> p.g.LowBits()
	known, ok := p.known[rng]
	if !ok {
		_, exists := slices.BinarySearch(ranges, rng)
		return 0, !exists
	}
	low := uint32(image - rng<<p.g.LowBits()) // LowBits is at most 31
	slot := p.half.Slot(low)
	if slot >= len(known.low) || known.low[slot] != low {
		return 0, true
	}
	return known.claims[slot], true
}

// checkImages compares the claims of a position with the value v and of its mirror image. Forward, the image must be in the
// table, and a move from a stored position must lead to one of the two. Backward, the value of a position that is not terminal
// must be the better of what the moves of both to stored positions lead to.
func (p *pass) checkImages(position, image game.Position, v game.Value, own, other byte) error {
	switch {
	case p.name == step.Solve:
		if v.Remoteness() == 0 {
			return nil
		}
		return p.checkValue(position, v, p.value[max(own, other)])
	case own == claimReached && other == 0:
		return &stored.Fault{Position: image, Reason: "is missing, but its mirror image is in the table"}
	case own == claimExists && other != claimReached:
		return &stored.Fault{Position: position, Reason: "cannot be reached"}
	}
	return nil
}
