package mancala

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// A database has the values of all boards with few stones in the pits. The value of a board is
// the number of these stones that the player to move gains, minus those that the other gains,
// if both maximize their stones. It does not depend on the stones already in the goals. So a
// byte per board is enough to decide who wins with any lead.
//
// Boards with fewer stones are solved first, and then each board after those that it depends
// on: a move that puts no stone into a goal only moves stones forward within a row, which
// gives the row a smaller number (see ranking).
type database struct {
	*ranking
	stones int
	values []byte   // of the boards of 0, 1, … stones: signed bytes, int8
	begin  []uint64 // index in values of the first board of s stones
}

// maxEndgameStones is the largest number of stones of a database: values of boards with more
// stones might not fit into a byte.
const maxEndgameStones = 127

// quickBoards is the number of boards that can be solved in less than a tenth of a second.
const quickBoards = 700_000

// quickStones returns the largest number of stones, up to most, for which a database with this
// number of pits per row has no more than quickBoards boards.
func quickStones(pits, most int) (stones int) {
	for stones < min(most, maxEndgameStones) && boardsUpTo(pits, stones+1) <= quickBoards {
		stones++
	}
	return stones
}

// boardsUpTo returns the number of boards with up to this many stones in the pits.
func boardsUpTo(pits, stones int) float64 {
	n := 1.0
	for i := 1; i <= 2*pits; i++ {
		n *= float64(stones+i) / float64(i)
	}
	return math.Round(n)
}

// newDatabase computes a database, on all cores.
func newDatabase(pits, stones int) *database {
	e := &database{ranking: newRanking(pits, stones), stones: stones, begin: make([]uint64, stones+2)}
	for s := range stones + 1 {
		e.begin[s+1] = e.begin[s] + e.boards(s)
	}
	e.values = make([]byte, e.begin[stones+1])
	rows := make([][]uint64, stones+1)
	sown := make([][]sowing, pits)
	for n := range rows {
		rows[n] = e.all(n)
	}
	for pit := range sown {
		sown[pit] = sowings(pits, pit, stones)
	}
	for s := 1; s <= stones; s++ {
		// Boards of s stones depend only on boards with the same n stones in one row and s-n
		// in the other.
		var next atomic.Int64
		var wait sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wait.Go(func() {
				for {
					n := s - int(next.Add(1)) + 1
					if 2*n < s {
						return
					}
					e.solve(sown, rows[n], rows[s-n])
				}
			})
		}
		wait.Wait()
	}
	return e
}

// solve computes all boards with one row from long and the other from short. The rows of
// short have at most as many stones as those of long.
func (e *database) solve(sown [][]sowing, long, short []uint64) {
	same := len(long) == len(short) && long[0] == short[0]
	for i, a := range long {
		for j, b := range short {
			if same && j > i {
				break
			}
			e.set(sown, a, b)
			if !same || j < i {
				e.set(sown, b, a)
			}
		}
	}
}

// set computes the value of a board.
func (e *database) set(sown [][]sowing, own, other uint64) {
	best := -maxEndgameStones - 1
	if own == 0 {
		best = -e.value(other, own)
	}
	for pit := range e.pits {
		if own>>(8*pit)&0xff == 0 {
			continue
		}
		mine, yours, gain, _ := sow(sown[pit], e.pits, pit, own, other)
		best = max(best, gain-e.value(yours, mine))
	}
	number, s := e.number(own, other)
	e.values[e.begin[s]+number] = byte(int8(best))
}

// value returns the value of a board for the player to move. The board must not have more
// stones than the database.
func (e *database) value(own, other uint64) int {
	number, s := e.number(own, other)
	return int(int8(e.values[e.begin[s]+number]))
}
