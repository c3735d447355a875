package referee_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/search"
)

// TestOpenings checks that no two openings are alike, that even ones come first, that a seed repeats
// them, and what happens when there are no more.
func TestOpenings(t *testing.T) {
	list := func(o *referee.Openings, n int) (all []string) {
		for i := range n {
			opening := must.Get(o.At(i))(t)
			all = append(all, strings.Join(opening, " "))
		}
		return all
	}
	seven := solved.Game(t, "connectn width=7 height=6 connect=4")
	one := list(referee.NewOpenings(seven, 6, 1, nil), 100)
	seen := make(map[game.Position]bool)
	for _, opening := range one {
		h := player.NewHistory(seven)
		for _, name := range strings.Fields(opening) {
			h.Play(name)
		}
		p := min(h.Position(), seven.(game.Mirrored).Mirror(h.Position()))
		if seen[p] || len(h.Names()) != 6 {
			t.Errorf("%s: %d moves, or known", opening, len(h.Names()))
		}
		seen[p] = true
	}
	if again, other := list(referee.NewOpenings(seven, 6, 1, nil), 100), list(referee.NewOpenings(seven, 6, 2, nil), 1); fmt.Sprint(one) != fmt.Sprint(again) || one[0] == other[0] {
		t.Error(one, again, other)
	}
	// There are four openings of one move but for mirror images; those with an odd hash count as even.
	odd := func(p game.Position) bool { return p%2 == 1 }
	all := list(referee.NewOpenings(seven, 1, 1, odd), 6)
	if all[0] != all[4] || all[1] != all[5] || len(map[string]bool{all[0]: true, all[1]: true, all[2]: true, all[3]: true}) != 4 {
		t.Error(all)
	}
	evens := 0
	for i, name := range all[:4] {
		h := player.NewHistory(seven)
		h.Play(name)
		if odd(h.Position()) {
			if evens++; evens != i+1 {
				t.Errorf("%v: an even opening after others", all)
			}
		}
	}
	// A game that is over after two moves has shorter openings, no symmetric images of others, and at last none.
	tiny := solved.Game(t, "mnk width=1 height=2 connect=2")
	if all := list(referee.NewOpenings(tiny, referee.AutoPlies, 1, nil), 4); fmt.Sprintf("%q", all) != `["a1" "" "a1" ""]` && fmt.Sprintf("%q", all) != `["a2" "" "a2" ""]` {
		t.Errorf("%q", all)
	}
	if _, err := referee.NewOpenings(solved.Game(t, three), 9, 1, nil).At(0); err == nil || err.Error() != "openings: "+three+": 1000 random games, none of them long enough" {
		t.Error(err)
	}
}

// TestPairs checks that each opening is played with both assignments of sides, and what is a pair.
func TestPairs(t *testing.T) {
	g := solved.Game(t, three)
	var all []string
	m := referee.Match{
		Game: g, Games: 5, Openings: referee.NewOpenings(g, 2, 1, nil), Entrants: [2]referee.Entrant{random("A", 1), random("B", 2)},
		Report: func(p referee.Played) error {
			if p.Opening != 2 || len(p.Times) != len(p.History.Names())-2 {
				t.Errorf("%+v", p)
			}
			all = append(all, strings.Join(p.History.Names()[:2], ""))
			return nil
		},
	}
	s, err := m.Play(t.Context())
	if err != nil || all[0] != all[1] || all[2] != all[3] || all[1] == all[2] || all[3] == all[4] || len(s[0].Pairs) != 3 || len(s[1].Pairs) != 3 {
		t.Fatal(err, all, s)
	}
	for key, p := range s[0].Pairs {
		if q := s[1].Pairs[key]; p.Games != q.Games || p.Points+q.Points != float64(p.Games) {
			t.Errorf("%s: %v and %v", key, p, q)
		}
	}
	// Without openings, copies of a game are one.
	m.Openings, m.Report = nil, nil
	m.Entrants = [2]referee.Entrant{entrant("A", plays("0")), entrant("B", plays("1"))}
	if s, err = m.Play(t.Context()); err != nil || len(s[0].Pairs) != 2 {
		t.Error(err, s[0].Pairs)
	}
	m.Games = 100
	if s, err = m.Play(t.Context()); err != nil || len(s[0].Pairs) != 2 {
		t.Error(err, s[0].Pairs)
	}
	if low, high := s[0].Interval(); low > 0.1 || high < 0.9 {
		t.Errorf("50 copies of two games: %v to %v", low, high)
	}
	m.Entrants = [2]referee.Entrant{random("A", 1), random("B", 2)}
	if s, err = m.Play(t.Context()); err != nil || len(s[0].Pairs) < 40 {
		t.Error(err, len(s[0].Pairs))
	}
}

