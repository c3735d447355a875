// Package cs61b implements a player of Network with the interface that the course CS 61B
// defines: ChooseMove, OpponentMove and ForceMove. It keeps a board of its own, and does
// not know its opponent. The rules are those of package game/network, the search is package
// search.
//
// ForceMove and OpponentMove may lead to a board that no game can reach: according to the
// hand-out, the legality of a move depends on the board alone, not on who moved last, nor
// on whether a player already has a network.
package cs61b

import (
	"context"
	"fmt"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/search"
)

// MoveTime is the time limit of a move if no depth is given.
const MoveTime = 5 * time.Second

// A MachinePlayer chooses moves of one color. It is not safe for concurrent use.
type MachinePlayer struct {
	rules    *network.Rules
	searcher *search.Searcher
	limit    search.Limit
	own      game.Player
	board    network.Board
}

// NewMachinePlayer makes a player of a color, Black or White, that chooses within MoveTime.
func NewMachinePlayer(color int) (*MachinePlayer, error) {
	return newPlayer(color, search.Limit{Time: MoveTime}, search.DefaultMemory)
}

// NewMachinePlayerDepth makes a player of a color, Black or White, that searches exactly
// depth plies ahead, counting moves of both players: 1 or more.
func NewMachinePlayerDepth(color, depth int) (*MachinePlayer, error) {
	if depth < 1 {
		return nil, fmt.Errorf("cs61b: search depth: expected 1 or more, found %d", depth)
	}
	return newPlayer(color, search.Limit{Depth: depth}, search.DefaultMemory)
}

func newPlayer(color int, l search.Limit, memory int64) (*MachinePlayer, error) {
	p := &MachinePlayer{rules: network.New(), limit: l}
	switch color {
	case White:
		p.own = game.First
	case Black:
		p.own = game.Second
	default:
		return nil, fmt.Errorf("cs61b: color: expected %d (black) or %d (white), found %d", Black, White, color)
	}
	var err error
	p.searcher, err = search.New(p.rules, search.Options{Memory: memory})
	return p, err
}

// ChooseMove chooses a move of the player's color and makes it on the board. If the player
// has no legal move, or one of the players has a network, it returns Quit and leaves the
// board unchanged.
func (p *MachinePlayer) ChooseMove() Move {
	b := p.board
	b.Mover = p.own
	r, err := p.searcher.Search(context.Background(), p.rules.Position(b), p.limit)
	if err != nil || len(r.Line) == 0 {
		return Move{Kind: Quit}
	}
	after := p.rules.Board(r.Line[0].To)
	m := between(b, after)
	p.board = after
	return m
}

// OpponentMove makes a move of the opponent on the board, and reports whether it is legal.
// If it is not, the board stays unchanged.
func (p *MachinePlayer) OpponentMove(m Move) bool { return p.make(m, p.own.Other()) }

// ForceMove makes a move of the player's own color on the board, and reports whether it is
// legal. If it is not, the board stays unchanged.
func (p *MachinePlayer) ForceMove(m Move) bool { return p.make(m, p.own) }

// make makes a move of the player of, if it is legal.
func (p *MachinePlayer) make(m Move, of game.Player) bool {
	b := p.board
	b.Mover = of
	to, ok := square(m.X1, m.Y1)
	var from int
	switch m.Kind {
	case Add:
		ok = ok && b.Adding() && b.Adds()>>to&1 != 0
	case Step:
		var okFrom bool
		from, okFrom = square(m.X2, m.Y2)
		ok = ok && okFrom && !b.Adding() && b.Chips[of]>>from&1 != 0 && b.Steps(from)>>to&1 != 0
	default:
		ok = false
	}
	if !ok {
		return false
	}
	if m.Kind == Step {
		b.Chips[of] &^= 1 << from
	}
	b.Chips[of] |= 1 << to
	p.board = b
	return true
}

// square returns the index of a square in a network.Board; ok is false if it is off the
// board.
func square(x, y int) (at int, ok bool) {
	if x < 0 || x > 7 || y < 0 || y > 7 {
		return 0, false
	}
	return 8*x + y, true
}

// between returns the move, by the player to move on b, that led from b to after.
func between(b, after network.Board) Move {
	before, now := b.Chips[b.Mover], after.Chips[b.Mover]
	m := Move{Kind: Add}
	for at := range 64 {
		switch {
		case now&^before>>at&1 != 0:
			m.X1, m.Y1 = at/8, at%8
		case before&^now>>at&1 != 0:
			m.Kind, m.X2, m.Y2 = Step, at/8, at%8
		}
	}
	return m
}
