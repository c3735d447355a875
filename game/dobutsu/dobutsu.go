// Package dobutsu implements Dobutsu shogi (animal shogi, "Let's Catch the Lion!"), which was
// invented by Madoka Kitao in 2008 and solved by Tetsuro Tanaka in 2009 ("An Analysis of a Board
// Game 'Doubutsu Shogi'"). Each player has a lion, a giraffe, an elephant and a chick. The letters
// of the first player, who moves up, are capitals.
//
//	    a b c
//	1   g l e
//	2   . c .
//	3   . C .
//	4   E L G
//
// A lion moves one square in any direction, a giraffe along its row or column, an elephant along a
// diagonal, and a chick forward. A chick that moves to the last row becomes a hen, which moves like
// a lion, but not diagonally backward. A captured piece belongs to the player who captured it.
// Instead of moving, he can drop it on any empty square. A captured hen is a chick again. A chick
// that is dropped on the last row remains a chick, and cannot move.
//
// A player who can capture the lion must do so, and wins. A player whose lion moves to the last row
// wins if it cannot be captured there. There are no ties. Repetitions do not affect values: play
// that never ends is a draw.
//
// # The hash
//
// The board is turned so that the player to move moves up. Its number has four digits: the places
// of the lions, which are the most significant digit, the giraffes, the elephants, and the chicks
// or hens. A place is an owner and the hand or a square; squares are counted column by column, a1
// a2 … b1 b2 …, without those of the digits before. Pairs of places with fewer pieces on the board
// have smaller numbers. The key is the number of the board, plus the number of all boards if the
// second player is to move. Every key below twice that number is a position. The images of a
// position are its mirror image, and both for the other player to move.
package dobutsu

import (
	"cmp"
	_ "embed"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
)

//go:embed rules.txt
var rulesText string

// Kind describes Dobutsu shogi to a program.
var Kind = game.Kind{
	Name:  "dobutsu",
	Usage: "Dobutsu shogi: catch the lion of the other player, or move yours to the last row",
	New:   func([]int) (game.Game, error) { return New(), nil },
}

// The squares are numbered from 1; 0 is the hand.
const (
	width, height = 3, 4
	hand          = 0
	squares       = 1 + width*height
	full          = 1<<squares - 1 // the set of all squares, and the hand
)

// A place is states times the square of a piece, plus its state.
type place = uint8

// The state of a piece is a sum of these.
const (
	others = 1 // it belongs to the second player; on a turned board, to the player who is not to move
	hen    = 2
	states = 4
	places = states * squares
)

// The kinds of pieces, of which there are two, and their letters. A hen is a chick with the next letter.
const (
	lion, chick, kinds = 0, 3, 4
	letters            = "LGECH"
)

var (
	sorted = [...]int{3, 2, 1, 4, 0} // indices of letters
	grid   = game.Grid{Width: width, Height: height, Pieces: ".LGECHlgech", Owners: slices.Concat([]game.Owner{game.Nobody},
		slices.Repeat([]game.Owner{game.OfFirst}, len(letters)), slices.Repeat([]game.Owner{game.OfSecond}, len(letters)))}
)

// A board has the places of the two pieces of each kind.
type board [2 * kinds]place

// letter returns the index of the letter of a piece.
func (b *board) letter(piece int) int { return piece/2 + int(b[piece]&hen)/hen }

// A numbering numbers the places of two pieces on some free squares, which are numbered, too.
type numbering struct {
	pairs  [][2]place
	number [places][places]uint32                 // the first board with these places, in any order
	on     [3]struct{ index, first, each uint32 } // by pieces on the board: the first pair, its first board, and the boards of each pair
	boards uint32
}

type rules struct {
	numberings [kinds + 1][squares + 1]numbering      // by kind and free squares with the hand; the last has one board
	nth        [1 << squares][squares]uint8           // the squares of a set
	views      [3][places]place                       // a place for First and Second, who see their boards from their sides, and mirrored
	targets    [2][len(letters)][squares]uint16       // the squares to which a player's piece moves
	names      [len(letters)][squares][squares]string // of moves
	boards     uint64
	start      game.Position
}

const mirrored = 2

