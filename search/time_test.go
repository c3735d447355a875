package search

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// ticking gives a searcher with one thread a simulated clock, on which each reading takes
// 10 µs, about the time of 64 positions, so that a test does not depend on the machine.
func ticking(s *Searcher) {
	now := time.Unix(0, 0)
	s.now = func() time.Time {
		now = now.Add(10 * time.Microsecond)
		return now
	}
}

// played returns the position after moves from the initial position.
func played(t testing.TB, g game.Game, moves string) game.Position {
	t.Helper()
	p := g.Start()
	for name := range strings.FieldsSeq(moves) {
		found := false
		for _, m := range g.Moves(nil, p) {
			if m.Name == name {
				p, found = m.To, true
				break
			}
		}
		if !found {
			t.Fatalf("%s: no move %s", moves, name)
		}
	}
	return p
}

// TestReport checks that a search reports its work every half second, with one worker and with two.
func TestReport(t *testing.T) {
	for threads := 1; threads <= 2; threads++ {
		s := newSearcher(t, parse(t, board(7, 6, 4)), Options{Memory: 1 << 20, Threads: threads})
		var now atomic.Int64
		const tick = 100 * time.Microsecond // coarser than ticking: the search has less to do
		s.now = func() time.Time { return time.Unix(0, now.Add(int64(tick))) }
		var nodes []uint64
		var times []time.Duration
		l := Limit{Time: 1300 * time.Millisecond, Report: func(n uint64, spent time.Duration) { nodes, times = append(nodes, n), append(times, spent) }}
		r := must.Get(s.Search(t.Context(), s.g.Start(), l))(t)
		if threads == 1 && !slices.Equal(times, []time.Duration{500 * time.Millisecond, time.Second + tick}) {
			t.Errorf("reports at %v", times)
		}
		if len(nodes) == 0 || nodes[0] < pollNodes || nodes[len(nodes)-1] > r.Nodes || !slices.IsSorted(nodes) {
			t.Errorf("%d threads: %d at %v, %d at the end", threads, nodes, times, r.Nodes)
		}
	}
}

// TestWholeTime checks that a proof continues when there is no time for another ply: a
// value that can be proven in half of the time or more is proven in time. The winner is
// returned if it is proven, even if the length of the win is not.
func TestWholeTime(t *testing.T) {
	g := parse(t, board(7, 6, 4))
	for _, tt := range []struct {
		moves       string
		limit       time.Duration
		want        string
		exact, weak bool
	}{
		{"5 1 4 3 3 3 1 3", 300 * time.Millisecond, "O wins in 28", true, false},
		{"6 5 3 1 3 3 3 5 1 0 3 5", 120 * time.Millisecond, "X wins in 23", true, false},
		{"6 5 3 1 3 3 3 5 1 0 3 5", 200 * time.Millisecond, "X wins in 23", true, false},
		{"6 5 3 1 3 3 3 5 1 0 3 5", 90 * time.Millisecond, "X wins in 0", false, true},
		{"6 5 3 1 3 3 3 5 1 0 3 5", 60 * time.Millisecond, "", false, false},
		{"5 1 4 3 3 3 1 3", 60 * time.Millisecond, "O wins in 0", false, true},
	} {
		s := newSearcher(t, g, Options{Memory: 16 << 20})
		ticking(s)
		p := played(t, g, tt.moves)
		r, err := s.Search(context.Background(), p, Limit{Time: tt.limit})
		got := ""
		if r.Value.Valid() {
			got = g.Values().Text(r.Value)
		}
		if err != nil || got != tt.want || r.Exact != tt.exact || r.Weak != tt.weak || r.Time > tt.limit {
			t.Errorf("%s, %v: %s, exact: %v, weak: %v, after %v, want %+v, %v", tt.moves, tt.limit, got, r.Exact, r.Weak, r.Time, tt, err)
		}
		checkLine(t, g, p, r)
		if !r.Exact && r.Time < tt.limit*6/10 {
			t.Errorf("%s, %v: not proven, and ended after %v", tt.moves, tt.limit, r.Time)
		}
		if r.Value.Outcome() == game.FirstWins {
			if after := solved(t, s, r.Line[0].To, Limit{Weak: true}); after.Value.Outcome() != game.FirstWins {
				t.Errorf("%s, %v: move %s does not win", tt.moves, tt.limit, r.Line[0].Name)
			}
		}
	}
}

