// Package dobutsu implements Dobutsu shogi (animal shogi, "Let's Catch the Lion!"), which was
// invented by Madoka Kitao in 2008 and solved by Tetsuro Tanaka in 2009 ("An Analysis of a Board
// Game 'Doubutsu Shogi'"). Each player has a lion, a giraffe, an elephant and a chick. The letters
// of the first player are capitals.
//
//	    a b c
//	1   g l e
//	2   . c .
//	3   . C .
//	4   E L G
//
// A lion moves one square in any direction, a giraffe along its row or column, an elephant along
// a diagonal, and a chick forward. A chick that moves to the last row becomes a hen, which moves
// like a lion, but not diagonally backward. A captured piece belongs to the player who captured
// it. Instead of moving, he can drop it on any empty square. A captured hen is a chick again. A
// chick that is dropped on the last row remains a chick, and cannot move.
//
// A player whose lion is captured has lost. A player whose lion reaches the last row has won,
// unless the other player captures it at once. This "try" is decided one ply later, as Tanaka
// does: the other player makes any move; then the player to move, whose lion stands on the last
// row, has won. There are no ties. The values do not depend on repetitions: play that never ends is a draw.
// (Between players, the third repetition is a draw.)
//
// # The hash
//
// The board is turned so that the player to move moves up. Squares are numbered column by column:
// a1 a2 … b1 b2 …. The number of a board has four digits; the first is the most significant one.
//
//   - The squares of the lion of the player to move and of the other lion. After all these, the
//     first lion is captured.
//   - The places of the giraffes: with both in hand, then with one, then with none. A place is an
//     owner and a hand or a square. Only squares without lions are counted.
//   - The places of the elephants, in the same way, on squares without lions and giraffes.
//   - The places of the chicks or hens, on the remaining squares.
//
// The key is the number of the board, plus the number of all boards if the second player is to
// move. Every key below twice that number is a position. The images of a position are its mirror
// image, and both with the other player to move. So a canonical position is one of the first
// player.
package dobutsu

