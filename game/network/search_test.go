package network

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/search"
)

// walks calls each for the boards of random games that are not over.
func walks(t testing.TB, games int, each func(r *rand.Rand, b Board)) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	for range games {
		var b Board
		for range 40 {
			if _, over := b.over(); over {
				break
			}
			each(r, b)
			children := b.children()
			b = children[r.IntN(len(children))]
		}
	}
}

// look and useful agree with looking from each chip, square by square.
func TestViews(t *testing.T) {
	walks(t, 50, func(_ *rand.Rand, b Board) {
		for p, chips := range b.Chips {
			for d := range 8 {
				var wantSeen, wantMet uint64
				for rest := chips; rest != 0; rest &= rest - 1 {
					at := bits.TrailingZeros64(rest)
					chip, line := nearest(at, d, b.all()), lines[at][d]
					wantMet |= chip
					if d < 4 {
						wantSeen |= line & (chip - 1)
					} else {
						wantSeen |= line &^ (max(chip<<1, 1) - 1)
					}
				}
				seen, met := look(chips, b.all(), d)
				if seen != wantSeen || met != wantMet {
					t.Fatalf("%s: player %d in direction %d sees %#x and meets %#x, want %#x and %#x", b.squares(), p, d, seen, met, wantSeen, wantMet)
				}
			}
		}
	})
}

// The winning squares are those that win, for a player without a network.
func TestWinning(t *testing.T) {
	found := 0
	walks(t, 400, func(_ *rand.Rand, b Board) {
		for p := range game.Player(2) {
			b.Mover = p
			if !b.Adding() {
				continue
			}
			var want uint64
			for rest := b.Adds(); rest != 0; rest &= rest - 1 {
				if after := b.after(0, rest&-rest); after.Network(p) {
					want |= rest & -rest
				}
			}
			if got, _ := b.winning(p); got != want {
				t.Fatalf("%s: player %d wins on %#x, want %#x", b.squares(), p, got, want)
			}
			found += bits.OnesCount64(want)
		}
	})
	if found < 100 {
		t.Errorf("%d winning squares are too few for a test", found)
	}
}

// The parries are the adds after which the other player has no winning square.
func TestParries(t *testing.T) {
	some, none := 0, 0
	walks(t, 2000, func(_ *rand.Rand, b Board) {
		threats, spoil := b.winning(b.Mover.Other())
		if threats == 0 || !b.Adding() {
			return
		}
		var want uint64
		for rest := b.Adds(); rest != 0; rest &= rest - 1 {
			after := b.after(0, rest&-rest)
			if wins, _ := after.winning(after.Mover); wins == 0 {
				want |= rest & -rest
			}
		}
		if got := b.parries(b.Adds()&spoil, threats); got != want {
			t.Fatalf("%s: %#x parries, want %#x", b.squares(), got, want)
		}
		if want == 0 {
			none++
		} else {
			some++
		}
	})
	if some < 100 || none < 100 {
		t.Errorf("%d threats that can be parried and %d that cannot are too few for a test", some, none)
	}
}

// value returns the value that a plain search of this many plies finds; ok is false if none.
func value(b Board, plies int) (v int, ok bool) {
	if winner, over := b.over(); over {
		if winner == b.Mover {
			return game.WonIn(0), true
		}
		return game.LostIn(0), true
	}
	if plies == 0 {
		return 0, false
	}
	best, all := -1<<20, true
	for _, after := range b.children() {
		v, known := value(after, plies-1)
		if !known {
			all = false
			continue
		}
		if v = -v; v > 0 {
			v--
		} else {
			v++
		}
		best = max(best, v)
	}
	return best, best > 0 || all
}

// The results of Expand are correct: its bounds are, the children are moves, and omitted moves
// lose at once while others do not.
func TestExpand(t *testing.T) {
	var count expanded
	for _, tt := range stepPhase {
		count.check(t, mustParse(t, tt.text))
	}
	walks(t, 150, func(rng *rand.Rand, b Board) {
		if rng.IntN(4) == 0 && (b.Adding() || rng.IntN(8) == 0) { // there are many steps
			count.check(t, b)
		}
	})
	if count.wins < 20 || count.losses < 5 || count.left < 100 {
		t.Errorf("%+v is too little for a test", count)
	}
}

// expanded counts the results of Expand, and the moves that it omitted.
type expanded struct{ wins, losses, left int }

