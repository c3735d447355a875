package gametest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A badSearched is a game.Searched that breaks the contract.
type badSearched struct {
	good
	fast   game.Searched
	traits game.Traits
	spoil  func(n *game.Node) // changes the result of Expand
	assess func(n *game.Node) int
}

func (b badSearched) Traits() game.Traits                { return b.traits }
func (b badSearched) Root(n *game.Node, p game.Position) { b.fast.Root(n, p) }
func (b badSearched) Assess(n *game.Node) int            { return b.assess(n) }
func (b badSearched) MoveOf(p game.Position, move uint16) game.Move {
	moves := b.Moves(nil, p)
	return moves[int(move)%len(moves)]
}

func (b badSearched) Expand(n *game.Node) {
	b.fast.Expand(n)
	b.spoil(n)
}

// Violations of game.Searched are detected by Contract or by CheckSearched.
func TestSearchedContract(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var g good
	early := func() bool { // a tie before the last tier
		for p, v := range gametest.Search(g) {
			if g.Primitive(p) == 0 && v.Outcome() == game.Tie && v.Remoteness() < g.Tiers()-g.Tier(p) {
				return true
			}
		}
		return false
	}
	for g.Acyclic == nil || g.Values().OfMover || len(g.Moves(nil, g.Start())) < 3 || !early() {
		g = good{testgames.RandomAcyclic(r, 300)}
	}
	traits := game.Traits{MaxMoves: 64, MaxPlies: g.Tiers(), Squares: 5}
	first := func(n *game.Node) *game.Child {
		if len(n.Children) == 0 {
			return new(game.Child)
		}
		return &n.Children[0]
	}
	for want, fault := range map[string]func(b *badSearched){
		"":                          func(b *badSearched) {},
		"the traits are":            func(b *badSearched) { b.traits.MaxPlies = 0 },
		"Traits has 1 at most":      func(b *badSearched) { b.traits.MaxMoves = 1 },
		"has more than 1 bits":      func(b *badSearched) { b.traits.KeyBits = 1 },
		"it is a tie in":            func(b *badSearched) { b.traits.TiesLast = true },
		"it looks like":             func(b *badSearched) { b.assess = func(*game.Node) int { return game.MostAssessed } },
		"is no move or comes twice": func(b *badSearched) { b.spoil = func(n *game.Node) { n.Children = append(n.Children, *first(n)) } },
		"is counted by square":      func(b *badSearched) { b.spoil = func(n *game.Node) { first(n).Square = 5 } },
		"the same player is to move: ": func(b *badSearched) {
			b.spoil = func(n *game.Node) { c := first(n); c.Again = !c.Again }
		},
		"there is no move": func(b *badSearched) {
			b.spoil = func(n *game.Node) { n.Children = n.Children[:max(len(n.Children)-1, 0)] }
		},
		"but play goes on": func(b *badSearched) {
			b.spoil = func(n *game.Node) { n.High = min(n.High, 0) }
		},
		"it is over and worth": func(b *badSearched) {
			b.spoil = func(n *game.Node) {
				if n.Low == n.High {
					n.Low, n.High = game.LostIn(1), game.WonIn(1)
				}
			}
		},
		"the bounds are": func(b *badSearched) {
			b.spoil = func(n *game.Node) {
				if !n.Exact && n.NoBounds {
					n.Low = max(n.Low, 1)
				}
			}
		},
		"its children": func(b *badSearched) {
			b.spoil = func(n *game.Node) {
				if !n.Exact && !n.NoFold {
					n.Children = n.Children[:min(len(n.Children), 1)]
				}
			}
		},
		"as a root": func(b *badSearched) {
			b.spoil = func(n *game.Node) {
				for i := range n.Children {
					n.Children[i].Key ^= 1
				}
			}
		},
		"another position with the key": func(b *badSearched) {
			b.fast = sameKeys{b.fast}
		},
	} {
		b := &badSearched{g, testgames.Help(g, traits), traits, func(*game.Node) {}, testgames.Help(g, traits).Assess}
		fault(b)
		f := failure(t, b)
		if f == "" {
			f = failureOf(t, func(t testing.TB) { gametest.CheckSearched(t, b, 300) })
		}
		if (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// sameKeys uses the same key for all positions.
type sameKeys struct{ game.Searched }

func (s sameKeys) Root(n *game.Node, p game.Position) {
	s.Searched.Root(n, p)
	n.Key = 0
}

func (s sameKeys) Expand(n *game.Node) {
	s.Searched.Expand(n)
	for i := range n.Children {
		n.Children[i].Key = 0
	}
}
