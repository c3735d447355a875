package count

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// Positions of a tier are expanded in batches: at least leastBatch, and a quarter of those before. A worker takes taskSize
// of them at once.
const (
	leastBatch = 1 << 12
	taskSize   = 1 << 10
)

// lookEach is the number of positions of which one is looked at for Tier.Ends and Tier.Lost.
const lookEach = 7

// A front is the result of the enumeration.
type front struct {
	tiers []Tier
	whole bool                       // whether all positions of these tiers were counted
	seen  []map[game.Position]uint32 // by tier: known positions, and how many moves to them were seen
	held  int64                      // the number of positions in seen
	moves []float64                  // by tier: the estimated number of moves from earlier tiers
	low   float64                    // the positions of the tiers whose estimate still grows
}

// see adds a move to a position, and reports whether the position is new.
func (f *front) see(tier int, p game.Position) bool {
	if f.seen[tier] == nil {
		f.seen[tier] = make(map[game.Position]uint32)
	}
	f.seen[tier][p]++
	if f.seen[tier][p] > 1 {
		return false
	}
	f.held++
	return true
}

// forward counts positions, tier by tier, until there are too many, or three quarters of the time are over. If the game is not
// Sampled, it then estimates the other tiers, by some positions of each.
func (c *counter) forward() (*front, error) {
	n := game.LastTier(c.g) + 1
	if s, ok := c.g.(game.Sampled); ok {
		n = s.SampledTiers() + 1
	}
	f := &front{seen: make([]map[game.Position]uint32, n), moves: make([]float64, n), whole: true}
	f.see(c.tierOf(c.g.Start()), game.StoredOf(c.g, c.g.Start()))
	most := c.o.Exact
	for tier := range n {
		until := c.begun.Add(c.o.Time * 3 / 4)
		if !f.whole {
			begun := time.Now()
			until = begun.Add((c.o.Time - begun.Sub(c.begun)) / time.Duration(n-tier))
			most = max(c.o.Exact/sampleShare/int64(n), leastSample)
		}
		if c.o.Time == 0 || c.drawn {
			until = time.Time{}
		}
		expanded, err := c.tier(f, tier, most, until)
		if err != nil {
			return nil, err
		}
		if most -= expanded; c.drawn && tier+1 < n && (most < 0 || f.held > c.o.Exact/2) {
			f.whole = false
			break
		}
	}
	return f, nil
}

// A tier that is estimated has 1/sampleShare of its share of Options.Exact positions expanded, at least leastSample.
const (
	sampleShare = 8
	leastSample = 1 << 15
)

// exactly returns a tier with an exact number of positions.
func exactly(tier int, positions int) Tier {
	n := float64(positions)
	return Tier{Tier: tier, Positions: n, Low: n, High: n}
}

// tier adds a tier to f. It expands its positions in any order, until all are expanded, or there are more than most, or the time
// is over; then the number of positions is estimated. It returns the number of those expanded.
func (c *counter) tier(f *front, tier int, most int64, until time.Time) (n int64, err error) {
	seen := f.seen[tier]
	todo := slices.Sorted(maps.Keys(seen))
	t := exactly(tier, len(todo))
	c.method.CountRanges(&t, todo)
	keep := !c.drawn || int64(len(todo)) <= most
	sent := make(map[int]float64) // moves, by tier
	at, before := int64(0), 0.0   // how many had been expanded at the last estimate, and its result
	r := rand.New(rand.NewPCG(c.o.Seed, uint64(tier)))
	late := func() bool { return !until.IsZero() && time.Now().After(until) }
	for len(todo) > 0 && (c.drawn || n <= most && f.held <= max(c.o.Exact/2, 2*leastSample) && !late()) {
		share := float64(tier) / float64(len(f.seen))
		if !until.IsZero() {
			share = min(1, max(share, float64(time.Since(c.begun))/float64(c.o.Time)))
		}
		c.o.Progress("counting positions", share)
		if !c.drawn && n >= max(2*at, leastBatch) {
			at, before = n, f.estimate(tier, float64(n), sent[tier])
		}
		take := int(min(int64(len(todo)), max(leastBatch, n/4)))
		for i := range take {
			j := i + r.IntN(len(todo)-i)
			todo[i], todo[j] = todo[j], todo[i]
		}
		set := todo[:take]
		todo = todo[take:]
		known := len(todo)
		n += int64(take)
		err := c.expand(set, func(all []game.Position) {
			for _, p := range all {
				to := c.tierOf(p)
				sent[to]++
				if keep && f.see(to, p) && to == tier {
					todo = append(todo, p)
				}
			}
		}, &t)
		if err != nil {
			return n, err
		}
		slices.Sort(todo[known:])
	}
	if seen = f.seen[tier]; len(todo) == 0 && f.whole {
		t.Positions = float64(len(seen))
		t.Low, t.High = t.Positions, t.Positions
	} else {
		f.whole = false
		known := float64(len(seen))
		t.Positions = min(f.estimate(tier, float64(n), sent[tier]), c.most(tier))
		t.Low, t.High = max(known, t.Positions/offBy), min(t.Positions*offBy, c.most(tier))
		if len(todo) > 0 && t.Positions > before*math.Pow(float64(n)/float64(max(1, at)), stable) {
			f.low += t.Positions
		}
	}
	for to, moves := range sent {
		t.Moves += moves
		if to > tier+1 {
			t.Far += moves
		}
		f.moves[to] += moves * t.Positions / float64(n)
	}
	if n > 0 {
		for _, of := range []*float64{&t.Won, &t.Moves, &t.Far, &t.Images} {
			*of *= t.Positions / float64(n)
		}
	}
	f.tiers = append(f.tiers, t)
	f.held -= int64(len(seen))
	f.seen[tier] = nil
	return n, nil
}

