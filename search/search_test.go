package search

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/quixo"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// parse makes one of our games from its spec.
func parse(t testing.TB, spec string) game.Game {
	t.Helper()
	return must.Get(all.Kinds().Parse(spec))(t)
}

// board returns the spec of a board of Connect N.
func board(width, height, connect int) string {
	return fmt.Sprintf("connectn width=%d height=%d connect=%d", width, height, connect)
}

func newSearcher(t testing.TB, g game.Game, o Options) *Searcher {
	t.Helper()
	return must.Get(New(g, o))(t)
}

// solved searches a position, whose value must be proven.
func solved(t testing.TB, s *Searcher, p game.Position, l Limit) Result {
	t.Helper()
	r, err := s.Search(context.Background(), p, l)
	if err != nil || !r.Exact {
		t.Fatalf("%s: %q: exact: %v, error %v", s.g.Spec(), s.g.AppendText(nil, p), r.Exact, err)
	}
	return r
}

// TestTies checks that the length of a tie is returned only if it is proven: for ties
// before the last tier that players delay, and for those that they take soon. If play
// always lasts to the last tier, the length is proven.
func TestTies(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	early, proven := map[bool]int{}, 0
	for range 200 {
		g := testgames.RandomAcyclic(r, 60)
		values := gametest.Search(g)
		s := newSearcher(t, g, small[0])
		for _, p := range slices.Sorted(maps.Keys(values)) {
			want := values[p]
			if want.Outcome() != game.Tie || g.Primitive(p) != 0 {
				continue
			}
			if want.Remoteness() < g.Tiers()-g.Tier(p) {
				early[g.Values().TiesSoon]++
			}
			r := solved(t, s, p, Limit{})
			if r.Value.Outcome() != game.Tie || !r.Weak && r.Value != want {
				t.Fatalf("%s, %+v: %q is %s, found %s (weak: %v)", g.Spec(), g.Values(), g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(r.Value), r.Weak)
			}
			if !r.Weak {
				proven++
			} else if !g.Values().TiesSoon && want.Remoteness() == g.Tiers()-g.Tier(p) && len(r.Line) == want.Remoteness() {
				t.Errorf("%s: %q: a tie of all moves that are left is not proven", g.Spec(), g.AppendText(nil, p))
			}
		}
	}
	if early[false] < 100 || early[true] < 100 || proven < 10 {
		t.Errorf("ties before the last tier, soon or not: %v; proven: %d", early, proven)
	}
}

// TestStarts solves games from the initial position; TestFacts has more boards.
func TestStarts(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{board(2, 2, 2), "X wins in 3"},
		{board(5, 5, 3), "X wins in 9"},
		{board(6, 4, 4), "O wins in 24"},
		{board(1, 1, 1), "X wins in 1"},
		{board(1, 63, 2), "tie in 63"},
		{"mnk width=3 height=3 connect=3", "tie in 9"},
		{"mnk width=4 height=3 connect=3", ""},
		{"mancala pits=2 stones=3", ""},
		{"quickcross width=3 height=2 connect=2", "LOSE in 2"},
	} {
		g := parse(t, tt.spec)
		if tt.want == "" {
			g = struct{ game.Tiered }{g.(game.Tiered)} // search it by its plain moves
			tt.want = g.Values().Text(gametest.Search(g)[g.Start()])
		}
		for _, threads := range []int{1, 2} {
			s := newSearcher(t, g, Options{Memory: 8 << 20, Threads: threads})
			r := solved(t, s, g.Start(), Limit{})
			got := g.Values().Text(r.Value)
			if r.Weak { // the length is not significant
				got, _, _ = strings.Cut(got, " in ")
				tt.want, _, _ = strings.Cut(tt.want, " in ")
			}
			if got != tt.want {
				t.Errorf("%s, %d threads: %s, want %s", tt.spec, threads, got, tt.want)
			}
			checkLine(t, g, g.Start(), r)
		}
	}
}

