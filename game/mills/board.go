package mills

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// A variant is what depends on the number of pieces.
type variant struct {
	title     string
	rings     int  // squares of eight points, one within the other
	centre    bool // there is a point in the centre
	diagonals bool // lines join the corners and the centre
	flies     bool // a player with three pieces moves them to any empty point
}

// The variants by the number of pieces of a player.
var variants = map[int]variant{
	3: {title: "Three Men's Morris", rings: 1, centre: true, diagonals: true},
	5: {title: "Five Men's Morris", rings: 2},
	6: {title: "Six Men's Morris", rings: 2},
	7: {title: "Seven Men's Morris", rings: 2, centre: true},
	9: {title: "Nine Men's Morris", rings: 3, flies: true},
}

// The letters of points in texts: empty, white and black.
const pieces = ".WB"

// A point is a point of the board.
type point struct {
	x, y int // column and row from the centre, to the right and up
	name string
}

// A board contains the points, numbered from 0, and how they are joined. Sets of points are bits.
type board struct {
	points   []point
	full     uint32
	beside   []uint32   // the neighbours of each point
	mills    []uint32   // three points each
	partners [][]uint32 // of each point: the two other points of each of its mills
	images   []*game.BitMove
}

func newBoard(v variant) *board {
	b, n := new(board), v.rings
	for x := -n; x <= n; x++ {
		for y := -n; y <= n; y++ {
			if (x == 0 || y == 0 || x == y || x == -y) && (x != 0 || y != 0 || v.centre) {
				b.points = append(b.points, point{x, y, string(rune('a'+n+x)) + strconv.Itoa(1+n+y)})
			}
		}
	}
	b.full = 1<<b.size() - 1
	b.beside, b.partners = make([]uint32, b.size()), make([][]uint32, b.size())
	for r := 1; r <= n; r++ {
		for _, side := range [][4]int{{-r, -r, r, 0}, {-r, r, r, 0}, {-r, -r, 0, r}, {r, -r, 0, r}} {
			b.join(side, 3)
		}
	}
	lines := [][4]int{{-n, 0, 1, 0}, {0, -n, 0, 1}, {-n, -n, 1, 1}, {-n, n, 1, -1}}
	if !v.diagonals {
		lines = lines[:2]
	}
	for _, line := range lines {
		b.join(line, 2*n+1)
	}
	for _, mill := range b.mills {
		for at := range b.points {
			if mill>>at&1 != 0 {
				b.partners[at] = append(b.partners[at], mill&^(1<<at))
			}
		}
	}
	b.images = b.symmetries(v)
	return b
}

func (b *board) size() int { return len(b.points) }

// number returns the number of the point in a column and row, or -1.
func (b *board) number(x, y int) int {
	return slices.IndexFunc(b.points, func(p point) bool { return p.x == x && p.y == y })
}

// join joins points along a line: the column and row of the first place and the distance from each
// place to the next. At a place without a point, the line is interrupted.
func (b *board) join(line [4]int, places int) {
	last, before := -1, -1
	for i := range places {
		at := b.number(line[0]+i*line[2], line[1]+i*line[3])
		if at >= 0 && last >= 0 {
			b.beside[at] |= 1 << last
			b.beside[last] |= 1 << at
			if before >= 0 {
				b.mills = append(b.mills, 1<<at|1<<last|1<<before)
			}
		}
		last, before = at, last
	}
}

// symmetries returns the symmetries of the board but the identity. If there is no point in the
// centre, the first square and the last can be exchanged.
func (b *board) symmetries(v variant) (all []*game.BitMove) {
	n := v.rings
	for _, to := range (game.Grid{Width: 2*n + 1, Height: 2*n + 1}).Symmetries() {
		for _, exchange := range []bool{false, true}[:map[bool]int{true: 1, false: 2}[v.centre]] {
			moved := make([]int, 2*b.size())
			for from, p := range b.points {
				x, y := to(p.x+n, p.y+n)
				x, y = x-n, y-n
				if r := max(x, -x, y, -y); exchange {
					x, y = x*(n+1-r)/r, y*(n+1-r)/r
				}
				moved[from], moved[b.size()+from] = b.number(x, y), b.size()+b.number(x, y)
			}
			all = append(all, game.NewBitMove(moved))
		}
	}
	return all[1:]
}

// inText returns the numbers of the points in the order of the text, row by row from the top, and -1
// between rows.
func (b *board) inText() (order []int) {
	n := b.points[b.size()-1].x
	for y := n; y >= -n; y-- {
		if y < n {
			order = append(order, -1)
		}
		for at, p := range b.points {
			if p.y == y {
				order = append(order, at)
			}
		}
	}
	return order
}

// on returns what is on a point, as an index into pieces.
func (s state) on(at int) int { return int(s.men[0]>>at&1 | s.men[1]>>at&1<<1) }

// AppendText appends the rows from the top, separated by /, the player to move, and the pieces that
// white and black have in hand: "W.B/…/... W 4 4".
func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	s := r.state(p)
	for _, at := range r.inText() {
		if at < 0 {
			dst = append(dst, '/')
		} else {
			dst = append(dst, pieces[s.on(at)])
		}
	}
	return append(append(dst, ' '), r.turns[s.phase]...)
}

// Parse reads the text of AppendText.
func (r *rules) Parse(text string) (game.Position, error) {
	wrong := func(what string) (game.Position, error) {
		return 0, fmt.Errorf("position %q: expected %s, as in %q", text, what, r.AppendText(nil, r.Start()))
	}
	rows, turn, _ := strings.Cut(text, " ")
	s := state{phase: slices.Index(r.turns, turn)}
	if s.phase < 0 {
		return wrong("the rows, the player to move, W or B, and the pieces that W and B have in hand")
	}
	order := r.inText()
	if len(rows) != len(order) {
		return wrong("rows of points")
	}
	for i, at := range order {
		switch piece := strings.IndexByte(pieces, rows[i]); {
		case at < 0 && rows[i] == '/' || at >= 0 && piece == 0:
		case at >= 0 && piece > 0:
			s.men[piece-1] |= 1 << at
		default:
			return wrong("rows of points with W, B or . for an empty point")
		}
	}
	p := r.key(s)
	if err := r.Check(p); err != nil {
		return 0, fmt.Errorf("position %q: %w", text, err)
	}
	return p, nil
}

// Picture returns the board, and below it the numbers of pieces in hand.
func (r *rules) Picture(p game.Position) game.Picture {
	s, n := r.state(p), r.rings
	var pic game.Picture
	for y := n; y >= -n-1; y-- {
		row := make([]game.Square, 2*n+1)
		for x := range row {
			row[x].Kind = game.Gap
			if at := r.number(x-n, y); at >= 0 {
				row[x] = game.Square{Text: pieces[s.on(at) : s.on(at)+1], Owner: game.Owner(s.on(at))}
			}
		}
		pic.Rows = append(pic.Rows, row)
		pic.Left = append(pic.Left, strconv.Itoa(1+n+y))
	}
	for x := range 2*n + 1 {
		pic.Above = append(pic.Above, string(rune('a'+x)))
	}
	hands := pic.Rows[2*n+1]
	for player, x := range []int{0, 2 * n} {
		hands[x] = game.Square{Kind: game.Goal, Text: strconv.Itoa(r.hand(s, game.Player(player))), Owner: game.OwnedBy(game.Player(player))}
	}
	pic.Left[2*n+1] = ""
	return pic
}
