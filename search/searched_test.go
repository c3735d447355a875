package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// lateKeys is a game without cycles whose Expand sets no keys of children.
type lateKeys struct {
	searched
	acyclic game.Tiered
}

// searched is the type of the games that testgames.Help makes.
type searched interface {
	game.Searched
	game.Evaluator
}

func (l lateKeys) Tiers() int               { return l.acyclic.Tiers() }
func (l lateKeys) Tier(p game.Position) int { return l.acyclic.Tier(p) }

func (l lateKeys) Expand(n *game.Node) {
	l.searched.Expand(n)
	for i := range n.Children {
		n.Children[i].Key = 0
	}
}

func (lateKeys) KeyOf(s *game.State) uint64 { return s[0] }

// help makes games from a game: with other traits, and with late keys.
func help(g game.Game) []game.Game {
	t := game.Traits{MaxMoves: 20, Squares: 7, Killer: 100}
	a, ok := g.(game.Tiered)
	if ok {
		t.MaxPlies = max(a.Tiers(), 1)
	}
	who := t
	who.OnlyWho = true
	games := []game.Game{testgames.Help(g, t), testgames.Help(g, who)}
	if ok {
		games = append(games, lateKeys{testgames.Help(g, who).(searched), a})
	}
	return games
}

// TestHelped checks that the traits of a game change neither values nor searches to an
// exact depth.
func TestHelped(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	games := []game.Game{parse(t, "mancala pits=2 stones=3"), parse(t, "mnk width=3 height=3 connect=3")}
	for range 50 {
		games = append(games, testgames.RandomAcyclic(r, 60))
	}
	for _, plain := range games {
		values := gametest.Search(plain)
		for _, g := range help(plain) {
			checkAll(t, g, small[r.IntN(2)], values, 20)
		}
	}
	for _, plain := range append(games[:10], parse(t, "quickcross width=3 height=2 connect=2"), parse(t, "dodgem size=3")) {
		for i, g := range help(plain) {
			s := newSearcher(t, g, small[r.IntN(2)])
			for range 10 {
				walk := gametest.Walk(r, g, 8)
				p := walk[r.IntN(len(walk))]
				if g.Primitive(p) != 0 {
					continue
				}
				depth := 1 + r.IntN(4)
				got := must.Get(s.Search(context.Background(), p, Limit{Depth: depth}))(t)
				score, want := scoreOf(g, p, got), minimax(g, p, depth)
				if i > 0 {
					score, want = clamp(score, -mate, mate), clamp(want, -mate, mate)
				}
				if score != want {
					t.Fatalf("%s: %q to depth %d: %d (%+v), minimax has %d", g.Spec(), g.AppendText(nil, p), depth, score, got, want)
				}
				must.Get(s.Search(context.Background(), p, Limit{Time: 100_000}))(t)
			}
		}
	}
}

// TestFirst checks that with Limit.First the result is the first move that is worth as much
// as the position, in searches to the end and to a depth.
func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	games := []game.Game{parse(t, board(4, 3, 3)), parse(t, "mnk width=3 height=3 connect=3")}
	games = append(games, help(parse(t, "mancala pits=3 stones=2"))...)
	for _, g := range games {
		values := gametest.Search(g)
		for _, o := range small {
			s := newSearcher(t, g, o)
			for range 100 {
				walk := gametest.Walk(r, g, 30)
				p := walk[r.IntN(len(walk))]
				if g.Primitive(p) != 0 {
					continue
				}
				weak := r.IntN(2) == 0
				got := solved(t, s, p, Limit{Weak: weak, First: true})
				moves := g.Moves(nil, p)
				want := moves[slices.IndexFunc(moves, func(m game.Move) bool {
					v := g.Values().Before(values[m.To])
					if got.Weak {
						return v.Outcome() == values[p].Outcome()
					}
					return promised(got, v) == promised(got, values[p])
				})]
				if got.Line[0] != want {
					t.Fatalf("%s: %q: %v, the first of equals is %v", g.Spec(), g.AppendText(nil, p), got.Line[0], want)
				}
				depth := 1 + r.IntN(3)
				if got, err := s.Search(context.Background(), p, Limit{Depth: depth, First: true}); err != nil {
					t.Fatal(err)
				} else if want := firstOf(g, p, depth, got.Weak || s.traits.OnlyWho); got.Line[0] != want {
					t.Fatalf("%s: %q to depth %d: %v, the first of equals is %v", g.Spec(), g.AppendText(nil, p), depth, got.Line[0], want)
				}
			}
		}
	}
}

// firstOf returns the first move that is worth as much as the position at a depth.
func firstOf(g game.Game, p game.Position, depth int, weak bool) game.Move {
	var first game.Move
	best := -infinite
	for _, m := range g.Moves(nil, p) {
		score := minimax(g, m.To, depth-1)
		if g.ToMove(m.To) != g.ToMove(p) || g.Values().OfMover {
			score = -score
		}
		if score = fromRoot(score, 1); weak {
			score = clamp(score, -mate, mate)
		}
		if score > best {
			best, first = score, m
		}
	}
	return first
}

// TestForcedRing checks that forced moves in a cycle do not keep a search from ending: only
// the move before them is a choice.
func TestForcedRing(t *testing.T) {
	g := testgames.Help(testgames.Graph{
		Next: map[game.Position][]game.Position{0: {1, 4}, 1: {2}, 2: {3}, 3: {1}, 4: {0, 5}},
		End:  map[game.Position]game.Result{5: game.Wins},
		Size: 6,
	}, game.Traits{MaxMoves: 2})
	for _, o := range small {
		r, err := newSearcher(t, g, o).Search(context.Background(), 0, Limit{Nodes: 10000})
		if err != nil || r.Depth < 20 {
			t.Errorf("%+v: %d moves ahead, %v", o, r.Depth, err)
		}
		checkLine(t, g, 0, r)
	}
}

// TestNodes checks that a search visits no more positions than its limit, and still has a
// move.
func TestNodes(t *testing.T) {
	for _, spec := range []string{board(7, 6, 4), "mnk width=4 height=4 connect=4", "quickcross width=5 height=5 connect=4"} {
		g := parse(t, spec)
		s := newSearcher(t, g, Options{Memory: 1 << 20})
		for _, nodes := range []uint64{1, 5000, 300_000} {
			r, err := s.Search(context.Background(), g.Start(), Limit{Nodes: nodes})
			if err != nil || r.Exact || r.Nodes > nodes+pollNodes+someNodes+lineNodes*uint64(len(r.Line)) {
				t.Errorf("%s: of %d positions %d looked at, %v", spec, nodes, r.Nodes, err)
			}
			checkLine(t, g, g.Start(), r)
		}
	}
}

// TestShortWin checks that a win in 13 is found in a position where it takes half a million
// positions to find out who wins.
func TestShortWin(t *testing.T) {
	g := parse(t, board(7, 6, 4))
	p := must.Get(g.Parse(fmt.Sprintf("%-42s", "O     XO          XX    OX    O")))(t)
	r, err := newSearcher(t, g, Options{}).Search(context.Background(), p, Limit{Nodes: 150_000})
	if want := game.NewValue(game.FirstWins, 13); err != nil || r.Value != want {
		t.Errorf("%s (%d positions), want %s, %v", g.Values().Text(r.Value), r.Nodes, g.Values().Text(want), err)
	}
}
