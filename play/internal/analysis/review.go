package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
)

// Assess returns the report of a position: from the table, the opening book, or by one search with a time limit,
// which finds the value or an evaluation of the position, and its best move. The position may be
// finished. It is an error if ctx ends.
func (z *Analyzer) Assess(ctx context.Context, p game.Position, limit time.Duration) (Report, error) {
	z.working.Lock()
	defer z.working.Unlock()
	r := z.Begin(p)
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	if r.Done { // at the end of a game, or from the opening book
		return r, nil
	}
	if r.Table {
		return r, z.lookUp(ctx, &r)
	}
	if err := z.prepare(); err != nil {
		return r, err
	}
	s, err := z.searcher.Search(ctx, p, search.Limit{Time: limit})
	if err != nil {
		return r, err
	}
	r.take(s)
	r.Best = r.index(s.Line[0].Name)
	return r, context.Cause(ctx)
}

// JudgeTime is the usual limit of Judge.
const JudgeTime = 300 * time.Millisecond

// Judge reviews the moves of a play, of which the first ones were given, by what Assess finds of each position within
// limit. It begins with the last one, because the search keeps what it finds in later positions for earlier ones.
func (z *Analyzer) Judge(ctx context.Context, h *player.History, given int, limit time.Duration) ([]Judgment, error) {
	reports := make([]Report, len(h.Positions()))
	for i, p := range slices.Backward(h.Positions()) {
		var err error
		if reports[i], err = z.Assess(ctx, p, limit); err != nil {
			return nil, err
		}
	}
	return Review(h.Game(), h.Names(), given, reports), nil
}

// A Judgment is a move of a play and what it led to.
type Judgment struct {
	Move          string
	Before, After Worth // of the position before the move, and of that position if the move is made
	Mistake       bool
	Better        []Move // moves that keep the result, the best first, if the move is a Mistake; empty if none is known
	Then, Instead Line   // best play after a Mistake, and in its place
}

// Known reports whether the move can be judged.
func (j Judgment) Known() bool { return j.Before.Known && j.After.Known }

// A Tally has the numbers of the moves of a player, of those that are mistakes, and of those that are not judged.
type Tally struct{ Moves, Mistakes, Unknown int }

// Tallies counts the moves of each player that were not given.
func Tallies(h *player.History, judgments []Judgment, given int) (of [2]Tally) {
	for i, j := range judgments[min(given, len(judgments)):] {
		t := &of[h.Mover(given+i)]
		t.Moves++
		if j.Mistake {
			t.Mistakes++
		}
		if !j.Known() {
			t.Unknown++
		}
	}
	return of
}

// String returns a Tally in words: "5 moves, 1 mistake".
func (t Tally) String() string {
	text := numfmt.Count(t.Moves, "move") + ", " + numfmt.Count(t.Mistakes, "mistake")
	if t.Unknown > 0 {
		text += ", " + numfmt.Count(t.Unknown, "move") + " not judged: no value is proven"
	}
	return text
}

// Text describes a Mistake at p: "3: win in 11 → lose in 4, then 4 threatens 5 and 2; better: 2 (win in 11)".
func (j Judgment) Text(g game.Game, p game.Position) string {
	text := fmt.Sprintf("%s: %s → %s%s", j.Move, j.Before.Text(g, p), j.After.Text(g, p), j.Then.then())
	var better []string
	for _, m := range j.Better {
		better = append(better, fmt.Sprintf("%s (%s)", m.Name, m.Worth.Text(g, p)))
	}
	if len(better) > 0 {
		text += "; better: " + strings.Join(better, ", ")
	}
	return text
}

// Text returns a value for the player to move at p: "win in 9", or "?" if it is not known.
func (w Worth) Text(g game.Game, p game.Position) string {
	if !w.Known {
		return "?"
	}
	return w.in(notation.ValueOf(g, p, w.Value).Word())
}

