package player

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// A History is a game as far as it has been played: the start, and the moves since. It
// keeps to the rules. It is not safe for concurrent use.
type History struct {
	g         game.Game
	positions []game.Position // the start first
	turns     []game.Player   // whose turn it is there
	names     []string        // of the moves
}

// NewHistory is a game before its first move.
func NewHistory(g game.Game) *History {
	h := &History{g: g}
	h.add(g.Start(), g.ToMove(g.Start()))
	return h
}

func (h *History) add(p game.Position, turn game.Player) {
	h.positions, h.turns = append(h.positions, p), append(h.turns, turn)
}

// Clone is a copy, which goes its own way.
func (h *History) Clone() *History {
	return &History{g: h.g, positions: slices.Clone(h.positions), turns: slices.Clone(h.turns), names: slices.Clone(h.names)}
}

// Game is the game that is played.
func (h *History) Game() game.Game { return h.g }

// Position is the position to which the moves have led.
func (h *History) Position() game.Position { return h.positions[len(h.positions)-1] }

// Turn is whose turn it is; in a finished game, whose it would be. It is what the game
// says (ToMove), but where values are those of the player to move: there turns alternate,
// and the position need not tell them.
func (h *History) Turn() game.Player { return h.turns[len(h.turns)-1] }

// Names are the names of the moves that have been made. Not to be written to.
func (h *History) Names() []string { return h.names }

// Mover is who has made a move, of which the number counts from 0.
func (h *History) Mover(move int) game.Player { return h.turns[move] }

// Moves are those that can be made; none when the game is finished.
func (h *History) Moves() []game.Move { return h.g.Moves(nil, h.Position()) }

// Play makes the move of that name. The error of one that cannot be made says which can.
func (h *History) Play(name string) error {
	moves := h.Moves()
	at := slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == name })
	if at < 0 {
		if len(moves) == 0 {
			return fmt.Errorf("expected no move, found %s: the game is finished", quoted(name))
		}
		return fmt.Errorf("expected one of %s, found %s", listed(moves), quoted(name))
	}
	turn := h.Turn().Other()
	if !h.g.Values().OfMover {
		turn = h.g.ToMove(moves[at].To)
	}
	h.add(moves[at].To, turn)
	h.names = append(h.names, name)
	return nil
}

// What a message names: so many moves, so much of what is none.
const (
	maxListed = 40
	maxQuoted = 60
)

// quoted is what somebody said, for a message.
func quoted(text string) string {
	if len(text) > maxQuoted {
		return strconv.Quote(text[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}

// listed is the names of moves for a message.
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

// Undo takes the last move back; it reports whether there was one.
func (h *History) Undo() bool {
	n := len(h.names)
	if n == 0 {
		return false
	}
	h.positions, h.turns, h.names = h.positions[:n], h.turns[:n], h.names[:n-1]
	return true
}

// Finished reports whether play has ended by the rules of the game, and for whom:
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

// Times is how often the position has stood on the board, with the same player to move,
// now included.
func (h *History) Times() (n int) {
	for i, p := range h.positions {
		if p == h.Position() && h.turns[i] == h.Turn() {
			n++
		}
	}
	return n
}

// Who is what a player is called: his name in the game, or first or second.
func Who(g game.Game, p game.Player) string {
	if name := g.Values().Players[p]; name != "" {
		return name
	}
	return Side(p)
}

// Side is the word for a player in files and protocols: first or second.
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
