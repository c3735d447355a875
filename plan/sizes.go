package plan

import (
	"math"

	"github.com/treereduce/treereduce/game"
)

// How many bytes records take, which no machine changes. They are fitted to the files of the
// tiers of 5×4, 5×5, 6×5 and 6×6 connect 4, of whose slots 63, 41, 28 and 11.5 % are
// positions: their tables come out within 5 %; that of 5×5 connect 3, of whose slots 2.4 %
// are, by a fifth too large (TestRecorded).
const (
	// looseSlots is how many of the eight neighbours in a byte of a bitmap are as good as
	// independent, as positions lie close together: so a byte is empty with (1−d)^looseSlots,
	// if d is the share of the slots that are taken. The same of the masks, with looseBytes.
	looseSlots = 2.7
	looseBytes = 5.0
	// cellBytes is what a range takes besides: its place in the index, its checksum, the list
	// of its values.
	cellBytes = 12

	// mostValueBits is what the value of a position takes at most: of the middle of a game
	// there are hardly more than 16 in a block.
	mostValueBits = 4
	// leastValues and moreValues are which share of the bits that its tier could need a value
	// takes, in a block of few positions and by how much more in a full one.
	leastValues = 0.5
	moreValues  = 0.6

	// listKept is a position in the table of a game by lists: its key, less the one before,
	// and its value; rowBytes a row in a part or an outbox; listTier a tier in either, be it
	// empty: by m,n,k tic-tac-toe of 3 on 4×3 and Mancala of 3 pits.
	listKept = 3
	rowBytes = 4.2
	listTier = 400

	// stateWork is a position of a game with cycles in the directories of passes when they have
	// most, stateKept in the table, stateSent in a pair of the shuffle: by Quick Cross on 4×4,
	// and docs/hadoop.md.
	stateWork = 4
	stateKept = 0.47
	stateSent = 0.4
)

// FinalBytes is what the text of so many positions takes: a line has the board in quotes, and
// its value of up to three digits, most of two.
func FinalBytes(g game.Game, positions float64) float64 {
	return positions * float64(len(g.AppendText(nil, g.Start()))+len("''\t66\n"))
}

// setBytes is what a bitmap takes of which n of so many slots are set. It keeps the bytes that
// are not empty, with a mask of a bit for each byte, and so on with the mask, while that saves
// anything (streamfmt).
func setBytes(n, slots float64) float64 {
	if n <= 0 || slots <= 0 {
		return 0
	}
	taken := 1 - math.Pow(1-min(1, n/slots), looseSlots) // bytes of the bitmap
	masks := 1 - math.Pow(1-taken, looseBytes)           // of the first mask
	second := 1 - math.Pow(1-masks, looseBytes)
	const mask = 1.0 / 8
	bits := min(1, mask+taken, taken+mask*(mask+masks), taken+mask*(masks+mask*(mask+second)))
	return slots * bits / 8
}

// valueBits is what the value of a position takes, so many moves before the last tier, where
// so many of the slots are taken.
func valueBits(n, slots float64, left int) float64 {
	if slots == 0 {
		return 0
	}
	values := float64(left + 2) // a win of either player in so many moves, or the tie
	return min(mostValueBits, math.Ceil(math.Log2(values))) * min(1, leastValues+moreValues*n/slots)
}

// keptBytes is a tier in the table: a set, and of each position its value.
func keptBytes(n, slots, cells float64, left int) float64 {
	return setBytes(n, slots) + n*valueBits(n, slots, left)/8 + cells*cellBytes
}