import (
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

// A square has the number height*x + y. A captured piece is in a hand instead.
const (
	width, height = 3, 4
	squares       = width * height
	hand          = squares
	full          = 1<<squares - 1 // the set of all squares
)

// A place is states times the square of a piece, plus its state.
type place = uint8

// The state of a piece is a sum of these.
const (
	others = 1 // it belongs to the player who is not to move
	hen    = 2 // it is a hen
	states = 4
	places = (hand + 1) * states
)

// A board has the places of two giraffes, two elephants, two chicks or hens, the lion of the
// player to move, and the other lion. The player to move moves up.
type board [8]place

// Pieces of a board.
const (
	pairs    = 3
	ownLion  = 2 * pairs
	yourLion = ownLion + 1
)

// The letters of the pieces, sorted as the names of moves are, and indices of some; the pieces of
// the first player and of the second in texts.
const (
	letters                = "CEGHL"
	isChick, isHen, isLion = 0, 3, 4
	pieces                 = ".CEGHLceghl"
)

var (
	letterOf = board{2, 2, 1, 1, isChick, isChick, isLion, isLion} // by piece of a board
	firstOf  = [len(letters)]int{4, 2, 0, 4, ownLion}              // the first such piece of a board
)

// A numbering numbers the places of two equal pieces if a number of squares is free. Instead of
// squares, its places have the numbers of free squares, and that of all for a piece in hand.
type numbering struct {
	all    [][2]place             // those with fewer pieces on the board are first
	number [places][places]uint32 // the first board with these places, in any order
	on     [3]struct {            // by the number of pieces on the board
		index       uint32 // the first of all
		first, each uint32 // the first board, and the number of boards for each of all
	}
	boards uint32
}

type rules struct {
	pairs    [pairs + 1][squares]numbering              // by the number of free squares; the last has one board
	lions    [squares + 1][squares]uint32               // the first board with these squares of the lions
	at       [][2]uint8                                 // these squares, in this order
	both     uint32                                     // the number of boards with two lions, which are first
	boards   uint32                                     // the number of all boards
	free     [full + 1][squares + 1]uint8               // the squares of a set, and hand after these
	turned   [places]place                              // as the other player sees it
	mirrored [places]place                              // in the mirror image
	targets  [2][len(letters)][squares]uint16           // the squares to which a player's piece moves
	view     [2][squares + 1]uint8                      // squares by player to move, as the next player sees them
	names    [len(letters)][squares + 1][squares]string // of moves, from hand or from a square
	start    game.Position
}

// New returns the rules.
func New() game.Symmetric {
	r := new(rules)
	for set := range r.free {
		n := 0
		for rest := uint(set); rest != 0; rest &= rest - 1 {
			r.free[set][n] = uint8(bits.TrailingZeros(rest))
			n++
		}
		r.free[set][n] = hand
	}
	for p := range place(places) {
		s, state := p/states, p%states
		r.turned[p], r.mirrored[p] = p^others, p
		if s < hand {
			r.turned[p] = (squares-1-s)*states + state ^ others
			r.mirrored[p] = ((width-1-s/height)*height+s%height)*states + state
		}
		r.view[game.First][s], r.view[game.Second][s] = r.turned[p]/states, s
	}
	r.numberBoards()
	r.findSteps()
	r.start, _ = r.Parse("gle/.c./.C./ELG - L")
	return r
}

// numberBoards makes the tables of boards.
func (r *rules) numberBoards() {
	for n := range r.pairs[pairs] {
		r.pairs[pairs][n].boards = 1
	}
	for i := pairs - 1; i >= 0; i-- {
		for n := range r.pairs[i] {
			r.pairs[i][n].fill(n, letterOf[2*i] == isChick, &r.pairs[i+1])
		}
	}
	for own := range uint8(squares + 1) { // hand is the last
		free := squares - 2
		if own == hand {
			free, r.both = squares-1, r.boards
		}
		for your := range uint8(squares) {
			if your != own {
				r.at = append(r.at, [2]uint8{own, your})
				r.lions[own][your] = r.boards
				r.boards += r.pairs[0][free].boards
			}
		}
	}
}

// fill numbers the places of two pieces, which may be hens, on n free squares. Next are the
// numberings of the pieces after these.
func (m *numbering) fill(n int, hens bool, next *[squares]numbering) {
	single := []place{place(n) * states, place(n)*states + others}
	for s := range place(n) {
		for state := range place(states) {
			if hens || state&hen == 0 {
				single = append(single, s*states+state)
			}
		}
	}
	for on := range min(n, 2) + 1 {
		each := next[n-on].boards
		m.on[on].index, m.on[on].first, m.on[on].each = uint32(len(m.all)), m.boards, each
		for i, a := range single {
			for _, b := range single[i:] {
				inHand := 0
				for _, p := range [...]place{a, b} {
					if int(p/states) == n {
						inHand++
					}
				}
				if inHand == 2-on && (a/states != b/states || inHand == 2) {
					m.all = append(m.all, [2]place{a, b})
					m.number[a][b], m.number[b][a] = m.boards, m.boards
					m.boards += each
				}
			}
		}
	}
}

// number returns the number of a board.
func (r *rules) number(b *board) uint32 {
	own, your := b[ownLion]/states, b[yourLion]/states
	free := uint16(full &^ (1<<own | 1<<your))
	n := r.lions[own][your]
	for i := range pairs {
		p, q := b[2*i], b[2*i+1]
		bitP, bitQ := uint16(1)<<(p/states), uint16(1)<<(q/states)
		p = place(bits.OnesCount16(free&(bitP-1)))*states | p%states
		q = place(bits.OnesCount16(free&(bitQ-1)))*states | q%states
		n += r.pairs[i][bits.OnesCount16(free)].number[p][q]
		free &^= bitP | bitQ
	}
	return n
}

// split returns the squares of the lions of a board, and its number among those with the same ones.
func (r *rules) split(number uint32) (lions [2]uint8, rest uint32) {
	first, each := uint32(0), r.pairs[0][squares-2].boards
	if number >= r.both {
		first, number, each = squares*(squares-1), number-r.both, r.pairs[0][squares-1].boards
	}
	return r.at[first+number/each], number % each
}

// board returns the board of a position as the player to move sees it.
func (r *rules) board(p game.Position) (b board) {
	lions, n := r.split(r.numberOf(p))
	b[ownLion], b[yourLion] = lions[0]*states, lions[1]*states|others
	free := uint16(full &^ (1<<lions[0] | 1<<lions[1]))
	for i := range pairs {
		m := &r.pairs[i][bits.OnesCount16(free)]
		on := &m.on[2]
		for j := 1; n < on.first; j-- {
			on = &m.on[j]
		}
		n -= on.first
		both := m.all[on.index+n/on.each]
		n %= on.each
		nth := &r.free[free]
		for j, p := range both {
			s := nth[p/states]
			b[2*i+j] = s*states | p%states
			free &^= 1 << s
		}
	}
	return b
}

// turn returns a board as the other player sees it.
func (r *rules) turn(b board) board {
	for i, p := range b {
		b[i] = r.turned[p]
	}
	b[ownLion], b[yourLion] = b[yourLion], b[ownLion]
	return b
}

// seen returns the board of a position as the first player sees it.
func (r *rules) seen(p game.Position) board {
	if r.ToMove(p) == game.Second {
		return r.turn(r.board(p))
	}
	return r.board(p)
}

// numberOf returns the number of the board of a position, and key is its inverse.
func (r *rules) numberOf(p game.Position) uint32 {
	return uint32(p - uint64(r.boards)*uint64(r.ToMove(p)))
}

func (r *rules) key(b *board, toMove game.Player) game.Position {
	return uint64(r.number(b)) + uint64(r.boards)*uint64(toMove)
}

// mirror returns the position of the first player whose board is the mirror image of that of p.
func (r *rules) mirror(p game.Position) game.Position {
	b := r.board(p)
	for i, at := range b {
		b[i] = r.mirrored[at]
	}
	return r.key(&b, game.First)
}

// Canonical returns the least of the images of p. It does not need the mirror image if the squares of the
// lions decide.
func (r *rules) Canonical(p game.Position) game.Position {
	n := r.numberOf(p)
	lions, _ := r.split(n)
	own, your := r.mirrored[lions[0]*states]/states, r.mirrored[lions[1]*states]/states
	if r.lions[own][your] > n {
		return uint64(n)
	}
	return min(uint64(n), r.mirror(p))
}

// Images appends the images of p.
func (r *rules) Images(dst []game.Position, p game.Position) []game.Position {
	n, m, second := uint64(r.numberOf(p)), r.mirror(p), uint64(r.boards)
	return game.Distinct(append(dst, n, m, n+second, m+second), len(dst))
}

// Info describes the game.
func (r *rules) Info() game.Info {
	return game.Info{Title: "Dobutsu shogi", Rules: rulesText, Hashes: r.hashes()}
}

func (r *rules) Spec() string { return "dobutsu" }

// Values returns values from the view of the player to move; there are no ties.
func (r *rules) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{"L", "l"}}
}

