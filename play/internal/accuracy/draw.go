// Package accuracy measures how good the moves of a player are: it draws positions, asks the player for a move at
// each of them, and compares the value of the move with that of the position.
package accuracy

import (
	"math"
	"math/rand/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// maxTries is the number of random games in a row without a new position after which FromGames ends.
const maxTries = 1000

// FromGames draws at most n different positions with a choice of moves: each one from a game of random moves, at
// one of its plies, all with the same probability. The same seed gives the same positions.
func FromGames(g game.Game, n int, seed uint64) (drawn []*player.History) {
	random := rand.New(rand.NewPCG(seed, 0))
	seen := make(map[game.Position]bool)
	for tries := 0; len(drawn) < n && tries < maxTries; tries++ {
		h := player.NewHistory(g)
		referee.PlayAtRandom(h, random, math.MaxInt)
		if len(h.Names()) == 0 {
			return drawn
		}
		for range 1 + random.IntN(len(h.Names())) {
			h.Undo()
		}
		if p := h.Position(); !seen[p] && len(h.Moves()) > 1 {
			seen[p] = true
			drawn, tries = append(drawn, h), 0
		}
	}
	return drawn
}
