package count

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// Samples are drawn in chunks. Each chunk has its own random numbers, so that the result does
// not depend on which worker draws it. Chunks are planned in rounds: the first gives the same
// number to each tier; the others give each tier what it needs, judging by the results so far.
const (
	chunkDraws  = 128 // samples per chunk
	firstChunks = 2   // chunks per tier in the first round
	growth      = 4   // a round adds 1/growth of the previous chunks
)

// A stratum contains the results of a tier's samples.
type stratum struct {
	tier, chunks int
	draws        float64 // a whole number
	open, won    sums
	moves, both  sums    // both: Open plus Won of a sample
	images       float64 // of Open and Won, also before positions count as their canonical ones
	// For game.Blockwise: estimates of the ranges of the tier, and of the ranges of the next tier
	// in which all positions are won.
	ranges, slots, wonRanges, wonSlots                      float64
	storedCells, storedSlots, ends, lost, absent, wonAbsent float64 // see Tier; wonAbsent is of the next tier
}

func (s *stratum) merge(other *stratum) {
	s.draws += other.draws
	s.open.merge(other.open)
	s.won.merge(other.won)
	s.moves.merge(other.moves)
	s.both.merge(other.both)
	s.images += other.images
	s.ranges += other.ranges
	s.slots += other.slots
	s.wonRanges += other.wonRanges
	s.wonSlots += other.wonSlots
	s.storedCells += other.storedCells
	s.storedSlots += other.storedSlots
	s.ends += other.ends
	s.lost += other.lost
	s.absent += other.absent
	s.wonAbsent += other.wonAbsent
}

// mostWon returns an upper bound on a sample's estimate for the next tier: from the number of
// all boards, or from the largest sample.
func (s *stratum) mostWon(boards, moves float64) float64 {
	if s.open.sum > 0 {
		boards = s.open.most
	}
	return moves * boards
}

// A chunk is a number of samples of a tier.
type chunk struct {
	stratum, number, draws int
}

// A sampler samples the tiers from the last one that was enumerated.
type sampler struct {
	*counter
	g      game.Sampled
	first  int // tier of the first stratum: it is exact, and sampled for the won positions after it
	strata []stratum
}

// draw uses sampling to count the tiers that were not enumerated.
func (c *counter) draw(g game.Sampled, f *front) (*Counts, error) {
	s := &sampler{counter: c, g: g, first: len(f.tiers) - 1}
	for tier := s.first; tier <= g.SampledTiers(); tier++ {
		s.strata = append(s.strata, stratum{tier: tier})
	}
	if err := s.run(f); err != nil {
		return nil, err
	}
	return s.counts(f), nil
}

// Counts are precise if the error of the sum is at most preciseSum of it, and that of each tier is
// at most preciseTier of the tier or smallTier of the sum. Rates are less precise.
const (
	preciseSum  = 0.005
	preciseTier = 0.05
	smallTier   = 0.001
)

// precise reports whether counts are precise.
func precise(all *Counts) bool {
	within := func(t Tier, most float64) bool { return t.High-t.Low <= 2*most }
	for _, t := range all.Tiers {
		if !within(t, max(preciseTier*t.Positions, smallTier*all.Sum.Positions)) {
			return false
		}
	}
	return within(all.Sum, preciseSum*all.Sum.Positions)
}

// run draws rounds of samples until the time is over, their number is reached, or, if the count
// may be brief, the counts are precise.
func (s *sampler) run(f *front) error {
	drawers := make(chan game.Sampler, s.o.Workers)
	for range s.o.Workers {
		drawers <- s.g.NewSampler()
	}
	begun := time.Now()
	share := func(draws int64) float64 {
		if s.o.Draws > 0 {
			return float64(draws) / float64(s.o.Draws)
		}
		return float64(time.Since(begun)) / float64(s.o.Time)
	}
	draws, chunks := int64(0), 0
	for share(draws) < 1 && !(s.o.Brief && chunks > 0 && precise(s.counts(f))) {
		s.o.Progress("drawing boards", share(draws))
		round := s.round(chunks)
		results := make([]*stratum, len(round))
		planned := draws
		for i := range round {
			if s.o.Draws > 0 {
				round[i].draws = int(min(chunkDraws, s.o.Draws-planned))
			}
			planned += int64(round[i].draws)
		}
		err := parallel.Each(s.ctx, s.o.Workers, len(round), 1, func() func(int) error {
			return func(i int) error {
				if s.o.Draws == 0 && chunks > 0 && share(0) >= 1 {
					return nil
				}
				drawer := <-drawers
				results[i] = s.chunk(drawer, round[i])
				drawers <- drawer
				return nil
			}
		})
		if err != nil {
			return err
		}
		// Merge in the order of the round, so that the sums are the same to the last bit, up to the first
		// chunk that was not drawn in time.
		for i, result := range results {
			if result == nil {
				break
			}
			s.strata[round[i].stratum].merge(result)
			s.strata[round[i].stratum].chunks++
			draws += int64(round[i].draws)
			chunks++
		}
	}
	return nil
}

