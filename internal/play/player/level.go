package player

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/treereduce/treereduce/search"
)

// A Level is a playing strength. docs/playing.md has the results of games between neighbouring
// levels.
type Level struct {
	Name    string
	Random  float64       // the share of moves that are random
	Depth   int           // plies that it searches; 0: Time decides
	Time    time.Duration // for a search
	Perfect bool          // plays from the table, if there is one
}

// Levels returns the levels, the weakest first.
func Levels() []Level {
	return []Level{
		{Name: "beginner", Random: 0.7, Depth: 1},
		{Name: "novice", Random: 0.4, Depth: 1},
		{Name: "casual", Random: 0.2, Depth: 1},
		{Name: "regular", Random: 0.1, Depth: 2},
		{Name: "club", Random: 0.05, Depth: 4},
		{Name: "strong", Random: 0.02, Depth: 6},
		{Name: "expert", Depth: 8},
		{Name: "master", Depth: 10},
		{Name: "grandmaster", Depth: 13},
		{Name: "perfect", Time: 5 * time.Second, Perfect: true},
	}
}

// NewLevel makes a player of a level that searches with s.
func NewLevel(s *search.Searcher, l Level, seed uint64) Player {
	return &leveled{Player: NewMachine(s, search.Limit{Depth: l.Depth, Time: l.Time}), share: l.Random, rand: rand.New(rand.NewPCG(seed, 1))}
}

// leveled makes some of the moves of another player at random.
type leveled struct {
	Player
	share float64
	rand  *rand.Rand
}

// Move returns a random move, or that of the other player.
func (l *leveled) Move(ctx context.Context, h *History, limit time.Duration) (string, error) {
	if l.rand.Float64() >= l.share {
		return l.Player.Move(ctx, h, limit)
	}
	moves := h.Moves()
	if len(moves) == 0 {
		return "", errors.New("there is no move")
	}
	return moves[l.rand.IntN(len(moves))].Name, nil
}
