// Package session is a game in progress between two players, each a person or a machine: the moves, those that were
// taken back, how it ended, its state in words, and its mistakes, which people can practise. The terminal and the pages
// show it. It knows no terminal, no HTTP, and not how a machine chooses a move.
package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// A Session is a game in progress. It is not safe for concurrent use.
type Session struct {
	People    [2]bool   // whether First and Second are people
	Paused    bool      // machines wait
	Analysing bool      // the moves are those of an analysis: State names no machines, and one Undo takes back one move
	Resigned  bool      // the player to move after all Moves has resigned; this does not matter to an analysis
	Hint      string    // the best move, which a player asked for; "": none did at this position
	Practice  *Practice // nil: none

	h     *player.History
	moves []string // all moves; those that h does not have were taken back
}

// New returns a session that continues a history. later are moves that were taken back.
func New(h *player.History, people [2]bool, later ...string) *Session {
	return &Session{People: people, h: h, moves: slices.Concat(h.Names(), later)}
}

// Continue returns a session that continues a game that was played.
func Continue(p referee.Played, people [2]bool) *Session {
	s := New(p.History, people)
	s.Resigned = p.Reason == referee.Resigned
	return s
}

// Played returns the record of the game as it is now. A game that is not over is adjourned.
func (s *Session) Played(names [2]string) referee.Played {
	p := referee.Played{History: s.h, Players: names, Reason: referee.Adjourned}
	if e, over := s.End(); over {
		p.Outcome, p.Reason = e.Outcome, e.Reason
	}
	return p
}

// History returns the moves that are made. The caller must not change it.
func (s *Session) History() *player.History { return s.h }

// Moves returns the names of all moves, also of those that were taken back. The caller must not modify it.
func (s *Session) Moves() []string { return s.moves }

// later reports whether moves were taken back.
func (s *Session) later() bool { return len(s.moves) > len(s.h.Names()) }

// Whole returns the history with the moves that were taken back.
func (s *Session) Whole() *player.History {
	h := s.h.Clone()
	for _, name := range s.moves[len(h.Names()):] {
		if h.Play(name) != nil {
			break
		}
	}
	return h
}

// Persons returns the number of players who are people.
func (s *Session) Persons() (n int) {
	for _, person := range s.People {
		if person {
			n++
		}
	}
	return n
}

// person reports whether a player is a person, as all are in an analysis.
func (s *Session) person(p game.Player) bool { return s.People[p] || s.Analysing }

// only reports whether only one player is a person.
func (s *Session) only() bool { return s.Persons() == 1 && !s.Analysing }

// Waits reports whether machines do not move: because of Paused, or because moves were taken back.
func (s *Session) Waits() bool {
	return s.Paused || s.later() || s.Practice != nil
}

// Thinking reports whether it is the turn of a machine that does not wait.
func (s *Session) Thinking() bool {
	return !s.Over() && !s.People[s.h.Turn()] && !s.Waits()
}

// MayMove reports whether a person is to move.
func (s *Session) MayMove() bool {
	return !s.Over() && s.person(s.h.Turn()) && !s.Thinking()
}

// Play makes a move; in a practice, it tries it. The moves that were taken back remain available if the first of them is
// this one, and no machine answers.
func (s *Session) Play(name string) error {
	switch {
	case s.resigned():
		return errors.New("a player has resigned: the game is over")
	case s.Practice != nil:
		return s.try(name)
	}
	at := len(s.h.Names())
	if err := s.h.Play(name); err != nil {
		return err
	}
	if at == len(s.moves) || s.moves[at] != name || !s.person(s.h.Turn()) {
		s.moves = append(slices.Clone(s.moves[:at]), name)
	}
	s.Resigned, s.Hint = false, ""
	return nil
}

// Undo takes back moves to where a person was last to move, or to the beginning; if no person plays, one move. A machine
// that is then to move waits. A resignation is taken back first, alone. Undo reports whether there was a move or a resignation.
func (s *Session) Undo() bool {
	if s.Practice != nil {
		return false
	}
	if s.resigned() {
		s.Resigned = false
		return true
	}
	back := s.h.Since(func(p game.Player) bool { return s.person(p) || s.Persons() == 0 })
	if back == 0 {
		back = len(s.h.Names())
	}
	return s.Go(len(s.h.Names()) - back)
}

// Redo makes the moves again that one Undo takes back, and reports whether there was one.
func (s *Session) Redo() bool {
	if s.Practice != nil {
		return false
	}
	h, to := s.Whole(), len(s.h.Names())+1
	for to < len(h.Names()) && s.Persons() > 0 && !s.person(h.Mover(to)) {
		to++
	}
	return s.Go(to)
}

// Go goes to the position after that many moves, or to the last one, and reports whether it is another one.
func (s *Session) Go(made int) bool {
	before := len(s.h.Names())
	for len(s.h.Names()) > made && s.h.Undo() {
	}
	for at := len(s.h.Names()); at < min(made, len(s.moves)) && s.h.Play(s.moves[at]) == nil; at++ {
	}
	if len(s.h.Names()) == before {
		return false
	}
	s.Hint = ""
	return true
}

// Resume ends a practice, and lets machines move. The moves that were taken back are dropped.
func (s *Session) Resume() {
	s.Sit(s.People)
	s.Paused = false
}

