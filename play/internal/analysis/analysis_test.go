package analysis

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/testing/testbook"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// TestSteps checks that every step ends soon in every game, but not so soon that the screen is
// drawn too often; and that known values stay known.
func TestSteps(t *testing.T) {
	for _, spec := range []string{"connectn width=7 height=6 connect=4", "quickcross width=4 height=4 connect=4", "mancala pits=6 stones=4"} {
		g := solved.Game(t, spec)
		ad := New(g, nil, nil, search.Options{Memory: 4 << 20})
		a, known := ad.Begin(g.Start()), 0
		for range 4 {
			begun := time.Now()
			before := slices.Clone(a.Moves)
			next := ad.Step(t.Context(), a, nil)
			if !slices.Equal(before, a.Moves) {
				t.Errorf("%s: the previous report has changed", spec)
			}
			a = next
			if took := time.Since(begun); took > 30*time.Second || took < reportEvery && !next.Done {
				t.Errorf("%s: a step took %v", spec, took)
			}
			now := 0
			for _, o := range a.Moves {
				if o.Known {
					now++
				}
			}
			if now < known || a.Best < 0 || len(a.Line) == 0 || a.Depth == 0 && !a.Known {
				t.Errorf("%s: %+v", spec, a)
			}
			order := a.Order(g)
			unknown := func(i int) bool { return !a.Moves[i].Known && a.Moves[i].Depth == 0 }
			for _, m := range a.Moves { // evaluations of different depths do not contradict the choice
				if best := a.Moves[a.Best]; a.Depth > 0 && !m.Known && !best.Known && (m.Score > best.Score || best.Score != a.Score) {
					t.Errorf("%s: evaluation %d, best move %s %d, but %s %d", spec, a.Score, best.Name, best.Score, m.Name, m.Score)
				}
			}
			if order[0] != a.Best || a.Moves[a.Best].Name != a.Line[0] || !a.Known && unknown(a.Best) {
				t.Errorf("%s: order %v does not begin with the best line: %+v", spec, order, a)
			}
			for i := range order[1:] {
				if i > 0 && unknown(order[i]) && !unknown(order[i+1]) {
					t.Errorf("%s: order %v: an unknown move is not at the end: %+v", spec, order, a)
				}
			}
			known = now
		}
	}
}

