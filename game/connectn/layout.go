package connectn

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// maxLowBits limits the low part of a key: the slot table has 4 bytes for each of its
// values. With 7 bits per column, blocks have at most 77,220 slots, which fit into a
// core's cache. A board of ten rows has 11 bits per column. Its low part has two columns: with
// one, a block would have at most 252 slots, and a tier millions of ranges.
const maxLowBits = 22

// layout splits a key into a range (the columns on the left) and a low part (the rightmost
// columns), and contains the tables of the low part.
//
//	7×6:   column   0       1       2       3    |   4       5       6
//	       bits     7       7       7       7    |   7       7       7
//	               '---------- range -----------' '------- low -------'
//
// Within a tier, a range determines how many pieces, and how many X's, its columns
// contain, and so how many remain for the low columns. All low parts of a block
// therefore have the same number of pieces and of X's, and there is one list of slots
// for each pair (pieces, X's): see space.
//
// A drop into a column of the range keeps the low part, and so the slot. The result of a
// drop into a low column depends on the low part alone.
type layout struct {
	rules   *Rules
	columns int     // number of low columns
	spaces  []space // indexed by pieces·(low squares + 1) + X's
	// slots is the slot of each low part within its space. The entries of a space are
	// written while the space is built, and only read afterwards.
	slots []uint32
	// rangeWays are the numbers of ways to fill the columns of the range, see Ranges.
	columnsOnce sync.Once
	rangeWays   columnWays

	ends []end // at most maxEnds
}

// maxEnds is a bound on the number of ends: one in each row with a square of one column, and at most three
// in each row for each further column, in all 42 for three columns of six rows.
const maxEnds = 42

// An end is the squares in the low columns of lines that begin in the range.
type end struct {
	low  uint32
	high []uint64 // for each of these lines, its squares in the range
}

// A space is the set of low parts with a given number of pieces and of X's.
type space struct {
	once sync.Once
	low  []uint32
	// more is, by slot, by how many pieces the right half has more than the left half; there are
	// less than maxLowBits pieces.
	more []int8
	// halves are by the number of pieces that the range has in the left half, see Stored.
	halves []atomic.Pointer[halfSets]

	movesOnce [2]sync.Once
	moves     [2][]uint32 // by player to move: see game.Blockwise.Within

	lines       [2]lineSets // by player
	drops       [2]dropSets
	heightsOnce sync.Once
	heights     []block.Set // see heightsOf
}

func (l *layout) init(r *Rules) {
	l.rules = r
	l.columns = min(max(2, r.width-1), r.width, maxLowBits/int(r.bits))
	squares := l.columns * r.height
	l.spaces = make([]space, (squares+1)*(squares+1))
	l.slots = make([]uint32, 1<<l.LowBits())
	l.initEnds()
}

// initEnds sets ends.
func (l *layout) initEnds() {
	r := l.rules
	for _, step := range [][2]int{{0, 1}, {1, -1}, {1, 0}, {1, 1}} { // columns and rows
		for c := range r.width - step[0]*(r.connect-1) {
			for row := range r.height {
				if last := row + step[1]*(r.connect-1); last < 0 || last >= r.height {
					continue
				}
				line := uint64(0)
				for i := range r.connect {
					line |= 1 << (r.shift(c+i*step[0]) + uint(row+i*step[1]))
				}
				low := uint32(line & (1<<l.LowBits() - 1))
				high := line - uint64(low)
				if low == 0 || high == 0 {
					continue
				}
				i := slices.IndexFunc(l.ends, func(e end) bool { return e.low == low })
				if i < 0 {
					i = len(l.ends)
					l.ends = append(l.ends, end{low: low})
				}
				l.ends[i].high = append(l.ends[i].high, high)
			}
		}
	}
}

// LowBits returns the bits of as many columns as fit into maxLowBits. If there are three or
// more columns, the leftmost is never a low column: otherwise a tier would be a single
// range, and one reducer would have to do all the work. Low parts and slots, with at most
// maxLowBits, fit into 32 bits.
func (l *layout) LowBits() uint { return uint(l.columns) * l.rules.bits }

