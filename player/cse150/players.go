package cse150

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/player"
)

// A Player is one of the course's. It is asked one thing at a time.
type Player interface {
	// Name is the name of its class: MinimaxPlayer.
	Name() string
	// Move chooses a move of a board: State.None, if there is none. It has so much time;
	// 0: as much as it likes. It returns soon after ctx has ended, with an error if it has
	// no move by then.
	Move(ctx context.Context, s State, limit time.Duration) (Action, error)
}

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

// Human types its moves at a console.
type Human struct{ console *player.Console }

// NewHuman makes a Human at a console.
func NewHuman(c *player.Console) *Human { return &Human{c} }

// Name is HumanPlayer.
func (*Human) Name() string { return HumanName }

// Move is the pit that is typed; what is none is asked for again. The end of the input is
// player.ErrLeft.
func (p *Human) Move(ctx context.Context, s State, _ time.Duration) (Action, error) {
	out := p.console.Out()
	if len(s.Actions()) == 0 {
		fmt.Fprintln(out, "No valid move")
		return s.None(), nil
	}
	for {
		if _, err := fmt.Fprintf(out, "%s (%d) move? ", p.Name(), s.row); err != nil {
			return Action{}, fmt.Errorf("%w: %w", player.ErrLeft, err)
		}
		line, err := p.console.Line(ctx)
		switch {
		case ctx.Err() != nil:
			return Action{}, err
		case err != nil:
			return Action{}, fmt.Errorf("%w: %w", player.ErrLeft, err)
		}
		if pit, err := strconv.Atoi(line); err == nil && pit != NoPit && s.Check(Action{s.row, pit}) == nil {
			return Action{s.row, pit}, nil
		}
		first := s.row * (s.pits + 1)
		fmt.Fprintf(out, "Invalid input. Enter index in range [%d, %d) with non-zero stones\n", first, first+s.pits)
	}
}

// Random makes each legal move as likely.
type Random struct{ rand *rand.Rand }

// NewRandom makes a Random; with the same seed it chooses in the same way.
func NewRandom(seed uint64) *Random { return &Random{rand.New(rand.NewPCG(seed, 0))} }

// Name is RandomPlayer.
func (*Random) Name() string { return RandomName }

// Move is any move.
func (p *Random) Move(_ context.Context, s State, _ time.Duration) (Action, error) {
	return anyOf(p.rand, s), nil
}

// anyOf is a move at random, or the pass.
func anyOf(r *rand.Rand, s State) Action {
	actions := s.Actions()
	if len(actions) == 0 {
		return s.None()
	}
	return actions[r.IntN(len(actions))]
}

// Evaluation makes the move after which the hand-out's formula is greatest, the first of
// several; it does not look ahead.
type Evaluation struct{}

// Name is EvaluationPlayer.
func (Evaluation) Name() string { return EvaluationName }

// Move is the move that looks best.
func (Evaluation) Move(_ context.Context, s State, _ time.Duration) (Action, error) {
	actions := s.Actions()
	if len(actions) == 0 {
		return s.None(), nil
	}
	// The course compares with -1 at first; so what is not above it is no better than the
	// first move.
	best, value := actions[0], -2*s.pits*s.stones
	for _, a := range actions {
		if v := s.Result(a).Evaluation(s.row); v > value {
			best, value = a, v
		}
	}
	return best, nil
}

// Minimax looks at every line of play to its end.
type Minimax struct{}

// Name is MinimaxPlayer.
func (Minimax) Name() string { return MinimaxName }

// Move is the smallest pit among the moves of best utility.
func (Minimax) Move(ctx context.Context, s State, _ time.Duration) (Action, error) {
	return bestOf(s, func(after State, _ int) (int, error) {
		l := lookahead{ctx: ctx}
		v := -l.minimax(after)
		return v, l.err
	})
}

// bestOf asks for the utility of each move, which needs to be right only if it is above
// the best so far; it returns the first of the best ones.
func bestOf(s State, utility func(after State, best int) (int, error)) (Action, error) {
	action, best := s.None(), -2
	for _, a := range s.Actions() {
		v, err := utility(s.Result(a), best)
		if err != nil {
			return Action{}, err
		}
		if v > best {
			action, best = a, v
		}
		if best == 1 {
			break
		}
	}
	return action, nil
}

// A lookahead is a search, until it ends or ctx does.
type lookahead struct {
	ctx    context.Context
	looked uint64
	known  map[string]bounds // nil: nothing is remembered
	err    error             // of ctx; all values are void then
}

// pollStates is how many boards are looked at between looks at ctx: less than a
// millisecond's.
const pollStates = 256

// over counts a board, and reports whether the search is to end.
func (l *lookahead) over() bool {
	if l.looked++; l.looked%pollStates == 0 && l.err == nil {
		l.err = context.Cause(l.ctx)
	}
	return l.err != nil
}

// next are the boards to which the moves of s lead, or its pass.
func (s State) next() (list []State) {
	for _, a := range s.Actions() {
		list = append(list, s.Result(a))
	}
	if len(list) == 0 {
		list = append(list, s.Result(s.None()))
	}
	return list
}

// minimax is the utility of a board for who is to move.
func (l *lookahead) minimax(s State) int {
	if l.over() {
		return 0
	}
	if s.Ended() {
		return s.Utility(s.row)
	}
	best := -1
	for _, after := range s.next() {
		best = max(best, -l.minimax(after))
	}
	return best
}

// AlphaBeta leaves out what cannot change the result, and remembers what it has found, as
// long as it plays.
type AlphaBeta struct{ known map[string]bounds }

// bounds are what is known of the utility of a board, for who is to move there.
type bounds struct{ low, high int8 }

// maxKnown is how many boards an AlphaBeta remembers: of the largest boards less than
// four gigabytes. Then it forgets all.
const maxKnown = 16 << 20

// NewAlphaBeta makes an AlphaBeta with an empty table.
func NewAlphaBeta() *AlphaBeta { return &AlphaBeta{known: make(map[string]bounds)} }

// Name is AlphaBetaPlayer.
func (*AlphaBeta) Name() string { return AlphaBetaName }

// Move is the smallest pit among the moves of best utility.
func (p *AlphaBeta) Move(ctx context.Context, s State, _ time.Duration) (Action, error) {
	l := lookahead{ctx: ctx, known: p.known}
	return bestOf(s, func(after State, best int) (int, error) {
		v := -l.alphaBeta(after, -1, -max(best, -1))
		return v, l.err
	})
}

// alphaBeta is the utility of a board for who is to move, if it is between alpha and beta;
// else one that lies on the same side.
func (l *lookahead) alphaBeta(s State, alpha, beta int) int {
	if l.over() {
		return 0
	}
	if s.Ended() {
		return s.Utility(s.row)
	}
	key := s.key()
	b, ok := l.known[key]
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
	for _, after := range s.next() {
		if best = max(best, -l.alphaBeta(after, -ceiling, -max(floor, best))); best >= ceiling {
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
	l.known[key] = b
	return best
}

// key tells boards of a size apart; it is the one that the course's framework has for
// tables, in fewer bytes.
func (s State) key() string {
	b := make([]byte, 0, len(s.board)+2)
	b = append(b, byte(s.row))
	for _, n := range s.board {
		for ; n >= 0x80; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		b = append(b, byte(n))
	}
	return string(b)
}

// Unknown is the error of a name that is none of the course's players.
func Unknown(name string) error {
	return fmt.Errorf("player %q: expected %s", name, strings.Join(Names(), ", "))
}

// errTime is the error of a player that has no move when its time is over.
var errTime = errors.New("no move in time")
