package cs61b

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/search"
)

func mustNew(t testing.TB, color, depth int) *MachinePlayer {
	t.Helper()
	p, err := newPlayer(color, search.Limit{Depth: depth}, 1<<16) // a small table, because it is cleared for each player
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lay places chips on the board by OpponentMove and ForceMove, each of which must be legal.
// The text is in the format of network.ParseBoard, without the player to move.
func lay(t testing.TB, p *MachinePlayer, squares string) {
	t.Helper()
	for at := range squares {
		m := NewAdd(at/8, at%8)
		ok := true
		switch squares[at] {
		case 'W':
			ok = p.make(m, game.First)
		case 'B':
			ok = p.make(m, game.Second)
		}
		if !ok {
			t.Fatalf("%s: %v is refused", squares, m)
		}
	}
}

func TestNew(t *testing.T) {
	for _, color := range []int{Black, White} {
		if p, err := NewMachinePlayer(color); err != nil || p.limit.Time != MoveTime {
			t.Errorf("color %d: %v", color, err)
		}
	}
	if _, err := NewMachinePlayer(2); err == nil || err.Error() != "cs61b: color: expected 0 (black) or 1 (white), found 2" {
		t.Errorf("color 2: %v", err)
	}
	if _, err := NewMachinePlayerDepth(White, 0); err == nil || err.Error() != "cs61b: search depth: expected 1 or more, found 0" {
		t.Errorf("depth 0: %v", err)
	}
}

// TestLegal checks that illegal moves are refused and change nothing, and that colors need
// not alternate.
func TestLegal(t *testing.T) {
	p := mustNew(t, White, 1)
	for _, m := range []Move{{Kind: Quit}, {Kind: 7}, NewAdd(0, 0), NewAdd(3, 0), NewAdd(8, 3), NewAdd(3, -1), NewAdd(-1, 8), NewStep(3, 3, 2, 2), {Kind: Step}} {
		if p.ForceMove(m) || p.board != (network.Board{}) {
			t.Errorf("%v is let pass", m)
		}
	}
	if !p.ForceMove(NewAdd(3, 3)) || !p.ForceMove(NewAdd(3, 4)) || p.ForceMove(NewAdd(3, 5)) || p.ForceMove(NewAdd(3, 3)) {
		t.Error("two chips are legal, a third beside them or on them is not")
	}
	if p.OpponentMove(NewAdd(0, 3)) || !p.OpponentMove(NewAdd(3, 5)) || p.OpponentMove(NewAdd(3, 4)) || p.OpponentMove(Move{Kind: Quit}) {
		t.Error("Black may play on 35, not in White's goal, on a chip, or quit")
	}
	if p.ForceMove(NewStep(1, 1, 3, 3)) {
		t.Error("a step with chips in hand is let pass")
	}
	squares := "....W.W...BW......B.BWWB.W..B....BB..W......B..B.W....B...W..W.."
	p = mustNew(t, White, 1)
	lay(t, p, squares)
	before := p.board
	for _, m := range []Move{NewAdd(3, 2), NewStep(0, 4, 0, 4), NewStep(2, 1, 1, 2), NewStep(3, 3, 4, 1), NewStep(1, 2, 8, 1), NewStep(9, 9, 0, 4), NewStep(0, 0, 0, 4)} {
		if p.ForceMove(m) || p.board != before {
			t.Errorf("%v is let pass", m)
		}
	}
	// The chip is removed first: it may be placed next to its old square, although a third
	// chip is there.
	if !p.ForceMove(NewStep(0, 5, 0, 4)) {
		t.Error("a step to the next square is refused")
	}
}

// TestWin checks that a win in one is taken at any depth, and not delayed to a win in
// three.
func TestWin(t *testing.T) {
	for _, tt := range []struct {
		squares string
		color   int
	}{
		{"............BW....B.W....W......B.....B...WW...BBB..BWW...WW....", Black},
		{"....W.W...BW......B.BWWB.W..B....BB..W......B..B.W....B...W..W..", White},
		{"...W....B...W.W...WB...BB..B.W............B.WB.B.BW.W.WB.W......", Black},
	} {
		for depth := 1; depth <= 3; depth++ {
			p := mustNew(t, tt.color, depth)
			lay(t, p, tt.squares)
			m := p.ChooseMove()
			if !p.board.Network(p.own) || p.board.Network(p.own.Other()) {
				t.Errorf("%s, depth %d: %v does not win", tt.squares, depth, m)
			}
			if again := p.ChooseMove(); again.Kind != Quit {
				t.Errorf("%s: when all is over, it plays %v", tt.squares, again)
			}
		}
	}
}

// TestParry checks that a threat of the opponent is parried, if possible, when there is no
// win.
func TestParry(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	r := network.New()
	parried := 0
	for range 150 {
		pos := r.Start()
		for ply := 0; ply < 19 && r.Primitive(pos) == 0; ply++ {
			b := r.Board(pos)
			moves := r.Moves(nil, pos)
			if ply > 8 && needed(r, moves) {
				parried++
				for depth := 2; depth <= 3; depth++ {
					p := mustNew(t, Black, depth)
					p.board, p.own = b, b.Mover
					if m := p.ChooseMove(); loses(r, r.Position(p.board)) {
						t.Errorf("%s, depth %d: %v lets the opponent win", r.AppendText(nil, pos), depth, m)
					}
				}
			}
			pos = moves[rng.IntN(len(moves))].To
		}
	}
	if parried < 20 {
		t.Errorf("%d threats are too few for a test", parried)
	}
}

// needed reports whether no move wins, some lose at once, and some do not.
func needed(r *network.Rules, moves []game.Move) bool {
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
func loses(r *network.Rules, p game.Position) bool {
	for _, m := range r.Moves(nil, p) {
		if v := r.Primitive(m.To); v != 0 && v.Outcome() == game.WinFor(r.ToMove(p)) {
			return true
		}
	}
	return false
}

// TestNoMove checks that a player without a legal move quits.
func TestNoMove(t *testing.T) {
	p := mustNew(t, White, 2)
	lay(t, p, "..........W.BW..B.W..W.B........B...B..B..W..W..B.W..W.B........")
	if m := p.ChooseMove(); m != (Move{}) || m.String() != "[quit]" {
		t.Errorf("without a legal move it plays %v", m)
	}
}

func TestString(t *testing.T) {
	if got, want := NewAdd(3, 4).String()+NewStep(3, 4, 2, 1).String(), "[add to 34][step from 21 to 34]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestGames plays games against random moves, which are passed to OpponentMove: all chosen
// moves must be legal, and the machine must win.
func TestGames(t *testing.T) { playGames(t, 20, 19, search.Limit{Depth: 1}) }

func TestLongGames(t *testing.T) {
	longtest.Skip(t)
	playGames(t, 1000, 950, search.Limit{Depth: 1})
}

// TestLongBeatsRandom checks that with a short time per move it wins at least 198 games of
// 200.
func TestLongBeatsRandom(t *testing.T) {
	longtest.Skip(t)
	playGames(t, 200, 198, search.Limit{Time: 10 * time.Millisecond})
}

func playGames(t *testing.T, games, want int, l search.Limit) {
	r := network.New()
	rng := rand.New(rand.NewPCG(7, 8))
	won := 0
	for i := range games {
		own := game.Player(i & 1)
		p, err := newPlayer(White-int(own), l, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		pos := r.Start()
		for ply := 0; r.Primitive(pos) == 0 && ply < 120; ply++ {
			moves := r.Moves(nil, pos)
			chosen := moves[rng.IntN(len(moves))]
			if r.ToMove(pos) == own {
				m := p.ChooseMove()
				at := -1
				for j := range moves {
					if r.Board(moves[j].To).Chips == p.board.Chips {
						at = j
					}
				}
				if at < 0 {
					t.Fatalf("%s: %v is illegal", r.AppendText(nil, pos), m)
				}
				chosen = moves[at]
			} else if b := r.Board(pos); !p.OpponentMove(between(b, r.Board(chosen.To))) {
				t.Fatalf("%s: move %s is refused", r.AppendText(nil, pos), chosen.Name)
			}
			pos = chosen.To
		}
		if v := r.Primitive(pos); v != 0 && v.Outcome() == game.WinFor(own) {
			won++
		}
	}
	if won < want {
		t.Errorf("%d of %d games are won, want %d", won, games, want)
	}
}

// FuzzMoves makes moves from bytes, and checks that the board stays valid, and stays
// unchanged if a move is refused.
func FuzzMoves(f *testing.F) {
	f.Add(strings.Repeat("\x01\x03\x04\x00\x00", 3))
	f.Add("\x01\x03\x04\x00\x00\x02\x05\x05\x03\x04")
	f.Fuzz(func(t *testing.T, moves string) {
		p := mustNew(t, White, 1)
		for ; len(moves) >= 5; moves = moves[5:] {
			at := func(i int) int { return int(int8(moves[i])) }
			before := p.board
			if !p.make(Move{Kind(at(0) & 3), at(1), at(2), at(3), at(4)}, game.Player(moves[0]>>7)) {
				if p.board != before {
					t.Fatal("a refused move has changed the board")
				}
			} else if err := p.board.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