// TestRefused checks that invalid arguments are refused, and that a terminal position has
// its value.
func TestRefused(t *testing.T) {
	g := parse(t, board(3, 3, 3))
	for _, o := range []Options{{Memory: -1}, {Threads: -1}, {Threads: MaxThreads + 1}, {Memory: 1 << 60}} {
		if _, err := New(g, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	s := newSearcher(t, g, Options{Memory: 1 << 10})
	for _, tt := range []struct {
		p game.Position
		l Limit
	}{{7, Limit{}}, {0, Limit{Depth: -1}}, {0, Limit{Time: -1}}} {
		if r, err := s.Search(context.Background(), tt.p, tt.l); err == nil {
			t.Errorf("%+v: %+v, no error", tt, r)
		}
	}
	p := must.Get(g.Parse("XXXOO    "))(t)
	if r := solved(t, s, p, Limit{}); r.Value != game.NewValue(game.FirstWins, 0) || r.Line != nil {
		t.Errorf("a finished position: %+v", r)
	}
}

// TestBare checks that the value is the same if only the value is requested.
func TestBare(t *testing.T) {
	for _, spec := range []string{board(4, 4, 3), "mnk width=3 height=3 connect=3"} {
		g := parse(t, spec)
		s := newSearcher(t, g, Options{Memory: 1 << 20})
		bare, whole := solved(t, s, g.Start(), Limit{Bare: true}), solved(t, s, g.Start(), Limit{})
		if bare.Line != nil || bare.Value != whole.Value {
			t.Errorf("%s: %+v, with its line %+v", spec, bare, whole)
		}
	}
}

// checkLine checks that the line is not empty and consists of legal moves.
func checkLine(t testing.TB, g game.Game, p game.Position, r Result) {
	t.Helper()
	if len(r.Line) == 0 {
		t.Fatalf("%s: %q: no move", g.Spec(), g.AppendText(nil, p))
	}
	for _, m := range r.Line {
		if !slices.Contains(g.Moves(nil, p), m) {
			t.Fatalf("%s: %q has no move %v", g.Spec(), g.AppendText(nil, p), m)
		}
		p = m.To
	}
}

// promised returns the part of a value that a search guarantees: if r is weak, only the
// outcome.
func promised(r Result, v game.Value) game.Value {
	if r.Weak {
		return game.NewValue(v.Outcome(), 0)
	}
	return v
}

// checkAll solves positions of a game with known values. It checks the value, that the
// first move keeps the value, and the outcome of a weak search.
func checkAll(t *testing.T, g game.Game, o Options, values map[game.Position]game.Value, some int) {
	t.Helper()
	s := newSearcher(t, g, o)
	r := rand.New(rand.NewPCG(1, 2))
	for i, p := range slices.Sorted(maps.Keys(values)) {
		if len(values) > some && r.IntN(len(values)) >= some || g.Primitive(p) != 0 {
			continue
		}
		want := values[p]
		if i%64 == 0 {
			s.Forget()
		}
		weak := solved(t, s, p, Limit{Weak: true})
		if weak.Value.Outcome() != want.Outcome() {
			t.Fatalf("%s, %+v: %q is %s, weakly %s", g.Spec(), o, g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(weak.Value))
		}
		got := solved(t, s, p, Limit{})
		if promised(got, got.Value) != promised(got, want) {
			t.Fatalf("%s, %+v: %q is %s, found %s", g.Spec(), o, g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(got.Value))
		}
		checkLine(t, g, p, got)
		checkLine(t, g, p, weak)
		if v := g.Values().Before(values[got.Line[0].To]); promised(got, v) != promised(got, want) {
			t.Fatalf("%s, %+v: %q is %s, the best move %s", g.Spec(), o, g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(v))
		}
		if v := g.Values().Before(values[weak.Line[0].To]); v.Outcome() != want.Outcome() {
			t.Fatalf("%s, %+v: %q is %s, the best move %s", g.Spec(), o, g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(v))
		}
	}
}

// Small tables, so that entries are replaced.
var small = []Options{{Memory: 64 << 10}, {Memory: 4 << 10, Threads: 2}}

// TestEveryPosition checks every position of small boards, and some of other boards.
func TestEveryPosition(t *testing.T) {
	for _, spec := range []string{
		board(2, 2, 2), board(3, 3, 3), board(4, 3, 3), board(3, 4, 3), board(6, 1, 2), board(1, 6, 2),
		board(2, 5, 2), board(5, 2, 3), board(4, 2, 1), board(4, 4, 4), board(4, 4, 3), board(2, 7, 4), board(5, 3, 5),
		"mnk width=3 height=3 connect=3", "mancala pits=2 stones=2", "mancala pits=2 stones=3",
	} {
		g := parse(t, spec)
		values := gametest.Search(g)
		for _, o := range small {
			checkAll(t, g, o, values, 1000)
		}
	}
}

// TestRandomGames checks games of any shape: the player to move and the tier that a move
// leads to are random.
func TestRandomGames(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		g := testgames.RandomAcyclic(r, 60)
		values := gametest.Search(g)
		checkAll(t, g, small[r.IntN(2)], values, 20)
	}
}

// TestLongEveryPosition checks every position of every board of at most 12 squares, and 3,000 random
// positions of each larger board of up to 16 squares and 7 columns.
func TestLongEveryPosition(t *testing.T) {
	longtest.Skip(t)
	for width := 1; width <= 12; width++ {
		most := 16
		if width > 7 {
			most = 12
		}
		for height := 1; width*height <= most; height++ {
			for connect := 1; connect <= max(width, height); connect++ {
				g := parse(t, board(width, height, connect))
				values := gametest.Search(g)
				some := 3000
				if width*height <= 12 {
					some = len(values)
				}
				for _, o := range small {
					checkAll(t, g, o, values, some)
				}
			}
		}
	}
}

// TestWithout checks that no technique changes a value.
func TestWithout(t *testing.T) {
	g := parse(t, board(4, 4, 3))
	values := gametest.Search(g)
	all := Techniques(0)
	for _, one := range byName() {
		all |= one
		checkAll(t, g, Options{Memory: 64 << 10, Without: one}, values, 200)
	}
	checkAll(t, g, Options{Memory: 64 << 10, Without: all}, values, 200)
}

// minimax returns the score of a position by plain minimax to a depth, the reference for
// Limit.Depth.
func minimax(g game.Game, p game.Position, depth int) int {
	mover := g.ToMove(p)
	if v := g.Primitive(p); v != 0 {
		switch v.Outcome().For(mover) {
		case game.Wins:
			return game.WonIn(0)
		case game.Loses:
			return game.LostIn(0)
		}
		return 0
	}
	if depth == 0 {
		if e, ok := g.(game.Evaluator); ok {
			return e.Evaluate(p)
		}
		return 0
	}
	best := -infinite
	for _, m := range g.Moves(nil, p) {
		score := minimax(g, m.To, depth-1)
		if g.ToMove(m.To) != mover || g.Values().OfMover {
			score = -score
		}
		best = max(best, fromRoot(score, 1))
	}
	return best
}

// scoreOf returns the score of a result, as minimax returns it.
func scoreOf(g game.Game, p game.Position, r Result) int {
	if !r.Exact {
		return r.Score
	}
	mover := g.ToMove(p)
	if g.Values().OfMover {
		mover = game.First
	}
	switch r.Value.Outcome().For(mover) {
	case game.Wins:
		return game.WonIn(r.Value.Remoteness())
	case game.Loses:
		return game.LostIn(r.Value.Remoteness())
	}
	return 0
}

// TestDepth checks that a search to a depth has exactly that depth, on random positions,
// one after the other with the same table, whatever other searches have stored there.
func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		spec  string
		depth int
	}{
		{board(7, 6, 4), 4}, {board(4, 4, 3), 5}, {"mnk width=3 height=3 connect=3", 4},
		{"mancala pits=3 stones=3", 5}, {"quickcross width=3 height=3 connect=3", 2}, {"dodgem size=3", 4}, {"network", 2},
	} {
		g := parse(t, tt.spec)
		r := rand.New(rand.NewPCG(3, 4))
		for _, o := range small {
			s := newSearcher(t, g, o)
			for range 4 {
				for _, p := range gametest.Walk(r, g, 12) {
					if g.Primitive(p) != 0 {
						continue
					}
					if r.IntN(3) == 0 {
						must.Get(s.Search(context.Background(), p, Limit{Time: time.Millisecond}))(t)
					}
					depth := 1 + r.IntN(tt.depth)
					want := minimax(g, p, depth)
					got := must.Get(s.Search(context.Background(), p, Limit{Depth: depth}))(t)
					checkLine(t, g, p, got)
					if score := scoreOf(g, p, got); score != want {
						t.Fatalf("%s: %q to depth %d: %d (%+v), minimax has %d", tt.spec, g.AppendText(nil, p), depth, score, got, want)
					}
				}
			}
		}
	}
}

