package game

import (
	"iter"
	"slices"

	"github.com/treereduce/treereduce/game/block"
)

// Cyclic is a game whose moves may lead back to where play has been, so that it
// is solved from its finished positions backwards. Turns alternate, and values are those
// of the player to move (Values().OfMover), the nearest of several ties. A position
// that is not finished has 1 to block.MaxCount moves; two that lead to the same
// position count as two.
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
	// NewMover makes a Mover.
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
	// Parents says in the same way from where moves lead into a set. It may say
	// positions that are finished or cannot be reached, which have no such
	// moves: the receiver drops them.
	Parents(rng uint64, to block.Set, say func(rng uint64, from block.Set))
	// Finished says which positions of a set are finished, once for each result.
	Finished(rng uint64, of block.Set, say func(result Result, set block.Set))
	// CountMoves adds to the count of each position of a set, none of them
	// finished, the number of its moves.
	CountMoves(rng uint64, of block.Set, into *block.Counter)
}

// Ranges is the number of ranges of a game.
func Ranges(g Cyclic) uint64 { return (g.Positions()-1)/uint64(g.RangeSize()) + 1 }

// RangeLen is the number of hashes in a range: RangeSize, or fewer in the last.
func RangeLen(g Cyclic, rng uint64) int {
	size := uint64(g.RangeSize())
	return int(min(size, g.Positions()-rng*size))
}

// Plain is a game whose moves are known forwards and backwards, position by
// position: all that a small cyclic game need be.
type Plain interface {
	Game
	// Positions is as in Cyclic.
	Positions() uint64
	// Parents appends the positions from which a move leads to p, each as often
	// as it has such moves.
	Parents(dst []Position, p Position) []Position
}

// PlainRanges makes g a Cyclic game with ranges of size hashes. Its Movers go
// through sets position by position.
func PlainRanges(g Plain, size int) Cyclic { return &plainRanges{g, size} }

type plainRanges struct {
	Plain
	size int
}

func (g *plainRanges) RangeSize() int { return g.size }

func (g *plainRanges) NewMover() Mover {
	m := &plainMover{g: g}
	for result := range m.sets {
		m.sets[result] = make(block.Set, block.Words(g.size))
	}
	return m
}

type plainMover struct {
	g     *plainRanges
	slots []uint32
	moves []Move
	heard []Position
	sets  [Ties + 1]block.Set // by result; the first is also what say hands over
}

func (m *plainMover) Children(rng uint64, from block.Set, say func(uint64, block.Set)) {
	m.heard = m.heard[:0]
	for p := range m.positions(rng, from) {
		m.moves = m.g.Moves(m.moves[:0], p)
		for _, move := range m.moves {
			m.heard = append(m.heard, move.To)
		}
	}
	m.say(say)
}

func (m *plainMover) Parents(rng uint64, to block.Set, say func(uint64, block.Set)) {
	m.heard = m.heard[:0]
	for p := range m.positions(rng, to) {
		m.heard = m.g.Parents(m.heard, p)
	}
	m.say(say)
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

// say says what was heard, range by range; of positions that were heard more
// than once one is said in each call.
func (m *plainMover) say(say func(uint64, block.Set)) {
	slices.Sort(m.heard)
	size := uint64(m.g.size)
	for list := m.heard; len(list) > 0; {
		rng := list[0] / size
		end, _ := slices.BinarySearch(list, (rng+1)*size)
		set := m.sets[0][:block.Words(RangeLen(m.g, rng))]
		for left := list[:end]; len(left) > 0; {
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
		list = list[end:]
	}
}

func (m *plainMover) Finished(rng uint64, of block.Set, say func(Result, block.Set)) {
	for result := range m.sets {
		clear(m.sets[result])
	}
	for p := range m.positions(rng, of) {
		if v := m.g.Primitive(p); v != 0 {
			m.sets[v.Outcome().For(m.g.ToMove(p))].Add(int(p % uint64(m.g.size)))
		}
	}
	for result, set := range m.sets {
		if !set.Empty() {
			say(Result(result), set[:len(of)])
		}
	}
}

func (m *plainMover) CountMoves(rng uint64, of block.Set, into *block.Counter) {
	for p := range m.positions(rng, of) {
		m.moves = m.g.Moves(m.moves[:0], p)
		slot := int(p % uint64(m.g.size))
		into.Put(slot, into.Get(slot)+len(m.moves))
	}
}
