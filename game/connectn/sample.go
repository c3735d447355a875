package connectn

import (
	"math/bits"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

var _ game.Sampled = (*Rules)(nil)

// SampledTiers is Tiers.
func (r *Rules) SampledTiers() int { return r.Tiers() }

// Boards is Slots: the boards that gravity and turns allow.
func (r *Rules) Boards(tier int) float64 { return r.Slots(tier) }

// MostMoves is the number of columns.
func (r *Rules) MostMoves() int { return r.width }

// A sampler draws boards without a line, column by column from the left. A column is
// drawn among those that make no line with the columns to its left, in proportion to the
// ways in which the columns to its right can take the pieces that are left over, lines or
// not. So a board comes with a probability that is known, and its inverse estimates the
// number of boards without a line; a draw that ends where no column is left estimates 0.
//
// A board without a line can be reached if its pieces can be taken off the tops of the
// columns, by turns, until none is left: on the way there is no line either. Where a
// move from it makes a line, the board after it is a position of the next tier. That one
// can be reached over several such boards, if it loses all its lines with any of several
// pieces; it counts a share at each.
type sampler struct {
	r *Rules
	// rest is in how many ways the columns from one on can hold pieces, so many of
	// them X's: rest[column][pieces·(squares+1) + X's].
	rest [][]float64
	// ends is, in the column that is being drawn, what is left over for the columns to
	// its right, summed over all ways to go on from a height and a number of X's below
	// it, if the piece on top is O's or X's: ends[colour][height·(height+1) + X's].
	ends [2][]float64
	// stones of the columns drawn, from the bottom up: stones[colour][column].
	stones [2][]uint64
	board  game.Position // drawn last
	undone undone
}

// NewSampler makes the tables, and one sampler of them.
func (r *Rules) NewSampler() game.Sampler {
	s := &sampler{r: r}
	squares := r.Tiers()
	for column := range r.width + 1 {
		rest := make([]float64, (squares+1)*(squares+1))
		for all := range (r.width-column)*r.height + 1 {
			ways := r.ways(r.width-column, all)
			for x := range all + 1 {
				rest[all*(squares+1)+x] = ways * choose(all, x)
			}
		}
		s.rest = append(s.rest, rest)
	}
	for colour := range s.ends {
		s.ends[colour] = make([]float64, (r.height+1)*(r.height+1))
		s.stones[colour] = make([]uint64, r.width)
	}
	s.undone.reset()
	return s
}

// The colours of pieces, as in a key's bits.
const (
	colourO = 0
	colourX = 1
)

// rangeTries is how often the low columns of a range are drawn before the range is taken
// for empty.
const rangeTries = 32

// Sample draws a board of a tier. The columns on its left are a draw of a range, with a
// probability that is known too. The range is not empty if the board can be reached, or
// another draw of the low columns can be.
func (s *sampler) Sample(tier int, random *rand.Rand) (found game.Sample) {
	r := s.r
	left := r.width - r.columns
	high, weight, ok := s.draw(0, left, 0, tier, random)
	if !ok {
		return found
	}
	for try := range rangeTries {
		low, times, ok := s.draw(left, r.width, high, tier, random)
		if !ok {
			continue
		}
		p := high | low
		if try == 0 {
			s.board = p
			moves, won, ok := s.judge(p, tier)
			if !ok {
				continue
			}
			found = game.Sample{Open: weight * times, Moves: weight * times * moves, Won: weight * times * won}
		} else if !s.undone.reaches(r, p, tier) {
			continue
		}
		found.Ranges, found.Slots = weight, weight*s.slotsOf(high, tier)
		found.WonRanges, found.WonSlots = s.wonRanges(p, tier, random)
		found.WonRanges *= weight
		found.WonSlots *= weight
		break
	}
	return found
}

// draw draws the columns from one up to another of a board of a tier, beside the columns
// to their left, and returns the inverse of the probability of the draw; not ok if nothing
// fits there without a line.
func (s *sampler) draw(from, to int, beside game.Position, tier int, random *rand.Rand) (p game.Position, weight float64, ok bool) {
	r := s.r
	all, x := s.leftOver(from, beside, tier)
	weight = 1
	for c := from; c < to; c++ {
		ways := s.column(c, all, x)
		if ways == 0 {
			return 0, 0, false
		}
		height, xs := s.choose(c, all, x, ways*random.Float64())
		all, x = all-height, x-xs
		weight *= ways / s.left(c, all, x)
		p |= (1<<height - 1 + s.stones[colourX][c]) << r.shift(c)
	}
	return p, weight, true
}

// leftOver is how many pieces of a tier, and how many X's among them, are not in the first
// columns of a board.
func (s *sampler) leftOver(columns int, p game.Position, tier int) (all, x int) {
	all, x = tier, (tier+1)/2
	for c := range columns {
		n, xs := pieces(s.r.column(p, c))
		all, x = all-n, x-xs
	}
	return all, x
}

// slotsOf is how many slots the range of a board has.
func (s *sampler) slotsOf(p game.Position, tier int) float64 {
	left := s.r.width - s.r.columns
	all, x := s.leftOver(left, p, tier)
	return s.rest[left][all*(s.r.Tiers()+1)+x]
}

// wonRanges are the ranges to which winning moves of a board lead and in which no position
// is open, and their slots. Each counts a share at every range that leads to it.
func (s *sampler) wonRanges(p game.Position, tier int, random *rand.Rand) (ranges, slots float64) {
	r := s.r
	left := r.width - r.columns
	mover := r.TierToMove(tier)
	own := r.stones(p, mover)
	const low = -1 // the low columns together: a move there stays in its range
	seen := false  // such a move
	for c := range r.width {
		column := r.column(p, c)
		if column>>r.height != 0 || c >= left && seen {
			continue
		}
		square := uint64(1) << (bits.Len64(column) - 1) << r.shift(c)
		if r.lines.in(own|square) == 0 {
			continue
		}
		seen = seen || c >= left
		q := p + drop(column, mover)<<r.shift(c)
		high := q &^ (1<<r.LowBits() - 1)
		if r.lines.in(r.stones(high, mover)) == 0 && s.open(high, tier+1, random) {
			continue
		}
		from := map[int]bool{}
		for other := range r.width {
			before, taken, ok := r.undo(q, other, mover)
			if other == c || ok && r.lines.in((own|square)&^taken) == 0 && s.undone.reaches(r, before, tier) {
				if other >= left {
					other = low
				}
				from[other] = true
			}
		}
		ranges += 1 / float64(len(from))
		slots += s.slotsOf(high, tier+1) / float64(len(from))
	}
	return ranges, slots
}

// open reports whether a range has a position at which nobody has won, as far as draws tell.
func (s *sampler) open(high game.Position, tier int, random *rand.Rand) bool {
	left := s.r.width - s.r.columns
	for c := range left {
		s.lay(high, c)
	}
	for range rangeTries {
		low, _, ok := s.draw(left, s.r.width, high, tier, random)
		if ok && s.undone.reaches(s.r, high|low, tier) {
			return true
		}
	}
	return false
}

// lay makes a column of a board the one that is drawn.
func (s *sampler) lay(p game.Position, c int) {
	column := s.r.column(p, c)
	height, _ := pieces(column)
	x := column - uint64(1)<<height
	s.stones[colourX][c], s.stones[colourO][c] = x, (1<<height-1)&^x
}

// judge says whether a board without a line can be reached, and then its moves and its
// shares of the positions that they win.
func (s *sampler) judge(p game.Position, tier int) (moves, won float64, ok bool) {
	r := s.r
	if !s.undone.reaches(r, p, tier) {
		return 0, 0, false
	}
	mover := r.TierToMove(tier)
	own := r.stones(p, mover)
	for c := range r.width {
		column := r.column(p, c)
		if column>>r.height != 0 {
			continue
		}
		moves++
		square := uint64(1) << (bits.Len64(column) - 1) << r.shift(c)
		if r.lines.in(own|square) != 0 {
			won += 1 / float64(s.ways(p+drop(column, mover)<<r.shift(c), tier+1, c, own|square, mover))
		}
	}
	return moves, won, true
}

// ways is how many boards without a line that can be reached lead to a won position; one
// is known, by a piece in column from. own are the stones of the player who has won.
func (s *sampler) ways(p game.Position, tier, from int, own uint64, player game.Player) int {
	r, n := s.r, 1
	for c := range r.width {
		before, square, ok := r.undo(p, c, player)
		if ok && c != from && r.lines.in(own&^square) == 0 && s.undone.reaches(r, before, tier-1) {
			n++
		}
	}
	return n
}

// left is in how many ways the columns after one can hold so many pieces and X's.
func (s *sampler) left(column, all, x int) float64 {
	if x < 0 || x > all {
		return 0
	}
	return s.rest[column+1][all*(s.r.Tiers()+1)+x]
}

// closed are the squares of a column on which a piece of a colour completes a line with
// the columns to its left.
func (s *sampler) closed(column, colour int) uint64 {
	n := s.r.connect - 1
	if column < n {
		return 0
	}
	stones := s.stones[colour]
	flat, rising, falling := ^uint64(0), ^uint64(0), ^uint64(0)
	for i := 1; i <= n; i++ {
		of := stones[column-i]
		flat &= of
		rising &= of << i
		falling &= of >> i
	}
	return flat | rising | falling
}

// column fills ends for a column, with so many pieces left over for it and those to its
// right, and returns in how many ways it can be filled and they be.
//
// From the top down, a column goes on with a run of the other colour, shorter than a
// line, or ends:
//
//	ends[X][height, x] = left(height, x) + ends[O][height+1, x] + ends[O][height+2, x] + …
//	ends[O][height, x] = left(height, x) + ends[X][height+1, x+1] + …
//
// as far as no square of the run is closed to its colour.
func (s *sampler) column(c, all, x int) float64 {
	r := s.r
	closedO, closedX := s.closed(c, colourO), s.closed(c, colourX)
	top := min(r.height, all)
	for height := top; height >= 0; height-- {
		for xs := range height + 1 {
			end := s.left(c, all-height, x-xs)
			o, xx := end, end
			for run := 1; run < r.connect && height+run <= top && closedO>>(height+run-1)&1 == 0; run++ {
				xx += s.ends[colourO][(height+run)*(r.height+1)+xs]
			}
			for run := 1; run < r.connect && height+run <= top && closedX>>(height+run-1)&1 == 0; run++ {
				o += s.ends[colourX][(height+run)*(r.height+1)+xs+run]
			}
			if height == 0 {
				return o + xx - end // whichever colour is at the bottom
			}
			s.ends[colourO][height*(r.height+1)+xs] = o
			s.ends[colourX][height*(r.height+1)+xs] = xx
		}
	}
	return 0
}

// choose fills a column with the pieces at which the ways have come to at, in the order
// in which they are summed up, and returns how many they are, and how many are X's.
func (s *sampler) choose(c, all, x int, at float64) (height, xs int) {
	r := s.r
	closed := [2]uint64{s.closed(c, colourO), s.closed(c, colourX)}
	top := min(r.height, all)
	var stones [2]uint64
	last := -1 // colour of the piece on top
	for {
		end := s.left(c, all-height, x-xs)
		ended := at < end
		at -= end
		// Rounding may leave a little over when all ways have been passed: then it is
		// the last of them.
		colour, run := -1, 0
		for next := range 2 {
			if next == last || ended {
				continue
			}
			for n := 1; n < r.connect && height+n <= top && closed[next]>>(height+n-1)&1 == 0; n++ {
				ways := s.ends[next][(height+n)*(r.height+1)+xs+n*next]
				if ways == 0 {
					continue
				}
				colour, run = next, n
				if ended = at < ways; ended {
					break
				}
				at -= ways
			}
		}
		if colour < 0 {
			s.stones[colourO][c], s.stones[colourX][c] = stones[colourO], stones[colourX]
			return height, xs
		}
		stones[colour] |= (1<<run - 1) << height
		height, xs, last = height+run, xs+run*colour, colour
	}
}

// undo takes the top piece off a column, if it is the player's: the position before, and
// the square of the piece.
func (r *Rules) undo(p game.Position, c int, player game.Player) (before game.Position, square uint64, ok bool) {
	column := r.column(p, c)
	height := bits.Len64(column) - 1
	if height == 0 || game.Player(1-column>>(height-1)&1) != player {
		return 0, 0, false
	}
	square = 1 << (height - 1) << r.shift(c)
	if player == game.First {
		return p - 2*square, square, true
	}
	return p - square, square, true
}

// undone is a search backwards: it remembers the boards from which all pieces cannot be
// taken off by turns.
type undone struct {
	stuck []game.Position // by hash; 0 where there is none
	used  []uint32        // which of them are not 0
}

// leastStuck is the size of the memory, a power of two; it grows as it must.
const leastStuck = 1 << 10

func (u *undone) reset() {
	if u.stuck == nil {
		u.stuck = make([]game.Position, leastStuck)
	}
	for _, i := range u.used {
		u.stuck[i] = 0
	}
	u.used = u.used[:0]
}

// place is where a board is remembered, or is to be.
func (u *undone) place(p game.Position) uint32 {
	mask := uint32(len(u.stuck) - 1)
	i := uint32(p*0x9e3779b97f4a7c15>>32) & mask
	for u.stuck[i] != 0 && u.stuck[i] != p {
		i = (i + 1) & mask
	}
	return i
}

// add remembers a board.
func (u *undone) add(p game.Position) {
	if 2*len(u.used) >= len(u.stuck) {
		old := u.stuck
		u.stuck, u.used = make([]game.Position, 2*len(old)), u.used[:0]
		for _, q := range old {
			if q != 0 {
				u.add(q)
			}
		}
	}
	i := u.place(p)
	u.stuck[i] = p
	u.used = append(u.used, i)
}

// reaches reports whether a board without a line can be reached.
func (u *undone) reaches(r *Rules, p game.Position, tier int) bool {
	u.reset()
	return u.back(r, p, tier)
}

func (u *undone) back(r *Rules, p game.Position, tier int) bool {
	if tier == 0 {
		return true
	}
	if u.stuck[u.place(p)] == p {
		return false
	}
	last := r.TierToMove(tier - 1)
	for c := range r.width {
		if before, _, ok := r.undo(p, c, last); ok && u.back(r, before, tier-1) {
			return true
		}
	}
	u.add(p)
	return false
}
