package game

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// Cyclic is a game whose moves may lead back to where play has been, so that it
// is solved from its finished positions backwards. Turns alternate, and values are those
// of the player to move (Values().OfMover), the nearest of several ties. A position
// that is not finished has 1 to block.MaxCount moves; two that lead to the same
// position count as two, if its Movers say both.
//
// The hashes 0 to Positions()-1 are cut into ranges of RangeSize() hashes that
// follow one another; the last may be shorter. A set of positions is the number
// of a range and a bitmap over it, hash rng·RangeSize()+i at slot i. The steps
// work on such sets; what they shuffle is sets as well.
type Cyclic interface {
	Game
	// Positions is the number of hashes; positions that pieces cannot make may
	// be among them.
	Positions() uint64
	// RangeSize is the number of hashes in a range: some 10,000 to 1,000,000,
	// so that a core's cache holds a bitmap, and a game has many ranges.
	RangeSize() int
	// NewMover makes a Mover; all are Backward, or none.
	NewMover() Mover
}

// A Mover is the rules of a Cyclic game for whole sets of positions. It keeps
// memory that it uses again from call to call, and serves one goroutine.
//
// A set that it hands to say is good during that call only, and not to be written
// to: it may be the very set that was passed in. It is never empty. The calls for
// a range follow one another, so that what is said to it can be gathered in one
// place.
type Mover interface {
	// Children says where moves lead from a set of positions that are not
	// finished. No call of say stands for two moves to the same position: over
	// all calls, a position is said once for each move that leads to it.
	Children(rng uint64, from block.Set, say func(rng uint64, to block.Set))
	// Finished says which positions of a set are finished, once for each result.
	Finished(rng uint64, of block.Set, say func(result Result, set block.Set))
	// CountMoves adds to the count of each position of a set, none of them
	// finished, the number of its moves.
	CountMoves(rng uint64, of block.Set, into *block.Counter)
}

// A Backward is a Mover that knows the moves backwards, too. Of a game whose Movers do
// not, each move is told to the position to which it leads, when it is found.
type Backward interface {
	Mover
	// Parents says as Children does from where moves lead into a set. It may say
	// positions that are finished or cannot be reached, which have no such
	// moves: the receiver drops them.
	Parents(rng uint64, to block.Set, say func(rng uint64, from block.Set))
}

// KnowsBackward reports whether the Movers of a game are Backward.
func KnowsBackward(g Cyclic) bool {
	_, ok := g.NewMover().(Backward)
	return ok
}

// Ranges is the number of ranges of a game.
func Ranges(g Cyclic) uint64 { return (g.Positions()-1)/uint64(g.RangeSize()) + 1 }

// MaxRanges is of how many ranges a runner can keep a list in memory, some tens of bytes
// each.
const MaxRanges = 1 << 25

// CheckRanges wants a game to have at most MaxRanges ranges.
func CheckRanges(g Cyclic) error {
	n := Ranges(g)
	if n <= MaxRanges {
		return nil
	}
	err := fmt.Errorf("%s: its positions are %d ranges, at most %d can be solved", g.Spec(), n, MaxRanges)
	if plain, ok := g.(*plainRanges); ok {
		err = fmt.Errorf("%w: a hash may have %d bits", err, bits.Len64(MaxRanges*uint64(plain.size)-1))
	}
	return err
}

// RangeLen is the number of hashes in a range: RangeSize, or fewer in the last.
func RangeLen(g Cyclic, rng uint64) int {
	size := uint64(g.RangeSize())
	return int(min(size, g.Positions()-rng*size))
}

// Counted is a game that knows how many hashes it has, where 1<<KeyBits() is more: all
// are below Positions().
type Counted interface{ Positions() uint64 }

// Plain is a game whose moves are known backwards, position by position. A game need not
// be Plain: it takes less room where it is.
type Plain interface {
	Game
	// Parents appends the positions from which a move leads to p, each as often
	// as it has such moves.
	Parents(dst []Position, p Position) []Position
}

// The bits of a hash within a range of a game that has none of its own: few, so that a
// small game has several, but of long hashes so many that there are not too many ranges.
const (
	leastRangeBits = 14
	mostRangeBits  = 20
	rangesBits     = 16
)

// ByMethod is a game as it is solved: itself, if it is a Tiered, a Cyclic or an Acyclic
// one (which it is asked for in this order), or a Vast one, which is not solved. Any other
// is a Cyclic one by its rules alone, see PlainRanges.
func ByMethod(g Game) Game {
	switch g.(type) {
	case Acyclic, Cyclic, Vast:
		return g
	}
	return PlainRanges(g, 1<<max(leastRangeBits, min(mostRangeBits, int(g.KeyBits())-rangesBits)))
}

// PlainRanges makes g, which may be Counted or Plain, a Cyclic game with ranges of size
// hashes. Its Movers go through sets position by position. Those of a game that is not
// Plain are not Backward, and take moves to the same position for one.
func PlainRanges(g Game, size int) Cyclic {
	if c, ok := g.(Counted); ok {
		return &plainRanges{g, size, c.Positions()}
	}
	return &plainRanges{g, size, 1 << min(63, g.KeyBits())}
}

