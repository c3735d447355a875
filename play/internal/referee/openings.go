package referee

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
)

// AutoPlies, as the Plies of Openings, makes openings of four moves, and longer and shorter
// ones when there are no more of them.
const AutoPlies = -1

// autoPlies are the lengths of openings, in the order in which AutoPlies uses them. There is
// always an opening of no move.
var autoPlies = []int{4, 5, 6, 7, 8, 3, 2, 1, 0}

const (
	// openingTries is the number of random games in a row without a new opening after which
	// there are no more.
	openingTries = 1000
	// unevenTries is the number of uneven openings in a row after which even ones are too
	// rare to look for.
	unevenTries = 50
)

// Openings are different beginnings of a game, made of random moves. No two of them lead to
// the same position, or to a symmetric image of it. Even ones come first, uneven ones after the
// last of these; after the last of all, they begin again with the first. The same seed gives
// the same openings, however many are used. Openings are safe for concurrent use.
type Openings struct {
	game   game.Game
	plies  []int
	even   func(game.Position) bool
	random *rand.Rand

	mu     sync.Mutex
	list   [][]string
	uneven [][]string
	seen   map[game.Position]bool
}

// NewOpenings makes the openings of that many moves, or of AutoPlies. even reports whether
// the game is still open at a position; nil: it always is.
func NewOpenings(g game.Game, plies int, seed uint64, even func(game.Position) bool) *Openings {
	o := &Openings{game: g, plies: []int{plies}, even: even, random: rand.New(rand.NewPCG(seed, 0)), seen: make(map[game.Position]bool)}
	if plies == AutoPlies {
		o.plies = autoPlies
	}
	return o
}

// At returns the opening of that number, from 0.
func (o *Openings) At(number int) ([]string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.list) <= number && len(o.plies) > 0 {
		if !o.add(o.plies[0]) {
			if o.plies = o.plies[1:]; len(o.plies) == 0 {
				o.list = append(o.list, o.uneven...)
			}
		}
	}
	if len(o.list) == 0 {
		return nil, fmt.Errorf("openings: %s: %d random games, none of them long enough", o.game.Spec(), openingTries)
	}
	return o.list[number%len(o.list)], nil
}

// add adds an even opening of that many moves, and reports whether it has found a new one.
func (o *Openings) add(plies int) bool {
	uneven := 0
	for try := 0; try < openingTries && uneven < unevenTries; try++ {
		h := player.NewHistory(o.game)
		over := PlayAtRandom(h, o.random, plies)
		key := game.CanonicalOf(o.game, h.Position())
		if over || o.seen[key] {
			continue
		}
		o.seen[key] = true
		if o.even == nil || o.even(h.Position()) {
			o.list = append(o.list, slices.Clone(h.Names()))
			return true
		}
		o.uneven = append(o.uneven, slices.Clone(h.Names()))
		uneven++
	}
	return false
}
