package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/plan/count"
)

// The methods of solving games; see docs/design.md.
const (
	blocks = "blocks"
	lists  = "lists"
	states = "states"
)

// Make estimates the cost of solving a game with these counts and rates at a place. It returns
// an error if the game cannot be solved, or if where names an unknown machine.
func Make(g game.Game, counts *count.Counts, rates *Rates, where Where) (*Plan, error) {
	if n := g.Info().Vast; n > 0 {
		return nil, fmt.Errorf("%s is not solved: about %.0e positions", g.Spec(), n)
	}
	if len(counts.Tiers) == 0 {
		return nil, errors.New("no tier was counted")
	}
	m := game.MethodOf(g)
	p := &Plan{
		Game: g.Spec(), Title: game.TitleOf(g), How: counts.How, Note: counts.Note, Where: where,
		Rates: fmt.Sprintf("%s, %s", rates.Machine, rates.Measured.Format("2006-01-02")),
	}
	w := workOf(m, counts, rates, where)
	p.Method = w.method
	site, err := where.site(rates)
	if err != nil {
		return nil, err
	}
	p.Where = site.Where
	c := w.at(site)
	p.fill(w, c)
	p.Problems = c.problems
	p.Assumed = w.assumed(site, c.jobs)
	return p, nil
}

// SpeedOf returns the total time and cost of a plan at these rates.
func SpeedOf(g game.Game, counts *count.Counts, rates *Rates, where Where) (*Speed, error) {
	p, err := Make(g, counts, rates, where)
	if err != nil {
		return nil, err
	}
	return &Speed{rates.Machine, p.Total.CPUHours, p.Total.WallHours, p.Total.Dollars}, nil
}

// Uncosted removes everything except positions from a plan. If the positions are only a lower
// bound, their cost has little meaning.
func (p *Plan) Uncosted() {
	leave := func(t *Tier) {
		*t = Tier{Tier: t.Tier, Positions: t.Positions, Low: t.Low, High: t.High}
	}
	leave(&p.Total)
	for i := range p.Tiers {
		leave(&p.Tiers[i])
	}
	p.Parts, p.Jobs, p.Problems, p.Assumed = nil, 0, nil, nil
}

// fill copies the cost of a run into the plan.
func (p *Plan) fill(w *work, c *cost) {
	for i, t := range w.tiers {
		p.Tiers = append(p.Tiers, Tier{
			Tier: t.Tier.Tier, Positions: round(t.Positions), Low: round(t.Low), High: round(t.High), Stored: round(t.stored), Slots: round(t.Slots), Ranges: round(t.Cells), Moves: round(t.Moves),
			ShuffledRecords: round(t.forward.sent + t.back.sent), ShuffledBytes: round(c.tiers[i].shuffled),
			KeptBytes: round(t.kept), WorkBytes: round(t.work), PeakBytes: round(w.peaks[i]), MemoryBytes: round(c.tiers[i].memory),
			CPUHours: c.tiers[i].cpu / 3600, WallHours: c.tiers[i].wall / 3600, Dollars: c.tiers[i].dollars,
		})
		if t.Positions > w.tiers[p.Largest].Positions {
			p.Largest = i
		}
	}
	sum := &p.Total
	sum.Tier, sum.Positions, sum.Low, sum.High = w.sum.Tier, round(w.sum.Positions), round(w.sum.Low), round(w.sum.High)
	for _, t := range p.Tiers {
		sum.Stored += t.Stored
		sum.Slots += t.Slots
		sum.Ranges += t.Ranges
		sum.Moves += t.Moves
		sum.ShuffledRecords += t.ShuffledRecords
		sum.ShuffledBytes += t.ShuffledBytes
		sum.KeptBytes += t.KeptBytes
		sum.WorkBytes += t.WorkBytes
	}
	if w.method == states {
		sum.Slots = w.sum.Slots
	}
	sum.PeakBytes, sum.MemoryBytes = round(w.peak()), round(c.memory)
	sum.CPUHours, sum.WallHours, sum.Dollars = c.cpu/3600, c.wall/3600, c.dollars
	p.Parts, p.Jobs = c.parts, c.jobs
}

func round(n float64) float64 { return math.Round(n) }

// A work is the work of a solve, independent of where it is done.
type work struct {
	method string
	key    int // bytes of a key as text
	tiers  []tier
	sum    count.Tier
	peaks  []float64 // by tier: bytes on disk while it is solved
	start  float64   // CPU seconds of a run before its first job
	tables float64   // bytes of the tables for the moves of blocks
	keeps  bool      // blocks: the ranges are few enough for a process to keep a tier in memory for the next job
	plain  bool      // a game with cycles that has only the Game interface
}

// A tier contains the two jobs of a tier, and the sizes of their output.
type tier struct {
	count.Tier
	stored        float64 // positions that the table stores, if it stores about half of them; otherwise 0
	kept, work    float64 // bytes in the table, and in data_first
	values, slots float64 // blocks: bytes in data_second, and slots of its blocks
	images        float64 // bytes of mirror images while it is solved
	forward, back job
}

