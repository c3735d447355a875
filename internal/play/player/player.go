// Package player is who may sit at the table: a human who types, a player of random
// moves, one who looks up a solved game, one who searches, and a program of any language
// that speaks the protocol of package gtp. Each plays any game. Nobody here judges:
// whether a move is legal, and in time, is for package referee.
package player

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// A Player chooses moves of one game, in one play after the other; what it learns it may
// keep. It is asked one thing at a time.
type Player interface {
	// Move is the name of the move that the player makes where h stands, which is its
	// turn. It has so much time; 0: as much as it likes. It returns soon after ctx has
	// ended. h is its own to play on. ErrResigned says that it gives up, ErrLeft that it
	// plays no more at all; any other error that it cannot play.
	Move(ctx context.Context, h *History, limit time.Duration) (string, error)
	// Close ends the player.
	Close() error
}

var (
	// ErrResigned is returned by a player that gives this play up.
	ErrResigned = errors.New("resigned")
	// ErrLeft is returned by a human who ends it all.
	ErrLeft = errors.New("left the table")
)

var (
	_ Player = (*Human)(nil)
	_ Player = (*Random)(nil)
	_ Player = (*Table)(nil)
	_ Player = (*Machine)(nil)
	_ Player = (*Program)(nil)
)

// Random makes each legal move as likely.
type Random struct{ rand *rand.Rand }

// NewRandom makes a Random; with the same seed it chooses in the same way.
func NewRandom(seed uint64) *Random { return &Random{rand.New(rand.NewPCG(seed, 0))} }

// Move is any move.
func (r *Random) Move(_ context.Context, h *History, _ time.Duration) (string, error) {
	moves := h.Moves()
	if len(moves) == 0 {
		return "", errors.New("there is no move")
	}
	return moves[r.rand.IntN(len(moves))].Name, nil
}

// Close does nothing.
func (*Random) Close() error { return nil }

// Table plays what a solved game says: the best move, of equally good ones the first.
type Table struct{ table *table.Table }

// NewTable makes a Table; it closes the table in the end.
func NewTable(t *table.Table) *Table { return &Table{t} }

// Move is the best move.
func (t *Table) Move(_ context.Context, h *History, _ time.Duration) (string, error) {
	choices, err := t.table.Choices(h.Position())
	switch {
	case err != nil:
		return "", fmt.Errorf("table: %w", err)
	case len(choices) == 0:
		return "", errors.New("table: there is no move")
	}
	return choices[0].Name, nil
}

// Close closes the table.
func (t *Table) Close() error { return t.table.Close() }

// Machine plays what a search finds. Its table stays from play to play.
type Machine struct {
	searcher *search.Searcher
	limit    search.Limit
}

// NewMachine makes a Machine that searches with a limit, and no longer than the limit of a
// move if that is shorter. Without either, it searches until the game is solved.
func NewMachine(s *search.Searcher, l search.Limit) *Machine { return &Machine{s, l} }

// Move is the best move that is found.
func (m *Machine) Move(ctx context.Context, h *History, limit time.Duration) (string, error) {
	if m.searcher == nil {
		return "", errors.New("machine: it has left")
	}
	l := m.limit
	if l.Time == 0 || limit > 0 && limit < l.Time {
		l.Time = limit
	}
	r, err := m.searcher.Search(ctx, h.Position(), l)
	switch {
	case err != nil:
		return "", fmt.Errorf("machine: %w", err)
	case len(r.Line) == 0:
		return "", errors.New("machine: there is no move")
	}
	return r.Line[0].Name, nil
}

// Close gives the memory of the table back, at once: who comes next has room for his.
func (m *Machine) Close() error {
	m.searcher = nil
	debug.FreeOSMemory()
	return nil
}
