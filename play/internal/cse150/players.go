package cse150

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/play/internal/memo"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
)

// The names of the course's players.
const (
	HumanName      = "HumanPlayer"
	RandomName     = "RandomPlayer"
	MinimaxName    = "MinimaxPlayer"
	AlphaBetaName  = "AlphaBetaPlayer"
	EvaluationName = "EvaluationPlayer"
	CustomName     = "CustomPlayer"
)

// CheckName returns an error unless name is the name of one of the course's players.
func CheckName(name string) error {
	names := []string{HumanName, RandomName, MinimaxName, AlphaBetaName, EvaluationName, CustomName}
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("player %q: expected %s", name, strings.Join(names, ", "))
}

// Options configure players.
type Options struct {
	Console *player.Console // for a human
	Seed    uint64          // for random moves
	Search  search.Options  // for AlphaBetaPlayer and CustomPlayer
	Time    time.Duration   // of CustomPlayer, for a move without a limit; 0: search until it is solved
}

// New makes the player of that name for a game of Mancala.
func New(name string, g game.Tiered, o Options) (player.Player, error) {
	switch name {
	case HumanName:
		return player.NewHuman(o.Console), nil
	case RandomName:
		return player.NewRandom(o.Seed), nil
	case MinimaxName:
		return chooser(minimax), nil
	case EvaluationName:
		return chooser(evaluation), nil
	case AlphaBetaName:
		o.Time = 0
	case CustomName:
	default:
		return nil, CheckName(name)
	}
	s, err := search.New(g, o.Search)
	if err != nil {
		return nil, err
	}
	return player.NewMachine(s.Search, search.Limit{Time: o.Time, Weak: true, First: true}), nil
}

// A chooser plays the first of the moves with the highest value. The value that it returns
// needs to be exact only if it is above best.
type chooser func(ctx context.Context, g game.Game, m game.Move, best int) (value int, err error)

// lowest is below every value.
const lowest = -1 << 31

// Move returns the first of the best moves.
func (c chooser) Move(ctx context.Context, h *player.History, _ time.Duration) (name string, err error) {
	best := lowest
	for _, m := range h.Moves() {
		v, err := c(ctx, h.Game(), m, best)
		if err != nil {
			return "", err
		}
		if v > best {
			name, best = m.Name, v
		}
	}
	return name, nil
}

// Close does nothing.
func (chooser) Close() error { return nil }

// evaluation is the chooser of EvaluationPlayer. It evaluates the position after a move by
// the hand-out's formula, times 2·M·N: the stones in the mover's goal and on its side,
// minus those of the other row.
func evaluation(_ context.Context, g game.Game, m game.Move, _ int) (value int, err error) {
	places := mancala.Places(g, m.To)
	for place, n := range places {
		if game.Player(2*place/len(places)) == g.ToMove(m.To) {
			n = -n
		}
		value += n
	}
	return value, nil
}

// minimax is the chooser of MinimaxPlayer: it searches all lines of play to the end. Its values are 1 won, 0 draw, -1 lost.
func minimax(ctx context.Context, g game.Game, m game.Move, best int) (int, error) {
	if best == 1 {
		return best, nil
	}
	s, err := memo.New(g, memo.Options{})
	if err != nil {
		return 0, err
	}
	v, err := s.FindWinner(ctx, m.To)
	return map[game.Result]int{game.Wins: -1, game.Loses: 1}[v.Value.Outcome().For(g.ToMove(m.To))], err
}
