// Package session is a game in progress between two players, each a person or a machine: the moves, those that were
// taken back, how it ended, and its state in words. The terminal and the pages show it. It knows no terminal, no HTTP, and
// not how a machine chooses a move.
package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// A Session is a game in progress. It is not safe for concurrent use.
type Session struct {
	People [2]bool // whether First and Second are people
	Paused bool    // machines wait

	h        *player.History
	moves    []string // all moves; those that h does not have were taken back
	resigned bool     // the player to move has resigned
}

// New returns a session that continues a history. later are moves that were taken back.
func New(h *player.History, people [2]bool, later ...string) *Session {
	return &Session{People: people, h: h, moves: slices.Concat(h.Names(), later)}
}

// History returns the moves that are made. The caller must not change it.
func (s *Session) History() *player.History { return s.h }

// Moves returns the names of all moves, also of those that were taken back. The caller must not modify it.
func (s *Session) Moves() []string { return s.moves }

// Persons returns the number of players who are people.
func (s *Session) Persons() (n int) {
	for _, person := range s.People {
		if person {
			n++
		}
	}
	return n
}

// Play makes a move. The moves that were taken back remain available if the first of them is this one.
func (s *Session) Play(name string) error {
	if s.resigned {
		return errors.New("a player has resigned: the game is over")
	}
	at := len(s.h.Names())
	if err := s.h.Play(name); err != nil {
		return err
	}
	if at == len(s.moves) || s.moves[at] != name {
		s.moves = append(slices.Clone(s.moves[:at]), name)
	}
	return nil
}

// Undo takes back moves to where a person was last to move, or to the beginning; if no person plays, one move. A machine
// that is then to move waits. Undo reports whether there was a move.
func (s *Session) Undo() bool {
	back := s.h.Since(func(p game.Player) bool { return s.People[p] || s.Persons() == 0 })
	if back == 0 {
		back = len(s.h.Names())
	}
	for range back {
		s.h.Undo()
	}
	if back > 0 {
		s.stop()
	}
	return back > 0
}

// Redo makes the moves again that one Undo takes back, and reports whether there was one.
func (s *Session) Redo() bool {
	for made := false; ; made = true {
		at := len(s.h.Names())
		if at == len(s.moves) || made && (s.Persons() == 0 || s.People[s.h.Turn()]) || s.h.Play(s.moves[at]) != nil {
			if made {
				s.stop()
			}
			return made
		}
	}
}

// stop makes a machine that is to move wait.
func (s *Session) stop() { s.Paused, s.resigned = !s.People[s.h.Turn()], false }

// Swap exchanges the sides of a person and a machine.
func (s *Session) Swap() error {
	if s.Persons() != 1 {
		return errors.New("there is no machine to swap sides with")
	}
	s.People[0], s.People[1] = s.People[1], s.People[0]
	s.Paused = false
	return nil
}

// Resign ends the game: the player to move has lost.
func (s *Session) Resign() error {
	if _, over := s.End(); over {
		return errors.New("the game is over")
	}
	s.resigned = true
	return nil
}

// An End is how a game has ended.
type End struct {
	Outcome game.Outcome   // Undecided: a draw
	Reason  referee.Reason // Finished, Resigned, Repeated or Endless
}

// End returns how the game has ended; ok is false if it has not.
func (s *Session) End() (e End, ok bool) {
	if s.resigned {
		return End{game.WinFor(s.h.Turn().Other()), referee.Resigned}, true
	}
	outcome, reason, ok := referee.Ended(s.h, game.DrawRuleOf(s.h.Game()))
	return End{outcome, reason}, ok
}

// Who names a player: "X", "X (you)" if only that player is a person, or "X (machine)".
func (s *Session) Who(p game.Player) string {
	name := player.Who(s.h.Game(), p)
	switch {
	case !s.People[p]:
		return name + " (machine)"
	case s.Persons() == 1:
		return name + " (you)"
	}
	return name
}

// State says whose turn it is, or how the game has ended: "X (you) to move", "you have won after 5 moves".
func (s *Session) State() string {
	turn := s.h.Turn()
	if e, over := s.End(); over {
		return s.text(e)
	}
	switch {
	case s.People[turn] && s.h.Game().Values().Puzzle:
		return "your move"
	case s.People[turn]:
		return s.Who(turn) + " to move"
	case s.Paused:
		return s.Who(turn) + " is paused"
	}
	return s.Who(turn) + " is thinking"
}

// text describes the end.
func (s *Session) text(e End) string {
	after, values := " after "+numfmt.Count(len(s.h.Names()), "move"), s.h.Game().Values()
	switch {
	case e.Outcome == game.Undecided:
		return fmt.Sprintf("a draw (%s)", e.Reason) + after
	case e.Outcome == game.Tie && values.Puzzle:
		return values.Word(e.Outcome) + after
	case e.Outcome == game.Tie:
		return "a tie" + after
	}
	winner := e.Outcome.Winner()
	if e.Reason == referee.Resigned {
		after += ": " + s.Who(winner.Other()) + " resigned"
	}
	return s.Winner(winner, "has won", "you have won", "you have lost") + after
}

// Winner says that a player wins: with the name and these words or, if only one player is a person, that this one wins or
// loses.
func (s *Session) Winner(p game.Player, wins, win, lose string) string {
	switch {
	case s.Persons() != 1:
		return player.Who(s.h.Game(), p) + " " + wins
	case s.People[p]:
		return win
	}
	return lose
}
