package connectn

import (
	"math/bits"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
)

var _ game.Sampled = (*Rules)(nil)

// SampledTiers returns Tiers.
func (r *Rules) SampledTiers() int { return r.Tiers() }

// SampledTier returns Tier.
func (r *Rules) SampledTier(p game.Position) int { return r.Tier(p) }

// Boards returns Slots, the number of boards that gravity and turns allow.
func (r *Rules) Boards(tier int) float64 { return r.Slots(tier) }

// MostMoves returns the number of columns.
func (r *Rules) MostMoves() int { return r.width }

// A sampler draws boards without a line, column by column from the left. It draws a column
// among those that make no line with the columns to its left, in proportion to the
// number of ways to put the remaining pieces into the columns to its right, lines or not.
// So the probability of each drawn board is known, and its inverse is an estimate of the
// number of boards without a line. If no column is possible, the draw estimates 0.
//
// A board without a line can be reached if its pieces can be removed from the tops of the
// columns, in turns, until none is left: there is no line on the way either. If a move
// from it makes a line, the new board is a position of the next tier. Several
// predecessors can lead to that position, if removing any of several pieces breaks
// all its lines; each predecessor counts an equal share of it.
type sampler struct {
	r *Rules
	// rest is the number of ways to put pieces, x of them X's, into the columns from
	// column on: rest[column][pieces·(squares+1) + x].
	rest [][]float64
	// ends is for the column that is being drawn. It is the number of ways to put the
	// pieces left over into the columns to the right, summed over all ways to continue
	// from a height with x X's below it, if the top piece is an O or an X:
	// ends[colour][height·(height+1) + x].
	ends [2][]float64
	// pieces of the drawn columns, from the bottom up: pieces[colour][column].
	pieces [2][]uint64
	undone undone
}

// NewSampler returns a sampler with its tables.
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
		s.pieces[colour] = make([]uint64, r.width)
	}
	s.undone.reset()
	return s
}

// The colours of pieces, as in the bits of a key.
const (
	colourO = 0
	colourX = 1
)

// rangeTries is the number of attempts to draw the low columns of a range, before the range
// is assumed to be empty.
const rangeTries = 32

// Sample draws a board of a tier. Its left columns are also a sample of a range, with a known
// probability. The range is not empty if the board can be reached, or else another board
// with the same left columns and other low columns.
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
			times *= weight
			moves, won, ok := s.judge(p, tier)
			if !ok {
				absent, won := s.unreached(p, tier)
				found.Absent, found.WonAbsent = times*absent, times*won
				continue
			}
			found = game.Sample{Open: times, Moves: times * moves, Won: times * won}
		} else if !s.undone.reaches(r, p, tier) {
			continue
		}
		found.Board, found.Ranges, found.Slots = p, weight, weight*s.slotsOf(high, tier)
		if stored, _ := r.Stored(tier, p>>r.LowBits()); stored != nil {
			found.StoredRanges, found.StoredSlots = found.Ranges, found.Slots
		}
		found.WonRanges, found.WonSlots = s.wonRanges(p, tier, random)
		found.WonRanges *= weight
		found.WonSlots *= weight
		return found
	}
	return game.Sample{}
}

// draw draws the columns from up to (not including) to, for a board of a tier with the given
// columns to their left, beside. It returns the inverse of the draw's probability; ok is
// false if no pieces fit there without a line.
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
		p |= (1<<height - 1 + s.pieces[colourX][c]) << r.shift(c)
	}
	return p, weight, true
}

// leftOver returns the number of pieces of a tier, and of X's among them, that are not in the
// first columns of a board.
func (s *sampler) leftOver(columns int, p game.Position, tier int) (all, x int) {
	all, x = tier, (tier+1)/2
	for c := range columns {
		n, xs := pieces(s.r.column(p, c))
		all, x = all-n, x-xs
	}
	return all, x
}

// slotsOf returns the number of slots in the range of a board.
func (s *sampler) slotsOf(p game.Position, tier int) float64 {
	left := s.r.width - s.r.columns
	all, x := s.leftOver(left, p, tier)
	return s.rest[left][all*(s.r.Tiers()+1)+x]
}

