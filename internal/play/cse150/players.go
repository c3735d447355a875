package cse150

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/internal/play/player"
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

// Names returns the names of the course's players.
func Names() []string {
	return []string{HumanName, RandomName, MinimaxName, AlphaBetaName, EvaluationName, CustomName}
}

// CheckName returns an error unless name is the name of one of the course's players.
func CheckName(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("player %q: expected %s", name, strings.Join(Names(), ", "))
}

// Options configure players.
type Options struct {
	Console *player.Console // for a human
	Seed    uint64          // for random moves
	Search  search.Options  // for the players that search
	Time    time.Duration   // of CustomPlayer, for a move without a limit; 0: search until it is solved
}

// New makes the player of that name for a game of Mancala.
func New(name string, g game.Acyclic, o Options) (player.Player, error) {
	switch name {
	case HumanName:
		return player.NewHuman(o.Console), nil
	case RandomName:
		return player.NewRandom(o.Seed), nil
	case EvaluationName:
		return evaluator{}, nil
	case MinimaxName, AlphaBetaName: // both find the same move
		o.Time = 0
	case CustomName:
	default:
		return nil, CheckName(name)
	}
	s, err := search.New(g, o.Search)
	if err != nil {
		return nil, err
	}
	return player.NewMachine(s, search.Limit{Time: o.Time, Weak: true, First: true}), nil
}

// An evaluator plays the first of the moves with the highest evaluation.
type evaluator struct{}

// Move returns the first of the best moves.
func (evaluator) Move(_ context.Context, h *player.History, _ time.Duration) (name string, err error) {
	best := 0
	for i, m := range h.Moves() {
		if v := evaluation(h.Game(), m.To); i == 0 || v > best {
			name, best = m.Name, v
		}
	}
	return name, nil
}

// Close does nothing.
func (evaluator) Close() error { return nil }

// evaluation evaluates the position after a move by the hand-out's formula, times 2·M·N: the
// stones in the mover's goal and on its side, minus those of the other row.
func evaluation(g game.Game, p game.Position) (value int) {
	places := mancala.Places(g, p)
	for place, n := range places {
		if game.Player(2*place/len(places)) == g.ToMove(p) {
			n = -n
		}
		value += n
	}
	return value
}
