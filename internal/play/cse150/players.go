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

// Names are the names of the course's players.
func Names() []string {
	return []string{HumanName, RandomName, MinimaxName, AlphaBetaName, EvaluationName, CustomName}
}

// CheckName returns an error for a name that is none of the course's players.
func CheckName(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("player %q: expected %s", name, strings.Join(Names(), ", "))
}

// Options configure players.
type Options struct {
	Console *player.Console // of a human
	Seed    uint64          // of random moves
	Search  search.Options  // of CustomPlayer, as what follows
	Time    time.Duration   // of a move without a limit; 0: until it is solved
	// Endgames must be of as many pits as the board. Nil: some are built.
	Endgames *mancala.Endgames
}

// New makes the player of a name for a game of Mancala.
func New(name string, g game.Acyclic, o Options) (player.Player, error) {
	switch name {
	case HumanName:
		return player.NewHuman(o.Console), nil
	case RandomName:
		return player.NewRandom(o.Seed), nil
	case MinimaxName:
		return chooser(minimax), nil
	case AlphaBetaName:
		return chooser(alphaBeta(make(map[game.Position]bounds))), nil
	case EvaluationName:
		return chooser(evaluation), nil
	case CustomName:
		g, err := WithEndgames(g, o.Endgames, o.Time)
		if err != nil {
			return nil, err
		}
		s, err := search.New(g, o.Search)
		if err != nil {
			return nil, err
		}
		return player.NewMachine(s, search.Limit{Time: o.Time, Weak: true, First: true}), nil
	}
	return nil, CheckName(name)
}

// The endgames that are built for a CustomPlayer: as many boards as take a fifth of a
// second for each second of its time, and no more than are worth the wait.
const (
	boardsASecond = 2_000_000
	mostBoards    = 3_000_000
)

// WithEndgames is the game with endgames for a search of this time (0: any time): e, or if
// that is nil some that are built. A board that is too large for endgames has none.
func WithEndgames(g game.Acyclic, e *mancala.Endgames, limit time.Duration) (game.Acyclic, error) {
	fast, ok := g.(*mancala.Searched)
	if !ok {
		return g, nil
	}
	if e == nil {
		boards := float64(mostBoards)
		if limit > 0 {
			boards = min(boards, boardsASecond*limit.Seconds())
		}
		e = mancala.NewEndgames(fast.Pits(), mancala.StonesWithin(fast.Pits(), fast.Stones(), boards))
	}
	return fast.WithEndgames(e)
}

// A chooser plays the first of the moves with the largest value. The value needs to be
// right only if it is above the best so far.
type chooser func(ctx context.Context, g game.Game, m game.Move, best int) (value int, err error)

// lowest is below every value.
const lowest = -1 << 31

// Move is the first of the best moves.
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

// evaluation is EvaluationPlayer's: the hand-out's formula, times 2·M·N, after a move. That
// is the stones in the mover's goal and on its side, less those of the other row.
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

// minimax is MinimaxPlayer's: it searches all lines of play to the end.
func minimax(ctx context.Context, g game.Game, m game.Move, best int) (int, error) {
	if best == 1 {
		return best, nil
	}
	l := lookahead{ctx: ctx, game: g}
	return -l.minimax(m.To), l.err
}

// alphaBeta is AlphaBetaPlayer's: it prunes, and remembers the bounds of positions.
func alphaBeta(known map[game.Position]bounds) chooser {
	return func(ctx context.Context, g game.Game, m game.Move, best int) (int, error) {
		if best == 1 {
			return best, nil
		}
		l := lookahead{ctx: ctx, game: g, known: known}
		return -l.alphaBeta(m.To, -1, -max(best, -1)), l.err
	}
}

// A lookahead is a search until it ends or ctx does.
type lookahead struct {
	ctx    context.Context
	game   game.Game
	looked uint64
	known  map[game.Position]bounds
	err    error // of ctx; all values are void then
}

// bounds are the bounds of the utility of a position for the player to move.
type bounds struct{ low, high int8 }

// maxKnown is how many positions are remembered, in less than a gigabyte. Then all are
// forgotten.
const maxKnown = 16 << 20

// pollPositions is the number of positions between checks of ctx, less than a
// millisecond's.
const pollPositions = 256

// ended reports whether a position needs no look ahead, and its utility for the player to
// move: 1 won, 0 a draw, -1 lost. That is so if the game or the search has ended.
func (l *lookahead) ended(p game.Position) (utility int, ended bool) {
	if l.looked++; l.looked%pollPositions == 0 && l.err == nil {
		l.err = context.Cause(l.ctx)
	}
	v := l.game.Primitive(p)
	if l.err != nil || v == 0 {
		return 0, l.err != nil
	}
	switch v.Outcome().For(l.game.ToMove(p)) {
	case game.Wins:
		return 1, true
	case game.Loses:
		return -1, true
	}
	return 0, true
}

// minimax is the utility of a position for the player to move.
func (l *lookahead) minimax(p game.Position) int {
	if utility, ended := l.ended(p); ended {
		return utility
	}
	best := -1
	for _, m := range l.game.Moves(nil, p) {
		best = max(best, -l.minimax(m.To))
	}
	return best
}

// alphaBeta is the utility of a position for the player to move, if it is between alpha and
// beta; else a value on the same side of them.
func (l *lookahead) alphaBeta(p game.Position, alpha, beta int) int {
	if utility, ended := l.ended(p); ended {
		return utility
	}
	b, ok := l.known[p]
	if !ok {
		b = bounds{-1, 1}
	}
	low, high := int(b.low), int(b.high)
	if low >= beta || low == high {
		return low
	}
	if high <= alpha {
		return high
	}
	floor := max(alpha, low)
	best, ceiling := -1, min(beta, high)
	for _, m := range l.game.Moves(nil, p) {
		if best = max(best, -l.alphaBeta(m.To, -ceiling, -max(floor, best))); best >= ceiling {
			break
		}
	}
	if l.err != nil {
		return 0
	}
	if best < ceiling {
		b.high = int8(min(high, max(best, floor)))
	}
	if best > floor {
		b.low = int8(max(low, best))
	}
	if len(l.known) >= maxKnown {
		clear(l.known)
	}
	l.known[p] = b
	return best
}
