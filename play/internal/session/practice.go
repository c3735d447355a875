package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
)

// Capital returns a text with a capital at its beginning, unless it is a single letter.
func Capital(text string) string {
	if len(text) < 2 {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Judged counts the moves of each player, and the mistakes, and names the turning point, or without mistakes the first move that
// is known to lose: "X: 5 moves, 1 mistake. O: 4 moves, 0 mistakes. The turning point was move 7, X 3: it loses in 12; 2 was best
// and wins in 9."
func Judged(h *player.History, judgments []analysis.Judgment) string {
	if len(judgments) == 0 {
		return "No move is made yet."
	}
	text, tallies := "", analysis.Tallies(h, judgments, 0)
	who := func(p game.Player) string { return player.Who(h.Game(), p) }
	for p, t := range tallies {
		text += fmt.Sprintf("%s: %v. ", Capital(who(game.Player(p))), t)
	}
	if tallies[0].Mistakes+tallies[1].Mistakes > 0 {
		text += analysis.TurningPoint(h, judgments, who)
	} else {
		text += analysis.FirstLost(h, judgments, who)
	}
	return strings.TrimSpace(text)
}

// Mistake describes a move of h, after that many others, which is a mistake: "X played 3: win in 9 → lose in 12".
func Mistake(h *player.History, at int, j analysis.Judgment) string {
	return fmt.Sprintf("%s played %s", Capital(player.Who(h.Game(), h.Mover(at))), j.Text(h.Game(), h.At(at)))
}

// Mistakes describes the mistakes of a play, each with the number of its move: "move 3: X played 3: win in 9 → lose in 12".
func Mistakes(h *player.History, judgments []analysis.Judgment) (all []string) {
	for i, j := range judgments {
		if j.Mistake {
			all = append(all, fmt.Sprintf("move %d: %s", i+1, Mistake(h, i, j)))
		}
	}
	return all
}

// A Practice lets people look for better moves where a play has mistakes: in one position after the other.
type Practice struct {
	Plies []int         `json:"plies"` // the numbers of moves before the mistakes
	Had   []game.Result `json:"had"`   // what the player had before each
	At    int           `json:"at"`    // the index of the current mistake; their number after the last one
	Found int           `json:"found"` // the mistakes at which the first try was right
	Tries []string      `json:"tries"` // the moves that were tried at the current mistake
	Back  int           `json:"back"`  // the number of moves that were made before the practice
}

// Practise begins an analysis and, in it, a practice of the mistakes of the only person, or of both sides.
func (s *Session) Practise(judgments []analysis.Judgment) error {
	p := &Practice{Back: len(s.h.Names())}
	whole := s.Whole()
	for i, j := range judgments {
		if j.Mistake && s.Practises(whole.Mover(i)) {
			p.Plies, p.Had = append(p.Plies, i), append(p.Had, analysis.ResultOf(s.h.Game(), whole.At(i), j.Before.Value))
		}
	}
	if len(p.Plies) == 0 {
		return errors.New("practise: no mistake of yours is known")
	}
	s.Analyse(true)
	s.Practice = p
	s.Go(p.Plies[0])
	return nil
}

// Practises reports whether a practice asks for the mistakes of a player.
func (s *Session) Practises(p game.Player) bool { return s.Persons() != 1 || s.People[p] }

// Check returns an error if a play with this number of moves cannot have the practice.
func (p *Practice) Check(moves int) error {
	if p != nil && len(p.Plies) > 0 && len(p.Had) == len(p.Plies) && p.At >= 0 && p.At <= len(p.Plies) &&
		slices.Min(p.Plies) >= 0 && slices.Max(p.Plies) < moves && slices.Max(p.Had) <= game.Ties {
		return nil
	}
	return errors.New("practice: it does not belong to this play")
}

// Over reports whether there is no further mistake.
func (p *Practice) Over() bool { return p.At == len(p.Plies) }

// try tries a move at the current mistake.
func (s *Session) try(name string) error {
	if s.Practice.Over() {
		return errors.New("the practice is over")
	}
	if err := s.h.Clone().Play(name); err != nil {
		return err
	}
	s.Practice.Tries = append(slices.Clone(s.Practice.Tries), name)
	return nil
}

// right returns what is known of a move that was tried, by a report of the position, and whether it keeps the result.
func (s *Session) right(name string, r analysis.Report) (w analysis.Worth, right bool) {
	for _, m := range r.Moves {
		if m.Name == name && m.Known {
			kept := analysis.ResultOf(s.h.Game(), r.Position, m.Value)
			return m.Worth, !analysis.Worse(kept, s.Practice.Had[s.Practice.At])
		}
	}
	return w, false
}

// Right reports whether the last move that was tried keeps the result.
func (s *Session) Right(r analysis.Report) bool {
	tries := s.Practice.Tries
	if len(tries) == 0 || s.Practice.Over() {
		return false
	}
	_, right := s.right(tries[len(tries)-1], r)
	return right
}

// Shows reports whether people see the values of a report: in an analysis, and in a practice after the right move. A person in
// the middle of a game does not see them.
func (s *Session) Shows(r analysis.Report) bool {
	return s.Analysing && (s.Practice == nil || s.Right(r))
}

// Next goes to the next mistake, or after the last one to where the practice began. r is what is known of the position.
func (s *Session) Next(r analysis.Report) {
	p := s.Practice
	if p.Over() {
		return
	}
	if len(p.Tries) > 0 {
		if _, right := s.right(p.Tries[0], r); right {
			p.Found++
		}
	}
	p.At, p.Tries = p.At+1, nil
	to := p.Back
	if !p.Over() {
		to = p.Plies[p.At]
	}
	s.Go(to)
}

// stop ends a practice, where it began.
func (s *Session) stop() {
	if p := s.Practice; p != nil {
		s.Practice = nil
		s.Go(p.Back)
	}
}

// Asked says what a practice asks for and what the last try leads to, or at the end how many mistakes were put right.
func (s *Session) Asked(r analysis.Report) (task, verdict string) {
	p, g := s.Practice, s.h.Game()
	if p.Over() {
		return fmt.Sprintf("%d of %d found at the first try.", p.Found, len(p.Plies)), ""
	}
	task = fmt.Sprintf("Mistake %d of %d. Find a move %s.", p.At+1, len(p.Plies), s.goal(r))
	if len(p.Tries) == 0 {
		return task, ""
	}
	last := len(p.Tries) - 1
	name, again := p.Tries[last], ""
	if slices.Contains(p.Tries[:last], name) { // the words differ, so that a screen reader says them again
		again = fmt.Sprintf(", try %d", last+1)
	}
	switch w, right := s.right(name, r); {
	case !w.Known:
		verdict = fmt.Sprintf("%s%s: its value is not known yet.", name, again)
	case right:
		verdict = fmt.Sprintf("%s is right%s: %s.", name, again, w.Text(g, r.Position))
	default:
		verdict = fmt.Sprintf("%s is wrong%s: %s. Try another move.", name, again, w.Text(g, r.Position))
	}
	return task, verdict
}

// goal describes the moves that a practice asks for.
func (s *Session) goal(r analysis.Report) string {
	g, had := s.h.Game(), s.Practice.Had[s.Practice.At]
	draws := slices.ContainsFunc(r.Moves, func(m analysis.Move) bool { return m.Known && analysis.ResultOf(g, r.Position, m.Value) == game.Draws })
	does := "does not lose"
	switch {
	case g.Values().Puzzle:
		return "that keeps the puzzle solvable"
	case had == game.Wins:
		does = "still wins"
	case had == game.Ties && draws:
		does = "still ties"
	}
	return fmt.Sprintf("with which %s %s", player.Who(g, s.h.Turn()), does)
}
