// Package count counts the positions of each tier of a game before it is solved. It knows the
// rules of a game, but no jobs, files or command lines.
//
// It tries three ways, one after the other:
//
//   - enumeration: it goes forward from the initial position, tier by tier, with the set of all
//     positions of a tier: exact, as long as there are few;
//   - sampling: it draws boards at random, if the game supports it (game.Sampled). Each sample
//     is an unbiased estimate of the tier's number, and the mean of many has an interval;
//   - for other games, it expands some of the known positions of each tier. How often it sees the
//     positions of a tier tells about how many it has not seen. If the estimate still grows, the number of positions seen
//     is a lower bound. The upper bound comes from the game (game.Info.Boards), or from the number
//     of its keys.
//
// In a Symmetric game, it counts canonical positions.
package count

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// A Tier is the number of positions of a tier of a game.
type Tier = runner.Tier

// How is the way in which positions were counted.
type How string

// The ways to count.
const (
	Exact   How = "exact"    // every position was enumerated
	Sampled How = "sampled"  // the tiers that are not exact are estimated
	AtLeast How = "at least" // these positions were seen, and there may be more
)

// Counts contains the numbers of positions of a game.
type Counts struct {
	Tiers []Tier `json:"tiers"` // from tier 0 on
	Sum   Tier   `json:"sum"`   // of all tiers; its Tier is the number of tiers
	How   How    `json:"how"`
	Note  string `json:"note"` // in plain words, what was counted and what was not
}

// Options are the limits of a count. All are optional.
type Options struct {
	// Time is the time for sampling, after positions have been enumerated up to the limit
	// Exact; for a game that is not Sampled, it is the time of the count; 0: eight seconds, and Brief.
	Time time.Duration
	// Brief ends sampling as soon as the counts are precise enough for a plan.
	Brief bool
	// Draws, if it is not 0, is the total number of samples, and replaces Time: the result is then the same on
	// any machine. A result obtained with a time limit can be reproduced with the Draws of its sum. For a game that
	// is not Sampled, it is the default of Exact.
	Draws int64
	// Exact is the number of positions to enumerate before sampling; 0: 262,144 for a game
	// that is Sampled, but a million unless the count is Brief, and 33 million for others. At most
	// half as many are in memory at the same time, at about 30 bytes each.
	Exact int64
	// Seed is the seed of the random numbers.
	Seed uint64
	// Workers is the number of concurrent workers; 0: one per core. It changes no result.
	Workers int
	// Progress, if it is not nil, is called from time to time with the current activity and
	// the share of all work that is done, 0 to 1. Calls do not overlap.
	Progress func(doing string, share float64)
}

// The defaults of Options.
const (
	defaultTime       = 8 * time.Second
	defaultExactBrief = 1 << 18 // more would take longer than to sample them, and than to solve a small board
	defaultExactDrawn = 1 << 20
	defaultExact      = 32 << 20
)

func (o Options) withDefaults(drawn bool) Options {
	if o.Time == 0 && o.Draws == 0 {
		o.Time, o.Brief = defaultTime, true
	}
	switch {
	case o.Exact > 0:
	case !drawn && o.Draws > 0:
		o.Exact = o.Draws
	case !drawn:
		o.Exact = defaultExact
	case o.Brief:
		o.Exact = defaultExactBrief
	default:
		o.Exact = defaultExactDrawn
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Progress == nil {
		o.Progress = func(string, float64) {}
	}
	return o
}

// Of counts the positions that can be reached from the initial position of a game. It returns
// an error if the options are invalid, or ctx is done.
func Of(ctx context.Context, g game.Game, o Options) (*Counts, error) {
	if o.Time < 0 || o.Draws < 0 || o.Exact < 0 || o.Workers < 0 {
		return nil, fmt.Errorf("count: time, draws, positions and workers must not be negative, found %v, %d, %d and %d", o.Time, o.Draws, o.Exact, o.Workers)
	}
	drawn, isSampled := g.(game.Sampled)
	c := &counter{ctx: ctx, g: g, method: method.Of(g), o: o.withDefaults(isSampled), drawn: isSampled, begun: time.Now()}
	_, c.deduced = g.(game.Deduced)
	f, err := c.forward()
	if err != nil {
		return nil, err
	}
	all := &Counts{Tiers: f.tiers, Sum: sum(f.tiers), How: Exact, Note: "every position was counted"}
	switch {
	case f.whole:
	case isSampled:
		if all, err = c.draw(drawn, f); err != nil {
			return nil, err
		}
	default:
		c.estimated(all, f.low > mostLow*all.Sum.Positions)
	}
	c.slots(all)
	return all, nil
}

// A counter is the state of one count.
type counter struct {
	ctx    context.Context
	g      game.Game
	method runner.Method
	o      Options

	drawn, deduced bool // the game is Sampled, and Deduced
	begun          time.Time
}

// sum returns the sum of all tiers. Its interval adds up the ends of the tiers' intervals.
func sum(tiers []Tier) Tier {
	sum := Tier{Tier: len(tiers)}
	for _, t := range tiers {
		sum.Positions += t.Positions
		sum.Low += t.Low
		sum.High += t.High
		sum.Images += t.Images
		sum.Won += t.Won
		sum.Moves += t.Moves
		sum.Far += t.Far
		sum.Ends += t.Ends
		sum.Lost += t.Lost
		sum.Draws += t.Draws
	}
	return sum
}

// estimated describes counts that are not exact; low means that they are a lower bound.
func (c *counter) estimated(all *Counts, low bool) {
	exact := slices.IndexFunc(all.Tiers, func(t Tier) bool { return !t.Exact() })
	all.Sum.High = min(all.Sum.High, c.most(-1))
	if !low {
		all.How = Sampled
		all.Note = fmt.Sprintf("%s counted; the others are estimated, the sum within a factor of %v", numfmt.Count(exact, "tier"), offBy)
		return
	}
	all.How = AtLeast
	for i := range all.Tiers[exact:] {
		t := &all.Tiers[exact+i]
		t.Images *= t.Low / max(1, t.Positions)
		t.Positions, t.High = t.Low, c.most(t.Tier)
	}
	high := c.most(-1)
	all.Sum = sum(all.Tiers)
	all.Sum.High = min(all.Sum.High, high)
	all.Note = fmt.Sprintf("%s counted; there may be many more positions than were seen, at most %.3g", numfmt.Count(exact, "tier"), all.Sum.High)
}

// slots sets unknown slots and cells to their bounds, and computes their sums.
func (c *counter) slots(all *Counts) {
	all.Sum.Slots, all.Sum.Cells = 0, 0
	for i := range all.Tiers {
		t := &all.Tiers[i]
		slots, ranges := c.method.Slots(i)
		if t.Cells == 0 {
			t.Slots, t.Cells = slots, min(ranges, t.High)
		}
		// A position is in one range, and each range counted has a position.
		t.Cells = min(t.Cells, ranges, max(1, t.Positions))
		t.Slots = min(max(t.Slots, t.Positions), slots)
		all.Sum.Slots += t.Slots
		all.Sum.Cells += t.Cells
	}
}

// most returns an upper bound on the positions of a tier; -1: of all tiers.
func (c *counter) most(tier int) float64 {
	info := c.g.Info()
	switch {
	case tier >= 0 && info.Boards != nil:
		return info.Boards(tier)
	case info.Vast > 0:
		return info.Vast
	case info.Hashes > 0:
		return float64(info.Hashes)
	}
	return math.Pow(2, float64(c.g.KeyBits()))
}
