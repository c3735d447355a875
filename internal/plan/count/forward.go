package count

import (
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// batch is the number of positions that a worker takes at once.
const batch = 1 << 14

// A front is the result of the enumeration.
type front struct {
	tiers []Tier                   // those that were enumerated, and the one after them
	whole bool                     // whether all positions were enumerated
	seen  [][]game.Position        // by tier, known positions of later tiers
	has   func(game.Position) bool // whether a position is in tiers or in seen; nil for a game with tiers
}

// forward enumerates positions until there are too many, or the time is over.
func (c *counter) forward() (*front, error) {
	if a := c.m.Tiers(); a != nil {
		return c.tiers(a)
	}
	return c.passes()
}

// exactly returns a tier with an exact number of positions.
func exactly(tier int, positions int) Tier {
	n := float64(positions)
	return Tier{Tier: tier, Positions: n, Low: n, High: n}
}

// tiers enumerates a game tier by tier. A tier is complete when all tiers before it have been
// expanded.
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
		if c.m.Blocks != nil {
			t.Cells, t.Slots = ranges(c.m.Blocks, tier, set)
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
		c.o.Progress("counting all positions", min(1, max(c.passed(), float64(done)/float64(c.o.Exact))))
		err := c.expand(set, func(all []game.Move) {
			for _, m := range all {
				to := g.Tier(m.To)
				if to > tier+1 {
					t.Far++
				}
				f.seen[to] = append(f.seen[to], m.To)
				held++
				// Drop duplicates before they take twice the memory.
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

// ranges returns the number of ranges that contain positions of a tier, and their slots. The
// positions must be sorted.
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

// different sorts positions and removes duplicates.
func different(all []game.Position) []game.Position {
	slices.Sort(all)
	return slices.Compact(all)
}

// expand passes all moves of a set of positions to emit, using all workers, and adds their
// numbers to t. If the time is over, it stops early. Calls of emit do not overlap; the moves
// are valid during the call only.
func (c *counter) expand(set []game.Position, emit func([]game.Move), t *Tier) error {
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
				emit(moves)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	return c.ctx.Err()
}

// A visited is a set of positions: a bitmap if it is small enough, otherwise a map.
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

// passes enumerates a game without tiers: each pass finds the successors of the previous pass
// that have not been reached before.
func (c *counter) passes() (*front, error) {
	v, most := visited{}, c.o.Exact
	if n := c.most(); n <= 64*float64(most) {
		v.bits = make([]uint64, uint64(n)/64+1)
	} else {
		v.some = make(map[game.Position]struct{})
		most /= 4 // a position takes more memory in a map
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
		c.o.Progress("counting all positions", min(1, max(c.passed(), float64(done)/float64(most))))
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
