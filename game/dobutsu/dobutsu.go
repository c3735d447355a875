// Package dobutsu implements Dobutsu shogi (animal shogi, "Let's Catch the Lion!") by Madoka Kitao,
// 2008; rules.txt has the rules. It was solved by Tetsuro Tanaka in 2009 ("An Analysis of a Board
// Game 'Doubutsu Shogi'"). He counts 246,803,167 canonical positions: in 140,298,614 the player to
// move can capture the lion, in 7,018,985 he has lost by a lion on the last row, and 99,485,568 are
// open. As there, a player who can capture the lion must do so. Repetitions do not
// affect values: play that never ends is a draw.
//
// # The hash
//
// The board is turned so that the player to move moves up. Its number has four digits: the places
// of the lions (the most significant digit), the giraffes, the elephants, and the chicks or hens.
// A place is an owner and the hand or a square. Squares are counted column by column, a1 a2 … b1
// b2 …, without those of earlier digits. Of two digits, the one with fewer pieces on the board is
// smaller. The key is the number of the board, plus the number of all boards if the second player
// is to move. The images of a position are its mirror image, and both for the other player to move.
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

// The squares have the numbers 1 to 12, column by column; 0 is the hand.
const (
	width, height = 3, 4
	hand, squares = 0, 1 + width*height
	full          = 1<<squares - 1 // the set of all squares and the hand
	squareNames   = "*a1a2a3a4b1b2b3b4c1c2c3c4"
	boards        = 1_842_690_096 // their number
	mirrored      = 2             // added to First and Second for views of the mirror image
)

// A place is states times a square, plus the state of the piece there, which is a sum.
type place = uint8

const (
	others = 1 // it belongs to the second player, or on a turned board to the player who is not to move
	hen    = 2
	states = 4
	places = states * squares
)

// The kinds of pieces, of which there are two each, and the letters of pieces; a hen has the last.
const (
	lion, chick, kinds = 0, 3, 4
	letters            = "LGECH"
	hands              = 2 // rows of each hand in the grid
)

var (
	sorted = [...]int{3, 2, 1, 4, 0} // indices of letters
	grid   = game.Grid{Width: width, Height: hands + height + hands, Pieces: ".LGECHlgech", Owners: []game.Owner{0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}}
)

// A board has the places of the two pieces of each kind.
type board [2 * kinds]place

// letter returns the index of the letter of a piece.
func (b *board) letter(piece int) int { return piece/2 + int(b[piece]&hen)/hen }

// A numbering numbers the places of two pieces on free squares, which are numbered, too.
type numbering struct {
	pairs  [][2]place
	number [places][places]uint32                 // the first board with these places, in any order
	on     [3]struct{ index, first, each uint32 } // by pieces on the board: the first pair, its first board, and the boards of each pair
	boards uint32
}

type rules struct {
	numberings [kinds + 1][squares + 1]numbering      // by kind and size of the set of free squares and the hand
	nth        [1 << squares][squares]uint8           // the elements of a set
	views      [4][places]place                       // a place as First and Second see it, who move up, and both mirrored
	targets    [2][len(letters)][squares]uint16       // where a player's piece can move, or be dropped
	names      [len(letters)][squares][squares]string // of moves
	start      game.Position
}

// New returns the rules.
func New() game.Symmetric {
	r := new(rules)
	for set := range r.nth {
		n := 0
		for s := range squares {
			r.nth[set][n] = uint8(s)
			n += set >> s & 1
		}
	}
	for p := range place(places) {
		turned, mirror := p, p
		if s := p / states; s != hand {
			turned = (squares-s)*states | p%states
			mirror = (s+width*height-height-(s-1)/height*2*height)*states | p%states
		}
		r.views[game.First][p], r.views[game.Second][p], r.views[mirrored][p] = p, turned^others, mirror
	}
	for p, turned := range r.views[game.Second] {
		r.views[mirrored+game.Second][p] = r.views[mirrored][turned]
	}
	for n := range r.numberings[kinds] {
		r.numberings[kinds][n].boards = 1
	}
	for kind := kinds - 1; kind >= 0; kind-- {
		for n := range r.numberings[kind] {
			r.numberings[kind][n].fill(kind, n, &r.numberings[kind+1])
		}
	}
	for from := range squares {
		for to := 1; to < squares; to++ {
			r.addMoves(from, to)
		}
	}
	r.start, _ = r.Parse(".../.../gle/.c./.C./ELG/.../... L")
	return r
}

