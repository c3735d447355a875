package blocks

import (
	"math"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner"
)

// What takes CPU time besides positions, in positions: docs/notes/plan.md.
const (
	slotWork = 0.15    // a slot of the stored blocks
	tierWork = 300_000 // a tier: its jobs, directories and seals
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
	// imageBytes is the number of bytes that a balanced position whose value the rules do not say takes while its
	// tier is solved: a gap and a value, for its own messages and for its image.
	imageBytes = 4
)

// CountRanges counts the ranges of positions, and their slots.
func (m *Method) CountRanges(t *runner.Tier, positions []game.Position) {
	deduce, possible := game.DeducerOf(m.g), 0
	last, low := uint64(0), m.g.LowBits()
	var d block.Deduced
	for i, p := range positions {
		rng := p >> low
		if i > 0 && rng == last {
			continue
		}
		last = rng
		slots := len(m.g.Low(t.Tier, rng))
		t.Cells++
		t.Slots += float64(slots)
		if m.stored.Low(t.Tier, rng) != nil {
			t.StoredCells++
			t.StoredSlots += float64(slots)
		}
		if deduce != nil {
			d.Reset(slots)
			deduce(&d, t.Tier, rng, 0, block.Words(slots))
			possible += d.Unknown.Count() + d.Known[0].Count() + d.Known[1].Count()
		}
	}
	t.Absent = float64(max(0, possible-len(positions)))
}

// Costs estimates costs. When tier i has just been solved, the disk contains data_first of all tiers up to i, the table from i
// on, the mirror images of tier i, and, unless jobs compute only the positions that the table stores, tiers i and i+1 with the
// values of all positions.
func (m *Method) Costs(tiers []runner.Tier, _ runner.Tier, stored bool) []runner.Cost {
	last := len(tiers) - 1
	codes := codesOf(tiers, float64(len(m.g.Moves(nil, m.g.Start()))))
	compact := game.DeducerOf(m.g) != nil
	costs := make([]runner.Cost, len(tiers))
	sealed, after := 0.0, 0.0 // bytes in the table after tier i; of the values of tier i+1 beside it
	for i := last; i >= 0; i-- {
		c := &costs[i]
		of, kept := tiers[i], m.storedOf(tiers[i]) // what the jobs compute, and what the table stores
		c.CPU = of.Positions + slotWork*of.StoredSlots + tierWork
		images := 0.0 // mirror images while it is solved
		if _, half := m.stored.(*mirror.Half); half {
			c.Stored = kept.Positions
			if balanced := 2*kept.Positions - of.Positions; stored && i < last {
				images = imageBytes * max(0, balanced*openOf(of)/max(1, of.Positions))
			}
		}
		if stored {
			of = kept
		}
		open := max(0, of.Positions-of.Won)
		cells := min(of.Cells, of.Positions)
		if i == last {
			open = 0
		}
		values := keptBytes(of.Positions, of.Slots, cells) // beside the table
		c.Work = ofPositions.setBytes(open, of.Slots, cells) + ofPositions.setBytes(of.Positions-open, of.Slots, cells) + cells*cellBytes
		c.Kept = keptBytes(kept.Positions, kept.Slots, kept.Cells)
		if compact && of.Positions > 0 {
			c.Work, c.Kept = reachedBytes(of, cells), compactBytes(kept, float64(last-i), codes)
		}
		switch { // data_first of the last tier has its values
		case i == last && compact:
			values = c.Work
		case i == last:
			c.Work = values
		case stored: // solve jobs write only the table
			values = 0
		}
		c.Peak = sealed + c.Kept + values + after + images
		sealed, after = sealed+c.Kept, values
	}
	work := 0.0
	for i := range costs {
		if i < last {
			work += costs[i].Work
		}
		costs[i].Peak += work
	}
	costs[0].Peak = max(costs[0].Peak, sealed) // at the end, only the table is left
	return costs
}

// storedOf returns the part of a tier that is stored: a share of its slots, and some of its ranges.
func (m *Method) storedOf(t runner.Tier) runner.Tier {
	if t.Positions == 0 {
		return t // every game may end before this tier, which then has neither slots nor ranges
	}
	share := m.stored.Slots(t.Tier) / m.g.Slots(t.Tier)
	for _, n := range []*float64{&t.Positions, &t.Won, &t.Ends, &t.Lost, &t.Absent} {
		*n *= share
	}
	t.Cells = max(1, min(t.StoredCells, t.Positions))
	t.Slots = max(t.Positions, t.StoredSlots) // a stored range has all its slots
	return t
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
func codesOf(tiers []runner.Tier, moves float64) float64 {
	open, lost := 0.0, 0.0
	for _, t := range tiers {
		open, lost = open+openOf(t), lost+t.Lost
	}
	// The last tier has no open positions, and the one before has none in which the mover loses with the next move.
	i := max(0, len(tiers)-3)
	for i > 0 && tiers[i].Lost == 0 { // no such position was sampled there
		i--
	}
	end := tiers[i]
	bits := codeBits * math.Pow(min(mostLost, lost/max(1, open)), codeLost) * math.Pow(4/moves, codeMoves)
	return min(mostCodeBits, bits) * (1 - math.Exp(-end.Lost/max(1, openOf(end))/codeEnd))
}

// openOf returns the number of positions whose values the rules do not say.
func openOf(t runner.Tier) float64 { return max(0, t.Positions-t.Won-t.Ends) }

// reachedBytes returns the size of a tier of a game.Deduced in data_first, which has the positions of t in a number of cells.
func reachedBytes(t runner.Tier, cells float64) float64 {
	share := 1 - math.Exp(-t.Absent/max(1, cells)/reachedFew) // of cells with absent slots
	return ofReached.setBytes(t.Absent, max(t.Absent, t.Slots*share), cells*share) + cells*cellBytes + reachedTier
}

// compactBytes returns the size of a tier of a game.Deduced in the table, which stores the positions of t. left is the
// number of tiers after t, and codes that of bits of a code far from the end.
func compactBytes(t runner.Tier, left, codes float64) float64 {
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