// A memo is a player that remembers the moves of another one, which depend only on the position.
type memo struct {
	player.Player
	known map[game.Position]string
}

func (m memo) Move(ctx context.Context, h *player.History, limit time.Duration) (string, error) {
	name, ok := m.known[h.Position()]
	if ok {
		return name, nil
	}
	name, err := m.Player.Move(ctx, h, limit)
	m.known[h.Position()] = name
	return name, err
}

func (memo) Close() error { return nil }

// TestInterval plays 100 matches of two deterministic machines, which differ in their seeds only. The
// 95 % interval must contain the true share, which many more openings show, in at least 90 of them.
func TestInterval(t *testing.T) {
	g := solved.Game(t, "connectn width=6 height=5 connect=4")
	machine := func(depth int) referee.Entrant {
		s := must.Get(search.New(g, search.Options{Memory: 1 << 20, Threads: 1}))(t)
		return entrant(fmt.Sprint(depth), memo{player.NewMachine(s.Search, search.Limit{Depth: depth}), make(map[game.Position]string)})
	}
	entrants := [2]referee.Entrant{machine(2), machine(3)}
	play := func(games int, seed uint64) referee.Standing {
		m := referee.Match{Game: g, Games: games, Openings: referee.NewOpenings(g, 4, seed, nil), Entrants: entrants}
		s, err := m.Play(t.Context())
		must.OK(t, err)
		return s[0]
	}
	truth := 0.0
	const many = 200
	for seed := range uint64(many) {
		truth += play(40, 1000+seed).Score() / many
	}
	covered, widest := 0, 0.0
	for seed := range uint64(100) {
		low, high := play(40, seed).Interval()
		if low <= truth && truth <= high {
			covered++
		}
		widest = max(widest, high-low)
	}
	if covered < 90 || widest > 0.4 {
		t.Errorf("%d of 100 intervals, at most %.3f wide, contain the true share %.3f", covered, widest, truth)
	}
	t.Logf("%d of 100 intervals, at most %.3f wide, contain the true share %.3f", covered, widest, truth)
}

// TestDecided simulates matches of pairs with a given distribution until they are decided, and counts
// wrong verdicts.
func TestDecided(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		win  float64 // of a game, without ties
		want referee.Verdict
	}{{0.5, referee.Equal}, {0.6, referee.Stronger}, {0.4, referee.Weaker}, {1, referee.Stronger}} {
		wrong, most := 0, 0
		for range 200 {
			s, verdict := referee.Standing{Pairs: make(map[string]referee.Pair)}, referee.Undecided
			for n := 0; verdict == referee.Undecided; n++ {
				p := referee.Pair{Games: 2}
				for range 2 {
					if random.Float64() < tt.win {
						p.Points++
					}
				}
				s.Pairs[fmt.Sprint(n)] = p
				verdict = s.Decided(0.95)
			}
			if most = max(most, len(s.Pairs)); verdict != tt.want {
				wrong++
			}
		}
		if wrong > 20 || most > 1000 {
			t.Errorf("score %v: %d of 200 verdicts are wrong, after at most %d pairs", tt.win, wrong, most)
		}
	}
}

// TestUntil checks that a match ends when it is decided, not before and not much later.
func TestUntil(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=3")
	m := referee.Match{Game: g, Games: 1000, Openings: referee.NewOpenings(g, 4, 1, nil), Until: 0.95, Entrants: [2]referee.Entrant{
		random("A", 1), entrant("B", plays("9"))}}
	s, err := m.Play(t.Context())
	if err != nil || s[0].Decided(0.95) != referee.Stronger || s[0].Games() < 10 || s[0].Games() > 40 || s[0].Games()%2 != 0 {
		t.Error(err, s[0].Games())
	}
	m.Games = s[0].Games() - 1
	if s, err := m.Play(t.Context()); err != nil || s[0].Decided(0.95) != referee.Undecided {
		t.Errorf("%v, half a pair decides: %s", err, s[0].Decided(0.95))
	}
	if p := s[0].Superiority(); p < 0.99 || math.Abs(p+s[1].Superiority()-1) > 1e-9 {
		t.Errorf("superiority %v and %v", p, s[1].Superiority())
	}
}