// New returns the rules.
func New() game.Symmetric {
	r := new(rules)
	for set := range r.nth {
		n := 0
		for s := range uint8(squares) {
			if set>>s&1 != 0 {
				r.nth[set][n] = s
				n++
			}
		}
	}
	for p := range place(places) {
		turned, mirror := p, p
		if s := p / states; s != hand {
			turned, mirror = (squares-s)*states+p%states, ((width-1-(s-1)/height)*height+(s-1)%height+1)*states+p%states
		}
		r.views[game.First][p], r.views[game.Second][p], r.views[mirrored][p] = p, turned^others, mirror
	}
	r.numberings[kinds] = [squares + 1]numbering{}
	for n := range r.numberings[kinds] {
		r.numberings[kinds][n].boards = 1
	}
	for kind := kinds - 1; kind >= 0; kind-- {
		for n := 1; n <= squares; n++ {
			r.numberings[kind][n].fill(kind, n, &r.numberings[kind+1])
		}
	}
	r.boards = uint64(r.lions().boards)
	for from := range squares {
		for to := 1; to < squares; to++ {
			r.addMoves(from, to)
		}
	}
	r.start, _ = r.Parse("gle/.c./.C./ELG - L")
	return r
}

// fill numbers the places of a kind on n free squares, one of which is the hand. The numberings of
// the next kind are next.
func (m *numbering) fill(kind, n int, next *[squares + 1]numbering) {
	for on := range m.on {
		s := &m.on[on]
		s.index, s.first = uint32(len(m.pairs)), m.boards
		for a := range place(n * states) {
			for b := range a + 1 {
				if onBoard(kind, a, b) == on {
					s.each = next[n-on].boards
					m.pairs = append(m.pairs, [2]place{b, a})
					m.number[a][b], m.number[b][a] = m.boards, m.boards
					m.boards += s.each
				}
			}
		}
	}
}

// onBoard returns how many pieces of a kind are on the board if they have the places a and b, where
// b is at most a, or -1 if they cannot. A captured lion belongs to the other player, as his own does.
func onBoard(kind int, a, b place) int {
	s, t := a/states, b/states
	switch {
	case (a|b)&hen != 0 && kind != chick, a < states && a&hen != 0, b < states && b&hen != 0, s == t && s != hand,
		kind == lion && (s == hand || t == hand && a&b&others == 0 || t != hand && (a^b)&others == 0):
		return -1
	}
	return min(int(s), 1) + min(int(t), 1)
}

// split returns the places of the first digit of a board, and the number without this digit.
func (m *numbering) split(number uint32) (pair [2]place, rest uint32) {
	on := &m.on[2]
	for i := 1; number < on.first; i-- {
		on = &m.on[i]
	}
	number -= on.first
	return m.pairs[on.index+number/on.each], number % on.each
}

// lions returns the numbering of the first digit.
func (r *rules) lions() *numbering { return &r.numberings[lion][squares] }

// number returns the number of a board in one of views.
func (r *rules) number(b *board, view int) (n uint32) {
	free, seen := uint16(full), &r.views[view]
	for kind := range kinds {
		p, q := seen[b[2*kind]], seen[b[2*kind+1]]
		bitP, bitQ := uint16(1)<<(p/states), uint16(1)<<(q/states)
		p = place(bits.OnesCount16(free&(bitP-1)))*states | p%states
		q = place(bits.OnesCount16(free&(bitQ-1)))*states | q%states
		n += r.numberings[kind][bits.OnesCount16(free)].number[p][q]
		free = free&^(bitP|bitQ) | 1<<hand
	}
	return n
}

// key returns the position of a board as First sees it. The function board is its inverse.
func (r *rules) key(b *board, toMove game.Player) game.Position {
	return uint64(r.number(b, int(toMove))) + r.boards*uint64(toMove)
}

func (r *rules) board(p game.Position) (b board) {
	n, free, seen := r.numberOf(p), uint16(full), &r.views[r.ToMove(p)]
	for kind := range kinds {
		pair, rest := r.numberings[kind][bits.OnesCount16(free)].split(n)
		nth := &r.nth[free]
		for i, at := range pair {
			s := nth[at/states]
			b[2*kind+i] = seen[s*states|at%states]
			free = free&^(1<<s) | 1<<hand
		}
		n = rest
		if b[2*kind] > b[2*kind+1] {
			b[2*kind], b[2*kind+1] = b[2*kind+1], b[2*kind]
		}
	}
	return b
}

// numberOf returns the number of the board of a position.
func (r *rules) numberOf(p game.Position) uint32 { return uint32(p - r.boards*uint64(r.ToMove(p))) }

// mirror returns the number of the mirror image of a board.
func (r *rules) mirror(n uint32) uint32 {
	b := r.board(uint64(n))
	return r.number(&b, mirrored)
}