func (r *rules) hashes() uint64       { return 2 * uint64(r.boards) }
func (r *rules) KeyBits() uint        { return uint(bits.Len64(r.hashes() - 1)) }
func (r *rules) Start() game.Position { return r.start }

// Check requires a number below that of all positions.
func (r *rules) Check(p game.Position) error {
	if p >= r.hashes() {
		return fmt.Errorf("%d is not a position of Dobutsu shogi: the largest is %d", p, r.hashes()-1)
	}
	return nil
}

func (r *rules) ToMove(p game.Position) game.Player {
	if p >= uint64(r.boards) {
		return game.Second
	}
	return game.First
}

// Primitive returns a loss for the player to move if his lion is captured, and a win if it stands
// on the last row.
func (r *rules) Primitive(p game.Position) game.Value {
	switch lions, _ := r.split(r.numberOf(p)); {
	case lions[0] == hand:
		return game.NewValue(game.WinFor(r.ToMove(p).Other()), 0)
	case lions[0]%height == 0:
		return game.NewValue(game.WinFor(r.ToMove(p)), 0)
	}
	return 0
}

// findSteps makes the tables of moves.
func (r *rules) findSteps() {
	var square [squares + 1]string
	for s := range squares {
		square[s] = r.grid().Square(s/height, s%height)
	}
	square[hand] = "*"
	for letter := range letters {
		for from := range squares + 1 {
			for to := range squares {
				r.names[letter][from][to] = letters[letter:letter+1] + square[from] + square[to]
			}
		}
	}
	for from := range squares {
		for to := range squares {
			dx, dy := to/height-from/height, to%height-from%height
			straight, diagonal := dx*dx+dy*dy == 1, dx*dx*dy*dy == 1
			for player, forward := range [...]int{-1, 1} {
				moves := [...]bool{straight && dy == forward, diagonal, straight, straight || diagonal && dy == forward, straight || diagonal}
				for letter, can := range moves {
					if can {
						r.targets[player][letter][from] |= 1 << to
					}
				}
			}
		}
	}
}

