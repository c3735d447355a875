package mancala

import (
	"math/bits"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// This file is Mancala as a search likes it: a byte for each pit, and all stones of a move
// sown by two additions. Whose row is at the bottom does not count: a board is as the
// player to move sees it, so that two positions which differ by nothing else are one.
//
// The words of a State: the pits of the player to move, those of the other player, how
// many stones more his goal has than the other's, and how many are in the pits.
const (
	stateOwn = iota
	stateOther
	stateLead
	stateLeft
)

// What a byte for each pit can hold.
const (
	maxFastPits   = 8
	maxFastStones = 255
)

// Searched is Mancala of up to 8 pits a row and 255 stones, for a search.
type Searched struct {
	*Rules
	*ranking
	sown  [maxFastPits][]sowing // by pit and number of stones
	keys  []uint64              // of boards with s stones in the pits the first key
	built *built
}

// A sowing is what stones from a pit add to the places.
type sowing struct {
	own, other uint64
	gain       uint8 // to the mover's goal
	last       uint8 // where the last stone ends, counted from the mover's pit 0
}

// built is the database of endgames, once it is wanted.
type built struct {
	once     sync.Once
	endgames *Endgames
}

// fastest is a Searched if the board is one for it.
func (r *Rules) fastest() game.Acyclic {
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

// sowings are those of up to so many stones from a pit.
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

// sow makes a move of n stones, which are those of a pit. It returns what the goal gets,
// captures too, and the stones that are captured.
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

// WithEndgames is the same game, with a database for the searches of it. It must be of as
// many pits.
func (s *Searched) WithEndgames(e *Endgames) (*Searched, error) {
	if err := e.fit(s.pits()); err != nil {
		return nil, err
	}
	with := *s
	with.built = &built{endgames: e}
	with.built.once.Do(func() {})
	return &with, nil
}

func (s *Searched) pits() int { return s.Rules.pits }

// endgames is the database; one that is soon built if none was given.
func (s *Searched) endgames() *Endgames {
	s.built.once.Do(func() { s.built.endgames = NewEndgames(s.pits(), StonesWithin(s.pits(), s.Rules.all, quickBoards)) })
	return s.built.endgames
}

// Traits: who wins is all that counts.
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

// Prepare has a database of endgames built, if there is none yet.
func (s *Searched) Prepare() { s.endgames() }

// Root reads the position.
func (s *Searched) Root(n *game.Node, p game.Position) {
	s.endgames()
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

// InPits is how many stones of a position are in the pits.
func (s *Searched) InPits(p game.Position) int {
	var n game.Node
	s.Root(&n, p)
	return int(n.State[stateLeft])
}

// KeyOf is the key of a position. That it is asked for where the search gets to, and not
// for all children, costs a few more positions, and saves more than half of the look-ups.
func (s *Searched) KeyOf(state *game.State) uint64 {
	return s.keyOf(state[stateOwn], state[stateOther], int(int64(state[stateLead])))
}

// keyOf numbers boards as the mover sees them.
func (s *Searched) keyOf(own, other uint64, lead int) uint64 {
	number, left := s.number(own, other)
	goal := uint64(s.Rules.all-left+lead) / 2
	return s.keys[left] + goal*s.ranking.boards(left) + number
}

// MoveOf numbers moves by the pits of the row; a pass is the number 0.
func (s *Searched) MoveOf(p game.Position, move uint16) game.Move {
	moves := s.Moves(nil, p)
	if moves[0].Name == Pass {
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

// passes is the number of a pass among the moves.
const passes = 0

// squareBits is for the stones of a move: what refutes is told apart by them, as few or
// many stones from a pit are other moves.
const squareBits = 5

// lateMoves are looked at as far ahead as asked. Two are worth more than three: by matches,
// docs/search.md.
const lateMoves = 2

// gainRank is what a stone for the goal makes a move worth; one that is captured is worth
// two, as the opponent has one less.
const gainRank = 64

// keepRank is for a stone that lies in the mover's row after the move, and not in the
// other's.
const keepRank = 16

// stonesOf are the stones of a row.
func stonesOf(row uint64) int { return int(row * everyByte >> 56) }

// Expand knows who has won as soon as the goals tell it, and what the database holds.
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

// outcome is what a finished game is worth, or one of which the end is known.
func outcome(lead int) int {
	switch {
	case lead > 0:
		return game.WonIn(0)
	case lead < 0:
		return game.LostIn(0)
	}
	return 0
}

// known is how many stones the database knows.
func (s *Searched) known() int { return s.built.endgames.stones }

// bounds are what is known without a look ahead: of few stones the best that can be made
// of them; of more, that nobody gets more than all.
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

// Assess is the lead, and a part of what lies more in the own pits.
func (s *Searched) Assess(n *game.Node) int {
	mine := stonesOf(n.State[stateOwn])
	lead, left := int(int64(n.State[stateLead])), int(n.State[stateLeft])
	score := leadWorth*lead + pitsWorth*(2*mine-left)
	return max(1-game.MostAssessed, min(score, game.MostAssessed-1))
}

// What Assess counts for a stone.
const (
	leadWorth = 2
	pitsWorth = 1
)

// Evaluate is Assess of a position.
func (s *Searched) Evaluate(p game.Position) int {
	var n game.Node
	s.Root(&n, p)
	return s.Assess(&n)
}