// Canonical returns the least of the images of p. The places of the lions often show which it is.
func (r *rules) Canonical(p game.Position) game.Position {
	n, m, view := r.numberOf(p), r.lions(), &r.views[mirrored]
	if pair, _ := m.split(n); m.number[view[pair[0]]][view[pair[1]]] > n {
		return uint64(n)
	}
	return uint64(min(n, r.mirror(n)))
}

// Images appends the images of p.
func (r *rules) Images(dst []game.Position, p game.Position) []game.Position {
	a := uint64(r.numberOf(p))
	b := uint64(r.mirror(uint32(a)))
	return game.Distinct(append(dst, a, b, r.boards+a, r.boards+b), len(dst))
}

// Info describes the game.
func (r *rules) Info() game.Info {
	animals := map[string]string{}
	for i, animal := range []string{"lion", "giraffe", "elephant", "chick", "hen"} {
		for _, set := range []string{letters, strings.ToLower(letters)} {
			letter := set[i : i+1]
			animals[letter], animals[letter+letter] = animal, animal
		}
	}
	return game.Info{Title: "Dobutsu shogi", Rules: rulesText, Hashes: 2 * r.boards, Look: game.Look{Pieces: animals}}
}

func (r *rules) Spec() string         { return Kind.Name }
func (r *rules) KeyBits() uint        { return uint(bits.Len64(2*r.boards - 1)) }
func (r *rules) Start() game.Position { return r.start }

// Values returns values from the view of the player to move; there are no ties.
func (r *rules) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{"L", "l"}}
}

// Check requires a number below that of all positions.
func (r *rules) Check(p game.Position) error {
	if p >= 2*r.boards {
		return fmt.Errorf("%d is not a position of Dobutsu shogi: the largest is %d", p, 2*r.boards-1)
	}
	return nil
}

func (r *rules) ToMove(p game.Position) game.Player {
	if p < r.boards {
		return game.First
	}
	return game.Second
}

// Primitive returns a loss for the player to move if his lion is captured, or if the other lion
// stands on the last row and he cannot capture it.
func (r *rules) Primitive(p game.Position) game.Value {
	pair, _ := r.lions().split(r.numberOf(p))
	for _, at := range pair {
		if at/states == hand || at&others != 0 && at/states%height == 0 && !r.wins(p) {
			return game.NewValue(game.WinFor(r.ToMove(p).Other()), 0)
		}
	}
	return 0
}

// wins reports whether the player to move can capture the lion.
func (r *rules) wins(p game.Position) bool {
	b := r.board(p)
	return r.reach(&b, r.ToMove(p)) != full
}

// addMoves adds the moves between two squares.
func (r *rules) addMoves(from, to int) {
	name := func(s int) string {
		if s == hand {
			return "*"
		}
		return grid.Square((s-1)/height, (s-1)%height)
	}
	x, y := (to-1)/height-(from-1)/height, (to-1)%height-(from-1)%height
	straight, diagonal := x*x+y*y == 1, x*x*y*y == 1
	for player, up := range [...]int{-1, 1} {
		for letter, can := range [...]bool{straight || diagonal, straight, diagonal, straight && y == up, straight || diagonal && y == up} {
			if can || from == hand {
				r.targets[player][letter][from] |= 1 << to
			}
			r.names[letter][from][to] = letters[letter:letter+1] + name(from) + name(to)
		}
	}
}

// reach returns the set of the squares to which a player can move or drop his pieces: that of the
// other lion, if he can capture it.
func (r *rules) reach(b *board, player game.Player) uint16 {
	prey := b[0] / states
	if b[0]&others == place(player) {
		prey = b[1] / states
	}
	for i, at := range b {
		if at >= states && at&others == place(player) && r.targets[player][b.letter(i)][at/states]>>prey&1 != 0 {
			return 1 << prey
		}
	}
	return full
}

