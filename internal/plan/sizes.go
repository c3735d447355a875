package plan

import (
	"math"

	"github.com/treereduce/treereduce/game"
)

// How many bytes records take, which no machine changes. docs/plan.md names the boards to
// which they are fitted, and those that only check them (TestRecorded).
const (
	// looseSlots is how many of the eight neighbours in a byte of a bitmap are as good as
	// independent, as positions lie close together: so a byte is empty with (1−d)^looseSlots,
	// if d is the share of the slots that are taken. The same of the masks, with looseBytes.
	looseSlots = 2.3
	looseBytes = 5.0
	// setHead is what a bitmap takes besides: its number of levels, and half a byte that is
	// not full.
	setHead = 1.5
	// cellBytes is what a range takes besides: its place in the index with its checksum, and
	// the head of its block.
	cellBytes = 10.5

	// The value of a position of a block takes up to mostValueBits bits; see valueBits.
	mostValueBits = 4
	reachPower    = 1.8
	valuePace     = 1.15
	valueWon      = 1.5
	valueMany     = 0.48
	// unknownWon is the share of won positions where it is not known.
	unknownWon = 0.3

	// nearKept is a position in the table of a game by lists whose moves lead to the next tier:
	// its key, less the one before, and its value, often that of the one before. farKept is the
	// same where moves lead farther, and values lie farther apart. rowBytes is a row in a part
	// or an outbox; listTier a tier in either, be it empty.
	nearKept = 2.35
	farKept  = 3.2
	rowBytes = 4.2
	listTier = 300

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

// setBytes is what the bitmaps of so many ranges take, of whose slots n are set. A bitmap
// keeps the bytes that are not empty, with a mask of a bit for each byte, and so on with the
// mask, while that saves anything (streamfmt).
func setBytes(n, slots, cells float64) float64 {
	if n <= 0 || slots <= 0 {
		return 0
	}
	taken := 1 - math.Pow(1-min(1, n/slots), looseSlots) // bytes of the bitmap
	masks := 1 - math.Pow(1-taken, looseBytes)           // of the first mask
	second := 1 - math.Pow(1-masks, looseBytes)
	const mask = 1.0 / 8
	bits := min(1, mask+taken, taken+mask*(mask+masks), taken+mask*(masks+mask*(mask+second)))
	return slots*bits/8 + cells*setHead
}

// wordSlots is how many slots a word of a bitmap has: an empty one is passed over.
const wordSlots = 64

// occupied is how many slots the words have in which positions lie.
func occupied(n, slots float64) float64 {
	if slots <= 0 {
		return 0
	}
	return slots * (1 - math.Pow(1-min(1, n/slots), wordSlots))
}

// valueBits is how many bits the value of a position takes, in a block of so many, so many
// moves before the last tier. won is the share of the positions of later tiers at which
// somebody has won: the more there are, the sooner a game ends, and the fewer numbers of
// moves it can take; the fewer there are, the more positions are ties.
func valueBits(inBlock float64, left int, won float64) float64 {
	if inBlock <= 0 || won <= 0 {
		return 0
	}
	values := 2 + min(float64(left), math.Pow(won, -reachPower))
	most := min(mostValueBits, math.Log2(values))
	return most * (1 - math.Exp(-valuePace*math.Pow(won, valueWon)*math.Pow(inBlock, valueMany)))
}

// keptBytes is a tier in the table: sets, and of each position its value, which takes so many
// bits; a block has a list of its values.
func keptBytes(n, slots, cells, bits float64) float64 {
	return setBytes(n, slots, cells) + n*bits/8 + cells*(cellBytes+math.Exp2(bits))
}
