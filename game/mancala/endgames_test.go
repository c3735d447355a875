package mancala

import (
	"slices"
	"testing"
)

// The numbers of rows and boards have no gaps, and moving a stone forward makes the number
// smaller.
func TestRanking(t *testing.T) {
	for pits := 1; pits <= maxFastPits; pits++ {
		const most = 5
		k := newRanking(pits, most)
		for n := range most + 1 {
			for want, row := range k.all(n) {
				got, stones := k.row(row)
				if got != uint64(want) || stones != n {
					t.Fatalf("%d pits: row %x is number %d of those of %d stones, want %d of %d", pits, row, got, stones, want, n)
				}
				for pit := range pits - 1 {
					if row>>(8*pit)&0xff == 0 {
						continue
					}
					if forward, _ := k.row(row - 1<<(8*pit) + 1<<(8*(pit+1))); forward >= got {
						t.Errorf("%d pits: a stone of row %x goes forward from pit %d, and the number becomes %d", pits, row, pit, forward)
					}
				}
			}
			if len(k.all(n)) != int(k.rows[n]) {
				t.Errorf("%d pits, %d stones: %d rows, want %d", pits, n, len(k.all(n)), k.rows[n])
			}
		}
		seen := make([]bool, k.boards(most))
		for n := range most + 1 {
			for _, a := range k.all(n) {
				for _, b := range k.all(most - n) {
					number, s := k.number(a, b)
					if s != most || seen[number] {
						t.Fatalf("%d pits: board %x %x has number %d again", pits, a, b, number)
					}
					seen[number] = true
				}
			}
		}
		if slices.Contains(seen, false) {
			t.Errorf("%d pits: a number of a board is missing", pits)
		}
	}
}

// The database agrees with a naive implementation on every board with few stones.
func TestEndgames(t *testing.T) {
	for _, size := range [][2]int{{1, 12}, {2, 9}, {3, 6}, {4, 5}, {6, 3}, {8, 2}} {
		pits, stones := size[0], size[1]
		e := newDatabase(pits, stones)
		m := naiveMancala{Pits: pits, Stones: 100} // with enough stones in the goals
		known := make(map[string]int)
		boards := 0
		for s := range stones + 1 {
			for n := range s + 1 {
				for _, own := range e.all(n) {
					for _, other := range e.all(s - n) {
						boards++
						var board []byte
						for _, row := range []uint64{own, other} {
							for pit := range pits {
								board = append(board, byte(row>>(8*pit)))
							}
							board = append(board, 0)
						}
						if got, want := e.value(own, other), futureOf(m, board, known); got != want {
							t.Fatalf("%d pits: %v is worth %d, want %d", pits, board, got, want)
						}
					}
				}
			}
		}
		if boards != len(e.values) || float64(boards) != boardsUpTo(pits, stones) {
			t.Errorf("%d pits, %d stones: %d values, boardsUpTo returns %v, want %d", pits, stones, len(e.values), boardsUpTo(pits, stones), boards)
		}
	}
}

// futureOf returns the value of the pits of a board by the naive implementation.
func futureOf(m naiveMancala, board []byte, known map[string]int) int {
	pits := slices.Clone(board)
	pits[m.Pits], pits[2*m.Pits+1] = 0, 0
	if v, ok := known[string(pits)]; ok {
		return v
	}
	best, empty := -1000, true
	for i, n := range pits {
		empty = empty && (n == 0 || i == m.Pits)
	}
	if empty {
		return 0
	}
	for _, after := range m.Moves(pits) {
		best = max(best, -m.value(after, known))
	}
	known[string(pits)] = best
	return best
}
