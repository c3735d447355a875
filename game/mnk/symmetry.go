package mnk

import "github.com/treereduce/treereduce/game"

var _ game.Symmetric = (*rules)(nil)

// symmetries returns the reflections and rotations of the board but the identity.
func (r *rules) symmetries() (all game.BitMoves) {
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
