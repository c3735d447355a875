// Package player implements the players: a human who types, a player of random moves, one
// that looks up a solved game, one that searches, and a program in any language that uses
// the protocol of package gtp. Each plays any game. Whether a move is legal and in time is
// decided by package referee, not here.
package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// A Player chooses the moves of a game, in one play after another, and may keep what it
// learns. Its methods are not called concurrently.
type Player interface {
	// Move returns the name of the player's move at the last position of h, where it is the
	// player's turn. The time limit is limit; 0: no limit. Move returns soon after ctx has
	// ended. The player may play moves on h, which is a copy. ErrResigned means that the
	// player resigns, ErrLeft that it does not play any more, a TakenBack that it takes
	// back moves; any other error that it cannot play.
	Move(ctx context.Context, h *History, limit time.Duration) (string, error)
	// Close ends the player and releases its resources.
	Close() error
}

var (
	// ErrResigned is returned by a player that resigns this play.
	ErrResigned = errors.New("resigned")
	// ErrIllegal is wrapped by the error of a player whose program found that its own move is
	// illegal.
	ErrIllegal = errors.New("illegal move")
	errNoMove  = errors.New("there is no move")
	// ErrLeft is returned by a human who ends the whole match.
	ErrLeft = errors.New("left the table")
)

// TakenBack is the error of a human who takes back moves. The play goes on before them.
type TakenBack struct{ Moves int }

func (t TakenBack) Error() string { return "takes back " + numfmt.Count(t.Moves, "move") }

// Random chooses every legal move with the same probability.
type Random struct{ rand *rand.Rand }

// NewRandom makes a Random. The same seed gives the same choices.
func NewRandom(seed uint64) *Random { return &Random{rand.New(rand.NewPCG(seed, 0))} }

// Move returns a random move.
func (r *Random) Move(_ context.Context, h *History, _ time.Duration) (string, error) {
	moves := h.Moves()
	if len(moves) == 0 {
		return "", errNoMove
	}
	return moves[r.rand.IntN(len(moves))].Name, nil
}

// Close does nothing.
func (*Random) Close() error { return nil }

// A Search finds the best move of a position. The method Search of a search.Searcher is one.
type Search func(context.Context, game.Position, search.Limit) (search.Result, error)

// Searching returns the Search of a Searcher that is made at the first search.
func Searching(g game.Game, o search.Options) Search {
	searcher := sync.OnceValues(func() (*search.Searcher, error) { return search.New(g, o) })
	return func(ctx context.Context, p game.Position, l search.Limit) (search.Result, error) {
		s, err := searcher()
		if err != nil {
			return search.Result{}, err
		}
		return s.Search(ctx, p, l)
	}
}

// Machine plays the best move of a table, of an opening book or, without them, the one that a search finds, and some of its
// moves at random.
type Machine struct {
	table  *table.Table // nil: none
	book   *book.Book   // nil: none
	search Search       // nil: it plays from the table only
	limit  search.Limit
	random *Random
	share  float64 // how many of the moves are random, 0 to 1
}

// NewMachine makes a Machine that searches by s with limit l, or with the time limit of the
// move, if that is shorter. Without any limit, it searches until the position is solved.
func NewMachine(s Search, l search.Limit) *Machine { return &Machine{search: s, limit: l} }

// NewTable makes a Machine that plays the best move of t, of several equally good moves the first. Close closes t.
func NewTable(t *table.Table) *Machine { return &Machine{table: t} }

// Move returns the move.
func (m *Machine) Move(ctx context.Context, h *History, limit time.Duration) (string, error) {
	if m.share > 0 && m.random.rand.Float64() < m.share {
		return m.random.Move(ctx, h, limit)
	}
	if m.table != nil {
		choices, err := m.table.Choices(h.Position())
		if err == nil && len(choices) > 0 {
			return choices[0].Name, nil
		}
		if m.search == nil {
			return "", fmt.Errorf("table: %w", cmp.Or(err, errNoMove))
		}
	}
	if best, _, _ := m.book.Best(h.Position()); best.Name != "" {
		return best.Name, nil
	}
	l := m.limit
	if l.Time == 0 || limit > 0 && limit < l.Time {
		l.Time = limit
	}
	r, err := m.search(ctx, h.Position(), l)
	if err == nil && len(r.Line) == 0 {
		err = errNoMove
	}
	if err != nil {
		return "", fmt.Errorf("machine: %w", err)
	}
	return r.Line[0].Name, nil
}

// Close closes the table, and returns the memory of a search to the system at once, so that the next player can
// use it.
func (m *Machine) Close() error {
	m.search = nil
	debug.FreeOSMemory()
	if m.table != nil {
		return m.table.Close()
	}
	return nil
}
