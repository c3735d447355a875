package step

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// maxNearBits limits the memory of Receivers: 2 MB.
const maxNearBits = 24

// Receivers lists the ranges to which the blocks of a tier send messages. It is used by one
// goroutine at a time.
//
// It has a set of ranges in memory, not all of them: those of one interval, which agree in all but
// the low bits. The messages to an interval come from its own ranges, and from others that differ
// in a higher bit. As the senders ascend, so do the intervals that differ from theirs in the same
// highest bit. So there is one reader of the tier's index for each of these bits, which reads
// forward, and one for the ranges of the interval.
type Receivers struct {
	nearBits uint // an interval is 1<<nearBits ranges
	near     *sender
	far      []*sender
	interval uint64 // the number of the interval in set
	after    uint64 // the number after it; 0 before the first
	set      block.Set
	word     int    // index in set
	left     uint64 // the ranges of that word that Next has not returned
}

// A sender reads the ranges of a tier, and where they send messages to.
type sender struct {
	step      Step
	tier      *jobdir.Tier
	index     *jobdir.TierCursor
	read      int // ranges
	rng       uint64
	receivers []uint64 // the ranges that rng sends messages to
	at        int      // the next of them
}

// pending returns the receivers that are left.
func (s *sender) pending() []uint64 { return s.receivers[s.at:] }

// ReceiversBytes returns how much memory the Receivers of a game take.
func ReceiversBytes(g game.Tiered) int { return 8 * block.Words(1<<nearBitsOf(g)) }

func nearBitsOf(g game.Tiered) uint { return min(maxNearBits, g.KeyBits()-g.LowBits()) }

// NewReceivers returns the receivers of a step whose input is a tier.
func NewReceivers(s Step, g game.Tiered, from *jobdir.Tier) *Receivers {
	return newReceivers(s, g.KeyBits()-g.LowBits(), nearBitsOf(g), from)
}

func newReceivers(s Step, rangeBits, nearBits uint, from *jobdir.Tier) *Receivers {
	newSender := func() *sender { return &sender{step: s, tier: from, index: from.Cursor(0)} }
	r := &Receivers{nearBits: nearBits, near: newSender(), set: make(block.Set, block.Words(1<<nearBits))}
	r.word = len(r.set)
	for range rangeBits - nearBits {
		r.far = append(r.far, newSender())
	}
	return r
}

// Share returns the share of the senders to which the ranges so far belong.
func (r *Receivers) Share() float64 { return float64(r.near.read) / float64(max(1, r.near.tier.Len())) }

// Next returns the next range; ok is false at the end.
func (r *Receivers) Next() (rng uint64, ok bool, err error) {
	for r.left == 0 {
		if r.word++; r.word >= len(r.set) {
			if ok, err := r.fill(); !ok || err != nil {
				return 0, false, err
			}
			r.word = 0
		}
		r.left = r.set[r.word]
	}
	low := r.word<<6 + bits.TrailingZeros64(r.left)
	r.left &= r.left - 1
	return r.interval<<r.nearBits + uint64(low), true, nil
}

// fill fills the set with the next interval that receives messages.
func (r *Receivers) fill() (ok bool, err error) {
	isNear := func(to uint64) bool { return (to^r.near.rng)>>r.nearBits == 0 }
	interval := ^uint64(0)
	add := func(s *sender) {
		if to := s.pending(); len(to) > 0 {
			interval = min(interval, to[0]>>r.nearBits)
		}
	}
	if err := r.near.next(isNear); err != nil {
		return false, err
	}
	add(r.near)
	for i, s := range r.far {
		if err := s.next(r.isFar(i, s)); err != nil {
			return false, err
		}
		add(s)
	}
	if interval == ^uint64(0) {
		return false, nil
	}
	if interval < r.after {
		return false, fmt.Errorf("the ranges that range %#x and later ones send messages to do not ascend as they do", r.near.rng)
	}
	r.interval, r.after = interval, interval+1
	clear(r.set)
	if err := r.take(r.near, interval, isNear); err != nil {
		return false, err
	}
	for i, s := range r.far {
		if err := r.take(s, interval, r.isFar(i, s)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// isFar returns whether the i-th of the far senders sends a message to a range.
func (r *Receivers) isFar(i int, s *sender) func(to uint64) bool {
	return func(to uint64) bool { return bits.Len64(to^s.rng) == int(r.nearBits)+1+i }
}

// take adds the receivers of a sender in an interval to the set.
func (r *Receivers) take(s *sender, interval uint64, wanted func(to uint64) bool) error {
	for to := s.pending(); len(to) > 0 && to[0]>>r.nearBits == interval; to = s.pending() {
		r.set.Add(int(to[0] & (1<<r.nearBits - 1)))
		s.at++
		if err := s.next(wanted); err != nil {
			return err
		}
	}
	return nil
}

// next reads ranges until one has receivers that are wanted, unless some are left.
func (s *sender) next(wanted func(to uint64) bool) error {
	for s.at == len(s.receivers) && s.read < s.tier.Len() {
		e, err := s.index.Entry(s.read)
		if err != nil {
			return err
		}
		s.read++
		s.rng, s.at = e.Range, 0
		s.receivers = slices.DeleteFunc(s.step.Outputs(s.receivers[:0], s.tier.Number(), e.Range), func(to uint64) bool { return !wanted(to) })
		slices.Sort(s.receivers)
	}
	return nil
}
