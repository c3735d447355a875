package game

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game/block"
)

// Cyclic is a game that may have cycles: moves may lead back to earlier positions. It is
// solved by retrograde analysis from its terminal positions. Players take turns, values are
// from the view of the player to move (Values().OfMover), and players prefer the nearest of
// several ties. A position that is not terminal has 1 to block.MaxCount moves; two
// moves to the same position count as two if the game's Movers emit both.
//
// The hashes 0 to Positions()-1 are divided into ranges of RangeSize() consecutive
// hashes; the last range may be shorter. A set of positions is the number of a range
// and a bitmap, in which slot i is hash rng·RangeSize()+i. The steps process such sets,
// and the shuffle transports them.
type Cyclic interface {
	Game
	// Positions returns the number of hashes, which may include hashes that no
	// arrangement of pieces has.
	Positions() uint64
	// RangeSize returns the number of hashes in a range: about 10,000 to 1,000,000, so
	// that a bitmap fits into a core's cache, and a game has many ranges.
	RangeSize() int
	// NewMover returns a new Mover. Either all Movers of a game are Backward, or none.
	NewMover() Mover
}

// A Mover applies the rules of a Cyclic game to sets of positions. It re-uses its
// memory between calls, and must be used by one goroutine only.
//
// A set passed to emit is valid during that call only, and must not be modified: it may
// be the set that the caller passed in. It is never empty. Calls of emit for the same
// range are consecutive, so that the receiver needs to accumulate one range only.
type Mover interface {
	// Successors emits the successors of a set of positions that are not terminal. Each
	// call of emit contains a successor at most once; over all calls, a position is
	// emitted once for each move that leads to it.
	Successors(rng uint64, from block.Set, emit func(rng uint64, to block.Set))
	// Finished emits the terminal positions of a set, with one call for each result.
	Finished(rng uint64, of block.Set, emit func(result Result, set block.Set))
	// CountMoves adds the number of moves of each position of a set to its count. No
	// position of the set is terminal. A count that would exceed block.MaxCount becomes 0,
	// which the caller refuses.
	CountMoves(rng uint64, of block.Set, into *block.Counter)
}

// A Backward is a Mover that also computes predecessors. If a game's Movers are not Backward,
// the forward pass stores each edge with the position that it leads from.
type Backward interface {
	Mover
	// Predecessors emits the predecessors of a set, as Successors emits the successors. It may
	// emit positions that are terminal, and so have no moves, or that cannot be reached:
	// the receiver drops them.
	Predecessors(rng uint64, to block.Set, emit func(rng uint64, from block.Set))
}

// KnowsBackward reports whether the Movers of a game are Backward.
func KnowsBackward(g Cyclic) bool {
	_, ok := g.NewMover().(Backward)
	return ok
}

// Ranges returns the number of ranges of a game.
func Ranges(g Cyclic) uint64 { return (g.Positions()-1)/uint64(g.RangeSize()) + 1 }

// MaxRanges is the largest number of ranges for which a runner can keep a list in memory,
// at some tens of bytes per range.
const MaxRanges = 1 << 25

// CheckRanges returns an error if a game has more than MaxRanges ranges.
func CheckRanges(g Cyclic) error {
	n := Ranges(g)
	if n <= MaxRanges {
		return nil
	}
	err := fmt.Errorf("%s: its positions are %d ranges, at most %d can be solved", g.Spec(), n, MaxRanges)
	if r, ok := g.(*ranged); ok {
		err = fmt.Errorf("%w: a hash may have %d bits", err, bits.Len64(MaxRanges*uint64(r.size)-1))
	}
	return err
}

// RangeLen returns the number of hashes in a range: RangeSize, or fewer in the last one.
func RangeLen(g Cyclic, rng uint64) int {
	size := uint64(g.RangeSize())
	return int(min(size, g.Positions()-rng*size))
}