// A job is the work of one job.
type job struct {
	reads   float64 // records, which decide where it runs
	cpu     float64 // seconds
	in, out float64 // bytes
	sent    float64 // records from maps to reducers
	bytes   float64 // size of these records, packed
	pairs   float64 // number of Hadoop's own records for them; each is a range
	held    float64 // blocks: bytes that maps hold at most, if they send each range once
}

// forwardShare is the share of a tier's CPU time that its forward job takes: for 6×6
// connect 4, it was 12.5 of 26.7 minutes.
const forwardShare = 0.47

// workOf returns the work of solving a game.
func workOf(m game.Method, counts *count.Counts, r *Rates, where Where) *work {
	w := &work{sum: counts.Sum, key: int(m.Game.KeyBits()+3) / 4}
	for _, t := range counts.Tiers {
		w.tiers = append(w.tiers, tier{Tier: t})
	}
	switch {
	case m.Blocks != nil:
		w.method = blocks
		w.ofBlocks(m.Blocks, r, where)
	case m.States != nil:
		w.method = states
		w.ofStates(m.States, r)
	default:
		w.method = lists
		w.ofLists(r)
	}
	return w
}

// peak returns the maximum disk space.
func (w *work) peak() float64 { return slices.Max(w.peaks) }

// ofBlocks computes the work of blocks: a tier is computed from the one before it and solved
// from the one after it, processing the bitmap of one range at a time.
func (w *work) ofBlocks(g game.Tiered, r *Rates, where Where) {
	w.start = r.Blocks.Start
	w.tables = float64(g.Tables())
	w.keeps = g.KeyBits()-g.LowBits() <= jobdir.MostKeptBits
	w.start += 1e-9 * r.Blocks.Table * w.tables
	last := len(w.tiers) - 1
	won, codes := w.wonLater(), w.codesOf(float64(len(g.Moves(nil, g.Start()))))
	compact := game.DeducerOf(g) != nil
	for i := range w.tiers {
		t := &w.tiers[i]
		of, images := t.Tier, 0.0 // what the jobs compute
		bits := valueBits(of.Positions/max(1, min(of.Cells, of.Positions)), last-i, won[i])
		kept := of // what the table stores
		kept.Cells = min(of.Cells, of.Positions)
		if half := game.HalfOf(g); half != nil {
			stored := halfOf(of, half)
			t.stored, kept = stored.Positions, stored
			if where.Runner == Inline { // then the jobs compute only what the table stores
				balanced := 2*stored.Positions - of.Positions
				images = max(0, balanced*(1-of.Won/max(1, of.Positions)))
				t.images = imageBytes * images
				of = stored
			}
		}
		open := max(0, of.Positions-of.Won)
		cells := min(of.Cells, of.Positions)
		if i == last {
			open = 0
		}
		t.values = keptBytes(of.Positions, of.Slots, cells, bits)
		t.work = ofPositions.setBytes(open, of.Slots, cells) + ofPositions.setBytes(of.Positions-open, of.Slots, cells) + cells*cellBytes
		if i == last {
			t.work = t.values
		}
		if compact && t.Positions > 0 {
			t.kept = compactBytes(kept, float64(last-i), codes)
		} else {
			t.kept = keptBytes(kept.Positions, kept.Slots, kept.Cells, bits)
		}
		t.slots = of.Slots
		if where.Runner == Inline { // solve jobs write the form of the table
			t.values = t.kept
		}
		cpu := r.Blocks.Tier + 1e-9*(r.Blocks.Value*bits*of.Positions+r.Blocks.Slot*occupied(of.Positions, of.Slots)+r.Blocks.Range*cells+r.Blocks.Image*images)
		t.forward = job{cpu: cpu * forwardShare, out: t.work, sent: of.Positions, bytes: ofPositions.setBytes(of.Positions, of.Slots, cells) + cells*cellBytes, pairs: cells, held: heldSlot * of.Slots}
		if i > 0 {
			before := &w.tiers[i-1]
			t.forward.reads, t.forward.in = before.Positions, before.work
		}
		t.back = job{cpu: cpu * (1 - forwardShare), in: t.work + t.values, out: t.values + t.kept}
		if i < last {
			t.back.sent = open
			t.back.bytes = ofPositions.setBytes(open, of.Slots, cells) + open*bits/8 + cells*cellBytes
			t.back.pairs = cells
			t.back.held = heldSlot*of.Slots + heldOpen*open
		}
	}
	for i := range w.tiers[:last] {
		w.tiers[i].back.reads = w.tiers[i+1].Positions
		w.tiers[i].back.in += w.tiers[i+1].values
	}
	w.storeBlocks()
}