// fill numbers the places of a kind on the hand and n-1 free squares. The numberings of the next kind are next.
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

// onBoard returns how many of two pieces are on the board if they have the places a and b <= a, or
// -1 if they cannot. A captured lion belongs to the other player, as his own does.
func onBoard(kind int, a, b place) int {
	s, t := a/states, b/states
	switch {
	case kind != chick && (a|b)&hen != 0, s == hand && a&hen != 0, t == hand && b&hen != 0, s == t && s != hand,
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

// lions returns the places of the lions of the board of p.
func (r *rules) lions(p game.Position) (pair [2]place) {
	pair, _ = r.numberings[lion][squares].split(uint32(p % boards))
	return pair
}

// board returns the board of a position, with each kind in ascending order, as First sees it.
func (r *rules) board(p game.Position) (b board) {
	n, free, seen := uint32(p%boards), uint16(full), &r.views[r.ToMove(p)]
	for kind := range kinds {
		pair, rest := r.numberings[kind][bits.OnesCount16(free)].split(n)
		nth := &r.nth[free]
		s, t := nth[pair[0]/states], nth[pair[1]/states]
		v, w := seen[s*states|pair[0]%states], seen[t*states|pair[1]%states]
		b[2*kind], b[2*kind+1] = min(v, w), max(v, w)
		n, free = rest, free&^(1<<s|1<<t)|1<<hand
	}
	return b
}

// key returns the position of a board in one of views, in which First is to move if it is mirrored.
func (r *rules) key(b *board, view int) game.Position {
	n, free, seen := uint32(0), uint16(full), &r.views[view]
	for kind := range kinds {
		v, w := seen[b[2*kind]], seen[b[2*kind+1]]
		s, t := uint16(1)<<(v/states), uint16(1)<<(w/states)
		v = place(bits.OnesCount16(free&(s-1)))*states | v%states
		w = place(bits.OnesCount16(free&(t-1)))*states | w%states
		n += r.numberings[kind][bits.OnesCount16(free)].number[v][w]
		free = free&^(s|t) | 1<<hand
	}
	return uint64(n) + boards*uint64(view%mirrored)
}

// canonical returns the canonical position of a board with a player to move. The lions alone often decide.
func (r *rules) canonical(b *board, player game.Player) game.Position {
	p, view := r.key(b, int(player))%boards, &r.views[mirrored+player]
	if uint64(r.numberings[lion][squares].number[view[b[0]]][view[b[1]]]) > p {
		return p
	}
	return min(p, r.key(b, mirrored+int(player))%boards)
}

// Canonical returns the least of the images of p.
func (r *rules) Canonical(p game.Position) game.Position {
	b := r.board(p)
	return r.canonical(&b, r.ToMove(p))
}

// Images appends the images of p.
func (r *rules) Images(dst []game.Position, p game.Position) []game.Position {
	b := r.board(p % boards)
	p, image := p%boards, r.key(&b, mirrored)
	return game.Distinct(append(dst, p, image, boards+p, boards+image), len(dst))
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
	return game.Info{Title: "Dobutsu shogi", Rules: rulesText, Hashes: 2 * boards, Look: game.Look{Pieces: animals}}
}

// Values returns values from the view of the player to move; there are no ties.
func (r *rules) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{"L", "l"}}
}

func (r *rules) Spec() string                       { return "dobutsu" }
func (r *rules) KeyBits() uint                      { return 32 }
func (r *rules) Start() game.Position               { return r.start }
func (r *rules) ToMove(p game.Position) game.Player { return game.Player(p / boards) }

// Check refuses positions in which the lion of the player to move stands on the last row, because
// play has ended before, and two boards, with their mirror images, on which he cannot move.
func (r *rules) Check(p game.Position) error {
	if p < 2*boards {
		pair := r.lions(p)
		last := slices.ContainsFunc(pair[:], func(at place) bool { return at&others == 0 && at/states%height == 1 })
		if !last && (r.Primitive(p) != 0 || len(r.Moves(nil, p)) > 0) {
			return nil
		}
	}
	return fmt.Errorf("%d is not a position of Dobutsu shogi: it must be below %d, and the player to move has a move, and no lion on the last row", p, 2*boards)
}