// A Reversible is a game that computes the predecessors of a single position. It is optional; with
// it, a solve needs less disk space.
type Reversible interface {
	Game
	// Predecessors appends the predecessors of p, each as often as it has moves to p. Terminal positions that would have
	// such a move, and positions that play cannot reach, may be among them, but none of a tier from which no move can
	// lead to that of p. In a Symmetric game, an image may stand for a predecessor, and the number does not count.
	Predecessors(dst []Position, p Position) []Position
}

// Limits for the bits of a hash within a range, for games without ranges of their own. There
// are few bits, so that even a small game has several ranges; games with long hashes get
// larger ranges, so that there are not too many.
const (
	leastRangeBits = 14
	mostRangeBits  = 20
	rangesBits     = 16
)

// WithRanges adapts g, which may be Reversible, to a Cyclic game with ranges of size hashes. Its
// Movers process sets position by position. If g is not Reversible, they are not
// Backward, and treat several moves to the same position as one.
func WithRanges(g Game, size int) Cyclic {
	hashes := g.Info().Hashes
	if hashes == 0 {
		hashes = 1 << min(63, g.KeyBits())
	}
	return &ranged{g, size, hashes}
}

type ranged struct {
	Game
	size      int
	positions uint64
}

func (g *ranged) Positions() uint64 { return g.positions }
func (g *ranged) RangeSize() int    { return g.size }

func (g *ranged) NewMover() Mover {
	m := &singleMover{g: g, sets: NewSets(g)}
	for result := range m.ends {
		m.ends[result] = make(block.Set, block.Words(g.size))
	}
	if p, ok := g.Game.(Reversible); ok {
		return &backMover{m, p}
	}
	m.once = true
	return m
}

// DistinctMoves removes duplicates: of several moves to the same position, it keeps one. It
// may change the order of the moves.
func DistinctMoves(moves []Move) []Move {
	const few = 16
	if len(moves) > few {
		slices.SortFunc(moves, func(a, b Move) int { return cmp.Compare(a.To, b.To) })
		return slices.CompactFunc(moves, func(a, b Move) bool { return a.To == b.To })
	}
	n := 0
	seen := uint64(0) // a bit for each position of moves[:n], which others may share
next:
	for i := range moves {
		bit := uint64(1) << (moves[i].To * 0x9e3779b97f4a7c15 >> 58)
		for j := 0; seen&bit != 0 && j < n; j++ {
			if moves[j].To == moves[i].To {
				continue next
			}
		}
		seen |= bit
		if i != n {
			moves[n] = moves[i]
		}
		n++
	}
	return moves[:n]
}

// A singleMover is a Mover that uses Game.Moves for one position at a time.
type singleMover struct {
	g     *ranged
	once  bool // several moves to the same position count as one
	slots []uint32
	moves []Move
	found []Position
	sets  *Sets
	ends  [Ties + 1]block.Set // by result
}

// movesOf returns the moves of a position.
func (m *singleMover) movesOf(p Position) []Move {
	if m.moves = m.g.Moves(m.moves[:0], p); m.once {
		m.moves = DistinctMoves(m.moves)
	}
	return m.moves
}

func (m *singleMover) Successors(rng uint64, from block.Set, emit func(uint64, block.Set)) {
	m.found = m.found[:0]
	for p := range m.positions(rng, from) {
		for _, move := range m.movesOf(p) {
			m.found = append(m.found, move.To)
		}
	}
	m.sets.Send(m.found, emit)
}

// positions returns the positions of a set.
func (m *singleMover) positions(rng uint64, of block.Set) iter.Seq[Position] {
	m.slots = of.Append(m.slots[:0])
	return func(yield func(Position) bool) {
		for _, slot := range m.slots {
			if !yield(rng*uint64(m.g.size) + uint64(slot)) {
				return
			}
		}
	}
}