// TestCycles checks that wins of a game with cycles are found, and that nothing is proven
// if no player wins.
func TestCycles(t *testing.T) {
	g := parse(t, "quickcross width=3 height=2 connect=3")
	values := gametest.Search(g)
	s := newSearcher(t, g, Options{Memory: 1 << 20})
	for p := range game.Position(729) {
		want, reached := values[p]
		if g.Primitive(p) != 0 || !reached {
			continue
		}
		got := must.Get(s.Search(context.Background(), p, Limit{Depth: 7}))(t)
		if got.Exact && got.Value != want || !got.Exact && want != 0 && want.Remoteness() <= 7 {
			t.Fatalf("%q is %v, found %v (exact: %v)", g.AppendText(nil, p), want, got.Value, got.Exact)
		}
	}
}

// TestTiersWithCycles checks what is proven of positions whose moves stay in the last tiers of a game.
func TestTiersWithCycles(t *testing.T) {
	g := must.Get(quixo.New(3))(t)
	s := newSearcher(t, g, Options{Memory: 1 << 20})
	for p, want := range gametest.Search(gametest.RulesOnly(g)) {
		if g.Tiers()-g.Tier(p) > 1 || g.Primitive(p) != 0 || p != game.CanonicalOf(g, p) {
			continue
		}
		got := must.Get(s.Search(t.Context(), p, Limit{Depth: 8}))(t) // no value is farther
		if !got.Exact || got.Value != want {
			t.Fatalf("%q is %s, found %s (exact: %v)", g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(got.Value), got.Exact)
		}
	}
}

