package plan

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/plan/count"
)

// Sizes are the bytes of a run on disk.
type sizes struct {
	method string
	tiers  []tier
	peaks  []float64 // by tier: bytes on disk while it is solved
}

// A tier has the bytes of its directories.
type tier struct {
	count.Tier
	stored     float64 // positions that the table stores, if it stores about half of them; otherwise 0
	kept, work float64 // in the table, and in data_first
	values     float64 // blocks: beside the table
	images     float64 // mirror images while it is solved
}

// sizesOf returns the bytes of a run.
func sizesOf(g game.Game, counts *count.Counts, runner string) *sizes {
	s := &sizes{peaks: make([]float64, len(counts.Tiers))}
	for _, t := range counts.Tiers {
		s.tiers = append(s.tiers, tier{Tier: t})
	}
	switch g := g.(type) {
	case game.Tiered:
		s.method = blocks
		s.ofBlocks(g, runner)
	default:
		s.method = layers
		s.ofLayers(g, counts.Sum)
	}
	return s
}

// ofBlocks computes the sizes of blocks. When tier i has just been solved, the disk contains data_first of all tiers
// up to i, the table from i on, the mirror images of tier i, and, unless the runner is inline, tiers i and i+1 with the values
// of all positions.
func (s *sizes) ofBlocks(g game.Tiered, runner string) {
	last := len(s.tiers) - 1
	codes := s.codesOf(float64(len(g.Moves(nil, g.Start()))))
	compact := game.DeducerOf(g) != nil
	for i := range s.tiers {
		t := &s.tiers[i]
		of := t.Tier // what the jobs compute
		kept := of   // what the table stores
		kept.Cells = min(of.Cells, of.Positions)
		if half := mirror.HalfOf(g); half != nil {
			stored := halfOf(of, half)
			t.stored, kept = stored.Positions, stored
			if runner == Inline { // then the jobs compute only what the table stores
				if balanced := 2*stored.Positions - of.Positions; i < last {
					t.images = imageBytes * max(0, balanced*openOf(of)/max(1, of.Positions))
				}
				of = stored
			}
		}
		open := max(0, of.Positions-of.Won)
		cells := min(of.Cells, of.Positions)
		if i == last {
			open = 0
		}
		t.values = keptBytes(of.Positions, of.Slots, cells)
		t.work = ofPositions.setBytes(open, of.Slots, cells) + ofPositions.setBytes(of.Positions-open, of.Slots, cells) + cells*cellBytes
		t.kept = keptBytes(kept.Positions, kept.Slots, kept.Cells)
		if compact && t.Positions > 0 {
			t.work, t.kept = reachedBytes(of, cells), compactBytes(kept, float64(last-i), codes)
		}
		switch { // data_first of the last tier has its values
		case i < last:
		case compact:
			t.values = t.work
		default:
			t.work = t.values
		}
		if runner == Inline && i < last { // solve jobs write only the table
			t.values = 0
		}
	}
	sealed, after := 0.0, 0.0 // bytes in the table; of the values of tier i+1 beside it
	for i := last; i >= 0; i-- {
		t := &s.tiers[i]
		if i < last {
			sealed += s.tiers[i+1].kept
		}
		s.peaks[i], after = sealed+t.kept+t.values+after+t.images, t.values
		for _, before := range s.tiers[:min(last, i+1)] {
			s.peaks[i] += before.work
		}
	}
	s.peaks[0] = max(s.peaks[0], sealed+s.tiers[0].kept) // at the end, only the table is left
}

// imageBytes is the number of bytes that a balanced position whose value the rules do not say takes while its
// tier is solved: a gap and a value, for its own messages and for its image.
const imageBytes = 4

// halfOf returns the part of a tier that is stored: a share of its slots, and some of its ranges.
func halfOf(t count.Tier, half *mirror.Half) count.Tier {
	if t.Positions == 0 {
		return t // every game may end before this tier, which then has neither slots nor ranges
	}
	share := half.HalfSlots(t.Tier) / half.Halved.Slots(t.Tier)
	for _, n := range []*float64{&t.Positions, &t.Won, &t.Ends, &t.Lost, &t.Absent} {
		*n *= share
	}
	t.Cells = max(1, min(t.StoredCells, t.Positions))
	t.Slots = max(t.Positions, t.StoredSlots) // a stored range has all its slots
	return t
}

// ofLayers computes the sizes of layers: a row for each move, sent forward to the successor and back to the
// predecessor, unless the game computes predecessors. A tier with inner moves has states, too.
func (s *sizes) ofLayers(g game.Game, sum count.Tier) {
	kept := nearKept
	if sum.Far > 0 {
		kept = farKept
	}
	ways := 2.0
	if _, ok := g.(game.Reversible); ok {
		ways = 1
	}
	table := float64(len(s.tiers))*listTier + sum.Positions*kept
	directories := 0.0 // data_first, and values sent back that have not been read yet: at most as many rows
	for i := range s.tiers {
		t := &s.tiers[i]
		// Rows are moves to here: in proportion to the positions, as moves may lead any number of tiers on.
		t.kept = t.Positions*kept + listTier
		t.work = sum.Moves*t.Positions/max(1, sum.Positions)*rowBytes + listTier
		directories += ways*t.work - listTier
		table -= t.kept
		s.peaks[i] = directories + table + t.kept
		if !game.IsAcyclic(g) {
			s.peaks[i] += t.Positions * stateBytes
		}
	}
}
