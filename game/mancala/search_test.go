package mancala

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// fast returns a game for searches, with endgames of a given number of stones.
func fast(t testing.TB, pits, stones, endgames int) *Searched {
	t.Helper()
	s := *mustNew(t, pits, stones).(*Searched)
	s.built = &built{endgames: newDatabase(pits, endgames)}
	s.built.once.Do(func() {})
	return &s
}

// The contract of game.Searched, with endgames of few and of many stones.
func TestSearched(t *testing.T) {
	for _, b := range [][3]int{{1, 3, 0}, {1, 3, 2}, {2, 2, 0}, {2, 2, 3}, {2, 4, 6}, {3, 2, 0}, {3, 2, 5}, {2, 9, 9}, {8, 1, 2}} {
		if b[0] < 8 {
			gametest.CheckSearched(t, fast(t, b[0], b[1], b[2]), 300)
		}
		if s := fast(t, b[0], b[1], b[2]); s.known() != b[2] {
			t.Errorf("%v: endgames of %d stones", b, s.known())
		}
	}
}

// The keys of all boards are different and have no gaps.
func TestSearchedKeys(t *testing.T) {
	for _, b := range [][2]int{{1, 4}, {2, 2}, {3, 1}} {
		s := fast(t, b[0], b[1], 0)
		seen := make(map[uint64]bool)
		for p := range 2 * s.Rules.boards() {
			var n game.Node
			s.Root(&n, p)
			seen[n.Key] = true
			if n.Key >= s.Rules.boards() {
				t.Fatalf("%s: the key of %d is %d of %d", s.Spec(), p, n.Key, s.Rules.boards())
			}
		}
		if uint64(len(seen)) != s.Rules.boards() {
			t.Errorf("%s: %d keys of %d boards", s.Spec(), len(seen), s.Rules.boards())
		}
	}
}

// A board that is too large for a Searched is still a game, and so is one with any initial
// position.
func TestFrom(t *testing.T) {
	for _, b := range [][2]int{{8, 3}, {9, 2}, {1, 127}, {1, 128}} {
		_, ok := mustNew(t, b[0], b[1]).(*Searched)
		if want := b[0] <= maxFastPits && 2*b[0]*b[1] <= maxFastStones; ok != want {
			t.Errorf("%v: is for searches: %v", b, ok)
		}
	}
	g := must.Get(From([]int{0, 0, 0, 3, 1, 0}, 1))(t)
	if got := string(g.AppendText(nil, g.Start())); got != "State([0, 0, 0, 3, 1, 0], 1)" || g.Tier(g.Start()) != 0 || g.Spec() != "mancala from "+got || !Is(g) {
		t.Errorf("%s, tier %d, %s", got, g.Tier(g.Start()), g.Spec())
	}
	gametest.CheckSearched(t, g.(game.Searched), 1000)
	for _, tt := range []struct {
		places []int
		row    int
		want   string
	}{
		{nil, 0, "mancala: expected an even number of places from 4, found 0"},
		{[]int{1, 2, 3}, 0, "mancala: expected an even number of places from 4, found 3"},
		{make([]int, 36), 0, "mancala: a row may have 16 pits at most, found 17"},
		{[]int{1, 0, 1, 0}, 2, "mancala: expected row 0 or 1 to move, found 2"},
		{[]int{-1, 0, 1, 0}, 0, "mancala: expected a number of stones up to 16383 in place 0, found -1"},
		{[]int{9000, 0, 1, 0}, 0, "mancala: 9001 stones on a board of 1 pits a row are too many"},
	} {
		if g, err := From(tt.places, tt.row); g != nil || fmt.Sprint(err) != tt.want {
			t.Errorf("From(%v, %d): error\n%v, want\n%s", tt.places, tt.row, err, tt.want)
		}
	}
}

// randomGames plays random games and checks that the rules, the search representation and the
// naive implementation agree on every move.
func randomGames(t *testing.T, games int) {
	r := rand.New(rand.NewPCG(5, 6))
	type board struct {
		g *Searched
		m naiveMancala
	}
	var boards []board
	for _, b := range [][2]int{{1, 1}, {1, 7}, {2, 1}, {2, 5}, {3, 1}, {3, 3}, {4, 2}, {5, 1}, {8, 1}, {6, 4}} {
		boards = append(boards, board{fast(t, b[0], b[1], 0), naiveMancala{Pits: b[0], Stones: b[1]}})
	}
	for n := range games {
		b := boards[n%(len(boards)-1)]
		if n%100 == 0 {
			b = boards[len(boards)-1] // its games are long
		}
		var node game.Node
		for p := b.g.Start(); b.g.Primitive(p) == 0; {
			moves := b.g.Moves(nil, p)
			node.Exact = true
			b.g.Root(&node, p)
			b.g.Expand(&node)
			slow := b.m.Moves([]byte(seenBy(b.g, p)))
			if len(moves) != len(slow) || len(moves) != len(node.Children) {
				t.Fatalf("%s: %d moves, a search sees %d, the slow rules %d", b.g.AppendText(nil, p), len(moves), len(node.Children), len(slow))
			}
			for i, m := range moves {
				pit := -1
				if m.Name != game.Pass {
					fmt.Sscan(m.Name, &pit)
					pit -= row(p) * (b.g.pits() + 1)
				}
				var child game.Node
				if b.g.Primitive(m.To) == 0 {
					b.g.Root(&child, m.To)
				}
				if c := node.Children[i]; b.g.MoveOf(p, c.Move) != m || child.Key != b.g.KeyOf(&c.State) && b.g.Primitive(m.To) == 0 || string(slow[pit]) != seenBy(b.g, m.To) {
					t.Fatalf("%s, move %s: %s; a search sees %x; the slow rules %v", b.g.AppendText(nil, p), m.Name, b.g.AppendText(nil, m.To), c.State, slow[pit])
				}
			}
			p = moves[r.IntN(len(moves))].To
		}
	}
}

func TestRandomGames(t *testing.T) { randomGames(t, 400) }

func TestLongRandomGames(t *testing.T) {
	longtest.Skip(t)
	randomGames(t, 100_000)
}