func (e *expanded) check(t *testing.T, b Board) {
	t.Helper()
	r := New()
	n := game.Node{Asked: game.Asked{Alpha: -1 << 16, Beta: 1 << 16, NoFold: true}}
	r.Root(&n, r.Position(b))
	r.Expand(&n)
	v, known := value(b, 2)
	switch {
	case known && v == game.WonIn(1):
		e.wins++
		if squares, _ := b.winning(b.Mover); n.Low != v && (!b.Adding() || squares != 0) {
			t.Fatalf("%s: won in one, found %d to %d", b.squares(), n.Low, n.High)
		}
	case n.Low > 0:
		t.Fatalf("%s: not won in one, found %d to %d", b.squares(), n.Low, n.High)
	case known && v < 0:
		e.losses++
	case n.High < 0:
		t.Fatalf("%s: not lost, found %d to %d", b.squares(), n.Low, n.High)
	}
	if known && (v < n.Low || v > n.High) {
		t.Fatalf("%s: worth %d, found %d to %d", b.squares(), v, n.Low, n.High)
	}
	if n.Low > 0 || n.High < 0 {
		return
	}
	kept := map[game.State]bool{}
	for _, c := range n.Children {
		kept[c.State] = true
		if m := r.MoveOf(r.Position(b), c.Move); m.To != r.KeyOf(&c.State) {
			t.Fatalf("%s: child %v is not the move %s", b.squares(), c.State, m.Name)
		}
	}
	for _, after := range b.children() {
		state := stateOf(after)
		v, known := value(after, 1)
		switch {
		case !kept[state]:
			if e.left++; !known || v <= 0 {
				t.Fatalf("%s: a move is left out that does not lose at once", b.squares())
			}
		case after.Network(after.Mover):
			t.Fatalf("%s: a step is kept that makes the other's network", b.squares())
		}
		delete(kept, state)
	}
	if len(kept) > 0 {
		t.Fatalf("%s: children that are no moves: %v", b.squares(), kept)
	}
}

// If one player steps while the other has chips in hand (which ForceMove can bring about), the
// winning squares of the other are known after each step.
func TestUneven(t *testing.T) {
	r := New()
	rng := rand.New(rand.NewPCG(13, 14))
	wins := 0
	for range 3000 {
		var b Board
		for range 10 + 5 + rng.IntN(5) { // White's ten first, then some of Black's
			b.Mover = game.Player(min(bits.OnesCount64(b.Chips[0])/Chips, 1))
			if adds := b.Adds(); adds != 0 {
				for range rng.IntN(bits.OnesCount64(adds)) {
					adds &= adds - 1
				}
				b.Chips[b.Mover] |= adds & -adds
			}
		}
		b.Mover = game.First
		if _, over := b.over(); over || b.Adding() {
			continue
		}
		n := game.Node{Asked: game.Asked{Alpha: -1 << 16, Beta: 1 << 16}}
		r.Root(&n, r.Position(b))
		r.Expand(&n)
		for _, c := range n.Children {
			after := boardOf(&c.State)
			want, _ := after.winning(game.Second)
			if c.State[stateWins] != want {
				t.Fatalf("%s: after %s Black wins on %#x, found %#x", b.squares(), r.MoveOf(r.Position(b), c.Move).Name, want, c.State[stateWins])
			}
			wins += bits.OnesCount64(want)
		}
	}
	if wins < 100 {
		t.Errorf("%d winning squares are too few for a test", wins)
	}
}

// All mirror images are folded to the same board, which is one of them.
func TestFold(t *testing.T) {
	walks(t, 20, func(_ *rand.Rand, b Board) {
		one := b.folded()
		among := false
		for _, image := range symmetries(b)[:4] {
			if image.folded() != one {
				t.Fatalf("%s is folded to %s, its image %s to %s", b.squares(), one.squares(), image.squares(), image.folded().squares())
			}
			among = among || image == one
		}
		if !among {
			t.Fatalf("%s is folded to %s", b.squares(), one.squares())
		}
	})
}

// Assess gives the same value to mirror images, and to boards with swapped colors.
func TestAssess(t *testing.T) {
	r := New()
	walks(t, 20, func(_ *rand.Rand, b Board) {
		want := r.Evaluate(r.Position(b))
		for i, image := range symmetries(b) {
			if got := r.Evaluate(r.Position(image)); got != want {
				t.Fatalf("%s is judged %d, image %d of it %d", b.squares(), want, i, got)
			}
		}
	})
}

// A forced win in three plies is found with its remoteness, and so is a win in one.
func TestForced(t *testing.T) {
	r := New()
	s := must.Get(search.New(r, search.Options{Memory: 1 << 20}))(t)
	found := map[int]int{}
	walks(t, 30, func(rng *rand.Rand, b Board) {
		if bits.OnesCount64(b.all()) < 9 || rng.IntN(2) == 0 || !b.Adding() {
			return
		}
		v, known := value(b, 3)
		if !known || v < 0 {
			return
		}
		got := must.Get(s.Search(context.Background(), r.Position(b), search.Limit{}))(t)
		in := game.WonIn(0) - v
		found[in]++
		if want := game.NewValue(game.WinFor(b.Mover), in); !got.Exact || got.Value != want {
			t.Fatalf("%s: %s, found %+v", b.squares(), r.Values().Text(want), got)
		}
		after := r.Board(got.Line[0].To)
		if w, known := value(after, in-1); !known || w != game.LostIn(in-1) {
			t.Fatalf("%s: won in %d, but not by %s", b.squares(), in, got.Line[0].Name)
		}
	})
	if found[1] < 5 || found[3] < 5 {
		t.Errorf("%v wins by their length are too few for a test", found)
	}
}

