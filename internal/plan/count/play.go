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
	s := c.sightings(f)
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
			share = max(share, float64(s.found)/float64(most))
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
			if tier, is := s.known(p); !is {
				s.add(tier, p)
			}
		}
	}
	return c.atLeast(s, games), nil
}

// Sightings are the positions that were seen after the enumerated ones.
type sightings struct {
	*front
	first  int                                       // tiers below it were enumerated
	known  func(p game.Position) (tier int, is bool) // the tier of a position, and whether it was enumerated
	played []map[game.Position]struct{}              // by tier: positions of games that are not in front.seen
	found  int64                                     // the number of positions in front.seen and played
}

// sightings returns the positions that the enumeration saw.
func (c *counter) sightings(f *front) *sightings {
	s := &sightings{front: f, first: len(f.tiers)}
	if a := c.m.Tiers(); a != nil {
		s.known = func(p game.Position) (int, bool) {
			tier := a.Tier(p)
			return tier, tier < s.first
		}
		s.played = make([]map[game.Position]struct{}, a.Tiers()+1)
	} else {
		// All positions that were not enumerated form one tier: their smallest number of plies
		// is unknown.
		s.known = func(p game.Position) (int, bool) { return s.first, f.has(p) }
		s.played = make([]map[game.Position]struct{}, s.first+1)
		if f.seen == nil {
			f.seen = make([][]game.Position, s.first+1)
		}
	}
	for tier := s.first; tier < len(f.seen); tier++ {
		f.seen[tier] = different(f.seen[tier])
		s.found += int64(len(f.seen[tier]))
	}
	return s
}

// add adds a position that was not enumerated, if it is new.
func (s *sightings) add(tier int, p game.Position) {
	if _, is := slices.BinarySearch(s.seen[tier], p); is {
		return
	}
	if s.played[tier] == nil {
		s.played[tier] = make(map[game.Position]struct{})
	}
	n := len(s.played[tier])
	s.played[tier][p] = struct{}{}
	s.found += int64(len(s.played[tier]) - n)
}

// atLeast returns the counts after a number of games: those seen as lower bounds.
func (c *counter) atLeast(s *sightings, games int64) *Counts {
	all := &Counts{Tiers: s.tiers, How: AtLeast}
	bound, boards := c.most(), c.g.Info().Boards
	for tier := s.first; tier < len(s.played); tier++ {
		n := float64(len(s.seen[tier]) + len(s.played[tier]))
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
	all.Note = fmt.Sprintf("tiers 0 to %d were counted; %s more positions were seen after them%s: there may be many more, at most %.3g", s.first-1, numfmt.Number(s.found), in, all.Sum.High)
	return all
}