// TestCyclesExact checks that the exact results of a game with cycles are correct, whatever
// searches to other depths have stored before and wherever they were cut off, even if late moves are
// searched less deep.
func TestCyclesExact(t *testing.T) {
	plain := parse(t, "dodgem size=3")
	games := []game.Game{plain, testgames.Help(plain, game.Traits{MaxMoves: 20, Squares: 7, Late: 1})}
	values := gametest.Search(plain)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		g := games[n%2]
		s := newSearcher(t, g, Options{Memory: 1 << 20})
		for range 60 {
			walk := gametest.Walk(r, g, r.IntN(20))
			p := walk[len(walk)-1]
			found := must.Get(s.Search(t.Context(), p, Limit{Nodes: uint64(256 + r.IntN(6000)), Bare: true}))(t)
			if want := values[p]; found.Exact && found.Value != want {
				t.Fatalf("%q: %s, found %s", g.AppendText(nil, p), g.Values().Text(want), g.Values().Text(found.Value))
			}
		}
	}
}

// TestTime checks that with any time limit there is a move, that a win in one is taken and
// a loss in one prevented, and that the limit is kept.
func TestTime(t *testing.T) {
	checkTime(t, 12, 100*time.Millisecond)
}

func TestLongTime(t *testing.T) {
	longtest.Skip(t)
	checkTime(t, 1000, 200*time.Millisecond)
}