// A search with little time, which searches late moves less deep, only proves correct values;
// and a later search with enough time does not use its table entries.
func TestLate(t *testing.T) {
	r := lateRules{New()}
	var searchers [2]*search.Searcher
	for i := range searchers {
		searchers[i] = must.Get(search.New(r, search.Options{Memory: 1 << 20}))(t)
	}
	decided := 0
	walks(t, 40, func(rng *rand.Rand, b Board) {
		if n := bits.OnesCount64(b.all()); n < 9 || n > 16 || decided >= lateTests {
			return
		}
		p := r.Position(b)
		ask := func(s *search.Searcher, l search.Limit) search.Result {
			return must.Get(s.Search(context.Background(), p, l))(t)
		}
		timed := ask(searchers[0], search.Limit{Time: 20 * time.Millisecond})
		won := timed.Exact && timed.Value.Outcome() == game.WinFor(b.Mover) || !timed.Exact && timed.Score == game.MostAssessed
		lost := timed.Exact && !won || !timed.Exact && timed.Score == -game.MostAssessed
		if !won && !lost {
			return
		}
		decided++
		searchers[1].Forget()
		want := ask(searchers[1], search.Limit{})
		if (want.Value.Outcome() == game.WinFor(b.Mover)) != won || timed.Exact && timed.Value != want.Value {
			t.Fatalf("%s: %s, found in little time %+v", b.squares(), r.Values().Text(want.Value), timed)
		}
		if again := ask(searchers[0], search.Limit{}); again.Value != want.Value || again.Nodes != want.Nodes {
			t.Fatalf("%s: %s, searching %d positions, found %+v after a search in little time", b.squares(), r.Values().Text(want.Value), want.Nodes, again)
		}
	})
	if decided < lateTests {
		t.Errorf("%d decided positions are too few for a test", decided)
	}
}

const lateTests = 40

// lateRules treat almost all moves as late.
type lateRules struct{ *Rules }

func (r lateRules) Traits() game.Traits {
	t := r.Rules.Traits()
	t.Late = 1
	return t
}

// best returns the position after the best move at p, as a search of some plies finds it.
func best(t *testing.T, r *Rules, p game.Position, depth int) game.Position {
	t.Helper()
	s := must.Get(search.New(r, search.Options{Memory: 1 << 16}))(t)
	return must.Get(s.Search(t.Context(), p, search.Limit{Depth: depth}))(t).Line[0].To
}

// TestWin checks that a win in one is taken at any depth, and not delayed to a win in three.
func TestWin(t *testing.T) {
	r := New()
	for _, text := range []string{
		"............BW....B.W....W......B.....B...WW...BBB..BWW...WW.... B",
		"....W.W...BW......B.BWWB.W..B....BB..W......B..B.W....B...W..W.. W",
		"...W....B...W.W...WB...BB..B.W............B.WB.B.BW.W.WB.W...... B",
	} {
		p := must.Get(r.Parse(text))(t)
		for depth := 1; depth <= 3; depth++ {
			if v := r.Primitive(best(t, r, p, depth)); v != game.NewValue(game.WinFor(r.ToMove(p)), 0) {
				t.Errorf("%s, depth %d: the best move does not win", text, depth)
			}
		}
	}
}

// TestParry checks that a threat of the opponent is parried, if possible, when there is no win.
func TestParry(t *testing.T) {
	rng, r := rand.New(rand.NewPCG(5, 6)), New()
	parried := 0
	for range 150 {
		p := r.Start()
		for ply := 0; ply < 19 && r.Primitive(p) == 0; ply++ {
			moves := r.Moves(nil, p)
			if ply > 8 && threatened(r, moves) {
				parried++
				for depth := 2; depth <= 3; depth++ {
					if loses(r, best(t, r, p, depth)) {
						t.Errorf("%s, depth %d: the best move lets the opponent win", r.AppendText(nil, p), depth)
					}
				}
			}
			p = moves[rng.IntN(len(moves))].To
		}
	}
	if parried < 20 {
		t.Errorf("%d threats are too few for a test", parried)
	}
}

// threatened reports whether no move wins, some lose at once, and some do not.
func threatened(r *Rules, moves []game.Move) bool {
	lost := 0
	for _, m := range moves {
		if r.Primitive(m.To) != 0 {
			return false
		}
		if loses(r, m.To) {
			lost++
		}
	}
	return lost > 0 && lost < len(moves)
}

// loses reports whether the player to move at p wins at once.
func loses(r *Rules, p game.Position) bool {
	for _, m := range r.Moves(nil, p) {
		if v := r.Primitive(m.To); v != 0 && v.Outcome() == game.WinFor(r.ToMove(p)) {
			return true
		}
	}
	return false
}