// does returns the value of a move at p as what it does: "wins in 9".
func (w Worth) does(g game.Game, p game.Position) string {
	return w.in(notation.ValueOf(g, p, w.Value).Does())
}

// in returns a word for a result with the remoteness, if that is known: "win in 9".
func (w Worth) in(word string) string {
	if w.Open || !w.Value.Valid() {
		return word
	}
	return fmt.Sprintf("%s in %d", word, w.Value.Remoteness())
}

// Estimate describes an evaluation, with the names of the player to move and of the other one: "3 points for X", or "even".
func (w Worth) Estimate(mover, other string) string {
	switch {
	case w.Score > 0:
		return numfmt.Count(w.Score, "point") + " for " + mover
	case w.Score < 0:
		return numfmt.Count(-w.Score, "point") + " for " + other
	}
	return "even"
}

// Short is the short form of Text: W, L, T or D, and the remoteness, "W9"; or the evaluation, "+12".
func (w Worth) Short(g game.Game, p game.Position) string {
	switch {
	case !w.Known && w.Depth == 0:
		return "?"
	case !w.Known && w.Score > 0:
		return fmt.Sprintf("+%d", w.Score)
	case !w.Known:
		return fmt.Sprint(w.Score)
	}
	text := ResultOf(g, p, w.Value).String()[:1]
	if w.Open || !w.Value.Valid() {
		return text
	}
	return text + fmt.Sprint(w.Value.Remoteness())
}

// Keep returns the indices of the moves that keep the result; known is false if not all values are known.
func (r Report) Keep(g game.Game) (moves []int, known bool) {
	for i, m := range r.Moves {
		if !m.Known || !r.Known {
			return nil, false
		}
		if ResultOf(g, r.Position, m.Value) == ResultOf(g, r.Position, r.Value) {
			moves = append(moves, i)
		}
	}
	return moves, true
}

// Summary tells how many moves of a report keep the result; "" if not all values are known.
func (r Report) Summary(g game.Game) string {
	keep, known := r.Keep(g)
	if !known {
		return ""
	}
	word := notation.ValueOf(g, r.Position, r.Value).Word()
	switch {
	case len(r.Moves) == 1:
		return "The only move."
	case ResultOf(g, r.Position, r.Value) == game.Loses:
		return "Every move loses."
	case len(keep) == 1:
		return "Only one move keeps the " + word + "."
	}
	return fmt.Sprintf("%d of %d moves keep the %s.", len(keep), len(r.Moves), word)
}

// Review judges the moves of a play of g. The first ones, as many as given, were not chosen by a player: none
// is a Mistake. reports are those of the positions of the play, the last one included.
func Review(g game.Game, moves []string, given int, reports []Report) []Judgment {
	judgments := make([]Judgment, len(moves))
	for i, name := range moves {
		r, j := reports[i], Judgment{Move: name, Before: reports[i].Worth, After: reports[i+1].Worth}
		if j.After.Known {
			j.After.Value = g.Values().Before(j.After.Value)
			if !j.Before.Known && ResultOf(g, r.Position, j.After.Value) == game.Wins {
				j.Before = j.After
				j.Before.Open = true // there may be a shorter win
			}
		}
		if j.Mistake = i >= given && IsMistake(g, r.Position, j.Before, reports[i+1].Worth); j.Mistake {
			had := ResultOf(g, r.Position, j.Before.Value)
			for _, k := range r.Order(g) {
				if m := r.Moves[k]; m.Known && ResultOf(g, r.Position, m.Value) == had {
					j.Better = append(j.Better, m)
				}
			}
			j.Then = reports[i+1].Explain(g)
			if len(j.Better) == 0 && r.Best >= 0 {
				best := r.Moves[r.Best]
				best.Worth = j.Before
				j.Better = []Move{best}
			}
			if len(j.Better) > 0 && len(r.Line) > 0 && r.Line[0] == j.Better[0].Name {
				j.Instead = r.Explain(g)
			}
		}
		judgments[i] = j
	}
	return judgments
}
