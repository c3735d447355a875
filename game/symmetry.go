package game

import "slices"

// Mirrored is a game whose positions have mirror images of the same value.
type Mirrored interface {
	Game
	// Mirror returns the mirror image of a position; the mirror image of that is p again.
	// The moves of the mirror image lead to the mirror images of the successors of p.
	Mirror(p Position) Position
}

// Symmetric is a game whose positions have images, such as those by mirrors and rotations of
// the board. The images of p have its value and its tier, and their moves lead to images of the
// positions to which those of p lead. If values are those of the player to move
// (Values().OfMover), an image may exchange the players; otherwise, it keeps the player to move.
type Symmetric interface {
	Game
	// Canonical returns the least of the images of p. It is fast.
	Canonical(p Position) Position
	// Images appends the images of p, ascending and each once, p among them.
	Images(dst []Position, p Position) []Position
}

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

// CanonicalOf returns the same position for p and all its images: in a Symmetric game the canonical one, in a Mirrored game the
// smaller one of p and its mirror image, or else p. Books and puzzles have one position for all of them.
func CanonicalOf(g Game, p Position) Position {
	if m, ok := g.(Mirrored); ok {
		if _, ok := g.(Symmetric); !ok {
			return min(p, m.Mirror(p))
		}
	}
	return StoredOf(g, p)
}

// StoredOf returns the position that jobs by layers and their table store in place of p: in a Symmetric game the canonical one,
// or else p, also if the game is Mirrored.
func StoredOf(g Game, p Position) Position {
	if s, ok := g.(Symmetric); ok {
		return s.Canonical(p)
	}
	return p
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
