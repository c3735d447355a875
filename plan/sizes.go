package plan

import "math"

// How many bytes records take, which no machine changes. Fitted to the directories of tiers
// of 5×5 and 6×5 connect 4 (make bench BENCH=-plan prints both sides), and held to what was
// measured of boards by TestRecorded.
const (
	// A bitmap keeps its bytes that are not zero, with a bit for each byte (streamfmt), in
	// levels. Of slots taken one independent of the other, share d, a byte is zero with
	// (1−d)^8. But positions lie close together: so many of eight neighbours are as good as
	// independent.
	looseSlots = 5.0
	// maskBits is what the masks of the bytes take, a slot.
	maskBits = 1.0 / 8
	// valueBits is the value of a solved position: which of those of its block.
	valueBits = 2.6
	// cellBytes is what a range takes besides: its place in the index, its checksum, the list
	// of its values.
	cellBytes = 14

	// listKept is a position in the table of a game by lists: its key, less the one before,
	// and its value; rowBytes a row in a part or an outbox.
	listKept = 3.2
	rowBytes = 5.5

	// stateWork is a hash of a game with cycles in the directories of passes, stateKept in the
	// table, stateSent a position in a pair of the shuffle: docs/benchmarks.md, docs/hadoop.md.
	stateWork = 1.5
	stateKept = 0.46
	stateSent = 0.4
)

// keptBytes is a tier in the table: a set, and of each position its value. In the last tiers
// there are few values that a position can have.
func keptBytes(n, slots, cells float64, left int) float64 {
	return setBytes(n, slots) + n*min(valueBits, float64(1+left))/8 + cells*cellBytes
}

// setBytes is what a bitmap takes of which n of so many slots are set.
func setBytes(n, slots float64) float64 {
	if n <= 0 || slots <= 0 {
		return 0
	}
	d := min(1, n/slots)
	taken := 1 - math.Pow(1-d, looseSlots)
	return min(slots/8, slots*(maskBits*min(1, 8*taken)/8+taken/8+maskBits/8))
}
