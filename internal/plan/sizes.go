package plan

import (
	"math"

	"github.com/treereduce/treereduce/game"
)

// The sizes of records, which do not depend on the machine. docs/plan.md lists the boards that
// they are fitted to, and those that only check them (TestRecorded).
const (
	// looseSlots is the effective number of independent slots among the eight in a byte of a
	// bitmap, as neighbouring slots are correlated: a byte is empty with probability
	// (1−d)^looseSlots, if d is the share of slots that are set. looseBytes is the same for
	// masks.
	looseSlots = 2.3
	looseBytes = 5.0
	// setHead is the overhead of a bitmap: its number of levels, and half a byte on average
	// that is not full.
	setHead = 1.5
	// cellBytes is the overhead of a range: its entry in the index with its checksum, and the
	// header of its block.
	cellBytes = 10.5

	// The value of a position in a block takes up to mostValueBits bits; see valueBits.
	mostValueBits = 4
	reachPower    = 1.8
	valuePace     = 1.15
	valueWon      = 1.5
	valueMany     = 0.48
	// unknownWon is the share of won positions if it is unknown.
	unknownWon = 0.3

	// nearKept is the size of a position in the table of a game solved by lists, if moves lead
	// to the next tier: its key, as a difference to the one before, and its value, which is
	// often that of the one before. farKept is the same if moves lead farther, and values
	// differ more. rowBytes is the size of a row in a shard or of an outgoing edge. listTier
	// is the overhead of a tier in either, even if it is empty.
	nearKept = 2.35
	farKept  = 3.2
	rowBytes = 4.2
	listTier = 300

	// stateWork is the size of a position of a game with cycles in the directories of passes,
	// at their maximum; stateKept in the table; stateSent in a pair of the shuffle. They come
	// from Quick Cross on 4×4, and docs/hadoop.md.
	stateWork = 4
	stateKept = 0.47
	stateSent = 0.4
)

// FinalBytes returns the size of the text of all positions. A line has the board in quotes,
// and its value, which has up to three digits, mostly two.
func FinalBytes(g game.Game, positions float64) float64 {
	return positions * float64(len(g.AppendText(nil, g.Start()))+len("''\t66\n"))
}

// setBytes returns the size of the bitmaps of all cells, with n of their slots set. A bitmap
// stores its bytes that are not empty, and a mask with a bit for each byte. The mask is
// compressed in the same way, and so on, as long as this makes it smaller (streamfmt).
func setBytes(n, slots, cells float64) float64 {
	if n <= 0 || slots <= 0 {
		return 0
	}
	taken := 1 - math.Pow(1-min(1, n/slots), looseSlots) // share of bytes that are not empty
	masks := 1 - math.Pow(1-taken, looseBytes)           // the same for the first mask
	second := 1 - math.Pow(1-masks, looseBytes)
	const mask = 1.0 / 8
	bits := min(1, mask+taken, taken+mask*(mask+masks), taken+mask*(masks+mask*(mask+second)))
	return slots*bits/8 + cells*setHead
}

// wordSlots is the number of slots of a word of a bitmap; empty words are skipped.
const wordSlots = 64

// occupied returns the number of slots in words that are not empty.
func occupied(n, slots float64) float64 {
	if slots <= 0 {
		return 0
	}
	return slots * (1 - math.Pow(1-min(1, n/slots), wordSlots))
}

// valueBits returns the number of bits of a value, in a block of inBlock positions, left tiers
// before the last one. won is the share of won positions in later tiers: if it is large,
// games end sooner, and there are fewer different remotenesses; if it is small, most
// positions are ties.
func valueBits(inBlock float64, left int, won float64) float64 {
	if inBlock <= 0 || won <= 0 {
		return 0
	}
	values := 2 + min(float64(left), math.Pow(won, -reachPower))
	most := min(mostValueBits, math.Log2(values))
	return most * (1 - math.Exp(-valuePace*math.Pow(won, valueWon)*math.Pow(inBlock, valueMany)))
}

// keptBytes returns the size of a tier in the table: sets, and a value of this many bits for
// each position; each block has a list of its values.
func keptBytes(n, slots, cells, bits float64) float64 {
	return setBytes(n, slots, cells) + n*bits/8 + cells*(cellBytes+math.Exp2(bits))
}