// TestOrder checks the order of moves of all kinds, with and without a best move, and that a best
// move that is proven to lose is replaced.
func TestOrder(t *testing.T) {
	g := solved.Game(t, "connectn width=7 height=6 connect=4")
	score := func(s int) Worth { return Worth{Score: s, Depth: 1} }
	worths := []Worth{{}, score(-3), score(0), {Value: game.NewValue(game.SecondWins, 4), Known: true}, score(7), {Value: game.NewValue(game.Tie, 9), Known: true}, {Value: game.NewValue(game.FirstWins, 3), Known: true}}
	r := New(g, nil, nil, search.Options{}).Begin(g.Start())
	for i := range r.Moves {
		if r.Moves[i].Worth = worths[i]; worths[i].Known {
			r.Moves[i].Child = worths[i].Value - game.NewValue(0, 1)
		}
	}
	if got, want := r.Order(g), []int{6, 4, 2, 5, 1, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r.Best = 1
	if got, want := r.Order(g), []int{1, 6, 4, 2, 5, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	z := New(g, nil, nil, search.Options{})
	r.Moves[6].Worth = score(1)
	if z.conclude(&r, 3); r.Best != 4 || !slices.Equal(r.Line, []string{"4"}) {
		t.Errorf("best %d, line %v, want 4", r.Best, r.Line)
	}
}

// TestSameDepth checks that a deeper search of one move alone does not replace the value of the search
// of the position that chose the best move: the best move has the best evaluation, that of the position.
func TestSameDepth(t *testing.T) {
	g := solved.Game(t, "connectn width=7 height=6 connect=4")
	z := New(g, nil, nil, search.Options{})
	r := z.Begin(g.Start())
	r.Worth = Worth{Score: 11, Depth: 6}
	r.Moves[3].Worth = Worth{Score: 3, Depth: 7}
	r.Moves[5].Worth = Worth{Score: 12, Depth: 7}
	z.conclude(&r, 3)
	if best, other := r.Moves[3].Worth, r.Moves[5].Worth; best != r.Worth || other.Score != 11 || r.Order(g)[0] != 3 {
		t.Errorf("position %+v, best move %+v, another move %+v", r.Worth, best, other)
	}
}

// TestWinningMove checks that a position has the result of a move that is proven to win, before any
// search of the position proves it; that a later search without a proof does not change that, and
// that one with a proof does; and that the winner is known before the length of the win.
func TestWinningMove(t *testing.T) {
	g := solved.Game(t, "connectn width=7 height=6 connect=4")
	z := New(g, nil, nil, search.Options{})
	r := z.Begin(g.Start())
	r.Worth = Worth{Score: 3, Depth: 12}
	r.Moves[3].Worth = r.Worth
	r.Moves[2].know(g.Values(), game.NewValue(game.FirstWins, 8))
	won := Worth{Value: game.NewValue(game.FirstWins, 9), Known: true, Open: true, Score: 3, Depth: 12}
	if z.conclude(&r, 3); r.Worth != won || r.Best != 2 || r.Done {
		t.Errorf("%+v, want %+v and move 2", r, won)
	}
	line := []game.Move{r.Moves[4].Move}
	if r.take(search.Result{Score: -2, Depth: 14, Line: line}) || r.Worth != won {
		t.Errorf("after a search without a proof: %+v", r)
	}
	exact := search.Result{Value: game.NewValue(game.FirstWins, 7), Exact: true, Line: line, Depth: 42}
	if !r.take(exact) {
		t.Error("a proof is not taken")
	}
	if z.conclude(&r, 4); r.Value != exact.Value || !r.Known || r.Open || r.Best != 4 || r.again {
		t.Errorf("after a proof: %+v", r)
	}

	r = z.Begin(g.Start())
	r.take(search.Result{Value: game.NewValue(game.FirstWins, 0), Weak: true, Score: 400, Line: line, Depth: 20})
	if z.conclude(&r, 4); !r.Known || !r.Open || r.Best != 4 || !r.again || r.Done {
		t.Errorf("with a winner: %+v", r)
	}
}

// TestTrue checks that the results of a search equal the table of the game: all
// values, with the number of moves if it is proven, and the best move. It also checks the
// line from the table.
func TestTrue(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "mnk width=3 height=3 connect=3", "mancala pits=2 stones=2", "dodgem size=3", "quickcross width=3 height=2 connect=3"} {
		g := solved.Game(t, spec)
		tab := solved.Table(t, g)
		byTable, bySearch := New(g, tab, nil, search.Options{}), New(g, nil, nil, search.Options{Memory: 4 << 20})
		r := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			walk := gametest.Walk(r, g, r.IntN(20))
			p := walk[len(walk)-1]
			if g.Primitive(p) != 0 {
				continue
			}
			want := byTable.Step(t.Context(), byTable.Begin(p), nil)
			if !want.Done || !want.Known || want.Trouble != "" || want.Moves[want.Best].Name != want.Line[0] || want.Value != want.Moves[want.Best].Value {
				t.Fatalf("%s, %q: %+v", spec, g.AppendText(nil, p), want)
			}
			got := bySearch.Begin(p)
			for i := 0; i < 3 && !got.Done; i++ {
				got = bySearch.Step(t.Context(), got, nil)
				for _, m := range got.Moves {
					if m.Known && ResultOf(g, p, m.Value) == game.Wins && (!got.Known || ResultOf(g, p, got.Value) != game.Wins) {
						t.Errorf("%s, %q: move %s wins, but the position is %+v", spec, g.AppendText(nil, p), m.Name, got.Worth)
					}
				}
			}
			for i, o := range append(got.Moves, Move{Worth: got.Worth}) {
				w := want.Worth
				if i < len(want.Moves) {
					w = want.Moves[i].Worth
				}
				if o.Known && (ResultOf(g, p, o.Value) != ResultOf(g, p, w.Value) || !o.Open && o.Value != w.Value) {
					t.Errorf("%s, %q, %s: %+v, want %+v", spec, g.AppendText(nil, p), o.Name, o, w)
				}
			}
			if best := want.Moves[got.Best]; got.Known && ResultOf(g, p, best.Value) != ResultOf(g, p, want.Value) {
				t.Errorf("%s, %q: best %s, want %s", spec, g.AppendText(nil, p), got.Moves[got.Best].Name, want.Moves[want.Best].Name)
			}
			if _, ok := g.(game.Tiered); ok && !got.Done {
				t.Errorf("%s, %q: it is not done", spec, g.AppendText(nil, p))
			}
		}
	}
}