// wonRanges estimates the ranges that winning moves of a board lead to and that contain no
// open position, and their slots. If several ranges lead to such a range, each
// contributes an equal share of it.
func (s *sampler) wonRanges(p game.Position, tier int, random *rand.Rand) (ranges, slots float64) {
	r := s.r
	left := r.width - r.columns
	mover := r.TierToMove(tier)
	own := r.bitboard(p, mover)
	const low = -1 // stands for all low columns together: a move there stays in its range
	seen := false  // whether there was such a move
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
		if r.lines.in(r.bitboard(high, mover)) == 0 && s.open(high, tier+1, random) {
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

// open reports whether random draws find a position in a range in which neither
// player has won.
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

// lay sets the drawn column c to that of a board.
func (s *sampler) lay(p game.Position, c int) {
	column := s.r.column(p, c)
	height, _ := pieces(column)
	x := column - uint64(1)<<height
	s.pieces[colourX][c], s.pieces[colourO][c] = x, (1<<height-1)&^x
}

// judge reports whether a board without a line can be reached. If so, it returns the
// number of its moves, and its shares of the won positions that they lead to.
func (s *sampler) judge(p game.Position, tier int) (moves, won float64, ok bool) {
	r := s.r
	if !s.undone.reaches(r, p, tier) {
		return 0, 0, false
	}
	mover := r.TierToMove(tier)
	own := r.bitboard(p, mover)
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

// ways returns the number of reachable boards without a line that lead to a won position. One
// is known: the one before a piece in column from. own are the pieces of the winner.
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

// unreached returns, for a board without a line that cannot be reached, 1 if a piece of the player who moved
// last is on top of a column, else 0; and its shares of the boards with a line that no move leads to, although the
// removal of one piece leaves no line.
func (s *sampler) unreached(p game.Position, tier int) (absent, won float64) {
	r, mover := s.r, s.r.TierToMove(tier)
	own := r.bitboard(p, mover)
	for c := range r.width {
		if _, _, ok := r.undo(p, c, mover.Other()); ok {
			absent = 1
		}
		column := r.column(p, c)
		square := uint64(1) << (bits.Len64(column) - 1) << r.shift(c)
		if column>>r.height == 0 && r.lines.in(own|square) != 0 {
			q := p + drop(column, mover)<<r.shift(c)
			if s.ways(q, tier+1, c, own|square, mover) == 1 {
				won += 1 / float64(s.removals(q, own|square, mover))
			}
		}
	}
	return absent, won
}

// removals returns the number of pieces whose removal breaks all lines of a board. own are the pieces of the
// winner.
func (s *sampler) removals(p game.Position, own uint64, player game.Player) (n int) {
	for c := range s.r.width {
		if _, square, ok := s.r.undo(p, c, player); ok && s.r.lines.in(own&^square) == 0 {
			n++
		}
	}
	return n
}

// left returns the number of ways to put these pieces and X's into the columns after column.
func (s *sampler) left(column, all, x int) float64 {
	if x < 0 || x > all {
		return 0
	}
	return s.rest[column+1][all*(s.r.Tiers()+1)+x]
}

// closed returns the squares of a column where a piece of this colour would complete a line
// with the columns to its left.
func (s *sampler) closed(column, colour int) uint64 {
	n := s.r.connect - 1
	if column < n {
		return 0
	}
	pieces := s.pieces[colour]
	flat, rising, falling := ^uint64(0), ^uint64(0), ^uint64(0)
	for i := 1; i <= n; i++ {
		of := pieces[column-i]
		flat &= of
		rising &= of << i
		falling &= of >> i
	}
	return flat | rising | falling
}

// column fills ends for a column, given the pieces left over for it and the columns to its
// right, and returns the number of ways to place all of them.
//
// From any height, a column either ends, or continues upward with a run of the other
// colour that is shorter than a line:
//
//	ends[X][height, x] = left(height, x) + ends[O][height+1, x] + ends[O][height+2, x] + …
//	ends[O][height, x] = left(height, x) + ends[X][height+1, x+1] + …
//
// The sums stop at the first square that is closed to the run's colour.
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
				return o + xx - end // the bottom piece may have either colour
			}
			s.ends[colourO][height*(r.height+1)+xs] = o
			s.ends[colourX][height*(r.height+1)+xs] = xx
		}
	}
	return 0
}

// choose fills a column: it goes through the ways in the order in which column sums them up,
// and takes the one that at points to. It returns the number of pieces, and of X's.
func (s *sampler) choose(c, all, x int, at float64) (height, xs int) {
	r := s.r
	closed := [2]uint64{s.closed(c, colourO), s.closed(c, colourX)}
	top := min(r.height, all)
	var pieces [2]uint64
	last := -1 // colour of the top piece
	for {
		end := s.left(c, all-height, x-xs)
		ended := at < end
		at -= end
		// If rounding errors leave a remainder after all ways, the last way is taken.
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
			s.pieces[colourO][c], s.pieces[colourX][c] = pieces[colourO], pieces[colourX]
			return height, xs
		}
		pieces[colour] |= (1<<run - 1) << height
		height, xs, last = height+run, xs+run*colour, colour
	}
}

// undo removes the top piece of a column, if it is the player's. It returns the position
// before that move, and the square of the piece.
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

// undone searches backward for the initial position. It remembers the boards from which the
// pieces cannot all be removed in turns.
type undone struct {
	stuck []game.Position // a hash table; 0 marks a free entry
	used  []uint32        // the indices of the entries that are not 0; more than 32 bits would be 32 GB
}

// leastStuck is the initial size of the hash table, a power of two; the table can grow.
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

// place returns the index of a board in the table, or of the free entry for it.
func (u *undone) place(p game.Position) uint32 {
	mask := uint32(len(u.stuck) - 1)
	i := uint32(p*0x9e3779b97f4a7c15>>32) & mask
	for u.stuck[i] != 0 && u.stuck[i] != p {
		i = (i + 1) & mask
	}
	return i
}

// add adds a board to the table.
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