// Primitive returns a loss for the player to move if his lion is captured, or if the other lion
// stands on the last row and he cannot capture it.
func (r *rules) Primitive(p game.Position) game.Value {
	if v := r.Known(p); v.Remoteness() == 0 {
		return v
	}
	return 0
}

// Known returns the value of a position that the rules decide: that of Primitive, or a win in one
// move if the player to move can capture the lion. Tanaka does not count positions after these.
func (r *rules) Known(p game.Position) game.Value {
	b, player := r.board(p), r.ToMove(p)
	return known(result(&b, player, r.reach(&b, player)), player)
}

// known returns the value of a result that the rules know for a player to move.
func known(result game.Result, player game.Player) game.Value {
	switch result {
	case game.Wins:
		return game.NewValue(game.WinFor(player), 1)
	case game.Loses:
		return game.NewValue(game.WinFor(player.Other()), 0)
	}
	return 0
}

// result returns the result for the player to move at a board, whose pieces reach a set of squares, if the rules know
// it, or else game.Draws.
func result(b *board, player game.Player, reach uint16) game.Result {
	if b[0]/states == hand || b[1]/states == hand {
		return game.Loses
	}
	if reach != full {
		return game.Wins
	}
	for _, at := range b[:2] {
		if at&others != place(player) && at/states%height == place(player) {
			return game.Loses
		}
	}
	return game.Draws
}

// reach returns the set of the squares to which a player may move or drop pieces: that of the
// other lion, if he can capture it.
func (r *rules) reach(b *board, player game.Player) uint16 {
	prey := b[0] / states
	if b[0]&others == place(player) {
		prey = b[1] / states
	}
	for i, at := range b {
		if at/states != hand && at&others == place(player) && r.targets[player][b.letter(i)][at/states]>>prey&1 != 0 {
			return 1 << prey
		}
	}
	return full
}

// addMoves adds the moves from a square or the hand to a square.
func (r *rules) addMoves(from, to int) {
	x, y := (to-1)/height-(from-1)/height, (to-1)%height-(from-1)%height
	straight, diagonal := x*x+y*y == 1, x*x*y*y == 1
	for player, up := range [...]int{-1, 1} {
		for letter, can := range [...]bool{straight || diagonal, straight, diagonal, straight && y == up, straight || diagonal && y == up} {
			if can || from == hand {
				r.targets[player][letter][from] |= 1 << to
			}
			r.names[letter][from][to] = letters[letter:letter+1] + squareNames[max(0, 2*from-1):2*from+1] + squareNames[2*to-1:2*to+1]
		}
	}
}

// Moves appends the moves, named by the letter of the piece, its square and the square to which it
// moves, or * and the square for a drop: Cb3b2, C*b2.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	next := r.ToMove(p).Other()
	r.each(p, func(after *board, letter int, from, to place) {
		dst = append(dst, game.Move{Name: r.names[letter][from][to], To: r.key(after, int(next))})
	})
	return dst
}

// Successors implements game.Expander. In a canonical position, the first player is to move.
func (r *rules) Successors(dst []game.Successor, p game.Position) []game.Successor {
	next := r.ToMove(p).Other()
	r.each(p, func(after *board, _ int, _, _ place) {
		dst = append(dst, game.Successor{Position: r.canonical(after, next), Known: known(result(after, next, r.reach(after, next)), game.First)})
	})
	return dst
}

// each calls do for each move of p, with the board after it.
func (r *rules) each(p game.Position, do func(after *board, letter int, from, to place)) {
	b, player := r.board(p), r.ToMove(p)
	next, reach := player.Other(), r.reach(&b, player)
	if result(&b, player, reach) == game.Loses {
		return
	}
	var after board  // one, as it escapes
	var of [2]uint16 // the squares of each player
	var on [squares]int
	for i, at := range b {
		on[at/states] = i
		of[at&others] |= 1 << (at / states)
	}
	for _, letter := range sorted {
		for i := 2 * min(letter, chick); i < 2*min(letter, chick)+2; i++ {
			if b[i]&others != place(player) || b.letter(i) != letter || i%2 == 1 && b[i] == b[i-1] {
				continue
			}
			from := b[i] / states
			to := reach & r.targets[player][letter][from] &^ of[player]
			if from == hand {
				to &^= of[next]
			}
			for ; to != 0; to &= to - 1 {
				t := bits.TrailingZeros16(to)
				after = b
				if of[next]>>t&1 != 0 {
					after[on[t]] = hand*states | place(player)
				}
				after[i] = place(t)*states | b[i]%states
				if letter == chick && from != hand && t%height == 1-int(player) {
					after[i] |= hen
				}
				do(&after, letter, from, place(t))
			}
		}
	}
}

