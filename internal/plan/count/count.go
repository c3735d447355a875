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
// In a Symmetric game solved by layers, it counts canonical positions.
package count

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// A Tier is the number of positions of a tier of a game.
type Tier struct {
	Tier int `json:"tier"`
	// Positions is their number, Low <= Positions <= High. If it is exact, all three are
	// equal; if it is sampled, Low to High is a 95 % interval; if it is estimated, it was within Low to High for
	// all games that were tried; if it is a lower bound, Low is equal to Positions, and High is an upper bound.
	Positions float64 `json:"positions"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Images is the number of the positions with their images: Positions, unless they are canonical ones.
	Images float64 `json:"images"`
	// Won is the number of positions in which a player has won. It is unknown, and 0, if
	// the count is a bound.
	Won float64 `json:"won"`
	// Moves is the total number of their moves, by layers of their distinct successors, which is the number of
	// messages of the forward jobs.
	Moves float64 `json:"moves"`
	// Far is the number of moves that lead beyond the next tier.
	Far float64 `json:"far,omitempty"`
	// Cells is the number of ranges that contain positions of the tier, and Slots the number
	// of bits of their bitmaps (game.Tiered). Like Positions, they are exact, estimated, or
	// bounds; they are 0 in a game without ranges.
	Slots float64 `json:"slots"`
	Cells float64 `json:"cells"`
	// StoredCells and StoredSlots are those of the ranges that a mirror.Half stores, if the game is Halved.
	StoredCells float64 `json:"stored_cells,omitempty"`
	StoredSlots float64 `json:"stored_slots,omitempty"`
	// Ends is the number of positions whose mover can win at once, and Lost that of the others in which he
	// loses with the next move, whatever he does. Absent is the number of slots that could be positions, as far
	// as Deduce knows, and are none. They are estimates, and 0 in a game that is not Deduced.
	Ends   float64 `json:"ends,omitempty"`
	Lost   float64 `json:"lost,omitempty"`
	Absent float64 `json:"absent,omitempty"`
	// Draws is the number of boards drawn, 0 if the count is exact.
	Draws int64 `json:"draws"`
}

// Exact reports whether the count is exact.
func (t Tier) Exact() bool { return t.Low == t.High }

// Error returns the possible relative error of the count: half the interval, divided by the
// count. It is infinite if no position was found.
func (t Tier) Error() float64 {
	if t.Exact() {
		return 0
	}
	return (t.High - t.Low) / 2 / t.Positions
}

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
	c := &counter{ctx: ctx, g: g, o: o.withDefaults(isSampled), drawn: isSampled, begun: time.Now()}
	if blocks, ok := g.(game.Tiered); ok {
		c.blocks, c.deduce, c.half = blocks, game.DeducerOf(blocks), mirror.HalfOf(blocks)
	}
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
	ctx context.Context
	g   game.Game
	o   Options

	blocks game.Tiered   // nil: the game is solved by layers
	deduce block.Deducer // nil: the game is not Deduced
	half   *mirror.Half  // nil: it is not Halved

	drawn bool // the game is Sampled
	begun time.Time
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
	if g := c.blocks; g != nil {
		all.Sum.Slots, all.Sum.Cells = 0, 0
		for i := range all.Tiers {
			t := &all.Tiers[i]
			slots, ranges := g.Slots(i), g.Ranges(i)
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