// storeBlocks computes the disk space of a solve. When tier i has just been solved, the disk contains
// data_first of all tiers up to i, the values of tiers i and i+1, the table from i+1 on, and the mirror
// images of tier i. A tier is added to the table, and the directories that are then no longer needed are
// deleted, long before the job that runs at the same time ends.
func (w *work) storeBlocks() {
	last := len(w.tiers) - 1
	sealed, after := 0.0, 0.0 // bytes in the table; of the values of tier i+1
	w.peaks = make([]float64, len(w.tiers))
	for i := last; i >= 0; i-- {
		t := &w.tiers[i]
		if i < last {
			sealed += w.tiers[i+1].kept
		}
		sum := sealed + t.values + after + t.images
		for j := range min(last, i+1) {
			sum += w.tiers[j].work
		}
		w.peaks[i], after = sum, t.values
	}
	// At the end, only the table is left.
	w.peaks[0] = max(w.peaks[0], sealed+w.tiers[0].kept)
}

// imageBytes is the number of bytes that a balanced position which is not terminal takes while its
// tier is solved: a gap and a value, for its own messages and for its image.
const imageBytes = 4

// halfOf returns the part of a tier that is stored: a share of its slots, and some of its ranges.
func halfOf(t count.Tier, half *game.Half) count.Tier {
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

// wonLater returns, by tier, the share of won positions in later tiers, except the last
// one.
func (w *work) wonLater() []float64 {
	later := make([]float64, len(w.tiers))
	won, positions, known := 0.0, 0.0, false
	for i := len(w.tiers) - 2; i >= 0; i-- {
		if positions > 0 {
			later[i] = won / positions
		}
		t := &w.tiers[i]
		won, positions, known = won+t.Won, positions+t.Positions, known || t.Won > 0
	}
	for i := range later {
		if !known {
			later[i] = unknownWon
		}
	}
	// The last tiers have no later ones: use the value of the tier before them.
	for i := max(0, len(later)-2); i < len(later); i++ {
		later[i] = later[max(0, len(later)-3)]
	}
	return later
}

// ofLists computes the work of lists: a row for each move, sent forward to the successor and
// back to the predecessor.
func (w *work) ofLists(r *Rates) {
	w.start = r.Blocks.Start
	rows, positions := 0.0, 0.0
	for _, t := range w.tiers {
		rows, positions = rows+t.Moves, positions+t.Positions
	}
	for i := range w.tiers {
		t := &w.tiers[i]
		received := rows * t.Positions / max(1, positions) // rows: moves to here, in proportion to the positions, as moves may lead any number of tiers on
		kept := nearKept
		if w.sum.Far > 0 {
			kept = farKept
		}
		t.kept = t.Positions*kept + listTier
		t.work = received*rowBytes + listTier
		cpu := r.Lists.Tier + 1e-9*(r.Lists.Position*t.Positions+r.Lists.Move*(t.Moves-t.Far)+r.Lists.Far*t.Far)
		t.forward = job{reads: received, cpu: cpu * forwardShare, in: 2 * received * rowBytes, out: (received + t.Moves) * rowBytes, sent: t.Moves, pairs: t.Moves}
		t.back = job{reads: received + t.Moves, cpu: cpu * (1 - forwardShare), in: (received + t.Moves) * rowBytes, out: received*rowBytes + 2*t.kept, sent: received, pairs: received}
		t.forward.bytes = t.forward.sent * float64(2*w.key+3)
		t.back.bytes = t.back.sent * float64(w.key+4)
	}
	w.peaks = make([]float64, len(w.tiers))
	table := 0.0
	for i := len(w.tiers) - 1; i >= 0; i-- {
		table += w.tiers[i].kept
		sum := table
		for j := range i + 1 {
			// data_first, and values sent back that have not been read yet: at most as many
			// rows.
			sum += 2*w.tiers[j].work - listTier
		}
		w.peaks[i] = sum
	}
}

// ofStates computes the work of states, which processes all hashes in passes. The tiers are
// the forward passes; there are about twice as many retrograde passes.
func (w *work) ofStates(g game.Cyclic, r *Rates) {
	w.start = r.Blocks.Start
	w.plain = !game.KnowsBackward(g)
	w.sum.Slots = float64(g.Positions())
	for i := range w.tiers {
		t := &w.tiers[i]
		t.kept = t.Positions * stateKept
		t.work = t.Positions * stateWork
		cpu := 1e-9 * r.States.Position * t.Positions
		if w.plain {
			t.work += t.Moves * rowBytes
			cpu = 1e-9 * r.States.Move * t.Moves
		}
		t.forward = job{reads: t.Positions, cpu: cpu / 2, in: t.work, out: t.work, sent: t.Moves, bytes: t.Positions * stateSent, pairs: w.sum.Cells}
		t.back = job{reads: t.Positions, cpu: cpu / 2, in: t.work, out: t.work + t.kept, sent: t.Moves, bytes: t.Positions * stateSent, pairs: w.sum.Cells}
	}
	w.peaks = make([]float64, len(w.tiers))
	sum := 0.0
	for i, t := range w.tiers {
		sum += t.work + t.kept
		w.peaks[i] = sum
	}
}