// TestDrawnLine checks that best play from a drawn position keeps the draw until a position repeats, and that it is
// that of the table.
func TestDrawnLine(t *testing.T) {
	g := solved.Game(t, "quickcross width=4 height=3 connect=3")
	tab := solved.Table(t, g)
	for _, board := range []string{"-.../...|/....", "..../-..|/...."} {
		at := must.Get(g.Parse(board))(t)
		found, seen := must.Get(New(g, tab, nil, search.Options{}).Assess(t.Context(), at, 0))(t), make(map[game.Position]bool)
		for i, name := range found.Line {
			if v, _, err := tab.Lookup(at); err != nil || v != 0 || seen[at] {
				t.Fatalf("%s: %v, move %d: value %v, %v, repeated: %v", board, found.Line, i+1, v, err, seen[at])
			}
			seen[at] = true
			moves := g.Moves(nil, at)
			at = moves[slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == name })].To
		}
		var names []string
		for c := range tab.Line(found.Position) {
			names = append(names, c.Name)
		}
		if !seen[at] || !slices.Equal(names, found.Line) {
			t.Errorf("%s: %v, but no position repeats, or the table has %v", board, found.Line, names)
		}
	}
}

// TestReview checks the judgments of random plays against the tables of the games, with the table
// and with a search.
func TestReview(t *testing.T) {
	for _, spec := range []string{"connectn width=4 height=4 connect=3", "mnk width=3 height=3 connect=3", "mancala pits=2 stones=2", "dodgem size=3", "quickcross width=3 height=2 connect=3"} {
		g := solved.Game(t, spec)
		tab := solved.Table(t, g)
		analyzers := []*Analyzer{New(g, tab, nil, search.Options{})}
		if _, ok := g.(game.Tiered); ok { // a search without a limit ends
			analyzers = append(analyzers, New(g, nil, nil, search.Options{Memory: 4 << 20}))
		}
		random, mistakes := rand.New(rand.NewPCG(1, 2)), 0
		for range 20 {
			h := player.NewHistory(g)
			for moves := h.Moves(); len(moves) > 0 && len(h.Names()) < 20; moves = h.Moves() {
				must.OK(t, h.Play(moves[random.IntN(len(moves))].Name))
			}
			for _, z := range analyzers {
				var reports []Report
				for i := range len(h.Names()) + 1 {
					r := must.Get(z.Assess(t.Context(), h.At(i), 0))(t)
					reports = append(reports, r)
				}
				for i, j := range Review(g, h.Names(), 0, reports) {
					choices := must.Get(tab.Choices(h.At(i)))(t)
					result := func(name string) game.Result {
						at := slices.IndexFunc(choices, func(c table.Choice) bool { return c.Name == name })
						return ResultOf(g, h.At(i), g.Values().Before(choices[at].Value))
					}
					best, got := result(choices[0].Name), result(j.Move)
					if !j.Known() || ResultOf(g, h.At(i), j.Before.Value) != best || ResultOf(g, h.At(i), j.After.Value) != got || j.Mistake != (best != got) {
						t.Fatalf("%s, ply %d of %v: %+v, want %v and %v", spec, i+1, h.Names(), j, best, got)
					}
					if !j.Mistake {
						continue
					}
					mistakes++
					if len(j.Better) == 0 {
						t.Errorf("%s, ply %d of %v: %+v", spec, i+1, h.Names(), j)
					}
					for _, m := range j.Better {
						if result(m.Name) != best {
							t.Errorf("%s, ply %d of %v: %s is not better", spec, i+1, h.Names(), m.Name)
						}
					}
				}
			}
		}
		if mistakes == 0 {
			t.Errorf("%s: random play made no mistake", spec)
		}
	}
}