// spaceOf returns the space of the low columns of a range in a tier, or nil if the range is
// not one of the board, or the numbers of pieces do not match.
func (l *layout) spaceOf(tier int, rng uint64) *space {
	if rng>>(l.rules.KeyBits()-l.LowBits()) != 0 {
		return nil
	}
	all, x := tier, (tier+1)/2
	for c := range l.rules.width - l.columns {
		ca, cx := pieces(l.rules.column(rng<<l.LowBits(), c))
		if ca < 0 || ca > l.rules.height {
			return nil // not a valid column
		}
		all, x = all-ca, x-cx
	}
	return l.space(all, x)
}

// space returns the space of the low parts with all pieces, x of them X's.
func (l *layout) space(all, x int) *space {
	squares := l.columns * l.rules.height
	if x < 0 || x > all || all > squares {
		return nil
	}
	s := &l.spaces[all*(squares+1)+x]
	s.once.Do(func() {
		s.low = make([]uint32, 0, int(l.rules.ways(l.columns, all)*choose(all, x))) // at most 1<<maxLowBits
		s.halves = make([]atomic.Pointer[halfSets], (l.rules.width-l.columns)*l.rules.height+1)
		l.fill(s, 0, l.columns, all, x)
		if l.columns > l.rules.width/2 {
			s.more = make([]int8, len(s.low))
			for slot, low := range s.low {
				a, b := l.rules.halvesOf(uint64(low), l.rules.width-l.columns, l.rules.width)
				s.more[slot] = int8(b - a)
			}
		}
	})
	return s
}

// fill appends to s, in ascending order, the low parts that start with prefix and have all
// pieces, x of them X's, in the remaining columns.
func (l *layout) fill(s *space, prefix uint64, columns, all, x int) {
	r := l.rules
	if columns == 0 {
		l.slots[prefix] = uint32(len(s.low))
		s.low = append(s.low, uint32(prefix))
		return
	}
	free := (columns - 1) * r.height
	for n := max(0, all-free); n <= min(all, r.height); n++ {
		for piecesOf := uint64(0); piecesOf < 1<<n; piecesOf++ {
			cx := bits.OnesCount64(piecesOf)
			if cx <= x && x-cx <= all-n {
				column := 1<<n + piecesOf - 1
				l.fill(s, prefix<<r.bits|column, columns-1, all-n, x-cx)
			}
		}
	}
}

// movesOf returns the moves of player within the low columns of s, in the form that
// Within returns.
func (l *layout) movesOf(s *space, player game.Player) []uint32 {
	s.movesOnce[player].Do(func() {
		r := l.rules
		all, x := 0, 0
		for c := r.width - l.columns; c < r.width; c++ {
			ca, cx := pieces(r.column(uint64(s.low[0]), c))
			all, x = all+ca, x+cx
		}
		if player == game.First {
			x++
		}
		successors := l.space(all+1, x)
		if successors == nil {
			return
		}
		none := uint32(len(successors.low))
		moves := make([]uint32, 0, l.columns*len(s.low))
		for _, low := range s.low {
			for c := r.width - l.columns; c < r.width; c++ {
				successor := none
				if column := r.column(uint64(low), c); column>>r.height == 0 {
					successor = l.slots[uint64(low)+drop(column, player)<<r.shift(c)]
				}
				moves = append(moves, successor)
			}
		}
		s.moves[player] = moves
	})
	return s.moves[player]
}

// Low returns the low parts of a range. It returns nil if the range contains more pieces or
// X's than the tier has, or leaves too many for the low columns.
func (l *layout) Low(tier int, rng uint64) []uint32 {
	if s := l.spaceOf(tier, rng); s != nil {
		return s.low
	}
	return nil
}

// Targets appends the ranges with one more piece, which belongs to the player to move.
func (l *layout) Targets(dst []uint64, tier int, rng uint64) []uint64 {
	r, player := l.rules, l.rules.TierToMove(tier)
	for c := range r.width - l.columns {
		if column := r.column(rng<<l.LowBits(), c); column>>r.height == 0 {
			dst = append(dst, rng+drop(column, player)<<(r.shift(c)-l.LowBits()))
		}
	}
	return dst
}

