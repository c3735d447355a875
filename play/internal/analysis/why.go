package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
)

// Threats returns the names of the moves by which the player who is not to move at p would win at once if it were his
// turn; one of those that put his pieces on the same squares. In a game that is not an Arranger, or if p with the other
// player to move is no position, a move of both players counts that wins after every other reply.
func Threats(g game.Game, p game.Position) (names []string) {
	if g.Primitive(p) != 0 {
		return nil
	}
	if passed, ok := pass(g, p); ok {
		var seen []string
		for _, m := range wins(g, passed) {
			if own := piecesOf(g.Picture(m.To), g.ToMove(passed)); own == "" || !slices.Contains(seen, own) {
				names, seen = append(names, m.Name), append(seen, own)
			}
		}
		return names
	}
	replies := g.Moves(nil, p)
	after := make(map[string][]game.Move) // the moves that win after each reply that does not end the game
	for _, m := range replies {
		if g.Primitive(m.To) != 0 {
			continue
		}
		after[m.Name] = nil
		if g.Values().OfMover || g.ToMove(m.To) != g.ToMove(p) {
			after[m.Name] = wins(g, m.To)
		}
	}
	for _, m := range replies {
		others, won := 0, 0
		for reply, moves := range after {
			if reply != m.Name {
				others++
				if slices.ContainsFunc(moves, func(o game.Move) bool { return o.Name == m.Name }) {
					won++
				}
			}
		}
		if won > 0 && won == others {
			names = append(names, m.Name)
		}
	}
	return names
}

// pass returns the position with the other player to move; ok is false if there is none.
func pass(g game.Game, p game.Position) (passed game.Position, ok bool) {
	if _, ok := g.(game.Arranger); !ok {
		return 0, false
	}
	var squares [][]string
	for _, row := range g.Picture(p).Rows {
		var texts []string
		for _, s := range row {
			texts = append(texts, s.Text)
		}
		squares = append(squares, texts)
	}
	passed, err := game.Arrange(g, squares, g.ToMove(p).Other())
	return passed, err == nil
}

// wins returns the moves with which the player to move at p wins at once.
func wins(g game.Game, p game.Position) (moves []game.Move) {
	values := g.Values()
	for _, m := range g.Moves(nil, p) {
		if v := values.Ended(g.Primitive(m.To), g.ToMove(m.To)); v != 0 && ResultOf(g, p, values.Before(v)) == game.Wins {
			moves = append(moves, m)
		}
	}
	return moves
}

// piecesOf returns the squares of a player and what is on them, as text.
func piecesOf(pic game.Picture, p game.Player) (text string) {
	for y, row := range pic.Rows {
		for x, s := range row {
			if s.Owner == game.OwnedBy(p) {
				text += fmt.Sprint(x, " ", y, " ", s.Text, " ")
			}
		}
	}
	return text
}

// A Line is best play from a position and, if a player wins, what that player threatens.
type Line struct {
	Moves   []string
	After   int      // the number of Moves after which the winner threatens Threats
	Threats []string // see Threats

	soon   bool   // the loser has no other move than the one after the threats, and it is among the first of Moves
	winner string // the name of that player
}

// Explain returns the best play of a report. The threats are those before the last move of the player who loses or, if
// that is not soon or not known, before the first.
func (r Report) Explain(g game.Game) Line {
	l, h := Line{Moves: r.Line}, player.NewHistoryFrom(g, r.Position)
	for _, name := range l.Moves {
		if h.Play(name) != nil {
			return l
		}
	}
	winner, last := h.Mover(0), len(l.Moves)-2
	switch result := ResultOf(g, r.Position, r.Value); {
	case result == game.Loses:
		winner = winner.Other()
	case result != game.Wins:
		return l
	}
	loses := func(ply int) bool { return ply >= 0 && ply < len(h.Positions()) && h.Mover(ply) != winner }
	l.winner = player.Who(g, winner)
	_, over := h.Finished()
	if l.soon = over && last <= maxShown && loses(last); l.soon {
		l.After = last
	} else if !loses(0) {
		l.After = 1
	}
	if loses(l.After) {
		l.Threats = Threats(g, h.At(l.After))
	}
	return l
}

// Why returns the threats of Explain with the player as text for readers who see best play: "after 3 1 2, X threatens 0 and 1"; "" if
// there are none.
func (r Report) Why(g game.Game) string {
	l := r.Explain(g)
	return l.threats(l.winner)
}

// Limits of Line.String.
const (
	maxShown   = 6 // moves
	maxThreats = 4
)