type plainRanges struct {
	Game
	size      int
	positions uint64
}

func (g *plainRanges) Positions() uint64 { return g.positions }
func (g *plainRanges) RangeSize() int    { return g.size }

func (g *plainRanges) NewMover() Mover {
	m := &plainMover{g: g, sets: NewSets(g)}
	for result := range m.ends {
		m.ends[result] = make(block.Set, block.Words(g.size))
	}
	if p, ok := g.Game.(Plain); ok {
		return &backMover{m, p}
	}
	m.once = true
	return m
}

// DistinctMoves drops those moves that lead to the same position as another. It may
// change their order.
func DistinctMoves(moves []Move) []Move {
	const few = 16
	if len(moves) > few {
		slices.SortFunc(moves, func(a, b Move) int { return cmp.Compare(a.To, b.To) })
		return slices.CompactFunc(moves, func(a, b Move) bool { return a.To == b.To })
	}
	n := 0
next:
	for i := range moves {
		for j := range moves[:n] {
			if moves[j].To == moves[i].To {
				continue next
			}
		}
		if i != n {
			moves[n] = moves[i]
		}
		n++
	}
	return moves[:n]
}

// A plainMover goes by the plain moves.
type plainMover struct {
	g     *plainRanges
	once  bool // moves to the same position are one
	slots []uint32
	moves []Move
	heard []Position
	sets  *Sets
	ends  [Ties + 1]block.Set // by result
}

// movesOf are the moves of a position.
func (m *plainMover) movesOf(p Position) []Move {
	if m.moves = m.g.Moves(m.moves[:0], p); m.once {
		m.moves = DistinctMoves(m.moves)
	}
	return m.moves
}

func (m *plainMover) Children(rng uint64, from block.Set, say func(uint64, block.Set)) {
	m.heard = m.heard[:0]
	for p := range m.positions(rng, from) {
		for _, move := range m.movesOf(p) {
			m.heard = append(m.heard, move.To)
		}
	}
	m.sets.Say(m.heard, say)
}

// positions are those of a set.
func (m *plainMover) positions(rng uint64, of block.Set) iter.Seq[Position] {
	m.slots = of.Append(m.slots[:0])
	return func(yield func(Position) bool) {
		for _, slot := range m.slots {
			if !yield(rng*uint64(m.g.size) + uint64(slot)) {
				return
			}
		}
	}
}

func (m *plainMover) Finished(rng uint64, of block.Set, say func(Result, block.Set)) {
	for result := range m.ends {
		clear(m.ends[result])
	}
	for p := range m.positions(rng, of) {
		if v := m.g.Primitive(p); v != 0 {
			m.ends[v.Outcome().For(m.g.ToMove(p))].Add(int(p % uint64(m.g.size)))
		}
	}
	for result, set := range m.ends {
		if !set.Empty() {
			say(Result(result), set[:len(of)])
		}
	}
}

func (m *plainMover) CountMoves(rng uint64, of block.Set, into *block.Counter) {
	for p := range m.positions(rng, of) {
		slot := int(p % uint64(m.g.size))
		into.Put(slot, into.Get(slot)+len(m.movesOf(p)))
	}
}

// A backMover is the Mover of a Plain game.
type backMover struct {
	*plainMover
	plain Plain
}

func (m *backMover) Parents(rng uint64, to block.Set, say func(uint64, block.Set)) {
	m.heard = m.heard[:0]
	for p := range m.positions(rng, to) {
		m.heard = m.plain.Parents(m.heard, p)
	}
	m.sets.Say(m.heard, say)
}

// Sets makes sets of positions. It serves one goroutine.
type Sets struct {
	g   Cyclic
	set block.Set
}

// NewSets makes Sets of the ranges of a game.
func NewSets(g Cyclic) *Sets { return &Sets{g, make(block.Set, block.Words(g.RangeSize()))} }

// Say says some positions, which it sorts, range by range; of those that are there more
// than once one is said in each call. A set is good during the call only. What is not below
// Positions is said in a range, or at a slot, that the game has not.
func (s *Sets) Say(all []Position, say func(rng uint64, set block.Set)) {
	slices.Sort(all)
	size := uint64(s.g.RangeSize())
	for len(all) > 0 {
		rng := all[0] / size
		end := len(all)
		if next := (rng + 1) * size; next > rng*size {
			end, _ = slices.BinarySearch(all, next)
		}
		n := max(RangeLen(s.g, rng), int(all[end-1]%size)+1) // one beyond Positions is said as well
		set := s.set[:block.Words(n)]
		for left := all[:end]; len(left) > 0; {
			clear(set)
			again := left[:0]
			for _, p := range left {
				if slot := int(p % size); set.Has(slot) {
					again = append(again, p)
				} else {
					set.Add(slot)
				}
			}
			say(rng, set)
			left = again
		}
		all = all[end:]
	}
}
