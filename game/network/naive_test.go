package network

// naiveNetwork is a second implementation of the game, square by square, for comparison. It is
// written from the rules alone.
type naiveNetwork struct{}

// A naiveBoard has 64 letters, column by column from the left and each column from the
// top: W, B, or a point for an empty square.
type naiveBoard [64]byte

// A naiveMove places a chip on square To, given by column and row. If it is a step, the
// chip is first removed from square From.
type naiveMove struct {
	Step     bool
	From, To [2]int
}

// The results of a move in Network.
const (
	goesOn   = ""
	winsOwn  = "the mover has a network, the other none"
	winsHis  = "the other has a network, the mover none"
	winsBoth = "both have a network"
)

func (naiveNetwork) at(board *naiveBoard, x, y int) byte {
	if x < 0 || x > 7 || y < 0 || y > 7 {
		return 0
	}
	return board[8*x+y]
}

// lawful reports whether a chip of color may be placed on an empty square of a board: the
// square is no corner and in no goal of the opponent, and the chip does not complete a
// group of three. Groups are counted by flood fill.
func (n naiveNetwork) lawful(board naiveBoard, color byte, x, y int) bool {
	across, along := x == 0 || x == 7, y == 0 || y == 7
	if n.at(&board, x, y) != '.' || across && along || across && color == 'B' || along && color == 'W' {
		return false
	}
	board[8*x+y] = color
	return n.flood(&board, color, x, y) < 3
}

// flood returns the size of a group of chips, and removes the group from the board.
func (n naiveNetwork) flood(board *naiveBoard, color byte, x, y int) int {
	if n.at(board, x, y) != color {
		return 0
	}
	board[8*x+y] = '.'
	size := 1
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			size += n.flood(board, color, x+dx, y+dy)
		}
	}
	return size
}

// moves returns the legal moves of a color, W or B, on a board on which no player has won,
// in the order of their squares.
func (n naiveNetwork) moves(board naiveBoard, color byte) (moves []naiveMove) {
	chips := 0
	for _, c := range board {
		if c == color {
			chips++
		}
	}
	squares := func(each func(x, y int)) {
		for x := range 8 {
			for y := range 8 {
				each(x, y)
			}
		}
	}
	if chips < 10 {
		squares(func(x, y int) {
			if n.lawful(board, color, x, y) {
				moves = append(moves, naiveMove{To: [2]int{x, y}})
			}
		})
		return moves
	}
	squares(func(fromX, fromY int) {
		if n.at(&board, fromX, fromY) != color {
			return
		}
		lifted := board
		lifted[8*fromX+fromY] = '.'
		squares(func(x, y int) {
			if (x != fromX || y != fromY) && n.lawful(lifted, color, x, y) {
				moves = append(moves, naiveMove{Step: true, From: [2]int{fromX, fromY}, To: [2]int{x, y}})
			}
		})
	})
	return moves
}

// result returns which players have a network after a move of color.
func (n naiveNetwork) result(board naiveBoard, color byte) string {
	other := 'W' + 'B' - color
	own, his := n.network(board, color), n.network(board, other)
	switch {
	case own && his:
		return winsBoth
	case own:
		return winsOwn
	case his:
		return winsHis
	}
	return goesOn
}

// network reports whether a color has a network: it follows every path from the first goal.
func (n naiveNetwork) network(board naiveBoard, color byte) bool {
	for i := 1; i < 7; i++ {
		x, y := 0, i
		if color == 'B' {
			x, y = i, 0
		}
		if n.at(&board, x, y) == color && n.follow(&board, color, [][2]int{{x, y}}) {
			return true
		}
	}
	return false
}

// follow reports whether a path of chips can be extended to a network.
func (n naiveNetwork) follow(board *naiveBoard, color byte, path [][2]int) bool {
	last := path[len(path)-1]
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			next, ok := n.sees(board, color, last, dx, dy)
			if !ok {
				continue
			}
			if len(path) > 1 {
				before := path[len(path)-2]
				if sign(last[0]-before[0]) == dx && sign(last[1]-before[1]) == dy {
					continue // a straight line: not a corner
				}
			}
			seen := false
			for _, p := range path {
				seen = seen || p == next
			}
			side := next[0]
			if color == 'B' {
				side = next[1]
			}
			switch {
			case seen, side == 0:
			case side == 7:
				if len(path)+1 >= 6 {
					return true
				}
			case n.follow(board, color, append(path[:len(path):len(path)], next)):
				return true
			}
		}
	}
	return false
}

// sees returns the chip of the color that is visible from a square in a direction.
func (n naiveNetwork) sees(board *naiveBoard, color byte, from [2]int, dx, dy int) ([2]int, bool) {
	if dx == 0 && dy == 0 {
		return from, false
	}
	x, y := from[0]+dx, from[1]+dy
	for n.at(board, x, y) == '.' {
		x, y = x+dx, y+dy
	}
	return [2]int{x, y}, n.at(board, x, y) == color
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
