package search_test

import (
	"math/rand/v2"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/search"
)

// chosen returns the position after the move that a new search of exactly depth plies chooses.
func chosen(t *testing.T, g *network.Rules, p game.Position, depth int) game.Position {
	t.Helper()
	s, err := search.New(g, search.Options{Memory: 1 << 16}) // a small table, because it is cleared for each search
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Search(t.Context(), p, search.Limit{Depth: depth})
	if err != nil || len(r.Line) == 0 {
		t.Fatalf("%s, depth %d: %v, %v", g.AppendText(nil, p), depth, r, err)
	}
	return r.Line[0].To
}

// winsAt reports whether p is terminal and this player has won.
func winsAt(g game.Game, p game.Position, by game.Player) bool {
	return g.Primitive(p).Outcome() == game.WinFor(by)
}

// TestNetworkWin checks that a win in one is taken at any depth, and not delayed to a win in
// three.
func TestNetworkWin(t *testing.T) {
	g := network.New()
	for _, board := range []string{
		"............BW....B.W....W......B.....B...WW...BBB..BWW...WW.... B",
		"....W.W...BW......B.BWWB.W..B....BB..W......B..B.W....B...W..W.. W",
		"...W....B...W.W...WB...BB..B.W............B.WB.B.BW.W.WB.W...... B",
	} {
		p, err := g.Parse(board)
		if err != nil {
			t.Fatal(err)
		}
		for depth := 1; depth <= 3; depth++ {
			if to := chosen(t, g, p, depth); !winsAt(g, to, g.ToMove(p)) {
				t.Errorf("%s, depth %d: %s does not win", board, depth, g.AppendText(nil, to))
			}
		}
	}
}

// TestNetworkParry checks that a threat of the opponent is parried, if possible, when there is no
// win.
func TestNetworkParry(t *testing.T) {
	g, r := network.New(), rand.New(rand.NewPCG(5, 6))
	loses := func(p game.Position) bool { // the player to move wins at once
		for _, m := range g.Moves(nil, p) {
			if winsAt(g, m.To, g.ToMove(p)) {
				return true
			}
		}
		return false
	}
	parried := 0
	for range 150 {
		p := g.Start()
		for ply := 0; ply < 19 && g.Primitive(p) == 0; ply++ {
			moves, lost, over := g.Moves(nil, p), 0, false
			for _, m := range moves {
				if over = over || g.Primitive(m.To) != 0; loses(m.To) {
					lost++
				}
			}
			if ply > 8 && !over && lost > 0 && lost < len(moves) {
				parried++
				for depth := 2; depth <= 3; depth++ {
					if to := chosen(t, g, p, depth); loses(to) {
						t.Errorf("%s, depth %d: %s lets the opponent win", g.AppendText(nil, p), depth, g.AppendText(nil, to))
					}
				}
			}
			p = moves[r.IntN(len(moves))].To
		}
	}
	if parried < 20 {
		t.Errorf("%d threats are too few for a test", parried)
	}
}
