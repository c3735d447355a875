package accuracy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/accuracy"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

const board = "connectn width=4 height=4 connect=3"

// texts returns the moves of histories.
func texts(histories []*player.History) (all []string) {
	for _, h := range histories {
		all = append(all, fmt.Sprint(h.Names()))
	}
	return all
}

// checkDrawn checks that the positions are different, unfinished, and have a choice of moves.
func checkDrawn(t *testing.T, histories []*player.History) {
	t.Helper()
	seen := make(map[game.Position]bool)
	for _, h := range histories {
		p := h.Position()
		if _, over := h.Finished(); over || seen[p] || len(h.Moves()) < 2 {
			t.Errorf("%v: finished %v, drawn before %v, %d moves", h.Names(), over, seen[p], len(h.Moves()))
		}
		seen[p] = true
	}
}

// TestFromGames checks the positions drawn from random games, of games of all methods.
func TestFromGames(t *testing.T) {
	for _, spec := range []string{board, "mancala pits=3 stones=2", "quickcross width=3 height=3 connect=3", "network"} {
		g := solved.Game(t, spec)
		drawn, same := accuracy.FromGames(g, 50, 1), accuracy.FromGames(g, 50, 1)
		checkDrawn(t, drawn)
		if len(drawn) != 50 || fmt.Sprint(texts(drawn)) != fmt.Sprint(texts(same)) {
			t.Errorf("%s: %v, then %v", spec, texts(drawn), texts(same))
		}
	}
	if drawn := accuracy.FromGames(solved.Game(t, "connectn width=2 height=2 connect=2"), 1000, 1); len(drawn) != 5 {
		t.Errorf("%v, expected all positions with two moves", texts(drawn))
	}
}

// TestInterval compares intervals with those of the R function prop.test without correction.
func TestInterval(t *testing.T) {
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{{8, 10, 0.4902, 0.9433}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {500, 1000, 0.4691, 0.5309}} {
		if low, high := accuracy.Interval(test.k, test.n); math.Abs(low-test.low) > 5e-5 || math.Abs(high-test.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f-%.4f, expected %.4f-%.4f", test.k, test.n, low, high, test.low, test.high)
		}
	}
}

// TestGroups checks the plies of groups.
func TestGroups(t *testing.T) {
	for plies, want := range map[int]string{8: "1-1 8", 9: "1-2 5", 16: "1-2 8", 17: "1-5 4", 42: "1-10 5", 1000: "1-200 5"} {
		var r accuracy.Result
		for range plies {
			r.Plies = append(r.Plies, accuracy.Group{Moves: 2, Kept: 1})
		}
		groups := r.Groups()
		total := 0
		for _, g := range groups {
			total += g.Kept
		}
		if got := fmt.Sprintf("%d-%d %d", groups[0].First, groups[0].Last, len(groups)); got != want || total != plies {
			t.Errorf("%d plies: %s, expected %s; %d of the moves", plies, got, want, total)
		}
	}
}

// A chooser is a player that chooses a move by a function.
type chooser func(h *player.History) (string, error)

func (c chooser) Move(_ context.Context, h *player.History, _ time.Duration) (string, error) {
	return c(h)
}
func (chooser) Close() error { return nil }

// examine returns the result of a player at positions of the game; it is judged by a table, or without one by a
// search.
func examine(t *testing.T, g game.Game, tab *table.Table, p player.Player, drawn []*player.History) accuracy.Result {
	t.Helper()
	x := accuracy.Exam{
		Entrant:  referee.Entrant{Name: "P", New: func(context.Context) (player.Player, error) { return p, nil }},
		Analyzer: analysis.New(g, tab, nil, search.Options{Memory: 4 << 20}), Limit: time.Minute,
		Fault: func(referee.Played) {}, Report: func(int) {},
	}
	return must.Get(x.Run(t.Context(), drawn))(t)
}

