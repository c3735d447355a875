package game

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// On small boards, the mean of many samples agrees with the true numbers, tier by tier: boards
// without a line, their moves, and boards whose lines all share a square.
func TestPlacement(t *testing.T) {
	for _, test := range []struct {
		width, height, connect int
		turns                  bool
	}{{3, 3, 3, true}, {3, 3, 3, false}, {3, 2, 2, true}, {4, 2, 2, false}, {3, 2, 1, true}, {5, 1, 3, true}} {
		grid := Grid{Width: test.width, Height: test.height}
		squares := test.width * test.height
		var lines []uint64
		for _, places := range grid.Lines(test.connect) {
			var line uint64
			for _, at := range places {
				line |= 1 << (at[1]*test.width + at[0])
			}
			lines = append(lines, line)
		}
		l := NewPlacement(struct {
			Game
			BitMoves
		}{}, squares, lines, test.turns, func(board [2]uint64) Position { return board[0] | board[1]<<32 })
		boards, open, won := make([]float64, squares+2), make([]float64, squares+2), make([]float64, squares+2)
		var lay func(square int, board [2]uint64)
		lay = func(square int, board [2]uint64) {
			if square < squares {
				lay(square+1, board)
				lay(square+1, [2]uint64{board[0] | 1<<square, board[1]})
				lay(square+1, [2]uint64{board[0], board[1] | 1<<square})
				return
			}
			first, second := bits.OnesCount64(board[0]), bits.OnesCount64(board[1])
			tier := first + second
			if test.turns && first != (tier+1)/2 {
				return
			}
			boards[tier]++
			last := 1 - tier&1 // the player who placed the last piece
			shared, any := ^uint64(0), false
			for kind, stones := range board {
				for _, line := range lines {
					if line&^stones == 0 {
						any = true
						if shared &= line; test.turns && kind != last {
							shared = 0
						}
					}
				}
			}
			switch {
			case !any:
				open[tier]++
			case shared != 0:
				won[tier]++
			}
		}
		lay(0, [2]uint64{})
		r := rand.New(rand.NewPCG(3, 4))
		for tier := range squares + 1 {
			if got := l.Boards(tier); got != boards[tier] {
				t.Errorf("%+v: %v boards of %d pieces, want %v", test, got, tier, boards[tier])
			}
			const draws = 4000
			var sum, squares2 [2]float64
			for range draws {
				s := l.Sample(tier, r)
				kinds := 2.0
				if test.turns {
					kinds = 1
				}
				if want := s.Open * kinds * float64(squares-tier); math.Abs(s.Moves-want) > 1e-9*want || s.Won > s.Moves*(1+1e-9) || s.WonCanonical != s.Won || s.Open > boards[tier]*(1+1e-9) {
					t.Fatalf("%+v: %+v of %d pieces", test, s, tier)
				}
				for i, x := range [2]float64{s.Open, s.Won} {
					sum[i] += x / draws
					squares2[i] += x * x / draws
				}
			}
			for i, want := range [2]float64{open[tier], won[tier+1]} {
				if deviation := math.Sqrt(max(0, squares2[i]-sum[i]*sum[i]) / draws); math.Abs(sum[i]-want) > 4*deviation+1e-9*want {
					t.Errorf("%+v: %d pieces: %v ± %v, want %v (open, won)[%d]", test, tier, sum[i], deviation, want, i)
				}
			}
		}
	}
}
