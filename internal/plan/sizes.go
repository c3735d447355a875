package plan

import (
	"math"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/plan/count"
)

// The sizes of records, which do not depend on the machine. docs/notes/plan.md lists the boards that they are fitted to.
const (
	// cellBytes is the overhead of a range: its entry in the index with its checksum, and the
	// header of its block.
	cellBytes = 10.5

	// valueBits is the size of the value of a position in a block that is not compact: 1.5 to 3.5.
	valueBits = 2.5
	// listedValues is the number of bytes of a block's list of its values.
	listedValues = 6

	// The code of a value takes codeBits·lost^codeLost·(4/moves)^codeMoves bits, at most mostCodeBits. lost is the share of
	// open positions in which the mover loses with the next move, in all tiers, at most mostLost: where that is rare,
	// nearly all values are ties. It takes less near the end of the game, where there are fewer values: codePace is the
	// number of tiers in which the difference shrinks to 1/e; and if at the end hardly any position is lost (codeEnd),
	// as threats do not last.
	codeBits     = 4.75
	codeLost     = 0.42
	mostLost     = 0.185
	codeMoves    = 0.675
	mostCodeBits = 1.775
	codePace     = 1.0
	codeEnd      = 0.005
	// The state of a coder takes coderBytes. A segment has one if it has about coderFew values, and a second one
	// if it has coderMany.
	coderBytes = 0.74
	coderFew   = 0.48
	coderMany  = 460
	// absentFew is the number of absent slots that are in one segment.
	absentFew = 52
	// compactCell is the overhead of a range, as cellBytes, with the number of its records. A segment of segmentSlots
	// slots has a byte if no slot is absent, and a length, of two bytes from longSegment bytes on. compactTier is the
	// size of a model, with the head and the tail of the file, and its line in the seal.
	compactCell  = 10
	longSegment  = 46
	compactTier  = 1050
	segmentSlots = 4096
	// In data_first, reachedFew is the number of absent slots that are in one block, and reachedTier the size of the head and
	// the tail of the file.
	reachedFew  = 5.2
	reachedTier = 95

	// nearKept is the size of a position in the table of a game solved by layers, if moves lead
	// to the next tier: its key, as a difference to the one before, and its value, both coded. farKept is the same
	// if moves lead farther, and values differ more. rowBytes is the size of a row in a shard or of an outgoing edge. listTier
	// is the overhead of a tier in either, even if it is empty. stateBytes is the size of the states of a position.
	nearKept   = 0.87
	farKept    = 1.43
	rowBytes   = 4.2
	listTier   = 300
	stateBytes = 6
)

// FinalBytes returns the size of the text of all positions. A line has the board in quotes,
// and its value, which has up to three digits, mostly two.
func FinalBytes(g game.Game, positions float64) float64 {
	return positions * float64(len(g.AppendText(nil, g.Start()))+len("''\t66\n"))
}

// A looseness says how much neighbouring slots are correlated. slots is the effective number of independent ones
// among the eight in a byte of a bitmap: a byte is empty with probability (1−d)^slots, if d is the share of slots that
// are set. bytes is the same for masks, and head the number of levels and the bytes that are not full.
type looseness struct{ slots, bytes, head float64 }

var (
	ofPositions = looseness{2.3, 5, 1.5}
	ofAbsent    = looseness{1.2, 7.9, 30}  // in segments
	ofReached   = looseness{3.7, 4.4, 3.2} // absent slots in blocks
)

// setBytes returns the size of the bitmaps of all cells, with n of their slots set. A bitmap
// stores its bytes that are not empty, and a mask with a bit for each byte. The mask is
// compressed in the same way, and so on, as long as this makes it smaller (streamfmt).
func (l looseness) setBytes(n, slots, cells float64) float64 {
	if n <= 0 || slots <= 0 {
		return 0
	}
	taken := 1 - math.Pow(1-min(1, n/slots), l.slots) // share of bytes that are not empty
	masks := 1 - math.Pow(1-taken, l.bytes)           // the same for the first mask
	second := 1 - math.Pow(1-masks, l.bytes)
	third := 1 - math.Pow(1-second, l.bytes)
	const mask = 1.0 / 8
	bits := min(1, mask+taken, taken+mask*(mask+masks), taken+mask*(masks+mask*(mask+second)), taken+mask*(masks+mask*(second+mask*(mask+third))))
	return slots*bits/8 + cells*l.head
}

// keptBytes returns the size of a tier with values, unless it is compact: sets, and a value for each position; each
// block has a list of its values.
func keptBytes(n, slots, cells float64) float64 {
	return ofPositions.setBytes(n, slots, cells) + n*valueBits/8 + cells*(cellBytes+listedValues)
}

// codesOf returns the number of bits of the code of a value far from the end of a game.Deduced, which has this
// number of moves at the beginning.
func (s *sizes) codesOf(moves float64) float64 {
	open, lost := 0.0, 0.0
	for _, t := range s.tiers {
		open, lost = open+openOf(t.Tier), lost+t.Lost
	}
	// The last tier has no open positions, and the one before has none in which the mover loses with the next move.
	i := max(0, len(s.tiers)-3)
	for i > 0 && s.tiers[i].Lost == 0 { // no such position was sampled there
		i--
	}
	end := s.tiers[i].Tier
	bits := codeBits * math.Pow(min(mostLost, lost/max(1, open)), codeLost) * math.Pow(4/moves, codeMoves)
	return min(mostCodeBits, bits) * (1 - math.Exp(-end.Lost/max(1, openOf(end))/codeEnd))
}

// openOf returns the number of positions whose values the rules do not say.
func openOf(t count.Tier) float64 { return max(0, t.Positions-t.Won-t.Ends) }

// reachedBytes returns the size of a tier of a game.Deduced in data_first, which has the positions of t in a number of cells.
func reachedBytes(t count.Tier, cells float64) float64 {
	share := 1 - math.Exp(-t.Absent/max(1, cells)/reachedFew) // of cells with absent slots
	return ofReached.setBytes(t.Absent, max(t.Absent, t.Slots*share), cells*share) + cells*cellBytes + reachedTier
}

// compactBytes returns the size of a tier of a game.Deduced in the table, which stores the positions of t. left is the
// number of tiers after t, and codes that of bits of a code far from the end.
func compactBytes(t count.Tier, left, codes float64) float64 {
	segments := max(t.Cells, t.Cells/2+t.Slots/segmentSlots)
	taken := segments * (1 - math.Exp(-t.Absent/segments/absentFew)) // segments with absent slots
	bytes := segments - taken + ofAbsent.setBytes(t.Absent, max(t.Absent, min(t.Slots, taken*segmentSlots)), taken)
	if open := openOf(t); left >= 1 && open > 0 && codes > 0 {
		bytes += open / 8 * codes * (1 - math.Exp((0.5-left)/codePace))
		if left > 1 { // then there are different values
			bytes += coderBytes * segments * (math.Exp(-coderFew*segments/open) + math.Exp(-coderMany*segments/open))
		}
	}
	lengths := (segments - t.Cells) * (1 + math.Exp(-longSegment*segments/bytes))
	return bytes + lengths + t.Cells*compactCell + compactTier
}