func (m *singleMover) Finished(rng uint64, of block.Set, emit func(Result, block.Set)) {
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
			emit(Result(result), set[:len(of)])
		}
	}
}

func (m *singleMover) CountMoves(rng uint64, of block.Set, into *block.Counter) {
	for p := range m.positions(rng, of) {
		slot := int(p % uint64(m.g.size))
		n := into.Get(slot) + len(m.movesOf(p))
		if n > block.MaxCount {
			n = 0
		}
		into.Put(slot, n)
	}
}

// A backMover is the Backward Mover of a Reversible game.
type backMover struct {
	*singleMover
	game Reversible
}

func (m *backMover) Predecessors(rng uint64, to block.Set, emit func(uint64, block.Set)) {
	m.found = m.found[:0]
	for p := range m.positions(rng, to) {
		m.found = m.game.Predecessors(m.found, p)
	}
	m.sets.Send(m.found, emit)
}

// Sets converts lists of positions into sets. It must be used by one goroutine only.
type Sets struct {
	g     Cyclic
	set   block.Set
	ends  []uint32 // by range
	spare []Position
	shift int // if it is not 0, 1<<shift is the size of a range
}

// NewSets returns Sets for the ranges of a game.
func NewSets(g Cyclic) *Sets {
	s := &Sets{g: g, set: make(block.Set, block.Words(g.RangeSize()))}
	if shift := bits.TrailingZeros(uint(g.RangeSize())); g.RangeSize() == 1<<shift {
		s.shift = shift
	}
	return s
}

// Send emits the positions as sets, range by range; it changes their order. Each set contains a position
// at most once: duplicates are emitted in further calls for the same range. A set is valid
// during the call only. A position that is not below Positions is emitted too, in a range or
// at a slot that the game does not have.
func (s *Sets) Send(all []Position, emit func(rng uint64, set block.Set)) {
	all = s.byRange(all)
	size := uint64(s.g.RangeSize())
	for len(all) > 0 {
		rng := all[0] / size
		end := len(all)
		if next := (rng + 1) * size; next > rng*size {
			end = sort.Search(end, func(i int) bool { return all[i] >= next })
		}
		first := rng * size
		n := max(RangeLen(s.g, rng), int(all[end-1]-first)+1) // positions not below Positions are emitted too
		set := s.set[:block.Words(n)]
		for left := all[:end]; len(left) > 0; {
			clear(set)
			again := left[:0]
			for _, p := range left {
				if slot := int(p - first); set.Has(slot) {
					again = append(again, p)
				} else {
					set.Add(slot)
				}
			}
			emit(rng, set)
			left = again
		}
		all = all[end:]
	}
}

// byRange returns positions in the order of their ranges: sorted if one is not below Positions, or if they are
// few for the ranges; otherwise those of a range are in any order, in the memory of s.
func (s *Sets) byRange(all []Position) []Position {
	ranges, size, positions := Ranges(s.g), uint64(s.g.RangeSize()), s.g.Positions()
	if uint64(len(all)) < ranges/4 || len(all) > math.MaxUint32 || slices.ContainsFunc(all, func(p Position) bool { return p >= positions }) {
		slices.Sort(all)
		return all
	}
	if s.ends == nil {
		s.ends = make([]uint32, ranges)
	}
	clear(s.ends)
	for _, p := range all {
		s.ends[s.rangeOf(p, size)]++
	}
	at := uint32(0)
	for i, n := range s.ends {
		s.ends[i] = at
		at += n
	}
	s.spare = slices.Grow(s.spare[:0], len(all))[:len(all)]
	for _, p := range all {
		end := &s.ends[s.rangeOf(p, size)]
		s.spare[*end] = p
		*end++
	}
	return s.spare
}

// rangeOf returns p/size, without a division if it can.
func (s *Sets) rangeOf(p Position, size uint64) uint64 {
	if s.shift > 0 {
		return p >> (s.shift & 63)
	}
	return p / size
}
