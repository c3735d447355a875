package mnk

import "github.com/treereduce/treereduce/game"

var _ game.Symmetric = (*rules)(nil)

// Canonical returns the smallest of the images of p.
func (r *rules) Canonical(p game.Position) game.Position {
	least := p
	for _, to := range r.grid.Symmetries() {
		var image game.Position
		for x := range r.grid.Width {
			for y := range r.grid.Height {
				from, at := r.square(x, y), r.square(to(x, y))
				image |= p>>from&1<<at | p>>(r.squares+from)&1<<(r.squares+at)
			}
		}
		least = min(least, image)
	}
	return least
}
