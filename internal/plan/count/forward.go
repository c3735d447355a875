package count

import (
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/parallel"
)

// batch is the number of positions that a worker takes at once.
const batch = 1 << 14

// lookEach is the number of positions of which one is looked at for Tier.Ends and Tier.Lost.
const lookEach = 7

// A front is the result of the enumeration.
type front struct {
	tiers []Tier            // those that were enumerated, and the one after them
	whole bool              // whether all positions were enumerated
	seen  [][]game.Position // by tier, known positions of later tiers
}

// forward enumerates positions until there are too many, or the time is over.
func (c *counter) forward() (*front, error) {
	if game.IsAcyclic(c.m.Game) {
		return c.tiers(c.m.Game.(game.Layered))
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
func (c *counter) tiers(g game.Layered) (*front, error) {
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
			c.ranges(c.m.Blocks, set, t)
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

// ranges sets the numbers of a tier that follow from the ranges of its positions, which must be sorted.
func (c *counter) ranges(g game.Tiered, set []game.Position, t *Tier) {
	last, low, possible := uint64(0), g.LowBits(), 0
	var d block.Deduced
	for i, p := range set {
		rng := p >> low
		if i > 0 && rng == last {
			continue
		}
		last = rng
		slots := len(g.Low(t.Tier, rng))
		t.Cells++
		t.Slots += float64(slots)
		if c.stores(t.Tier, p) {
			t.StoredCells++
			t.StoredSlots += float64(slots)
		}
		if c.deduce != nil {
			d.Reset(slots)
			c.deduce(&d, t.Tier, rng, 0, block.Words(slots))
			possible += d.Open.Count() + d.Known[0].Count() + d.Known[1].Count()
		}
	}
	t.Absent = float64(max(0, possible-len(set)))
}

// stores reports whether a game.Half stores the range of a position.
func (c *counter) stores(tier int, p game.Position) bool {
	if c.half == nil {
		return false
	}
	stored, _ := c.half.Stored(tier, p>>c.half.LowBits())
	return stored != nil
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

// different sorts positions and removes duplicates.
func different(all []game.Position) []game.Position {
	slices.Sort(all)
	return slices.Compact(all)
}

// expand passes all moves of a set of positions to emit, using all workers, and adds their
// numbers to t. If the time is over, it stops early. Calls of emit do not overlap; the moves
// are valid during the call only.
func (c *counter) expand(set []game.Position, emit func([]game.Move), t *Tier) error {
	var lock sync.Mutex
	return parallel.Each(c.ctx, c.o.Workers, (len(set)+batch-1)/batch, 1, func() func(int) error {
		var moves []game.Move
		return func(task int) error {
			if c.late() {
				return nil
			}
			moves = moves[:0]
			won, ends, lost := 0, 0.0, 0.0
			for i, p := range set[task*batch : min(len(set), (task+1)*batch)] {
				switch c.g.Primitive(p).Outcome() {
				case game.Undecided:
					moves = c.g.Moves(moves, p)
					if c.deduce != nil && i%lookEach == 0 {
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
			t.Moves += float64(len(moves))
			emit(moves)
			return nil
		}
	})
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
	f := new(front)
	for len(set) > 0 {
		f.tiers = append(f.tiers, exactly(len(f.tiers), len(set)))
		done += int64(len(set))
		t := &f.tiers[len(f.tiers)-1]
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
		if len(set) > 0 && (done > most || c.late()) {
			f.seen = append(make([][]game.Position, len(f.tiers)), set)
			return f, nil
		}
	}
	f.whole = true
	return f, nil
}