// String returns the beginning of a line with the threats: "3 1 2 threatens 0 and 1", "3 1 2 4 1 0 … (3 threatens 1)" or, if
// they are before the line, "X threatens 0 and 1".
func (l Line) String() string {
	threats := l.threats("")
	if l.soon && threats != "" {
		return threats
	}
	text := strings.Join(l.Moves[:min(len(l.Moves), maxShown)], " ")
	if len(l.Moves) > maxShown {
		text += " …"
	}
	if threats != "" {
		text += " (" + threats + ")"
	}
	return text
}

// threats returns the threats after the moves that lead to them: "3 1 2 threatens 0 and 1", or with a name "after 3 1 2, X threatens 0
// and 1"; "" if there are none.
func (l Line) threats(name string) string {
	if len(l.Threats) == 0 {
		return ""
	}
	names, end, by := l.Threats, "", l.winner
	if more := len(names) - maxThreats; more > 0 {
		names, end = names[:maxThreats], fmt.Sprintf(" and %d more", more)
	} else if n := len(names) - 1; n > 0 {
		names, end = names[:n], " and "+names[n]
	}
	if l.After > 0 {
		by = strings.Join(l.Moves[:l.After], " ")
		if name != "" {
			by = "after " + by + ", " + name
		}
	}
	return by + " threatens " + strings.Join(names, ", ") + end
}

// then returns the line as what follows a value: ", then 3 1 2 threatens 0 and 1".
func (l Line) then() string {
	if text := l.String(); text != "" {
		return ", then " + text
	}
	return ""
}

// FirstLost describes how a play without mistakes is lost: from the start, and by which move most was lost of its length, or by the
// first move that is known to lose where it is not known whether another one is better; "" if it is not. who names a player.
func FirstLost(h *player.History, judgments []Judgment, who func(game.Player) string) string {
	if !slices.ContainsFunc(judgments, func(j Judgment) bool { return j.Mistake || !j.Known() }) {
		return lostFromStart(h, judgments, who)
	}
	for i, j := range judgments {
		if p := h.At(i); !j.Before.Known && j.After.Known && ResultOf(h.Game(), p, j.After.Value) == game.Loses {
			return fmt.Sprintf("Move %d, %s %s, is the first that is known to lose: it %s. Whether another move was better is not known.",
				i+1, who(h.Mover(i)), j.Move, j.After.does(h.Game(), p))
		}
	}
	return ""
}

// lostFromStart is FirstLost of a play whose moves all keep the result.
func lostFromStart(h *player.History, judgments []Judgment, who func(game.Player) string) string {
	g, text, worst, most := h.Game(), "", 0, 0
	for i, j := range judgments {
		if g.Values().Puzzle || ResultOf(g, h.At(i), j.Before.Value) != game.Loses {
			continue
		}
		text = fmt.Sprintf("The start is lost for %s, in %d moves.", who(h.Mover(i)), judgments[0].Before.Value.Remoteness())
		if by := j.Before.Value.Remoteness() - j.After.Value.Remoteness(); by > most {
			worst, most = i, by
		}
	}
	if most > 0 {
		j := judgments[worst]
		text += fmt.Sprintf(" Move %d, %s %s, shortened that most: it %s in place of %d.", worst+1, who(h.Mover(worst)), j.Move, j.After.does(g, h.At(worst)), j.Before.Value.Remoteness())
	}
	return text
}

// TurningPoint describes the last mistake of a play, after which no move changed the result. who names a player.
func TurningPoint(h *player.History, judgments []Judgment, who func(game.Player) string) string {
	last, mistakes, judged := -1, 0, true
	for i, j := range judgments {
		if j.Mistake {
			last, judged = i, true
			mistakes++
		}
		judged = judged && j.Known()
	}
	switch {
	case last < 0 && judged:
		return strings.TrimSpace("No move was a mistake. " + FirstLost(h, judgments, who))
	case last < 0:
		return strings.TrimSpace("No move is known to be a mistake. " + FirstLost(h, judgments, who))
	}
	g, p, j := h.Game(), h.At(last), judgments[last]
	text := "The turning point"
	if !judged {
		text = "The last known mistake"
	}
	text += fmt.Sprintf(" was move %d, %s %s", last+1, who(h.Mover(last)), j.Move)
	if mistakes > 1 {
		text += fmt.Sprintf(", the last of %d mistakes", mistakes)
	}
	text += ": it " + j.After.does(g, p) + j.Then.then()
	if len(j.Better) > 0 {
		text += "; " + j.Better[0].Name + " was best and " + j.Better[0].does(g, p)
		if len(j.Instead.Moves) > 1 {
			text += " (" + j.Instead.String() + ")"
		}
	}
	return text + "."
}
