package connectn

import (
	"math/bits"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// This file says what a board shows without any other, for 64 boards at a time. The columns of the
// range are the same in all of them, and so only sets of slots need to be combined: those in which a
// player has certain squares of the low columns.
//
//   - If the player to move has a line, or no column has a piece of the other player on top, the board
//     cannot be reached.
//   - If the player who moved last has a line, the game is over. All his lines end with his last move:
//     there is a column whose top piece is in all of them. Otherwise the board cannot be reached.
//   - If a drop completes a line of the player to move, he wins at once.
//
// The squares that a line has in the low columns are an end of it, see layout.ends. For example, let the last two of four
// columns be the low ones, and X have the bottom squares of the first two, in the range: in all slots in which X has the bottom
// squares of the others, which are an end, X has the bottom row. Whatever the range, the set of these slots is the same.

var _ game.Deduced = (*Rules)(nil)

// lineSets are the slots of a space in which a player has certain squares of the low columns.
type lineSets struct {
	once sync.Once
	line block.Set   // a line
	ends []block.Set // the squares of each end of a line, see layout.ends
}

// dropSets are further sets of the slots of a space, which only Deduce needs.
type dropSets struct {
	once     sync.Once
	top      block.Set   // a piece of the player on top of a column
	drop     block.Set   // all squares of a line but one, on which he can drop a piece; perhaps also a line
	dropEnds []block.Set // the same for the squares of each end of a line
	without  []block.Set // by column, a line without the top piece of the column
}

// newSets returns n sets of the slots of a space.
func (s *space) newSets(n int) []block.Set {
	words := block.Words(len(s.low))
	all, sets := make(block.Set, n*words), make([]block.Set, n)
	for i := range sets {
		sets[i] = all[i*words:][:words:words]
	}
	return sets
}

// own returns the squares of a player in a low part.
func (l *layout) own(low uint32, player game.Player) uint32 {
	return uint32(l.rules.bitboard(uint64(low), player)) & (1<<l.LowBits() - 1)
}

// bySquare returns, by square, which of up to 64 sets of squares contain it.
func bySquare(sets []uint32) (squares [32]uint64) {
	for i, set := range sets {
		for ; set != 0; set &= set - 1 {
			squares[bits.TrailingZeros32(set)&31] |= 1 << i
		}
	}
	return squares
}

// linesOf returns the lineSets of a player.
func (l *layout) linesOf(s *space, player game.Player) *lineSets {
	p := &s.lines[player]
	p.once.Do(func() {
		sets := s.newSets(1 + len(l.ends))
		p.line, p.ends = sets[0], sets[1:]
		var owns [64]uint32
		for word := range p.line {
			lows := s.low[64*word : min(64*word+64, len(s.low))]
			for i, low := range lows {
				owns[i] = l.own(low, player)
				if l.rules.lines.in(uint64(owns[i])) != 0 {
					p.line[word] |= 1 << i
				}
			}
			squares := bySquare(owns[:len(lows)])
			for i, e := range l.ends {
				all := ^uint64(0)
				for low := e.low; low != 0; low &= low - 1 {
					all &= squares[bits.TrailingZeros32(low)&31]
				}
				p.ends[i][word] = all
			}
		}
	})
	return p
}

// dropsOf returns the dropSets of a player.
func (l *layout) dropsOf(s *space, player game.Player) *dropSets {
	p := &s.drops[player]
	p.once.Do(func() {
		sets := s.newSets(2 + len(l.ends) + l.columns)
		p.top, p.drop, p.dropEnds, p.without = sets[0], sets[1], sets[2:][:len(l.ends)], sets[2+len(l.ends):]
		for word := range p.top {
			l.fillDrops(p, word, s.low[64*word:min(64*word+64, len(s.low))], player)
		}
	})
	return p
}

// fillDrops sets a word of the sets of a player, from the low parts of its slots.
func (l *layout) fillDrops(p *dropSets, word int, lows []uint32, player game.Player) {
	var owns, frees [64]uint32 // the player's squares, and those on which a piece can be dropped
	r, column := l.rules, uint32(1)<<l.rules.bits-1
	for i, low := range lows {
		own := l.own(low, player)
		free, tops := l.heights(low)
		owns[i], frees[i] = own, free
		bit := uint64(1) << i
		if own&tops != 0 {
			p.top[word] |= bit
		}
		if uint32(r.spots(uint64(own)))&free != 0 {
			p.drop[word] |= bit
		}
		if r.lines.in(uint64(own)) == 0 {
			continue
		}
		for c := range p.without {
			if r.lines.in(uint64(own&^(tops&(column<<(uint(c)*r.bits))))) != 0 {
				p.without[c][word] |= bit
			}
		}
	}
	own, free := bySquare(owns[:len(lows)]), bySquare(frees[:len(lows)])
	for i, e := range l.ends {
		all, drop := ^uint64(0), uint64(0) // boards with all squares so far, and with all but one
		for low := e.low; low != 0; low &= low - 1 {
			square := bits.TrailingZeros32(low) & 31
			drop = drop&own[square] | all&free[square]
			all &= own[square]
		}
		p.dropEnds[i][word] = all | drop
	}
}

// heightsOf returns, by square of the low columns, the slots in which it has the highest piece of its column.
func (l *layout) heightsOf(s *space) []block.Set {
	s.heightsOnce.Do(func() {
		s.heights = s.newSets(int(l.LowBits()))
		for slot, low := range s.low {
			for _, tops := l.heights(low); tops != 0; tops &= tops - 1 {
				s.heights[bits.TrailingZeros32(tops)].Add(slot)
			}
		}
	})
	return s.heights
}

// heights returns the lowest empty squares of the low columns, and the squares of the highest pieces.
func (l *layout) heights(low uint32) (free, tops uint32) {
	for c := range l.columns {
		shift := uint(c) * l.rules.bits
		n, _ := pieces(uint64(low)>>shift&(1<<l.rules.bits-1) + 1)
		if n < l.rules.height {
			free |= 1 << (shift + uint(n))
		}
		if n > 0 {
			tops |= 1 << (shift + uint(n) - 1)
		}
	}
	return free, tops
}

// chunkWords is the number of words that Deduce sorts at a time.
const chunkWords = 64

// A chunk is consecutive words of a set.
type chunk [chunkWords]uint64

// add adds the words from to to-1 of sets.
func (c *chunk) add(from, to int, sets ...block.Set) {
	for _, set := range sets {
		for i, w := range set[from:to] {
			c[i] |= w
		}
	}
}

// intersect removes what is not in other.
func (c *chunk) intersect(other *chunk) {
	for i := range c {
		c[i] &= other[i]
	}
}

// everything is a chunk with all slots.
var everything = func() (c chunk) {
	for i := range c {
		c[i] = ^uint64(0)
	}
	return c
}()

// addBut adds the words from to to-1 of sets without those of others, which are as many.
func (c *chunk) addBut(from, to int, sets, others []block.Set) {
	for j, set := range sets {
		other := others[j][from:to]
		for i, w := range set[from:to] {
			c[i] |= w &^ other[i]
		}
	}
}

// Deduce sorts slots by the pieces on their boards.
func (l *layout) Deduce(d *block.Deduced, tier int, rng uint64, from, to int) {
	mover := l.rules.TierToMove(tier)
	d.Values = [...]byte{byte(game.NewValue(game.WinFor(mover.Other()), 0)), byte(game.NewValue(game.WinFor(mover), 1))}
	if tier == l.rules.Tiers() {
		d.Values[1] = byte(game.NewValue(game.Tie, 0))
	}
	b := l.deduction(tier, rng)
	for ; from < to; from += chunkWords {
		b.sort(d, from, min(from+chunkWords, to))
	}
}

// A deduction is what is the same for all boards of a range. It calls the player who moved last the other
// one. Ends are bits, by index in layout.ends.
type deduction struct {
	*layout
	other, mover           *lineSets
	otherDrops, moverDrops *dropSets
	heights                []block.Set

	none bool   // the mover has a line
	over bool   // the other player has a line
	top  bool   // he has a piece on top of a column, or the board is empty
	ends uint64 // the ends of lines whose further squares he has
	// without are, for columns with his piece on top, the ends of those lines that do not contain this piece.
	// Omitted are columns whose piece is in none of the lines, or not in all lines of the range.
	without []uint64

	wins    bool   // the mover completes a line in the range with a drop, or the board is full
	own     uint64 // the ends of lines whose further squares he has
	dropped uint64 // the ends of lines whose further squares he has but one, on which he can drop a piece
}

func (l *layout) deduction(tier int, rng uint64) deduction {
	r, s, mover := l.rules, l.spaceOf(tier, rng), l.rules.TierToMove(tier)
	in := func(p game.Player) uint64 { return r.bitboard(rng<<l.LowBits(), p) &^ (1<<l.LowBits() - 1) }
	other, own := in(mover.Other()), in(mover)
	b := deduction{
		layout: l, other: l.linesOf(s, mover.Other()), mover: l.linesOf(s, mover),
		otherDrops: l.dropsOf(s, mover.Other()), moverDrops: l.dropsOf(s, mover), heights: l.heightsOf(s),
		none: r.lines.in(own) != 0, over: r.lines.in(other) != 0, top: tier == 0, wins: tier == r.Tiers(),
	}
	b.ends, _ = l.endsOf(other, 0)
	var free uint64 // the squares on which a piece can be dropped
	for c := range r.width - l.columns {
		n, _ := pieces(r.column(rng<<l.LowBits(), c))
		square := uint64(1) << (r.shift(c) + uint(n))
		if n < r.height {
			free |= square
			b.wins = b.wins || r.lines.in(own|square) != 0
		}
		if top := square >> 1; n > 0 && other&top != 0 {
			b.top = true
			if ends, _ := l.endsOf(other&^top, 0); r.lines.in(other&^top) == 0 && (b.over || ends != b.ends) {
				b.without = append(b.without, ends)
			}
		}
	}
	b.own, b.dropped = l.endsOf(own, free)
	return b
}

// endsOf returns the ends of the lines of which a player has all squares in the range, and of those of
// which he has all but one, which is free.
func (l *layout) endsOf(high, free uint64) (ends, dropped uint64) {
	for i, e := range l.ends {
		for _, h := range e.high {
			switch missing := h &^ high; {
			case missing == 0:
				ends |= 1 << i
			case missing&(missing-1)|missing&^free == 0:
				dropped |= 1 << i
			}
		}
	}
	return ends, dropped
}

// selected appends the sets whose numbers are the bits of which.
func selected(dst []block.Set, sets []block.Set, which uint64) []block.Set {
	for ; which != 0; which &= which - 1 {
		dst = append(dst, sets[bits.TrailingZeros64(which)])
	}
	return dst
}

// sort sorts at most chunkWords words of d.
func (b *deduction) sort(d *block.Deduced, from, to int) {
	if b.none {
		clear(d.Unknown[from:to])
		return
	}
	var memory [1 + 2*maxEnds]block.Set
	var lines, others chunk
	others.add(from, to, selected(append(memory[:0], b.mover.line), b.mover.ends, b.own)...)
	if b.over {
		lines = everything
	} else {
		lines.add(from, to, selected(append(memory[:0], b.other.line), b.other.ends, b.ends)...)
	}
	var ended, rest uint64 // whether there are boards with and without a line of the other player
	for i := range d.Unknown[from:to] {
		open := d.Unknown[from+i] &^ others[i]
		d.Unknown[from+i] = open &^ lines[i]
		d.Known[0][from+i] = open & lines[i]
		ended |= open & lines[i]
		rest |= open &^ lines[i]
	}
	if ended != 0 {
		b.removeLate(d.Known[0], &lines, from, to)
	}
	if rest != 0 {
		b.addWins(d, from, to)
	}
}

// addWins sorts the words from to to-1 of d.Unknown, whose boards have no line.
func (b *deduction) addWins(d *block.Deduced, from, to int) {
	var memory [1 + 2*maxEnds]block.Set
	var wins chunk
	if b.wins {
		wins = everything
	} else {
		wins.add(from, to, selected(selected(append(memory[:0], b.moverDrops.drop), b.moverDrops.dropEnds, b.own), b.mover.ends, b.dropped)...)
	}
	for i, open := range d.Unknown[from:to] {
		if !b.top {
			open &= b.otherDrops.top[from+i]
		}
		d.Known[1][from+i] = open & wins[i]
		d.Unknown[from+i] = open &^ wins[i]
	}
}

// removeLate removes from set, in the words from to to-1, the boards with lines of the other player in which
// no piece is both on top of a column and in all of his lines. lines are the boards with such lines.
func (b *deduction) removeLate(set block.Set, lines *chunk, from, to int) {
	late := *lines
	var memory, ends, heights [1 + maxEnds]block.Set
	for c := 0; c < b.columns && !b.over; c++ {
		sets, cut, by := append(memory[:0], b.otherDrops.without[c]), ends[:0], heights[:0]
		for which := b.ends; which != 0; which &= which - 1 {
			i := bits.TrailingZeros64(which)
			square := b.layout.ends[i].low >> (uint(c) * b.rules.bits) & (1<<b.rules.bits - 1)
			if square == 0 {
				sets = append(sets, b.other.ends[i])
				continue
			}
			cut = append(cut, b.other.ends[i])
			by = append(by, b.heights[uint(c)*b.rules.bits+uint(bits.TrailingZeros32(square))])
		}
		var without chunk
		without.add(from, to, sets...)
		without.addBut(from, to, cut, by)
		late.intersect(&without)
	}
	for _, which := range b.without {
		var without chunk
		without.add(from, to, selected(append(memory[:0], b.other.line), b.other.ends, which)...)
		late.intersect(&without)
	}
	for i := range set[from:to] {
		set[from+i] &^= late[i]
	}
}