// Sit ends a practice, and has these sides played by people. The moves that were taken back are dropped.
func (s *Session) Sit(people [2]bool) {
	s.stop()
	s.People, s.Resigned = people, s.Resigned && !s.later()
	s.moves = slices.Clone(s.h.Names())
}

// Swap exchanges the sides of a person and a machine, which does not wait.
func (s *Session) Swap() error {
	if s.Persons() != 1 {
		return errors.New("there is no machine to swap sides with")
	}
	s.People[0], s.People[1] = s.People[1], s.People[0]
	s.Resume()
	return nil
}

// Analyse begins or ends an analysis. Machines wait in it, unless they are resumed.
func (s *Session) Analyse(begin bool) {
	if s.Analysing != begin {
		s.Analysing, s.Paused, s.Hint = begin, begin, ""
	}
}

// Resign ends the game: the player to move has lost. The moves that were taken back are dropped.
func (s *Session) Resign() error {
	if !s.Can("resign") {
		return errors.New("resign: only a person who is to move can resign, after the first move of a game")
	}
	s.Resigned, s.Hint, s.moves = true, "", slices.Clone(s.h.Names())
	return nil
}

// resigned reports whether the player to move has resigned.
func (s *Session) resigned() bool { return s.Resigned && !s.Analysing && !s.later() }

// Do does what people do by name: undo, redo, swap, resign, pause, resume, analyse, play (the end of an analysis), stop (the
// end of a practice), move MOVE, or go NUMBER (to the position after that number of moves).
func (s *Session) Do(action string) error {
	name, value, _ := strings.Cut(action, " ")
	switch name {
	case "undo":
		s.Undo()
	case "redo":
		s.Redo()
	case "swap":
		return s.Swap()
	case "resign":
		return s.Resign()
	case "pause":
		s.Paused = true
	case "resume":
		s.Resume()
	case "analyse", "play":
		s.stop()
		s.Analyse(name == "analyse")
	case "stop":
		s.stop()
	case "move":
		return s.Play(value)
	case "go":
		s.Practice = nil
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%q: expected go and a number of moves", action)
		}
		s.Go(n)
	default:
		return fmt.Errorf("%q: there is no such action", action)
	}
	return nil
}

// Can reports whether it makes sense to undo, redo, swap, pause, hint, resign or practise.
func (s *Session) Can(action string) bool {
	made := len(s.h.Names())
	switch action {
	case "undo":
		return made > 0
	case "redo":
		return s.later()
	case "swap":
		return s.Persons() == 1
	case "pause":
		return !s.Over() && (s.Persons() == 0 || s.Persons() == 1 && (s.Analysing || s.Paused || !s.People[s.h.Turn()] && s.Waits()))
	case "practise":
		return s.Over() || s.Practice != nil
	case "hint":
		return s.MayMove()
	case "resign":
		return s.MayMove() && made > 0 && !s.Analysing
	}
	return false
}

// An End is how a game has ended.
type End struct {
	Outcome game.Outcome   // Undecided: a draw
	Reason  referee.Reason // Finished, Resigned, Repeated or Endless
}

// End returns how the game has ended; ok is false if it has not.
func (s *Session) End() (e End, ok bool) {
	if s.resigned() {
		return End{game.WinFor(s.h.Turn().Other()), referee.Resigned}, true
	}
	outcome, reason, ok := referee.Ended(s.h)
	return End{outcome, reason}, ok
}

// Over reports whether the game has ended.
func (s *Session) Over() bool {
	_, over := s.End()
	return over
}

// Result returns the result of the only person; ok is false if the game is not over, or there is not one person.
func (s *Session) Result() (r game.Result, ok bool) {
	e, over := s.End()
	if !over || s.Persons() != 1 {
		return r, false
	}
	return e.Outcome.For(game.Player(slices.Index(s.People[:], true))), true
}

// Who names a player: "X", "X (you)" if only that player is a person, or "X (machine)".
func (s *Session) Who(p game.Player) string {
	name := player.Who(s.h.Game(), p)
	switch {
	case !s.person(p):
		return name + " (machine)"
	case s.only():
		return name + " (you)"
	}
	return name
}

// State says whose turn it is, or how the game has ended: "X (you) to move. Hint: 3", "you have won after 5 moves".
func (s *Session) State() string {
	turn := s.h.Turn()
	if e, over := s.End(); over {
		return s.text(e)
	}
	text := s.Who(turn) + " to move"
	switch {
	case !s.person(turn) && s.Waits():
		return s.Who(turn) + " is paused"
	case !s.person(turn):
		return s.Who(turn) + " is thinking"
	case s.h.Game().Values().Puzzle:
		text = "your move"
	}
	if s.Hint != "" {
		text += ". Hint: " + s.Hint
	}
	return text
}

// text describes the end.
func (s *Session) text(e End) string {
	after, values := " after "+numfmt.Count(len(s.h.Names()), "move"), s.h.Game().Values()
	switch {
	case e.Reason == referee.Endless:
		return "a draw" + after + ", the limit"
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
	switch {
	case !s.only():
		return player.Who(s.h.Game(), winner) + " has won" + after
	case s.People[winner]:
		return "you have won" + after
	}
	return "you have lost" + after
}
