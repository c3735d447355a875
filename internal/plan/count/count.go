// Package count says how many positions each tier of a game has, before it is solved. It
// knows the rules of a game, and no job, no file, no command line.
//
// Three ways are tried, one after the other:
//
//   - going forward from the start, tier by tier, with the set of all positions of a tier:
//     exact, as long as they are few;
//   - drawing boards at random, if the game says how (game.Sampled): each draw estimates the
//     tier's number without bias, and the mean of many comes with an interval;
//   - playing at random: the different positions seen are a bound from below. From above,
//     the bound is what the game says (game.Bounded), or the number of its keys.
package count

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/treereduce/treereduce/game"
)

// A Tier is how many positions a tier of a game has. Of a game without tiers it is a pass
// forward: the positions to which no fewer moves lead.
type Tier struct {
	Tier int `json:"tier"`
	// Positions is their number, Low ≤ Positions ≤ High. If it is exact, all three are
	// the same; if it is sampled, Low to High is an interval of 95 %; if it is a bound
	// from below, Low is that too, and High a bound from above.
	Positions float64 `json:"positions"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Won is how many of them somebody has won: what the last move ended. Not known,
	// and 0, if the count is a bound.
	Won float64 `json:"won"`
	// Moves is how many moves they have, all together: what the job forward says of
	// them. Of a bound, those of the positions that were played on from.
	Moves float64 `json:"moves"`
	// Far is how many of them lead beyond the next tier.
	Far float64 `json:"far,omitempty"`
	// Cells is the number of ranges in which positions of the tier lie, and Slots the bits
	// of their bitmaps (game.Tiered): exact or estimated as Positions is, or bounds where
	// that is one; 0 in a game without either. Those of a Cyclic game are the same in every
	// pass, and stand in the sum alone.
	Slots float64 `json:"slots"`
	Cells float64 `json:"cells"`
	// Draws is how many boards were drawn, 0 if it is exact.
	Draws int64 `json:"draws"`
}

// Exact reports whether it is no estimate.
func (t Tier) Exact() bool { return t.Low == t.High }

// Error is how far the count may be off, as a share of it: half the interval; infinite,
// if no position was found.
func (t Tier) Error() float64 {
	if t.Exact() {
		return 0
	}
	return (t.High - t.Low) / 2 / t.Positions
}

// How is what a count rests on.
type How int

// The ways to count.
const (
	Exact   How = iota // every position was gone through
	Sampled            // the tiers that are not exact are estimated by drawing
	AtLeast            // positions were seen, and there may be more
)

var hows = [...]string{"exact", "sampled", "at least"}

// String is "exact", "sampled" or "at least".
func (h How) String() string { return hows[h] }

// MarshalText is String.
func (h How) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *How) UnmarshalText(text []byte) error {
	for i, word := range hows {
		if word == string(text) {
			*h = How(i)
			return nil
		}
	}
	return fmt.Errorf("way to count %q: expected exact, sampled or at least", text)
}

// Counts is how many positions a game has.
type Counts struct {
	Tiers []Tier `json:"tiers"` // from tier 0 on
	Sum   Tier   `json:"sum"`   // of all; its Tier is the number of tiers
	How   How    `json:"how"`
	Note  string `json:"note"` // in plain words, what was reached and what was not
}

// Options are what a count may take. None need be set.
type Options struct {
	// Time is how long boards are drawn, after as many positions have been gone through
	// as may be; of a game that cannot be drawn, how long it may take to go through
	// positions and to play on; 0: two minutes.
	Time time.Duration
	// Draws, if it is not 0, is how many boards are drawn in sum, or games played,
	// instead of a time: the result then is the same on any machine. What was drawn in
	// some time comes again with the Draws of its sum.
	Draws int64
	// Exact is how many positions are gone through before it is drawn; 0: 4 million of
	// a game that can be drawn, 50 million of others. At most half as many are held at
	// once, at some 20 bytes each.
	Exact int64
	// Seed chooses the draws.
	Seed uint64
	// Workers is how many draw at once; 0: one a core. It changes no result.
	Workers int
	// Progress, if it is not nil, is told now and then what is done and how much of all
	// there is to do, 0 to 1. It is called by one goroutine at a time.
	Progress func(doing string, share float64)
}

// The defaults of Options.
const (
	defaultTime       = 2 * time.Minute
	defaultExactDrawn = 4 << 20
	defaultExact      = 50_000_000
)

func (o Options) withDefaults(drawn bool) Options {
	if o.Time == 0 {
		o.Time = defaultTime
	}
	if o.Exact == 0 {
		o.Exact = defaultExact
		if drawn {
			o.Exact = defaultExactDrawn
		}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Progress == nil {
		o.Progress = func(string, float64) {}
	}
	return o
}

// check says what is wrong with the options.
func (o Options) check() error {
	if o.Time < 0 || o.Draws < 0 || o.Exact < 0 || o.Workers < 0 {
		return fmt.Errorf("count: time, draws, positions and workers must not be negative, found %v, %d, %d and %d", o.Time, o.Draws, o.Exact, o.Workers)
	}
	return nil
}

// Of counts the positions of a game: those that play from its start can reach. It fails if
// the options cannot be, or ctx is done.
func Of(ctx context.Context, g game.Game, o Options) (*Counts, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	g = game.ByMethod(g)
	drawn, isSampled := g.(game.Sampled)
	o = o.withDefaults(isSampled)
	c := &counter{ctx: ctx, g: g, o: o, begun: time.Now()}
	if !isSampled && o.Draws == 0 {
		c.until = c.begun.Add(o.Time)
	}
	f, err := c.forward()
	if err != nil {
		return nil, err
	}
	var all *Counts
	switch {
	case f.whole:
		all = &Counts{Tiers: f.tiers, Sum: sum(f.tiers), How: Exact, Note: "every position was gone through"}
	case isSampled:
		all, err = c.draw(drawn, f)
	default:
		all, err = c.play(f)
	}
	if err != nil {
		return nil, err
	}
	c.slots(all)
	return all, nil
}

// A counter is one count.
type counter struct {
	ctx context.Context
	g   game.Game
	o   Options

	begun time.Time
	until time.Time // when no more are gone through; zero: it does not matter how late it is
}

// late reports whether it is time to end.
func (c *counter) late() bool { return !c.until.IsZero() && time.Now().After(c.until) }

// passed is which share of the time has passed, if it matters.
func (c *counter) passed() float64 {
	if c.until.IsZero() {
		return 0
	}
	return float64(time.Since(c.begun)) / float64(c.until.Sub(c.begun))
}

// sum is what tiers have all together, its interval as if each were at its end.
func sum(tiers []Tier) Tier {
	sum := Tier{Tier: len(tiers)}
	for _, t := range tiers {
		sum.Positions += t.Positions
		sum.Low += t.Low
		sum.High += t.High
		sum.Won += t.Won
		sum.Moves += t.Moves
		sum.Far += t.Far
		sum.Draws += t.Draws
	}
	return sum
}

// slots fills in the slots and cells that are not known yet with their bounds, and the
// sum's share of both.
func (c *counter) slots(all *Counts) {
	switch g := c.g.(type) {
	case game.Tiered:
		all.Sum.Slots, all.Sum.Cells = 0, 0
		for i := range all.Tiers {
			t := &all.Tiers[i]
			slots, ranges := g.Slots(i), g.Ranges(i)
			if t.Cells == 0 {
				t.Slots, t.Cells = slots, min(ranges, t.High)
			}
			// A position has a range, and a range a position.
			t.Cells = min(t.Cells, ranges, max(1, t.Positions))
			t.Slots = min(max(t.Slots, t.Positions), slots)
			all.Sum.Slots += t.Slots
			all.Sum.Cells += t.Cells
		}
	case game.Cyclic:
		all.Sum.Slots, all.Sum.Cells = float64(g.Positions()), float64(game.Ranges(g))
	}
}

// keys is how many positions a game can have at most, as its keys are.
func keys(g game.Game) float64 {
	if c, ok := g.(game.Counted); ok {
		return float64(c.Positions())
	}
	return math.Pow(2, float64(g.KeyBits()))
}