// TestExam compares the counts with those of the values of a table, and the judge that searches with the one that
// has a table.
func TestExam(t *testing.T) {
	g := solved.Game(t, board)
	tab := solved.Table(t, g)
	drawn := accuracy.FromGames(g, 300, 1)
	byTable := examine(t, g, tab, player.NewRandom(1), drawn)
	bySearch := examine(t, g, nil, player.NewRandom(1), drawn)
	byTable.Time, bySearch.Time = 0, 0
	if fmt.Sprint(byTable) != fmt.Sprint(bySearch) || byTable.Unjudged() != 0 {
		t.Errorf("by table %+v, by search %+v", byTable, bySearch)
	}
	best := chooser(func(h *player.History) (string, error) {
		choices, err := tab.Choices(h.Position())
		return choices[0].Name, err
	})
	if r := examine(t, g, tab, best, drawn).Total(); r.Moves != 300 || r.Kept != 300 || r.Best != 300 || r.Lost != 0 {
		t.Errorf("the table: %+v", r)
	}

	// The worst moves keep the result only if all moves do, and lose the difference of the points.
	worst := chooser(func(h *player.History) (string, error) {
		choices, err := tab.Choices(h.Position())
		return choices[len(choices)-1].Name, err
	})
	kept, equal, lost := 0, 0, 0.0
	points := map[game.Result]float64{game.Wins: 1, game.Ties: 0.5}
	for _, h := range drawn {
		choices := must.Get(tab.Choices(h.Position()))(t)
		first, last := choices[0].Value, choices[len(choices)-1].Value
		if first.Outcome() == last.Outcome() {
			kept++
		}
		if first == last {
			equal++
		}
		lost += points[first.Outcome().For(h.Turn())] - points[last.Outcome().For(h.Turn())]
	}
	if r := examine(t, g, tab, worst, drawn).Total(); r.Kept != kept || r.Best != equal || r.Lost != lost || kept == 300 || equal == kept {
		t.Errorf("the worst moves: %+v, expected %d kept, %d best, %v lost", r, kept, equal, lost)
	}
}

// TestExamFaults checks that faults lose all points, and that positions without a proven value are not judged.
func TestExamFaults(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3")
	tab := solved.Table(t, g)
	start := []*player.History{player.NewHistory(g)} // a tie
	for _, err := range []error{errors.New("no move"), player.ErrResigned, nil} {
		r := examine(t, g, tab, chooser(func(*player.History) (string, error) { return "9", err }), start)
		if total := r.Total(); r.Faults != 1 || total.Moves != 1 || total.Kept != 0 || total.Best != 0 || total.Lost != 0.5 {
			t.Errorf("%v: %+v", err, r)
		}
	}
	made, asked, answers := 0, 0, []string{"1", "7", "2"}
	x := accuracy.Exam{
		Entrant: referee.Entrant{Name: "A", New: func(context.Context) (player.Player, error) {
			if made++; made > 2 {
				return nil, errors.New("no more")
			}
			return chooser(func(*player.History) (string, error) {
				asked++
				return answers[(asked-1)%3], nil
			}), nil
		}},
		Analyzer: analysis.New(g, tab, nil, search.Options{}), Report: func(int) {},
	}
	var faults []string
	x.Fault = func(p referee.Played) { faults = append(faults, p.Message) }
	// After a fault, the entrant makes a new player, until it cannot make one any more.
	r, err := x.Run(t.Context(), slices.Repeat(start, 6))
	if want := `[expected one of 0 1 2, found "7" expected one of 0 1 2, found "7" no more]`; err != nil || made != 3 || asked != 5 || fmt.Sprint(faults) != want || r.Asked != 6 {
		t.Errorf("%d made, %d asked, %q, %v, %+v", made, asked, faults, err, r)
	}
	// The player may leave, and the exam be stopped.
	ctx, cancel := context.WithCancel(t.Context())
	for want, p := range map[error]player.Player{player.ErrLeft: chooser(func(*player.History) (string, error) { return "", player.ErrLeft }),
		context.Canceled: chooser(func(*player.History) (string, error) { cancel(); return "1", nil })} {
		x.Entrant.New = func(context.Context) (player.Player, error) { return p, nil }
		if r, err := x.Run(ctx, start); err != want || r.Positions != 0 || r.Faults != 0 {
			t.Errorf("%v, want %v, %+v", err, want, r)
		}
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
	}
	large := solved.Game(t, "connectn width=8 height=7 connect=4")
	x = accuracy.Exam{
		Analyzer: analysis.New(large, nil, nil, search.Options{Memory: 1 << 20}), Limit: time.Millisecond, Report: func(int) {},
	}
	if r := must.Get(x.Run(t.Context(), []*player.History{player.NewHistory(large)}))(t); r.Unjudged() != 1 || r.Asked != 0 {
		t.Errorf("a position without a proven value: %+v", r)
	}
}