// TestTimedTruth checks that the result of a search that ran out of time is correct,
// whenever that happened, and that a known win is not given away.
func TestTimedTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	games := []game.Game{parse(t, board(4, 4, 3)), parse(t, board(4, 4, 4)), parse(t, board(5, 4, 3)), parse(t, "mnk width=3 height=3 connect=3")}
	for range 60 {
		games = append(games, testgames.RandomAcyclic(r, 200))
	}
	games = append(games, help(games[4])...)
	cut, won := 0, 0
	for _, g := range games {
		values := gametest.Search(g)
		s := newSearcher(t, g, small[0])
		ticking(s)
		for _, p := range slices.Sorted(maps.Keys(values)) {
			if r.IntN(len(values)) > 300 || g.Primitive(p) != 0 {
				continue
			}
			if r.IntN(4) == 0 {
				s.Forget()
			}
			found, err := s.Search(context.Background(), p, Limit{Time: time.Duration(r.IntN(300)+1) * time.Microsecond, Weak: r.IntN(4) == 0, First: r.IntN(4) == 0})
			must.OK(t, err)
			checkLine(t, g, p, found)
			if !found.Exact {
				cut++
			}
			if !found.Value.Valid() {
				continue
			}
			if promised(found, found.Value) != promised(found, values[p]) {
				t.Fatalf("%s: %q is %s, found %+v", g.Spec(), g.AppendText(nil, p), g.Values().Text(values[p]), found)
			}
			after := g.Values().Before(values[found.Line[0].To])
			if found.Exact && promised(found, after) != promised(found, values[p]) || after.Outcome() != values[p].Outcome() {
				t.Fatalf("%s: %q is %s, move %s makes it %s, %+v", g.Spec(), g.AppendText(nil, p), g.Values().Text(values[p]), found.Line[0].Name, g.Values().Text(after), found)
			}
			if !found.Exact {
				won++
			}
		}
	}
	if cut < 100 || won < 10 {
		t.Errorf("%d searches ran out of time, %d of them knew who wins", cut, won)
	}
}

// TestLongMoves checks that a timed search gives value away with few moves. A search that
// ended when there was no time for another ply gave value away with 28 of these 222 moves,
// and proved 21 of the results.
func TestLongMoves(t *testing.T) {
	longtest.Skip(t)
	const limit, mostAway, leastProven = 60 * time.Millisecond, 25, 50
	found := searchMoves(t, 1<<30, limit, 16<<20, ticking)
	t.Logf("%+v", found)
	if found.away > mostAway || found.proven < leastProven {
		t.Errorf("%+v, want at most %d given away, at least %d proven", found, mostAway, leastProven)
	}
}

// A movesFound counts searches for a move.
type movesFound struct {
	moves, away, proven int // all moves, those that give value away, those with a proven result
	nodes               uint64
}

// searchMoves searches the first n positions of testdata/moves.txt: positions of 7×6
// connect 4 with 8 to 20 stones that take long to prove, with the exact result of each
// move.
func searchMoves(t testing.TB, n int, limit time.Duration, memory int64, prepare func(*Searcher)) (found movesFound) {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/moves.txt"))(t)
	g := parse(t, board(7, 6, 4))
	s := newSearcher(t, g, Options{Memory: memory})
	for line := range strings.Lines(string(text)) {
		if found.moves == n {
			break
		}
		words := strings.Fields(line)
		p := must.Get(strconv.ParseUint(words[0], 10, 64))(t)
		best, results := 0, make(map[string]int)
		for _, word := range words[1:] {
			results[word[:1]] = strings.Index("LTW", word[1:])
			best = max(best, results[word[:1]])
		}
		s.Forget()
		prepare(s)
		r := must.Get(s.Search(t.Context(), p, Limit{Time: limit}))(t)
		found.moves, found.nodes = found.moves+1, found.nodes+r.Nodes
		if r.Exact {
			found.proven++
		}
		if results[r.Line[0].Name] < best {
			if found.away++; r.Exact {
				t.Errorf("%s: move %s is called the best", line, r.Line[0].Name)
			}
		}
	}
	return found
}