// chunk draws the samples of a chunk.
func (s *sampler) chunk(d game.Sampler, c chunk) *stratum {
	tier := s.strata[c.stratum].tier
	r := rand.New(rand.NewPCG(s.o.Seed, uint64(tier)<<40|uint64(c.number)))
	found := &stratum{draws: float64(c.draws)}
	for range c.draws {
		draw := d.Sample(tier, r)
		found.ranges += draw.Ranges
		found.slots += draw.Slots
		found.wonRanges += draw.WonRanges
		found.wonSlots += draw.WonSlots
		found.absent += draw.Absent
		found.wonAbsent += draw.WonAbsent
		found.storedCells += draw.StoredRanges
		found.storedSlots += draw.StoredSlots
		if draw.Open == 0 {
			continue
		}
		found.images += draw.Open + draw.Won
		if _, symmetric := s.g.(game.Symmetric); symmetric {
			s.fold(&draw)
		}
		found.open.add(draw.Open)
		found.won.add(draw.Won)
		found.moves.add(draw.Moves)
		if s.deduced && draw.Moves > 0 {
			ends, lost := s.look(draw.Board)
			found.ends += draw.Open * ends
			found.lost += draw.Open * lost
		}
		if tier == s.first {
			draw.Open = 0 // it is already counted exactly
		}
		found.both.add(draw.Open + draw.Won)
	}
	return found
}

// fold turns the estimates of a sample into those of canonical positions, and of their distinct successors.
func (s *sampler) fold(draw *game.Sample) {
	draw.Open /= float64(len(game.ImagesOf(nil, s.g, draw.Board)))
	draw.Moves = draw.Open * float64(len(s.successors(nil, s.g.Moves(nil, draw.Board))))
	draw.Won = draw.WonCanonical
}

// round plans the next chunks: half of them where they improve the sum most, half where the
// relative error of a tier is worst.
func (s *sampler) round(chunks int) []chunk {
	wanted := make([]int, len(s.strata))
	if chunks == 0 {
		for i := range wanted {
			wanted[i] = firstChunks
		}
	} else {
		all := chunks + max(len(s.strata), chunks/growth)
		for i, share := range s.allocation() {
			wanted[i] = max(0, int(math.Ceil(share*float64(all)))-s.strata[i].chunks)
		}
	}
	// Alternate between the strata, so that a round that is cut short has some of each.
	var round []chunk
	for more, turn := true, 0; more; turn++ {
		more = false
		for i, n := range wanted {
			if turn < n {
				round = append(round, chunk{i, s.strata[i].chunks + turn, chunkDraws})
				more = true
			}
		}
	}
	return round
}

// allocation returns the share of all chunks that each stratum should have.
func (s *sampler) allocation() []float64 {
	shares, worst := make([]float64, len(s.strata)), make([]float64, len(s.strata))
	sum, allWorst := 0.0, 0.0
	for i := range s.strata {
		t := &s.strata[i]
		// The error of the sum is smallest if the draws are proportional to the standard
		// deviation of a sample.
		shares[i] = math.Sqrt(t.both.variance(t.draws))
		sum += shares[i]
		// All tiers have the same relative error if the draws are proportional to the variance
		// of a sample, relative to the tier. A tier without hits is treated as if it had one.
		if i > 0 {
			worst[i] = relative(t.open, t.draws, s.mean(i), 0)
		}
		if i+1 < len(s.strata) {
			worst[i] = max(worst[i], relative(t.won, t.draws, s.mean(i+1), t.mostWon(0, float64(s.g.MostMoves()))))
		}
		allWorst += worst[i]
	}
	for i := range shares {
		a, b := 1/float64(len(shares)), 1/float64(len(shares))
		if sum > 0 {
			a = shares[i] / sum
		}
		if allWorst > 0 {
			b = worst[i] / allWorst
		}
		shares[i] = (a + b) / 2
	}
	return shares
}

