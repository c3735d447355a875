package mancala

import (
	"math/bits"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// This file implements Mancala for searches: with a byte for each pit, so that two additions
// sow all stones of a move. A board is represented from the view of the player to move,
// so that two positions that differ only in the row to move are the same.
//
// The words of a State are: the pits of the player to move, those of the other player, the
// lead of his goal over the other's, and the number of stones in the pits.
const (
	stateOwn = iota
	stateOther
	stateLead
	stateLeft
)

// Limits of a representation with a byte for each pit.
const (
	maxFastPits   = 8
	maxFastStones = 255
)

// Searched is Mancala with up to 8 pits per row and 255 stones, for searches.
type Searched struct {
	*Rules
	*ranking
	sown  [maxFastPits][]sowing // indexed by pit and number of stones
	keys  []uint64              // the first key of the boards with s stones in the pits
	built *built
}

// A sowing is what the stones of a pit add to all places.
type sowing struct {
	own, other uint64
	gain       uint8 // stones for the mover's goal
	last       uint8 // the place of the last stone, counted from the mover's pit 0; at most 2·maxFastPits
}

// built is the endgame database, which is built when it is first needed.
type built struct {
	once     sync.Once
	endgames *database
}

// fastest returns a Searched if the board is small enough, and r otherwise.
func (r *Rules) fastest() game.Tiered {
	if r.pits > maxFastPits || r.all > maxFastStones {
		return r
	}
	s := &Searched{Rules: r, ranking: newRanking(r.pits, r.all), keys: make([]uint64, r.all+1), built: new(built)}
	for n := 1; n <= r.all; n++ {
		s.keys[n] = s.keys[n-1] + uint64(r.all-n+2)*s.ranking.boards(n-1)
	}
	for pit := range r.pits {
		s.sown[pit] = sowings(r.pits, pit, r.all)
	}
	return s
}

// sowings returns the sowings of 0 to most stones from a pit.
func sowings(pits, pit, most int) []sowing {
	list := make([]sowing, most+1)
	for n := 1; n <= most; n++ {
		s := list[n-1]
		at := (pit + n) % (2*pits + 1)
		s.last = uint8(at)
		switch {
		case at < pits:
			s.own += 1 << (8 * at)
		case at == pits:
			s.gain++
		default:
			s.other += 1 << (8 * (at - pits - 1))
		}
		list[n] = s
	}
	return list
}

// sow makes a move of the stones of a pit. gain is the number of stones that the mover's goal
// receives, captures included; captured is the number of captured stones.
func sow(list []sowing, pits, pit int, own, other uint64) (newOwn, newOther uint64, gain, captured int) {
	n := own >> (8 * pit) & 0xff
	s := &list[n]
	own += s.own - n<<(8*pit)
	other += s.other
	gain = int(s.gain)
	if last := int(s.last); last < pits && own>>(8*last)&0xff == 1 {
		across := 8 * (pits - 1 - last)
		if taken := other >> across & 0xff; taken > 0 {
			own ^= 1 << (8 * last)
			other ^= taken << across
			captured = int(taken) + 1
		}
	}
	return own, other, gain + captured, captured
}

func (s *Searched) pits() int { return s.Rules.pits }

// Traits: only the outcome matters.
func (s *Searched) Traits() game.Traits {
	return game.Traits{
		MaxMoves: s.pits(),
		MaxPlies: s.Tiers(),
		KeyBits:  uint(bits.Len64(s.Rules.boards() - 1)),
		Squares:  s.pits() << squareBits,
		OnlyWho:  true,
		Late:     lateMoves,
	}
}

// Prepare builds a database of endgames if there is none yet.
func (s *Searched) Prepare() {
	s.built.once.Do(func() { s.built.endgames = newDatabase(s.pits(), quickStones(s.pits(), s.Rules.all)) })
}

// Root decodes the position.
func (s *Searched) Root(n *game.Node, p game.Position) {
	s.Prepare()
	var b board
	s.read(&b, p)
	var rows, goals [2]uint64
	left := uint64(0)
	for row := range rows {
		for pit := range s.pits() {
			n := uint64(b[row*s.pits()+pit])
			rows[row] |= n << (8 * pit)
			left += n
		}
		goals[row] = uint64(b[s.goal(row)])
	}
	mover := row(p)
	n.State = game.State{rows[mover], rows[1-mover], goals[mover] - goals[1-mover], left}
	n.Key = s.keyOf(rows[mover], rows[1-mover], int(int64(goals[mover]-goals[1-mover])))
}

// InPits returns the number of stones in the pits of a position.
func (s *Searched) InPits(p game.Position) int {
	var n game.Node
	s.Root(&n, p)
	return int(n.State[stateLeft])
}

// KeyOf returns the key of a position. Because keys are computed only for positions that the
// search visits, and not for all children, the search visits a few more positions, but saves
// more than half of the table look-ups.
func (s *Searched) KeyOf(state *game.State) uint64 {
	return s.keyOf(state[stateOwn], state[stateOther], int(int64(state[stateLead])))
}

// keyOf numbers boards from the view of the player to move.
func (s *Searched) keyOf(own, other uint64, lead int) uint64 {
	number, left := s.number(own, other)
	goal := uint64(s.Rules.all-left+lead) / 2
	return s.keys[left] + goal*s.ranking.boards(left) + number
}

// MoveOf uses the pit in the row as the number of a move; a pass is number 0.
func (s *Searched) MoveOf(p game.Position, move uint16) game.Move {
	moves := s.Moves(nil, p)
	if moves[0].Name == game.Pass {
		return moves[0]
	}
	name := s.names[row(p)*s.pits()+int(move)]
	for _, m := range moves {
		if m.Name == name {
			return m
		}
	}
	return moves[0]
}

// passes is the number of a pass as a move.
const passes = 0

// squareBits is the number of bits for the stones of a move in Child.Square: few or many
// stones from the same pit are different moves for the history.
const squareBits = 5

// lateMoves is the value of Traits.Late. Matches show that 2 is better than 3, see
// docs/notes/search.md.
const lateMoves = 2

// gainRank is the rank of a stone for the goal; a captured stone counts twice, because the
// opponent has one less.
const gainRank = 64

// keepRank is the rank of a stone that is in the mover's row after the move, rather than in
// the opponent's.
const keepRank = 16

// stonesOf returns the number of stones in a row.
func stonesOf(row uint64) int { return int(row * everyByte >> 56) }

// Expand decides a game as soon as the goals do, or with the database.
func (s *Searched) Expand(n *game.Node) {
	own, other := n.State[stateOwn], n.State[stateOther]
	lead, left := int(int64(n.State[stateLead])), int(n.State[stateLeft])
	n.Children = n.Children[:0]
	if left == 0 {
		n.Low = outcome(lead)
		n.High = n.Low
		return
	}
	n.Low, n.High = game.LostIn(1), game.WonIn(1)
	if !n.Exact {
		s.bounds(n, own, other, lead, left)
		if n.Low >= n.Beta || n.High <= n.Alpha || n.Low == n.High {
			return
		}
	}
	if n.Leaf {
		return
	}
	pits := s.pits()
	for rest := own; rest != 0; {
		pit := bits.TrailingZeros64(rest) / 8
		rest &^= 0xff << (8 * pit)
		mine, yours, gain, captured := sow(s.sown[pit], pits, pit, own, other)
		// There are at most maxFastPits pits and maxFastStones stones, so Rank, Move and Square fit.
		n.Children = append(n.Children, game.Child{
			State:  game.State{yours, mine, uint64(-lead - gain), uint64(left - gain)},
			Rank:   int32(gain+captured)*gainRank + int32(stonesOf(mine)-stonesOf(yours))*keepRank,
			Move:   uint16(pit),
			Square: uint16(pit)<<squareBits | uint16(min(own>>(8*pit)&0xff, 1<<squareBits-1)),
			Quick:  left-gain <= s.known(),
		})
	}
	if len(n.Children) == 0 {
		n.Children = append(n.Children, game.Child{
			State: game.State{other, own, uint64(-lead), uint64(left)},
			Move:  passes,
			Quick: left <= s.known(),
		})
	}
}

// outcome returns the value of a game that is over or decided, with this lead.
func outcome(lead int) int {
	switch {
	case lead > 0:
		return game.WonIn(0)
	case lead < 0:
		return game.LostIn(0)
	}
	return 0
}

// known returns the largest number of stones in the pits that the database contains.
func (s *Searched) known() int { return s.built.endgames.stones }

// bounds computes bounds without looking ahead: with few stones, from the database; with more,
// from the fact that neither player can get more than all the stones.
func (s *Searched) bounds(n *game.Node, own, other uint64, lead, left int) {
	switch {
	case lead > left:
		n.Low, n.High = game.WonIn(0), game.WonIn(0)
	case lead < -left:
		n.Low, n.High = game.LostIn(0), game.LostIn(0)
	case left <= s.known() && !n.NoBounds:
		n.Low = outcome(lead + s.built.endgames.value(own, other))
		n.High = n.Low
	case lead == left:
		n.Low = 0
	case lead == -left:
		n.High = 0
	}
}

// Assess returns the lead, plus a part of the surplus in the player's own pits.
func (s *Searched) Assess(n *game.Node) int {
	mine := stonesOf(n.State[stateOwn])
	lead, left := int(int64(n.State[stateLead])), int(n.State[stateLeft])
	score := leadWorth*lead + pitsWorth*(2*mine-left)
	return max(1-game.MostAssessed, min(score, game.MostAssessed-1))
}

// The weights of stones in Assess.
const (
	leadWorth = 2
	pitsWorth = 1
)

// Evaluate returns Assess for a position.
func (s *Searched) Evaluate(p game.Position) int {
	var n game.Node
	s.Root(&n, p)
	return s.Assess(&n)
}
