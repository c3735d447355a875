package game

// Batched is a game that computes many positions in much less time than one after the other, such as one
// whose rules are another program. It is optional.
type Batched interface {
	Game
	// Batch returns the game with Primitive, Moves and ToMove of some positions computed, which must ascend
	// and stay unchanged while the result is in use. Its moves have no names. It serves one goroutine. An error
	// names the position.
	Batch(ps []Position) (Game, error)
}

// BatchSize is a number of positions for Batch that is fast and needs little memory.
const BatchSize = 4096

// IsBatched reports whether a game is Batched.
func IsBatched(g Game) bool {
	_, ok := g.(Batched)
	return ok
}

// BatchOf returns g.Batch(ps), or g itself if it is not Batched.
func BatchOf(g Game, ps []Position) (Game, error) {
	if b, ok := g.(Batched); ok {
		return b.Batch(ps)
	}
	return g, nil
}