// The number of positions of a tier that is not counted is within a factor of offBy of the estimate, for the games in
// docs/notes/plan.md. An estimate is too low if it grows with the number of expanded positions by more than its power stable,
// because these are then too near to each other. If that is so for more than a share mostLow of all positions, their number is a
// lower bound.
const (
	offBy   = 1.5
	stable  = 0.4
	mostLow = 0.2
)

// estimate returns the number of positions of a tier of which n were expanded; inner is the number of moves seen within the
// tier. How many positions were seen once or twice tells how many were not seen (Chao and Lin, Nonparametric lower bounds
// for species richness and shared species richness under sampling without replacement, Biometrics 68, 2012).
func (f *front) estimate(tier int, n, inner float64) float64 {
	seen, once, twice, all := float64(len(f.seen[tier])), 0.0, 0.0, 0.0
	for _, times := range f.seen[tier] {
		all += float64(times)
		switch times {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	positions := seen
	for range 100 { // the share of the moves that were seen depends on the result
		if moves := f.moves[tier] + inner*positions/max(1, n); moves > all {
			share := all / moves
			positions = seen + once*once/max(1, 2*twice+share/(1-share)*once)
		}
	}
	return positions
}

// look returns 1 and 0 if the player to move in p can win at once, 0 and 1 if the other player can do so after
// each of his moves.
func (c *counter) look(p game.Position) (ends, lost float64) {
	if c.wins(p) {
		return 1, 0
	}
	for _, m := range c.g.Moves(nil, p) {
		if !c.wins(m.To) {
			return 0, 0
		}
	}
	return 0, 1
}

// wins reports whether a move from p ends the game without a tie.
func (c *counter) wins(p game.Position) bool {
	return slices.ContainsFunc(c.g.Moves(nil, p), func(m game.Move) bool {
		o := c.g.Primitive(m.To).Outcome()
		return o != game.Undecided && o != game.Tie
	})
}

// expand passes the successors of a set of positions to emit, using all workers, and adds their numbers to t: of each
// position, its distinct successors. Calls of emit do not overlap; the successors are valid during the call only.
func (c *counter) expand(set []game.Position, emit func([]game.Position), t *Tier) error {
	var lock sync.Mutex
	return parallel.Each(c.ctx, c.o.Workers, (len(set)+taskSize-1)/taskSize, 1, func() func(int) error {
		var moves []game.Move
		var all, images []game.Position
		return func(task int) error {
			all = all[:0]
			won, ends, lost, number := 0, 0.0, 0.0, 0
			for i, p := range set[task*taskSize : min(len(set), (task+1)*taskSize)] {
				images = game.ImagesOf(images[:0], c.g, p)
				number += len(images)
				switch c.g.Primitive(p).Outcome() {
				case game.Undecided:
					moves = c.g.Moves(moves[:0], p)
					all = c.successors(all, moves)
					if c.deduced && i%lookEach == 0 {
						e, l := c.look(p)
						ends, lost = ends+lookEach*e, lost+lookEach*l
					}
				case game.Tie:
				default:
					won++
				}
			}
			lock.Lock()
			defer lock.Unlock()
			t.Won += float64(won)
			t.Ends += ends
			t.Lost += lost
			t.Images += float64(number)
			emit(all)
			return nil
		}
	})
}

// successors appends the positions to which moves lead, the distinct canonical ones.
func (c *counter) successors(dst []game.Position, moves []game.Move) []game.Position {
	n := len(dst)
	for _, m := range moves {
		dst = append(dst, game.StoredOf(c.g, m.To))
	}
	return game.Distinct(dst, n)
}

// tierOf returns the tier of a position.
func (c *counter) tierOf(p game.Position) int {
	if s, ok := c.g.(game.Sampled); ok {
		return s.SampledTier(p)
	}
	return game.TierOf(c.g, p)
}
