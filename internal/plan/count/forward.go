package count

import (
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// batch is how many positions a worker takes at once.
const batch = 1 << 14

// A front is how far the sets of positions went.
type front struct {
	tiers []Tier                   // those that were gone through, and the one after them
	whole bool                     // there are no more
	seen  [][]game.Position        // by tier, those known of tiers that come later
	has   func(game.Position) bool // whether one belongs to tiers, or to seen; nil of a game with tiers
}

// forward goes through the positions until there are too many, or it is too late.
func (c *counter) forward() (*front, error) {
	if a, ok := c.g.(game.Acyclic); ok {
		return c.tiers(a)
	}
	return c.passes()
}

// exactly is a tier that has so many positions.
func exactly(tier int, positions int) Tier {
	n := float64(positions)
	return Tier{Tier: tier, Positions: n, Low: n, High: n}
}

// tiers goes through a game tier by tier. A tier is complete when all before it have been
// gone through.
func (c *counter) tiers(g game.Acyclic) (*front, error) {
	f := &front{seen: make([][]game.Position, g.Tiers()+1)}
	f.seen[g.Tier(g.Start())] = []game.Position{g.Start()}
	whole := make([]int, len(f.seen)) // how many of the seen are known to be different
	done, held := int64(0), int64(1)
	for tier := range f.seen {
		set := different(f.seen[tier])
		held -= int64(len(f.seen[tier]) - len(set))
		f.seen[tier] = set
		f.tiers = append(f.tiers, exactly(tier, len(set)))
		done += int64(len(set))
		t := &f.tiers[tier]
		if tiered, ok := c.g.(game.Tiered); ok {
			t.Cells, t.Slots = ranges(tiered, tier, set)
		}
		if done > c.o.Exact && tier < g.Tiers() {
			return f, c.expand(set, func(all []game.Move) {
				for _, m := range all {
					if g.Tier(m.To) > tier+1 {
						t.Far++
					}
				}
			}, t)
		}
		c.o.Progress("going through all positions", min(1, max(c.passed(), float64(done)/float64(c.o.Exact))))
		err := c.expand(set, func(all []game.Move) {
			for _, m := range all {
				to := g.Tier(m.To)
				if to > tier+1 {
					t.Far++
				}
				f.seen[to] = append(f.seen[to], m.To)
				held++
				// Those that come again and again are dropped before they take twice
				// the room.
				if n := len(f.seen[to]); n > 2*whole[to]+8*batch {
					f.seen[to] = different(f.seen[to])
					whole[to] = len(f.seen[to])
					held -= int64(n - whole[to])
				}
			}
		}, t)
		if err != nil {
			return nil, err
		}
		held -= int64(len(set))
		f.seen[tier] = nil
		if held > c.o.Exact/2 || c.late() {
			return f, nil
		}
	}
	f.whole = true
	return f, nil
}

// ranges counts the ranges in which the positions of a tier lie, which are sorted, and the
// slots of those ranges.
func ranges(g game.Tiered, tier int, set []game.Position) (ranges, slots float64) {
	last, low := uint64(0), g.LowBits()
	for i, p := range set {
		if rng := p >> low; i == 0 || rng != last {
			last = rng
			ranges++
			slots += float64(len(g.Low(tier, rng)))
		}
	}
	return ranges, slots
}

// different sorts positions and drops those that are there twice.
func different(all []game.Position) []game.Position {
	slices.Sort(all)
	return slices.Compact(all)
}

// expand says all moves of a set of positions, by all workers, and adds to t what they
// have; only of some of them, if it gets too late. say is called by one goroutine at a time,
// and sees the moves during the call.
func (c *counter) expand(set []game.Position, say func([]game.Move), t *Tier) error {
	var wait sync.WaitGroup
	var lock sync.Mutex
	next := 0
	for range c.o.Workers {
		wait.Go(func() {
			var moves []game.Move
			for c.ctx.Err() == nil && !c.late() {
				lock.Lock()
				from := next
				next = min(len(set), from+batch)
				positions := set[from:next]
				lock.Unlock()
				if len(positions) == 0 {
					return
				}
				moves = moves[:0]
				won := 0
				for _, p := range positions {
					switch c.g.Primitive(p).Outcome() {
					case game.Undecided:
						moves = c.g.Moves(moves, p)
					case game.Tie:
					default:
						won++
					}
				}
				lock.Lock()
				t.Won += float64(won)
				t.Moves += float64(len(moves))
				say(moves)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	return c.ctx.Err()
}

// A visited is a set of positions: a bitmap, if all keys have room in one.
type visited struct {
	bits []uint64
	some map[game.Position]struct{}
}

// add adds a position, and reports whether it is new.
func (v *visited) add(p game.Position) bool {
	if v.bits != nil {
		word, bit := &v.bits[p>>6], uint64(1)<<(p&63)
		was := *word & bit
		*word |= bit
		return was == 0
	}
	n := len(v.some)
	v.some[p] = struct{}{}
	return len(v.some) > n
}

// has reports whether a position was added.
func (v *visited) has(p game.Position) bool {
	if v.bits != nil {
		return v.bits[p>>6]>>(p&63)&1 != 0
	}
	_, ok := v.some[p]
	return ok
}

// passes goes through a game without tiers: each pass finds the positions to which the
// moves of those before it lead, and no fewer moves.
func (c *counter) passes() (*front, error) {
	v, most := visited{}, c.o.Exact
	if n := keys(c.g); n <= 64*float64(most) {
		v.bits = make([]uint64, uint64(n)/64+1)
	} else {
		v.some = make(map[game.Position]struct{})
		most /= 4 // a position takes more room there
	}
	set, done := []game.Position{c.g.Start()}, int64(0)
	v.add(c.g.Start())
	f := &front{has: v.has}
	for len(set) > 0 {
		f.tiers = append(f.tiers, exactly(len(f.tiers), len(set)))
		done += int64(len(set))
		t := &f.tiers[len(f.tiers)-1]
		if done > most {
			return f, c.expand(set, func([]game.Move) {}, t)
		}
		c.o.Progress("going through all positions", min(1, max(c.passed(), float64(done)/float64(most))))
		var after []game.Position
		err := c.expand(set, func(all []game.Move) {
			for _, m := range all {
				if v.add(m.To) {
					after = append(after, m.To)
				}
			}
		}, t)
		if err != nil {
			return nil, err
		}
		set = after
		if c.late() {
			f.seen = append(make([][]game.Position, len(f.tiers)), set)
			return f, nil
		}
	}
	f.whole = true
	return f, nil
}