// Sources appends the ranges without one piece: a top piece of the player who moved last.
func (l *layout) Sources(dst []uint64, tier int, rng uint64) []uint64 {
	r, last := l.rules, l.rules.TierToMove(tier).Other()
	for c := range r.width - l.columns {
		column := r.column(rng<<l.LowBits(), c)
		n, _ := pieces(column)
		if n == 0 || game.Player(1-column>>(n-1)&1) != last {
			continue
		}
		piece := uint64(1) << (n - 1)
		if last == game.First {
			piece *= 2
		}
		dst = append(dst, rng-piece<<(r.shift(c)-l.LowBits()))
	}
	return dst
}

// Within returns a successor for each low column.
func (l *layout) Within(tier int, rng uint64) (successors []uint32, kinds int) {
	s := l.spaceOf(tier, rng)
	if s == nil {
		return nil, 0
	}
	return l.movesOf(s, l.rules.TierToMove(tier)), l.columns
}

// Finish looks for a line among the pieces of the player who moved last. A line within the
// range ends all positions of the block, and one that ends in the low columns those of a
// set of slots, so that 64 positions are tested at a time.
func (l *layout) Finish(b *block.Block) {
	r := l.rules
	last := r.TierToMove(b.Tier).Other()
	high := r.bitboard(b.Range<<l.LowBits(), last) &^ (1<<l.LowBits() - 1)
	all := r.lines.in(high) != 0
	var won []block.Set
	if !all {
		sets := l.linesOf(l.spaceOf(b.Tier, b.Range), last)
		won = append(make([]block.Set, 0, 1+maxEnds), sets.line)
		ends, _ := l.endsOf(high, 0)
		won = selected(won, sets.ends, ends)
	}
	for i, open := range b.Open {
		if open == 0 {
			continue
		}
		lines := open
		if !all {
			lines = 0
			for _, s := range won {
				lines |= s[i]
			}
			lines &= open
		}
		b.Finish(i, lines, byte(game.NewValue(game.WinFor(last), 0)))
		if b.Tier == r.Tiers() {
			b.Finish(i, open&^lines, byte(game.NewValue(game.Tie, 0)))
		}
	}
}

// ways returns the number of ways to put pieces into columns, ignoring colours.
func (r *Rules) ways(columns, pieces int) float64 { return r.allWays(columns, pieces)[pieces] }

// allWays returns the numbers of ways to put 0 to pieces pieces into columns.
func (r *Rules) allWays(columns, pieces int) []float64 {
	row := make([]float64, pieces+1)
	row[0] = 1
	for range columns {
		for p := pieces; p >= 0; p-- {
			sum := 0.0
			for n := 0; n <= min(p, r.height); n++ {
				sum += row[p-n]
			}
			row[p] = sum
		}
	}
	return row
}

// choose returns the binomial coefficient (n choose k), 0 if k is below 0 or above n.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// Slots returns the number of ways to place the pieces of a tier, including their colours.
func (l *layout) Slots(tier int) float64 {
	return l.rules.ways(l.rules.width, tier) * choose(tier, (tier+1)/2)
}

// Ranges counts the ways to fill the columns of the range so that the remaining pieces fit
// into the low columns, and no column contains a line, except for one line at the top of a
// column, made by the last move. The result is at most the number of move
// sequences that lead to the tier.
func (l *layout) Ranges(tier int) float64 {
	l.columnsOnce.Do(l.countColumns)
	columns, x, n := l.rules.width-l.columns, (tier+1)/2, 0.0
	open, won := l.rangeWays.open, l.rangeWays.won[l.rules.TierToMove(tier).Other()]
	for all := max(0, tier-l.columns*l.rules.height); all <= min(tier, columns*l.rules.height); all++ {
		for of := max(0, x-(tier-all)); of <= min(all, x); of++ {
			n += open[all][of] + won[all][of]
		}
	}
	return min(n, math.Pow(float64(l.rules.width), float64(tier)))
}

// countColumns counts the ways to fill the columns of the range, see Ranges.
func (l *layout) countColumns() { l.rangeWays = l.countColumn().power(l.rules.width - l.columns) }

// columnWays are the numbers of ways to fill columns without a line in a column, and those with
// one line, which ends at the top of a column, by the player who has it.
type columnWays struct {
	open ways
	won  [2]ways
}

