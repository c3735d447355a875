package game

import "slices"

// A BitMove moves the bits of a position, as a symmetry of a board does whose squares are bits. It
// has a table for each byte.
type BitMove [8][256]uint64

// NewBitMove returns the BitMove that moves bit i to bit to[i]; bits that are not in to stay.
func NewBitMove(to []int) *BitMove {
	m := new(BitMove)
	for i := range m {
		for b := range m[i] {
			for bit := range 8 {
				from := 8*i + bit
				at := from
				if from < len(to) {
					at = to[from]
				}
				m[i][b] |= uint64(b>>bit&1) << at
			}
		}
	}
	return m
}

// Of returns p with its bits moved.
func (m *BitMove) Of(p Position) Position {
	return m[0][p&255] | m[1][p>>8&255] | m[2][p>>16&255] | m[3][p>>24&255] | m[4][p>>32&255] | m[5][p>>40&255] | m[6][p>>48&255] | m[7][p>>56]
}

// BitMoves are the symmetries of a board but the identity. A game that embeds them is Symmetric.
type BitMoves []*BitMove

// Canonical returns the least of the images of p.
func (all BitMoves) Canonical(p Position) Position {
	least := p
	for _, m := range all {
		least = min(least, m.Of(p))
	}
	return least
}

// Images appends the images of p.
func (all BitMoves) Images(dst []Position, p Position) []Position {
	n := len(dst)
	dst = append(dst, p)
	for _, m := range all {
		dst = append(dst, m.Of(p))
	}
	return Distinct(dst, n)
}

// ImagesOf appends the images of p: those of a Symmetric game, or else p.
func ImagesOf(dst []Position, g Game, p Position) []Position {
	if s, ok := g.(Symmetric); ok {
		return s.Images(dst, p)
	}
	return append(dst, p)
}

// Distinct sorts images, from index n on, and removes duplicates among them.
func Distinct(images []Position, n int) []Position {
	slices.Sort(images[n:])
	return images[:n+len(slices.Compact(images[n:]))]
}