// TestReviewUnknown checks the review of a mistake if no better move is known.
func TestReviewUnknown(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=3")
	z := New(g, nil, nil, search.Options{})
	reports := []Report{z.Begin(g.Start()), {Worth: Worth{Value: game.NewValue(game.SecondWins, 8), Known: true}}}
	reports[0].Worth = Worth{Value: game.NewValue(game.FirstWins, 9), Known: true}
	j := Review(g, []string{"0"}, 0, reports)[0]
	if got, want := j.Text(g, g.Start()), "0: win in 9 → lose in 9"; !j.Mistake || got != want {
		t.Errorf("%+v, %q, want %q", j, got, want)
	}
}

// TestBook checks that all values of the positions that a book contains come from it at once,
// and are those of the table; and that only the value of the position itself does at the last
// ply, where a search finds the others.
func TestBook(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=4").(game.Tiered)
	tab := solved.Table(t, g)
	const plies = 4
	b := testbook.New(t, g, plies)
	byTable, byBook := New(g, tab, b, search.Options{}), New(g, nil, b, search.Options{Memory: 1 << 20})
	r := rand.New(rand.NewPCG(1, 3))
	for range 40 {
		walk := gametest.Walk(r, g, r.IntN(plies+2))
		p := walk[len(walk)-1]
		ply := g.Tier(p)
		want, got := byTable.Step(t.Context(), byTable.Begin(p), nil), byBook.Begin(p)
		if got.Done != (ply < plies) || got.Book != (ply <= plies) || got.Known != (ply <= plies) || got.Nodes > 0 || want.Book {
			t.Fatalf("%q, ply %d: %+v", g.AppendText(nil, p), ply, got)
		}
		if got.Known && (got.Value != want.Value || got.Open) {
			t.Errorf("%q: %v, want %v", g.AppendText(nil, p), got.Value, want.Value)
		}
		if !got.Done && got.Book {
			first := byBook.Step(t.Context(), got, nil)
			if first.Best < 0 || len(first.Line) == 0 || !first.Known || first.Value != want.Value {
				t.Errorf("%q, first step: %+v", g.AppendText(nil, p), first)
			}
		}
		for !got.Done {
			got = byBook.Step(t.Context(), got, nil)
		}
		if got.Value != want.Value || want.Moves[got.Best].Value != want.Value || got.Moves[got.Best].Name != got.Line[0] {
			t.Errorf("%q: best %d, value %v, line %v, want %d, %v", g.AppendText(nil, p), got.Best, got.Value, got.Line, want.Best, want.Value)
		}
		for i, m := range got.Moves {
			if m.Known && m.Worth != want.Moves[i].Worth {
				t.Errorf("%q, %s: %+v, want %+v", g.AppendText(nil, p), m.Name, m.Worth, want.Moves[i].Worth)
			}
		}
	}
}