// checkTime checks that searches keep a time limit. On a busy machine any process can be
// late. Therefore, if a search is late, only the process's own work after the limit counts;
// and all of its work must have been possible within the limit.
func checkTime(t *testing.T, moves int, limit time.Duration) {
	const threads = 2
	r := rand.New(rand.NewPCG(5, 6))
	games := []game.Game{parse(t, board(7, 6, 4)), parse(t, "quickcross width=4 height=4 connect=4"), parse(t, board(8, 7, 5)), parse(t, "mnk width=4 height=4 connect=4"), parse(t, "network"), parse(t, "mancala pits=6 stones=4")}
	var searchers []*Searcher
	for _, g := range games {
		searchers = append(searchers, newSearcher(t, g, Options{Threads: threads}))
	}
	for n := 0; n < moves; {
		for i, g := range games {
			walk := gametest.Walk(r, g, 20)
			p := walk[r.IntN(len(walk))]
			if g.Primitive(p) != 0 {
				continue
			}
			n++
			runtime.GC() // so that it does not count as work of the search
			overtime := workAfter(limit)
			began, before := time.Now(), system.CPU()
			got, err := searchers[i].Search(context.Background(), p, Limit{Time: limit})
			took, worked, after := time.Since(began), system.CPU()-before, overtime()
			if err != nil || worked > threads*limit || took > limit && after > limit/5 {
				t.Errorf("%s: %q took %v, with %v of work, %v of it after the limit, error %v", g.Spec(), g.AppendText(nil, p), took, worked, after, err)
			}
			checkLine(t, g, p, got)
			checkSafe(t, g, p, got.Line[0])
		}
	}
}

// workAfter returns a function that returns the work done since the time limit has passed,
// or 0 if it has not passed.
func workAfter(limit time.Duration) func() time.Duration {
	over := make(chan time.Duration, 1)
	timer := time.AfterFunc(limit, func() { over <- system.CPU() })
	return func() time.Duration {
		now := system.CPU()
		if timer.Stop() {
			return 0
		}
		return now - <-over
	}
}

// checkSafe checks that a win in one is taken, and a loss in one prevented.
func checkSafe(t *testing.T, g game.Game, p game.Position, chosen game.Move) {
	t.Helper()
	best := minimax(g, p, 2)
	after := chosen.To
	score := minimax(g, after, 1)
	if g.ToMove(after) != g.ToMove(p) || g.Values().OfMover {
		score = -score
	}
	if score = fromRoot(score, 1); best == game.WonIn(1) && score != best || best > game.LostIn(2) && score == game.LostIn(2) {
		t.Errorf("%s: %q: %v is worth %d, %d could be had", g.Spec(), g.AppendText(nil, p), chosen.Name, score, best)
	}
}

// TestMaxThreads checks that a search with the maximum number of threads keeps its time
// limit, also on a machine with few cores. With a thousand times as many threads it would
// not.
func TestMaxThreads(t *testing.T) {
	g := parse(t, board(7, 6, 4))
	s := newSearcher(t, g, Options{Memory: 1 << 20, Threads: MaxThreads})
	began := time.Now()
	r, err := s.Search(context.Background(), g.Start(), Limit{Time: 200 * time.Millisecond})
	if took := time.Since(began); err != nil || took > 5*time.Second {
		t.Errorf("it took %v, %v", took, err)
	}
	checkLine(t, g, g.Start(), r)
}

// TestCancel checks that a search that is cancelled returns what it has found.
func TestCancel(t *testing.T) {
	for _, spec := range []string{board(7, 6, 4), "mnk width=5 height=5 connect=5", "quickcross width=5 height=5 connect=4"} {
		g := parse(t, spec)
		for _, after := range []time.Duration{0, 30 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			r, err := newSearcher(t, g, Options{Memory: 1 << 20, Threads: 2}).Search(ctx, g.Start(), Limit{})
			cancel()
			if err != nil || r.Exact {
				t.Errorf("%s: exact: %v, error %v", spec, r.Exact, err)
			}
			checkLine(t, g, g.Start(), r)
		}
	}
}

// TestDrawUnproven checks that a draw of a game with cycles is never proven, however deep
// the search; in a game with few positions the maximum depth is soon reached.
func TestDrawUnproven(t *testing.T) {
	g := parse(t, "quickcross width=3 height=2 connect=3")
	p := must.Get(g.Parse("|../..."))(t)
	at := slices.IndexFunc(g.Moves(nil, p), func(m game.Move) bool { return m.Name == "a2-" })
	p = g.Moves(nil, p)[at].To
	s := newSearcher(t, g, Options{Memory: 4 << 20})
	r, err := s.Search(context.Background(), p, Limit{Nodes: 3_000_000, Bare: true})
	if err != nil || r.Exact || r.Depth < 1000 {
		t.Errorf("%+v, %v", r, err)
	}
}