// Moves appends the moves, named by the letter of the piece, its square and the square to which it
// moves, or * and the square for a drop: Cb3b2, C*b2.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	b, player := r.board(p), r.ToMove(p)
	reach, next := r.reach(&b, player), player.Other()
	var own, all uint16
	var on [squares]int
	for i, at := range b {
		on[at/states] = i
		all |= 1 << (at / states)
		if at&others == place(player) {
			own |= 1 << (at / states)
		}
	}
	for _, letter := range sorted {
		for i := 2 * min(letter, chick); i <= 2*min(letter, chick)+1; i++ {
			if b[i]&others != place(player) || b.letter(i) != letter || i&1 != 0 && b[i] == b[i-1] {
				continue
			}
			from, to := b[i]/states, reach
			if from == hand {
				to &^= all
			} else {
				to &^= own
			}
			for to &= r.targets[player][letter][from]; to != 0; to &= to - 1 {
				t, after := bits.TrailingZeros16(to), b
				if all>>t&1 != 0 {
					after[on[t]] = place(player)
				}
				after[i] = place(t)*states | b[i]%states
				if letter == chick && from != hand && t%height == 1-int(player) {
					after[i] |= hen
				}
				dst = append(dst, game.Move{Name: r.names[letter][from][t], To: r.key(&after, next)})
			}
		}
	}
	return dst
}

// on returns a function that returns the content of a square.
func (b *board) on() func(x, y int) int {
	var content [squares]int
	for i, at := range b {
		content[at/states] = b.piece(i)
	}
	return func(x, y int) int { return content[x*height+y+1] }
}

// piece returns the index of a piece in grid.Pieces.
func (b *board) piece(i int) int { return 1 + b.letter(i) + len(letters)*int(b[i]&others) }

// held returns the pieces in hand that are among these.
func (b *board) held(among string) (held string) {
	for i, at := range b {
		if c := grid.Pieces[b.piece(i)]; at < states && strings.IndexByte(among, c) >= 0 {
			held += string(c)
		}
	}
	return held
}

// AppendText appends the rows from the top, separated by /, the pieces in hand or -, and the lion
// of the player to move: "gle/.C./.../ELG C l".
func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	b := r.board(p)
	held := cmp.Or(b.held("LGEC")+b.held("lgec"), "-")
	return fmt.Appendf(grid.AppendText(dst, b.on()), " %s %s", held, r.Values().Players[r.ToMove(p)])
}

// Parse reads the text of AppendText, see game.Grid. The pieces in hand can have any order.
func (r *rules) Parse(text string) (game.Position, error) {
	words := strings.Split(text, " ")
	n := len(words) - 2
	if n < 1 || words[n] == "" || words[n+1] != "L" && words[n+1] != "l" {
		return 0, fmt.Errorf("position %q: expected a board, the pieces in hand or -, and the player to move, L or l, with blanks between them", text)
	}
	var b board
	var found [kinds]int
	put := func(piece int, at place) {
		letter := (piece - 1) % len(letters)
		kind := min(letter, chick)
		if found[kind]++; found[kind] <= 2 {
			b[2*kind+found[kind]-1] = at | place((piece-1)/len(letters)) | place(letter/(chick+1))*hen
		}
	}
	if err := grid.Parse(strings.Join(words[:n], " "), func(x, y, piece int) { put(piece, place(x*height+y+1)*states) }); err != nil {
		return 0, err
	}
	for _, c := range strings.TrimSuffix(words[n], "-") {
		if !strings.ContainsRune("LGEClgec", c) {
			return 0, fmt.Errorf("position %q has %q in hand, expected L, G, E, C, l, g, e, c, or -", text, c)
		}
		put(strings.IndexRune(grid.Pieces, c), 0)
	}
	toMove := game.Player(strings.Index("Ll", words[n+1]))
	p, q := r.views[toMove][b[0]], r.views[toMove][b[1]]
	if found != [kinds]int{2, 2, 2, 2} || onBoard(lion, max(p, q), min(p, q)) < 0 {
		return 0, fmt.Errorf("position %q: expected two lions, two giraffes, two elephants, and two chicks or hens; only the lion of the player to move can be in hand", text)
	}
	return r.key(&b, toMove), nil
}

// Picture returns the board between the hands of the players.
func (r *rules) Picture(p game.Position) game.Picture {
	b := r.board(p)
	pic := grid.Picture(b.on())
	handOf := func(player game.Player, letters string) (row []game.Square) {
		for _, letter := range strings.Split(letters, "") {
			row = append(row, game.Square{Kind: game.Goal, Text: cmp.Or(b.held(letter), game.Empty), Owner: game.OwnedBy(player)})
		}
		return row
	}
	pic.Rows = slices.Concat([][]game.Square{handOf(game.Second, "gec")}, pic.Rows, [][]game.Square{handOf(game.First, "GEC")})
	pic.Left = slices.Concat([]string{""}, pic.Left, []string{""})
	return pic
}