// TestInterrupted checks that a search that is interrupted does not replace a deeper one.
func TestInterrupted(t *testing.T) {
	g := solved.Game(t, "mancala pits=6 stones=4")
	z := New(g, nil, nil, search.Options{Memory: 4 << 20})
	deep := z.Begin(g.Start())
	for deep.round < 2 {
		deep = z.Step(t.Context(), deep, nil)
	}
	for deep.next = -1; deep.next < len(deep.Moves)-1; {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		next := z.Step(ctx, deep, nil)
		stop()
		if next.Nodes < deep.Nodes || next.Depth < deep.Depth {
			t.Fatalf("%+v\nafter %+v", next, deep)
		}
		for i, m := range next.Moves {
			if m.Depth < deep.Moves[i].Depth && (i != next.Best || m.Depth != next.Depth) { // the best move has the depth of the position
				t.Errorf("%s: %d plies after %d", m.Name, m.Depth, deep.Moves[i].Depth)
			}
		}
		deep = next
	}
}

// TestProgress checks that a long search reports its work before it ends.
func TestProgress(t *testing.T) {
	g := solved.Game(t, "connectn width=7 height=6 connect=4")
	z := New(g, nil, nil, search.Options{Memory: 4 << 20})
	begun := z.Begin(g.Start())
	begun.round, begun.Nodes, begun.Time = rounds-1, 100, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var reports []Report
	end := z.Step(ctx, begun, func(r Report) {
		if reports = append(reports, r); len(reports) == 2 {
			stop()
		}
	})
	if len(reports) != 2 {
		t.Fatalf("%d reports", len(reports))
	}
	first, second := reports[0], reports[1]
	if first.Nodes <= begun.Nodes || second.Nodes <= first.Nodes || end.Nodes < second.Nodes || second.Time-first.Time > 5*time.Second || end.Time < second.Time {
		t.Errorf("%d in %v, %d in %v, at the end %d in %v", first.Nodes, first.Time, second.Nodes, second.Time, end.Nodes, end.Time)
	}
	if first.Known || first.Depth != 0 || !slices.Equal(first.Moves, begun.Moves) {
		t.Errorf("%+v", first)
	}
}

// TestShort checks the short forms of values and evaluations.
func TestShort(t *testing.T) {
	g := solved.Game(t, "mnk width=3 height=3 connect=3")
	for _, test := range []struct {
		worth Worth
		want  string
	}{
		{Worth{}, "?"}, {Worth{Depth: 2, Score: 12}, "+12"}, {Worth{Depth: 2}, "0"}, {Worth{Depth: 2, Score: -8}, "-8"},
		{Worth{Known: true, Value: game.NewValue(game.FirstWins, 9)}, "W9"}, {Worth{Known: true, Value: game.NewValue(game.SecondWins, 4)}, "L4"},
		{Worth{Known: true, Open: true, Value: game.NewValue(game.Tie, 20)}, "T"}, {Worth{Known: true}, "D"},
	} {
		if got := test.worth.Short(g, g.Start()); got != test.want {
			t.Errorf("%+v: %q, want %q", test.worth, got, test.want)
		}
	}
}

// TestSummary counts the moves that keep the result of positions of Connect 3 on 3×3, and says nothing if a value is not known.
func TestSummary(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3")
	z := New(g, solved.Table(t, g), nil, search.Options{})
	for moves, want := range map[string]string{
		"": "3 of 3 moves keep the tie.", "0": "Only one move keeps the tie.", "0 1 0 1": "Only one move keeps the win.", "0 1 0": "Every move loses.", "0 0 0 1 1 2 2 2": "The only move.",
	} {
		h := player.NewHistory(g)
		for _, name := range strings.Fields(moves) {
			must.OK(t, h.Play(name))
		}
		r := must.Get(z.Assess(t.Context(), h.Position(), 0))(t)
		if got := r.Summary(g); got != want {
			t.Errorf("after %s: %q, want %q", moves, got, want)
		}
		if r.Moves[0].Known = false; r.Summary(g) != "" {
			t.Errorf("after %s, without a value: %q", moves, r.Summary(g))
		}
	}
}
