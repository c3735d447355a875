package mnk

import "github.com/treereduce/treereduce/game"

var _ game.Symmetric = (*rules)(nil)

// symmetries returns the reflections and rotations of the board but the identity.
func (r *rules) symmetries() (all []*game.BitMove) {
	for _, to := range r.grid.Symmetries()[1:] {
		bits := make([]int, 2*r.squares)
		for x := range r.grid.Width {
			for y := range r.grid.Height {
				from, at := r.square(x, y), r.square(to(x, y))
				bits[from], bits[r.squares+from] = at, r.squares+at
			}
		}
		all = append(all, game.NewBitMove(bits))
	}
	return all
}

// Canonical returns the least of the images of p.
func (r *rules) Canonical(p game.Position) game.Position {
	least := p
	for _, m := range r.images {
		least = min(least, m.Of(p))
	}
	return least
}

// Images appends the images of p.
func (r *rules) Images(dst []game.Position, p game.Position) []game.Position {
	n := len(dst)
	dst = append(dst, p)
	for _, m := range r.images {
		dst = append(dst, m.Of(p))
	}
	return game.Distinct(dst, n)
}