// on returns a function that returns the content of a square of the grid. A captured lion is not shown.
func (b *board) on() func(x, y int) int {
	var content [hands + height + hands][width]int
	for i, at := range b {
		s, owner := int(at/states), int(at&others)
		piece := 1 + b.letter(i) + len(letters)*owner
		switch {
		case s != hand:
			content[hands+(s-1)%height][(s-1)/height] = piece
		case i%2 == 1 && at == b[i-1]:
			content[(1-owner)*(hands+height)+1][i/2-1] = piece
		case i/2 != lion:
			content[(1-owner)*(hands+height)][i/2-1] = piece
		}
	}
	return func(x, y int) int { return content[y][x] }
}

// AppendText appends the second player's hand, the board and the first player's hand, row by row
// with / between them, and the lion of the player to move: ".../.../gle/.C./.../ELG/..C/... l".
func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	b := r.board(p)
	return append(grid.AppendText(dst, b.on()), ' ', "Ll"[r.ToMove(p)])
}

// Parse reads the text of AppendText, see game.Grid. The pieces in hand can have any order.
func (r *rules) Parse(text string) (game.Position, error) {
	rows, toMove := text[:max(0, len(text)-2)], text[max(0, len(text)-2):]
	var b board
	var found [kinds]int
	put := func(x, y, piece int) {
		letter, s := (piece-1)%len(letters), hand
		if y >= hands && y < hands+height {
			s = 1 + x*height + y - hands
		}
		kind := min(letter, chick)
		if found[kind]++; found[kind] <= 2 {
			b[2*kind+found[kind]-1] = place(s*states + (piece-1)/len(letters) + hen*(letter-kind))
		}
	}
	if err := grid.Parse(rows, put); err != nil {
		return 0, err
	}
	player := game.First
	if toMove == " l" {
		player = game.Second
	}
	if found[lion] == 1 {
		put(0, 0, 1+len(letters)*int(player.Other())) // captured
	}
	for kind, n := range found {
		v, w := r.views[player][b[2*kind]], r.views[player][b[2*kind+1]]
		if n != 2 || onBoard(kind, max(v, w), min(v, w)) < 0 || toMove != " L" && toMove != " l" {
			return 0, fmt.Errorf("position %q: expected two giraffes, elephants and chicks (hens only on the board), a lion of each player, or only that of the one who is not to move, and, after a blank, the player to move, L or l", text)
		}
	}
	p := r.key(&b, int(player))
	return p, r.Check(p)
}

// Arrange is the inverse of Picture.
func (r *rules) Arrange(squares [][]string, turn game.Player) string {
	var rows [][]string
	for y, row := range squares {
		if y > 0 && y < len(squares)-1 {
			rows = append(rows, row)
			continue
		}
		var hand [hands][]string
		for _, text := range row {
			text = cmp.Or(text, game.Empty)
			hand[0], hand[1] = append(hand[0], text[:1]), append(hand[1], cmp.Or(text[1:], game.Empty))
		}
		rows = append(rows, hand[:]...)
	}
	return game.JoinRows(rows) + " " + r.Values().Players[turn]
}

// Picture returns the board between the hands, which have one row each. Two pieces of a kind share a square of a hand: CC.
func (r *rules) Picture(p game.Position) game.Picture {
	b := r.board(p)
	pic := grid.Picture(b.on())
	for y, owner := range map[int]game.Owner{0: game.OfSecond, hands + height: game.OfFirst} {
		for x, second := range pic.Rows[y+1] {
			s := &pic.Rows[y][x]
			s.Kind, s.Owner = game.Goal, owner
			if second.Text != game.Empty {
				s.Text += second.Text
			}
		}
	}
	pic.Rows = slices.Concat(pic.Rows[:1], pic.Rows[hands:hands+height+1])
	pic.Left = []string{"", "1", "2", "3", "4", ""}
	return pic
}