// countColumn returns the numbers of ways to fill one column.
func (l *layout) countColumn() columnWays {
	height := l.rules.height
	open, won := newWaysOf(height), [2]ways{}
	for player := range won {
		won[player] = newWaysOf(height)
	}
	open[0][0] = 1
	// One column, from the bottom up: by player on top, length of the top run, and X's.
	type tops [2][][]float64
	newTops := func() (t tops) {
		for player := range t {
			t[player] = make([][]float64, l.rules.connect+1)
			for run := range t[player] {
				t[player][run] = make([]float64, height+1)
			}
		}
		return t
	}
	ofX := [2]int{game.First: 1, game.Second: 0}
	before := newTops()
	for n := 1; n <= height; n++ {
		now := newTops()
		for top := range now {
			if n == 1 {
				now[top][1][ofX[top]] = 1
			}
			for run := 1; run < l.rules.connect; run++ {
				for x := range n {
					now[top][run+1][x+ofX[top]] += before[top][run][x]
					now[top][1][x+ofX[top]] += before[1-top][run][x]
				}
			}
			for x := range n + 1 {
				for run := 1; run < l.rules.connect; run++ {
					open[n][x] += now[top][run][x]
				}
				won[top][n][x] = now[top][l.rules.connect][x]
			}
		}
		before = now
	}
	return columnWays{open, won}
}

// power returns the numbers for several columns.
func (w columnWays) power(columns int) columnWays {
	all := columnWays{open: newWaysOf(0), won: [2]ways{newWaysOf(0), newWaysOf(0)}}
	all.open[0][0] = 1
	for range columns {
		for player := range w.won {
			all.won[player] = all.won[player].times(w.open).plus(all.open.times(w.won[player]))
		}
		all.open = all.open.times(w.open)
	}
	return all
}

// ways are the numbers of ways to put pieces into columns: [pieces][X's].
type ways [][]float64

func newWaysOf(pieces int) ways {
	w := make(ways, pieces+1)
	for n := range w {
		w[n] = make([]float64, n+1)
	}
	return w
}

// times returns the ways for two groups of columns together.
func (w ways) times(other ways) ways {
	both := newWaysOf(len(w) + len(other) - 2)
	for n, row := range w {
		for x, a := range row {
			for m, more := range other {
				for y, b := range more {
					both[n+m][x+y] += a * b
				}
			}
		}
	}
	return both
}

// plus adds other ways to fill the same columns.
func (w ways) plus(other ways) ways {
	for n, row := range other {
		for x, b := range row {
			w[n][x] += b
		}
	}
	return w
}

// Tables returns the size of the slot table (an entry for each value of the low bits), and of
// the tables of each valid low part: itself, the moves of both players, and a bit for each set of
// lineSets, dropSets and heightsOf. It includes low parts with too many pieces of one player, whose tables
// are never built.
func (l *layout) Tables() int {
	low := 1
	for range l.columns {
		low *= 1<<l.rules.bits - 1
	}
	sets := 2*(3+2*len(l.ends)+l.columns) + int(l.LowBits())
	return 4*(1<<l.LowBits()+(1+2*l.columns)*low) + low*sets/8
}

// Border chooses the columns of the range from the left. For each, it chooses first the
// number of pieces, then their colours from the top down, such that the number of slots
// below stays within the fraction. The value of a column ascends in that order.
func (l *layout) Border(tier int, f float64) uint64 {
	r := l.rules
	all, x := tier, (tier+1)/2 // in this column and those to its right
	below := f * l.Slots(tier)
	var rng uint64
	for c := range r.width - l.columns {
		n, rest := max(0, all-(r.width-1-c)*r.height), 0.0
		for ; ; n++ {
			rest = r.ways(r.width-c-1, all-n)
			size := rest * choose(all, x)
			if below < size || n == min(r.height, all) {
				break
			}
			below -= size
		}
		column := uint64(1)
		for free := n - 1; free >= 0; free-- { // free is the number of pieces below this one
			column <<= 1
			size := rest * choose(free+all-n, x) // slots if it is an O
			if x > 0 && below >= size {
				below -= size
				column, x = column|1, x-1
			}
		}
		all -= n
		rng = rng<<r.bits | (column - 1)
	}
	return rng
}
