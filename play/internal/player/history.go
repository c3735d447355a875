package player

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// A History is a game in progress: the initial position, and the moves made since. It
// accepts only legal moves. It is not safe for concurrent use.
type History struct {
	g         game.Game
	positions []game.Position // starts with the initial position
	turns     []game.Player   // the player to move at each position
	names     []string        // of the moves
}

// NewHistory returns the history of a game before its first move.
func NewHistory(g game.Game) *History { return NewHistoryFrom(g, g.Start()) }

// NewHistoryFrom returns the history of a game that begins at position p.
func NewHistoryFrom(g game.Game, p game.Position) *History {
	h := &History{g: g}
	h.add(p, g.ToMove(p))
	return h
}

func (h *History) add(p game.Position, turn game.Player) {
	h.positions, h.turns = append(h.positions, p), append(h.turns, turn)
}

// Clone returns an independent copy.
func (h *History) Clone() *History {
	return &History{g: h.g, positions: slices.Clone(h.positions), turns: slices.Clone(h.turns), names: slices.Clone(h.names)}
}

// Game returns the game.
func (h *History) Game() game.Game { return h.g }

// Position returns the current position.
func (h *History) Position() game.Position { return h.positions[len(h.positions)-1] }

// At returns the position after that many moves.
func (h *History) At(moves int) game.Position { return h.positions[moves] }

// Turn returns the player to move, or in a finished game the player whose turn it would be.
// It is ToMove of the game, unless values are those of the player to move: then turns
// alternate, because the position need not contain the player to move.
func (h *History) Turn() game.Player { return h.turns[len(h.turns)-1] }

// Positions returns the positions, the current one last. The caller must not modify it.
func (h *History) Positions() []game.Position { return h.positions }

// Names returns the names of the moves made. The caller must not modify it.
func (h *History) Names() []string { return h.names }

// Mover returns the player to move after that many moves.
func (h *History) Mover(move int) game.Player { return h.turns[move] }

// Moves returns the legal moves; none if the game is finished.
func (h *History) Moves() []game.Move { return h.g.Moves(nil, h.Position()) }

// Play makes the move of that name. The error for an illegal move lists the legal ones.
func (h *History) Play(name string) error {
	moves := h.Moves()
	at := slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == name })
	if at < 0 {
		if len(moves) == 0 {
			return fmt.Errorf("expected no move, found %s: the game is finished", Quoted(name))
		}
		return fmt.Errorf("expected one of %s, found %s", listed(moves), Quoted(name))
	}
	turn := h.Turn().Other()
	if !h.g.Values().OfMover {
		turn = h.g.ToMove(moves[at].To)
	}
	h.add(moves[at].To, turn)
	h.names = append(h.names, name)
	return nil
}

// Limits of error messages: the number of moves listed, and the bytes of the input quoted.
const (
	maxListed = 40
	maxQuoted = 60
)

// Quoted quotes the beginning of an input for a message.
func Quoted(text string) string {
	if len(text) > maxQuoted {
		return strconv.Quote(text[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}

// listed lists the names of moves for a message.
func listed(moves []game.Move) string {
	var names []string
	for _, m := range moves[:min(len(moves), maxListed)] {
		names = append(names, m.Name)
	}
	if len(moves) > maxListed {
		names = append(names, fmt.Sprintf("… (%d in all)", len(moves)))
	}
	return strings.Join(names, " ")
}

// Undo takes back the last move, and reports whether there was one.
func (h *History) Undo() bool {
	n := len(h.names)
	if n == 0 {
		return false
	}
	h.positions, h.turns, h.names = h.positions[:n], h.turns[:n], h.names[:n-1]
	return true
}

// Since returns the number of moves since one of these players was last to move, before the current position; 0 if none was.
func (h *History) Since(of func(game.Player) bool) int {
	for at := len(h.names) - 1; at >= 0; at-- {
		if of(h.turns[at]) {
			return len(h.names) - at
		}
	}
	return 0
}

// Finished reports whether play has ended by the rules of the game, and the outcome:
// FirstWins, SecondWins or Tie.
func (h *History) Finished() (game.Outcome, bool) {
	v := h.g.Primitive(h.Position())
	if v == 0 {
		return game.Undecided, false
	}
	switch v.Outcome().For(h.g.ToMove(h.Position())) {
	case game.Wins:
		return game.WinFor(h.Turn()), true
	case game.Loses:
		return game.WinFor(h.Turn().Other()), true
	}
	return game.Tie, true
}

// Times returns how often the current position has occurred with the same player to move,
// including this time.
func (h *History) Times() (n int) {
	for i, p := range h.positions {
		if p == h.Position() && h.turns[i] == h.Turn() {
			n++
		}
	}
	return n
}

// Who returns the name of a player in the game, or first or second if the names are missing or sound the same, as L and l do.
func Who(g game.Game, p game.Player) string {
	if names := g.Values().Players; names[p] != "" && !strings.EqualFold(names[0], names[1]) {
		return names[p]
	}
	return Side(p)
}

// Side returns the word for a player in files and protocols: first or second.
func Side(p game.Player) string { return [...]string{"first", "second"}[p&1] }

// ParseSide is the inverse of Side.
func ParseSide(word string) (game.Player, error) {
	for _, p := range []game.Player{game.First, game.Second} {
		if word == Side(p) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("expected first or second, found %q", word)
}
