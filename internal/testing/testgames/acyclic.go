// Package testgames has games for tests: random ones, small ones given by lists of moves, and
// adapters that change a game.
package testgames

import (
	"fmt"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

// An Acyclic is a game.Tiered without inner moves, given by a list of positions.
type Acyclic struct{ listed }

var _ game.Tiered = (*Acyclic)(nil)

// RandomAcyclic returns a game of n positions (n >= 1) in random tiers. It uses everything
// that the interface allows: moves to distant tiers, several moves to the same position, the
// same player twice in a row, empty tiers, and unreachable positions. Keys have up to 64 bits.
// Players prefer the farthest or the nearest tie; outcomes name a player, or are from the view
// of the player to move, in which case players take turns.
func RandomAcyclic(r *rand.Rand, n int) *Acyclic {
	g := &Acyclic{listed{
		name:      fmt.Sprintf("acyclic seed=%d", r.Uint32()),
		bits:      1 + uint(r.IntN(64)),
		tiers:     r.IntN(40),
		positions: make(map[game.Position]node),
		values:    game.Values{OfMover: r.IntN(2) == 0, TiesSoon: r.IntN(2) == 0, Players: [2]string{"left", "right"}},
	}}
	for g.bits < 64 && 1<<g.bits < 2*n {
		g.bits++
	}
	byTier := make([][]game.Position, g.tiers+1)
	for i := range n {
		p := r.Uint64() >> (64 - g.bits)
		if _, taken := g.positions[p]; taken {
			continue
		}
		tier := 0
		if i > 0 && g.tiers > 0 {
			tier = 1 + r.IntN(g.tiers)
			if tier%7 == 3 {
				tier = g.tiers
			}
		} else if i > 0 {
			break
		} else {
			g.start = p
		}
		mover := game.Player(r.IntN(2))
		if g.values.OfMover {
			mover = game.First
		}
		g.positions[p] = node{tier: tier, mover: mover, end: game.NewValue(game.Outcome(1+r.IntN(3)), 0)}
		byTier[tier] = append(byTier[tier], p)
	}
	for tier := range byTier {
		var after []game.Position
		for _, more := range byTier[tier+1:] {
			after = append(after, more...)
		}
		for _, p := range byTier[tier] {
			if len(after) == 0 || tier > 0 && r.IntN(8) == 0 {
				continue
			}
			x := g.positions[p]
			x.end = 0
			for range 1 + r.IntN(6) {
				far := len(after)
				if r.IntN(2) == 0 {
					far = min(far, 20)
				}
				x.next = append(x.next, after[r.IntN(far)])
			}
			g.positions[p] = x
		}
	}
	return g
}

// Loops returns false.
func (g *Acyclic) Loops(int) bool { return false }
