package count

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// playCheck is the number of games between two checks of the time.
const playCheck = 64

// playRoom divides the limit on enumerated positions to get the limit on positions seen in
// games: they take that much more memory.
const playRoom = 4

// leastSeen is the smallest limit on positions seen.
const leastSeen = 1 << 20

// mostMoves is the number of plies after which a game is abandoned.
const mostMoves = 1 << 12

// play continues after the enumeration: it plays random games from the initial position and
// counts the different positions.
func (c *counter) play(f *front) (*Counts, error) {
	a := c.m.Tiers()
	seen := make([]map[game.Position]struct{}, len(f.tiers))
	first := len(f.tiers) // tiers below it were enumerated
	known := func(p game.Position) (tier int, is bool) { return first, f.has(p) }
	if a != nil {
		known = func(p game.Position) (int, bool) {
			tier := a.Tier(p)
			return tier, tier < first
		}
		seen = make([]map[game.Position]struct{}, a.Tiers()+1)
	} else {
		// All positions that were not enumerated form one tier: their smallest number of plies
		// is unknown.
		seen = append(seen, nil)
		if f.seen == nil {
			f.seen = make([][]game.Position, first+1)
		}
	}
	found := int64(0)
	for tier := first; tier < len(f.seen); tier++ {
		f.seen[tier] = different(f.seen[tier])
		found += int64(len(f.seen[tier]))
	}
	add := func(tier int, p game.Position) {
		if _, is := slices.BinarySearch(f.seen[tier], p); is {
			return
		}
		if seen[tier] == nil {
			seen[tier] = make(map[game.Position]struct{})
		}
		n := len(seen[tier])
		seen[tier][p] = struct{}{}
		found += int64(len(seen[tier]) - n)
	}
	games, most := int64(0), max(leastSeen, c.o.Exact/playRoom)
	r := rand.New(rand.NewPCG(c.o.Seed, 0))
	var moves []game.Move
	for {
		if games%playCheck == 0 {
			if c.ctx.Err() != nil {
				return nil, c.ctx.Err()
			}
			share := c.passed()
			if c.o.Draws > 0 {
				share = float64(games) / float64(c.o.Draws)
			}
			share = max(share, float64(found)/float64(most))
			if share >= 1 {
				break
			}
			c.o.Progress("playing games", share)
		}
		if c.o.Draws > 0 && games == c.o.Draws {
			break
		}
		games++
		p := c.g.Start()
		for range mostMoves {
			moves = c.g.Moves(moves[:0], p)
			if len(moves) == 0 {
				break
			}
			p = moves[r.IntN(len(moves))].To
			if tier, is := known(p); !is {
				add(tier, p)
			}
		}
	}
	all := &Counts{Tiers: f.tiers, How: AtLeast}
	bound, boards := c.most(), c.g.Info().Boards
	for tier := first; tier < len(seen); tier++ {
		n := float64(len(f.seen[tier]) + len(seen[tier]))
		t := Tier{Tier: tier, Positions: n, Low: n, High: bound}
		if boards != nil {
			t.High = min(bound, boards(tier))
		}
		all.Tiers = append(all.Tiers, t)
	}
	all.Sum = sum(all.Tiers)
	all.Sum.High, all.Sum.Draws = min(all.Sum.High, bound), games
	in := ""
	if games > 0 {
		in = fmt.Sprintf(" and in %s games of random moves", numfmt.Number(games))
	}
	all.Note = fmt.Sprintf("tiers 0 to %d were counted; %s more positions were seen after them%s: there may be many more, at most %.3g", first-1, numfmt.Number(found), in, all.Sum.High)
	return all, nil
}
