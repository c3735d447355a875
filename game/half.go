package game

import "github.com/treereduce/treereduce/game/block"

// Halved is a Deduced game that stores only about half of its positions: at least one of each
// position and its mirror image. If both are stored, the position is called balanced.
//
//   - A move from a stored position that is not balanced leads to a stored position.
//   - A move to a stored position that is not balanced comes from a stored position.
//
// So forward, a stored position has a stored predecessor, or it is balanced and its mirror image
// has one; and the value of a balanced position is the better of two: what its moves to stored
// positions lead to, and what those of its mirror image lead to.
//
// Mirror reflects range and low part separately: Mirror(range<<LowBits | low) is
// Mirror(range<<LowBits) | Mirror(low), which have no bits in common. So these, which are no
// positions, are valid arguments as well. LowBits is at most 30.
type Halved interface {
	Deduced
	Mirrored
	// Stored returns the slots of a range of a tier that are stored, and those of them that are
	// balanced; nil if there are none. The caller must not modify the sets.
	Stored(tier int, rng uint64) (stored, balanced block.Set)
	// Slot returns the slot of a low part in every list returned by Low that contains it. It may
	// be called only after Low has returned such a list.
	Slot(low uint32) int
	// HalfSlots is like Slots, but counts only slots that are stored.
	HalfSlots(tier int) float64
}
