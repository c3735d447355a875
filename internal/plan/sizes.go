package plan

import (
	"math"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/plan/count"
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

	// A tier of a game.Deduced has absentShare·(4/moves)^absentPower·e^(−absentPace·progress) absent slots for
	// each of its positions: slots that could be positions, as far as the board shows, and are none. The
	// more moves the game begins with, the more ways lead to a board. An absent slot takes as many bits
	// as its entropy, at most absentBits, because neighbours are correlated.
	absentShare = 1.1
	absentPower = 5
	absentPace  = 5
	absentBits  = 8.5
	// The code of a value takes codeBits·(4/moves)^codePower·won^codeWon bits if the end of the game is
	// far. Near it there are fewer values, and none in the last codeLeft tiers: codePace is the
	// number of tiers in which the difference shrinks to 1/e. won is the share of won positions in all
	// tiers. codeEnds is how much fewer bits there are because the mover wins at once, by the number of
	// won positions of the next tier for each position that is not terminal: these have no code.
	codeBits  = 9.6
	codePower = 0.9
	codeWon   = 0.73
	codeLeft  = 1.8
	codePace  = 3
	codeEnds  = 2
	// compactCell is the overhead of a range, as cellBytes, with the number of its records. compactSegment is
	// that of a segment of segmentSlots slots: its length, the number of levels of its set, and the state of
	// its coder. compactTier is the size of a model, with the head and the tail of the file.
	compactCell    = 10.4
	compactSegment = 2
	compactTier    = 350
	segmentSlots   = 4096

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

// keptBytes returns the size of a tier with values, unless it is compact: sets, and a value of this many bits
// for each position; each block has a list of its values.
func keptBytes(n, slots, cells, bits float64) float64 {
	return setBytes(n, slots, cells) + n*bits/8 + cells*(cellBytes+math.Exp2(bits))
}

// compactBytes returns the size of a tier of a game.Deduced in the table, which stores the positions of t.
// moves is the number of moves at the beginning of the game, left the number of tiers after t, of
// last, won the share of won positions in all tiers, and ends the number of won positions in the next
// tier for each position of this one that is not terminal.
func compactBytes(t count.Tier, moves, left, last, won, ends float64) float64 {
	absent := t.Positions * min(1, absentShare*math.Pow(4/moves, absentPower)*math.Exp(-absentPace*(1-left/last)))
	bits := absent * min(absentBits, math.Log2(math.E*max(t.Slots, absent)/absent))
	if left > codeLeft {
		most := codeBits * math.Pow(4/moves, codePower) * math.Pow(won, codeWon)
		bits += (t.Positions - t.Won) * most * (1 - math.Exp(-(left-codeLeft)/codePace)) * math.Exp(-codeEnds*ends)
	}
	return bits/8 + t.Cells*compactCell + max(t.Cells, t.Cells/2+t.Slots/segmentSlots)*compactSegment + compactTier
}