// mean returns the estimated number of positions of stratum i's tier, 0 if there was no hit.
func (s *sampler) mean(i int) float64 {
	n := s.strata[i].open.sum / s.strata[i].draws
	if i > 0 {
		n += s.strata[i-1].won.sum / s.strata[i-1].draws
	}
	return n
}

// relative returns the variance of one of n estimates, divided by the square of a mean. If all
// estimates were 0, it uses the upper bound on their mean, given that no estimate exceeds
// most.
func relative(of sums, n, mean, most float64) float64 {
	if mean == 0 {
		return n
	}
	if of.sum == 0 {
		high := of.of(n, most).high
		return min(n, n*high*high/(normal*normal*mean*mean))
	}
	return min(n, of.variance(n)/(mean*mean))
}

// counts computes the tiers and their sum from the samples.
func (s *sampler) counts(f *front) *Counts {
	all := &Counts{Tiers: f.tiers, How: Sampled}
	counted := sum(f.tiers)
	total := interval{counted.Positions, counted.Low, counted.High}
	draws := int64(0)
	moves := float64(s.g.MostMoves())
	for i := range s.strata {
		t := &s.strata[i]
		boards := s.g.Boards(t.tier)
		draws += int64(t.draws)
		both := boards // the largest possible estimate of a sample
		if t.tier < s.g.SampledTiers() {
			both += t.mostWon(boards, moves)
		}
		if i == 0 {
			both -= boards
		}
		total = total.plus(t.both.of(t.draws, both))
		if i == 0 {
			continue
		}
		before := &s.strata[i-1]
		won := before.won.of(before.draws, before.mostWon(s.g.Boards(before.tier), moves))
		n := t.open.of(t.draws, boards).plus(won)
		of := Tier{
			Tier: t.tier, Positions: n.mean, Low: max(0, n.low), High: max(n.mean, min(boards, n.high)),
			Images: n.mean * t.images / max(1, t.open.sum+t.won.sum),
			Won:    won.mean, Moves: t.moves.sum / max(1, t.draws), Draws: int64(t.draws),
			Cells: t.ranges/max(1, t.draws) + before.wonRanges/max(1, before.draws),
			Slots: t.slots/max(1, t.draws) + before.wonSlots/max(1, before.draws),
			Ends:  t.ends / max(1, t.draws), Lost: t.lost / max(1, t.draws),
			Absent: t.absent/max(1, t.draws) + before.wonAbsent/max(1, before.draws),
		}
		if t.ranges > 0 { // as many of those in which all positions are won
			of.StoredCells, of.StoredSlots = of.Cells*t.storedCells/t.ranges, of.Slots*t.storedSlots/t.slots
		}
		all.Tiers = append(all.Tiers, of)
	}
	all.Sum = sum(all.Tiers)
	all.Sum.Positions, all.Sum.Low, all.Sum.High, all.Sum.Draws = total.mean, total.low, total.high, draws
	all.Note = s.note(all)
	return all
}

// note describes the precision of the result.
func (s *sampler) note(all *Counts) string {
	text := fmt.Sprintf("tiers 0 to %d were counted; %s drawn: the sum is %s", s.first, numfmt.Count(all.Sum.Draws, "board"), precision(all.Sum))
	never, hardly, worst := 0, 0, all.Tiers[0]
	for i, t := range all.Tiers {
		switch {
		case i <= s.first:
		case t.Positions == 0:
			never++
			continue
		case s.strata[i-s.first].open.weight() < enough:
			hardly++
		}
		if t.Error() > worst.Error() {
			worst = t
		}
	}
	text += fmt.Sprintf(", the worst tier, %d, %s", worst.Tier, precision(worst))
	if hardly > 0 {
		text += fmt.Sprintf("; %s with few hits, where rare boards may be missing", numfmt.Count(hardly, "tier"))
	}
	if never > 0 {
		text += fmt.Sprintf("; %s without a hit, of which only the upper bound is known", numfmt.Count(never, "tier"))
	}
	return text
}

// precision describes the error of a count: "within 3.4%", "at most 12 M".
func precision(t Tier) string {
	if t.Error() > 1 {
		return "at most " + numfmt.Short(t.High)
	}
	return "within " + numfmt.Percent(t.Error())
}