// Moves appends the moves, named by the letter of the piece, its square and the square to which it
// moves, or * and the square for a drop: Cb3b2, C*b2.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	player := r.ToMove(p)
	next, view := player.Other(), &r.view[player]
	b := r.turn(r.board(p))
	held, from := [len(letters)]int{-1, -1, -1, -1, -1}, [len(letters)]uint16{}
	var mine, all uint16
	var piece [squares]int
	for i, at := range b {
		s, letter := view[at/states], letterOf[i]
		if at&hen != 0 {
			letter = isHen
		}
		switch {
		case s != hand:
			piece[s] = i
			all |= 1 << s
			if at&others != 0 {
				mine |= 1 << s
				from[letter] |= 1 << s
			}
		case at&others != 0:
			held[letter] = i
		}
	}
	for letter := range letters {
		if i := held[letter]; i >= 0 {
			for to := full &^ all; to != 0; to &= to - 1 {
				t := bits.TrailingZeros16(to)
				after := b
				after[i] = view[t]*states | others
				dst = append(dst, game.Move{Name: r.names[letter][hand][t], To: r.key(&after, next)})
			}
		}
		for set := from[letter]; set != 0; set &= set - 1 {
			f := bits.TrailingZeros16(set)
			for to := r.targets[player][letter][f] &^ mine; to != 0; to &= to - 1 {
				t := bits.TrailingZeros16(to)
				after := b
				if all>>t&1 != 0 {
					after[piece[t]] = hand*states | others
				}
				at := view[t]*states | others
				if letter == isHen || letter == isChick && view[t]%height == height-1 {
					at |= hen
				}
				after[piece[f]] = at
				dst = append(dst, game.Move{Name: r.names[letter][f][t], To: r.key(&after, next)})
			}
		}
	}
	return dst
}

func (r *rules) grid() game.Grid {
	owners := []game.Owner{game.Nobody}
	for _, owner := range [...]game.Owner{game.OfFirst, game.OfSecond} {
		owners = append(owners, slices.Repeat([]game.Owner{owner}, len(letters))...)
	}
	return game.Grid{Width: width, Height: height, Pieces: pieces, Owners: owners}
}

// pieceAt returns the index in pieces of piece i of a board of the first player.
func (b *board) pieceAt(i int) int {
	letter := int(letterOf[i])
	if b[i]&hen != 0 {
		letter = isHen
	}
	return 1 + letter + len(letters)*int(b[i]&others)
}

