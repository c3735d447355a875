package naive

import "strings"

// The results of a position of a game with cycles, for the player to move.
const (
	Draw = "DRAW" // play that never ends
	Lose = "LOSE"
	Win  = "WIN"
	Tie  = "TIE"
)

// A Worth is a result and the number of moves to the end, 0 for a draw.
type Worth struct {
	Result     string
	Remoteness int
}

// SolveCyclic returns the values of all positions that can be reached from start in a game
// that may have cycles. The turns alternate. finished returns the result of a terminal
// position, which has no moves, and "" for the others; successors returns the positions after
// each move of a position that is not terminal.
//
// A position with a lost successor is won, in one move more than the nearest of the lost
// successors. A position all of whose successors are won is lost, in one move more than the
// farthest. A position that is then undecided and has a tied successor is a
// tie, in one move more than the nearest of these. The rest are draws.
func SolveCyclic(start uint64, finished func(uint64) string, successors func(uint64) []uint64) map[uint64]Worth {
	// Positions are numbered in the order in which they are found.
	number := map[uint64]int{start: 0}
	positions := []uint64{start}
	predecessors := [][]int{nil}
	var moves []int
	var worth []Worth
	var queue, ties []int // decided positions in order of their remoteness
	for n := 0; n < len(positions); n++ {
		result := finished(positions[n])
		moves = append(moves, 0)
		worth = append(worth, Worth{result, 0})
		switch result {
		case "":
			for _, p := range successors(positions[n]) {
				successor, ok := number[p]
				if !ok {
					successor = len(positions)
					number[p] = successor
					positions = append(positions, p)
					predecessors = append(predecessors, nil)
				}
				moves[n]++
				predecessors[successor] = append(predecessors[successor], n)
			}
		case Tie:
			ties = append(ties, n)
		default:
			queue = append(queue, n)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		successor := worth[queue[0]]
		for _, p := range predecessors[queue[0]] {
			moves[p]-- // a lost successor decides at once, so this counts only won ones
			if worth[p].Result != "" {
				continue
			}
			switch {
			case successor.Result == Lose:
				worth[p] = Worth{Win, successor.Remoteness + 1}
			case moves[p] == 0:
				worth[p] = Worth{Lose, successor.Remoteness + 1}
			default:
				continue
			}
			queue = append(queue, p)
		}
	}
	for ; len(ties) > 0; ties = ties[1:] {
		for _, p := range predecessors[ties[0]] {
			if worth[p].Result == "" {
				worth[p] = Worth{Tie, worth[ties[0]].Remoteness + 1}
				ties = append(ties, p)
			}
		}
	}
	all := make(map[uint64]Worth)
	for n, w := range worth {
		if w.Result == "" {
			w = Worth{Draw, 0}
		}
		all[positions[n]] = w
	}
	return all
}

// SolveTexts is SolveCyclic for a game whose positions are texts; moves returns those after a position, by the names of the
// moves.
func SolveTexts(start string, finished func(string) string, moves func(string) map[string]string) map[string]Worth {
	texts, numbers := []string{start}, map[string]uint64{start: 0}
	successors := func(p uint64) (all []uint64) {
		for _, text := range moves(texts[p]) {
			if _, ok := numbers[text]; !ok {
				numbers[text] = uint64(len(texts))
				texts = append(texts, text)
			}
			all = append(all, numbers[text])
		}
		return all
	}
	values := make(map[string]Worth)
	for p, w := range SolveCyclic(0, func(p uint64) string { return finished(texts[p]) }, successors) {
		values[texts[p]] = w
	}
	return values
}

// QuickCross is the game of that name on a board with W columns and H rows, in which
// Connect pieces of the same kind in a line win.
type QuickCross struct{ W, H, Connect int }

// Solve returns the values of all positions that can be reached from the empty board, by
// hash: the square in column x and row y has the weight 3^(y*w+x) and the digit 0 if it is
// empty, 1 for '-' and 2 for '|'.
func (q QuickCross) Solve() map[uint64]Worth {
	finished := func(p uint64) string {
		if len(q.lines(q.board(p))) > 0 {
			return Lose
		}
		return ""
	}
	return SolveCyclic(0, finished, q.successors)
}

// board returns the squares of a position row by row.
func (q QuickCross) board(p uint64) string {
	var b strings.Builder
	for range q.W * q.H {
		b.WriteByte(".-|"[p%3])
		p /= 3
	}
	return b.String()
}

// hash is the inverse of board.
func (q QuickCross) hash(board string) uint64 {
	var p uint64
	for i := len(board) - 1; i >= 0; i-- {
		p = 3*p + uint64(strings.IndexByte(".-|", board[i]))
	}
	return p
}

// successors returns the positions after placing a piece on an empty square or turning a
// piece.
func (q QuickCross) successors(p uint64) []uint64 {
	var all []uint64
	board := q.board(p)
	for i := range board {
		for _, piece := range []string{"-", "|"} {
			if board[i:i+1] != piece {
				all = append(all, q.hash(board[:i]+piece+board[i+1:]))
			}
		}
	}
	return all
}

// lines returns the squares of every line on a board.
func (q QuickCross) lines(board string) [][]int {
	var all [][]int
	for y := range q.H {
		for x := range q.W {
			for _, d := range [4][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
				var line []int
				for cx, cy := x, y; len(line) < q.Connect && cx < q.W && cy >= 0 && cy < q.H; cx, cy = cx+d[0], cy+d[1] {
					if i := cy*q.W + cx; board[i] != '.' && board[i] == board[y*q.W+x] {
						line = append(line, i)
					} else {
						break
					}
				}
				if len(line) == q.Connect {
					all = append(all, line)
				}
			}
		}
	}
	return all
}

// Reachable reports whether p can be reached from the empty board, without playing: p has
// no line, or all its lines share a square, that of the last move.
func (q QuickCross) Reachable(p uint64) bool {
	lines := q.lines(q.board(p))
	if len(lines) == 0 {
		return true
	}
	on := make(map[int]int)
	for _, line := range lines {
		for _, i := range line {
			on[i]++
		}
	}
	for _, n := range on {
		if n == len(lines) {
			return true
		}
	}
	return false
}