// on returns a function that returns the content of a square.
func (b *board) on() func(x, y int) int {
	var content [hand + 1]int
	for i, at := range b {
		content[at/states] = b.pieceAt(i)
	}
	return func(x, y int) int { return content[x*height+y] }
}

// held returns the pieces in hand with a letter that is among these.
func (b *board) held(of string) (held string) {
	for i := ownLion - 1; i >= 0; i-- {
		if c := pieces[b.pieceAt(i)]; b[i]/states == hand && strings.IndexByte(of, c) >= 0 {
			held += string(c)
		}
	}
	return held
}

// AppendText appends the rows from the top, separated by /, the pieces in hand, and the lion of
// the player to move: "gle/.../.C./ELG c L" or "gle/.c./.C./ELG - L".
func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	b := r.seen(p)
	held := b.held("CEG") + b.held("ceg")
	if held == "" {
		held = "-"
	}
	return fmt.Appendf(r.grid().AppendText(dst, b.on()), " %s %s", held, r.Values().Players[r.ToMove(p)])
}

// Parse reads the text of AppendText, see game.Grid. The pieces in hand can have any order.
func (r *rules) Parse(text string) (game.Position, error) {
	words := strings.Split(text, " ")
	n := len(words) - 2
	if n < 1 || words[n+1] != "L" && words[n+1] != "l" {
		return 0, fmt.Errorf("position %q: expected a board, the pieces in hand or -, and the player to move, L or l, with blanks between them", text)
	}
	b := board{ownLion: hand * states, yourLion: hand*states | others}
	var found [len(b)]int
	put := func(piece, square int) {
		letter, state := (piece-1)%len(letters), place((piece-1)/len(letters))
		i, most := firstOf[letter], 2
		switch letter {
		case isLion:
			i, most = i+int(state), 1
		case isHen:
			state |= hen
		}
		if found[i] < most {
			b[i+found[i]] = place(square)*states | state
		}
		found[i]++
	}
	if err := r.grid().Parse(strings.Join(words[:n], " "), func(x, y, piece int) { put(piece, x*height+y) }); err != nil {
		return 0, err
	}
	for _, c := range words[n] {
		switch {
		case strings.ContainsRune("CEGceg", c):
			put(strings.IndexRune(pieces, c), hand)
		case words[n] != "-":
			return 0, fmt.Errorf("position %q has %q in hand, expected some of C, E, G, c, e and g, or -", text, c)
		}
	}
	toMove := game.First
	if words[n+1] == "l" {
		toMove = game.Second
		b = r.turn(b)
	}
	pairs := found[0] == 2 && found[2] == 2 && found[4] == 2
	if !pairs || found[ownLion] > 1 || found[yourLion] > 1 || b[yourLion]/states == hand {
		return 0, fmt.Errorf("position %q: expected two giraffes, two elephants, two chicks or hens, and a lion of each player, except that the lion of the player to move can be missing", text)
	}
	return r.key(&b, toMove), nil
}

// Picture returns the board between the hands of the players: C, E and G, twice if there are two.
func (r *rules) Picture(p game.Position) game.Picture {
	b := r.seen(p)
	pic := r.grid().Picture(b.on())
	handOf := func(player game.Player, letters string) (row []game.Square) {
		for i := range letters {
			s := game.Square{Kind: game.Goal, Text: b.held(letters[i : i+1]), Owner: game.OwnedBy(player)}
			if s.Text == "" {
				s.Text = game.Empty
			}
			row = append(row, s)
		}
		return row
	}
	pic.Rows = slices.Concat([][]game.Square{handOf(game.Second, "ceg")}, pic.Rows, [][]game.Square{handOf(game.First, "CEG")})
	pic.Left = slices.Concat([]string{""}, pic.Left, []string{""})
	return pic
}
