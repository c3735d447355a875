// Package network implements Network, S. Sackson's game as used in the course CS 61B. White
// and Black have ten chips each, and connect their two goals by six or more chips that see one
// another along lines. The package knows nothing of players.
//
// Squares are named by column and row, each 0 to 7 from the top left: 34 is column 3, row
// 4. Black's goals are the top and the bottom row, White's the left and the right column; the
// corners are unused. White moves first. A player with chips in hand adds one to the
// board; a player without moves (steps) one of his chips to any other square. Three chips of
// a color must never form a group of neighbours, which includes diagonal neighbours.
//
// # Networks
//
// A network is a sequence of six or more chips, each seeing the next along a row, a column
// or a diagonal with nothing between them. The first is in one goal of the player, the last in
// the other, and no other in a goal; no chip occurs twice, and the path turns at each chip
// between. A player with a network has won. A step can open a line of the other player: if
// he has a network then, he has won, even if the step also completed a network of the player
// who made it. A player without a legal move has lost.
//
// The rules of the course do not define when a game without a winner ends: here it is a draw at
// the third repetition, or after 120 plies.
//
// # Text
//
// The text of a position has 64 characters, column by column from the left and each from the
// top: B, W, or . for an empty square. After a blank, it names the player to move, W or B:
//
//	...W.......................W.............W.......W....W....W.... B
//
// An add is written as a square, "34"; a step as its two squares, from and to, "24-34".
package network

import (
	_ "embed"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
)

//go:embed rules.txt
var rulesText string

// Kind describes Network to a program.
var Kind = game.Kind{
	Name:  "network",
	Usage: "CS 61B's Network: join your goals by six chips that see one another",
	New:   func([]int) (game.Game, error) { return New(), nil },
}

// Rules are the rules of Network.
type Rules struct{ numbers *numbers }

// New returns the rules.
func New() *Rules { return &Rules{newNumbers()} }

var (
	_ game.Keyed     = (*Rules)(nil)
	_ game.Symmetric = (*Rules)(nil)
	_ game.Evaluator = (*Rules)(nil)
)

// A Board is a position as bitboards: bit 8x+y of a color is its chip in column x and row y.
type Board struct {
	Chips [2]uint64 // of White and Black, by game.Player
	Mover game.Player
}

// Board returns the board of a position.
func (r *Rules) Board(p game.Position) Board { return r.numbers.board(p) }

// Position returns the hash of a board, which Board.Check must accept.
func (r *Rules) Position(b Board) game.Position { return r.numbers.hash(b) }

// Canonical returns the least of the mirror images of p.
func (r *Rules) Canonical(p game.Position) game.Position { return r.Images(nil, p)[0] }

// Images appends the mirror images of p.
func (r *Rules) Images(dst []game.Position, p game.Position) []game.Position {
	n := len(dst)
	for _, image := range r.Board(p).images() {
		dst = append(dst, r.Position(image))
	}
	return game.Distinct(dst, n)
}

// Spec returns the name of the game, which has no parameters.
func (*Rules) Spec() string { return "network" }

// Info has the customs of the course: five seconds per move, and the first player named is
// White. The course has no draw rule.
func (r *Rules) Info() game.Info {
	return game.Info{
		Title:      "Network",
		Rules:      rulesText,
		Vast:       2 * float64(r.numbers.sets) * float64(r.numbers.sets), // the number of hashes
		MoveName:   moveName,
		Draw:       game.DrawRule{Repetitions: 3, Plies: 120},
		MoveTime:   5 * time.Second,
		NamedFirst: true,
		Look: game.Look{Square: "cell", Pieces: map[string]string{"*": "disc"}, Sight: []string{"WW", "BB"}, Colours: "white-black",
			Place: []game.Square{{Text: game.Empty}, {Text: "WW", Owner: game.OfFirst}, {Text: "BB", Owner: game.OfSecond}}},
	}
}

// KeyBits returns 63: see rank.go.
func (*Rules) KeyBits() uint { return 63 }

// Start returns the empty board with White to move.
func (*Rules) Start() game.Position { return 0 }

// players are the names of the players.
var players = [2]string{"White", "Black"}

// Values returns values that name a player, White or Black.
func (*Rules) Values() game.Values { return game.Values{TiesSoon: true, Players: players} }

// Check requires the hash of a board on which no three chips of a color form a group.
func (r *Rules) Check(p game.Position) error {
	if sets := uint64(r.numbers.sets); p>>32 >= sets || p&(1<<32-1)>>1 >= sets {
		return fmt.Errorf("%#x is not a position: each player's chips lie in one of %d ways", p, sets)
	}
	b := r.Board(p)
	if err := b.Check(); err != nil {
		return fmt.Errorf("%d (%q): %w", p, r.AppendText(nil, p), err)
	}
	return nil
}

// Check requires that the chips are where the rules allow them.
func (b *Board) Check() error {
	for player, name := range players {
		chips := b.Chips[player]
		switch n := bits.OnesCount64(chips); {
		case chips&^colors[player].may != 0:
			return fmt.Errorf("a chip of %s lies where it may not", name)
		case chips&b.Chips[1-player] != 0:
			return errors.New("two chips lie on one square")
		case n > Chips:
			return fmt.Errorf("%s has %d chips, expected %d at most", name, n, Chips)
		case grouped(chips):
			return fmt.Errorf("three chips of %s make a group", name)
		}
	}
	return nil
}

// ToMove returns the player to move.
func (*Rules) ToMove(p game.Position) game.Player { return game.Player(p & 1) }

// Primitive checks the network of the player to move first: if both players have one, the step
// of his opponent has opened it.
func (r *Rules) Primitive(p game.Position) game.Value {
	b := r.Board(p)
	if winner, over := b.over(); over {
		return game.NewValue(game.WinFor(winner), 0)
	}
	return 0
}

// over reports whether the game is over, and who has won.
func (b *Board) over() (winner game.Player, over bool) {
	mover, other := b.Mover, b.Mover.Other()
	switch {
	case b.Network(mover):
		return mover, true
	case b.Network(other), !b.movable():
		return other, true
	}
	return 0, false
}

// Network reports whether player p has a network.
func (b *Board) Network(p game.Player) bool { return colors[p].network(b.Chips[p], b.all()) }

func (b *Board) all() uint64 { return b.Chips[0] | b.Chips[1] }

// Adding reports whether the player to move has chips in hand.
func (b *Board) Adding() bool { return bits.OnesCount64(b.Chips[b.Mover]) < Chips }

// movable reports whether the player to move has a legal move, ignoring networks.
func (b *Board) movable() bool {
	if b.Adding() {
		return b.Adds() != 0
	}
	for rest := b.Chips[b.Mover]; rest != 0; rest &= rest - 1 {
		if b.Steps(bits.TrailingZeros64(rest)) != 0 {
			return true
		}
	}
	return false
}

// Adds returns the squares to which the player to move may add a chip, if he has one in hand.
func (b *Board) Adds() uint64 { return colors[b.Mover].adds(b.Chips[b.Mover], b.all()) }

// Steps returns the squares to which the player to move may move his chip on square from, if
// he has none in hand. The chip is lifted first, so it may move to a neighbouring square.
func (b *Board) Steps(from int) uint64 {
	chip := uint64(1) << from
	return colors[b.Mover].adds(b.Chips[b.Mover]^chip, b.all()^chip) &^ chip
}

// after returns the board after the player to move has put a chip on square to. The chip is
// first removed from square from; from is 0 if it was in hand.
func (b Board) after(from, to uint64) Board {
	b.Chips[b.Mover] = b.Chips[b.Mover]&^from | to
	b.Mover = b.Mover.Other()
	return b
}

// squareName returns the name of a square, 0 to 63: column and row.
func squareName(at int) string { return string([]byte{byte('0' + at>>3), byte('0' + at&7)}) }

// names are the names of all squares.
var names = func() (all [64]string) {
	for at := range all {
		all[at] = squareName(at)
	}
	return all
}()

// Moves appends the adds if the player has chips in hand, otherwise the steps.
func (r *Rules) Moves(dst []game.Move, p game.Position) []game.Move {
	b := r.Board(p)
	if _, over := b.over(); over {
		return dst
	}
	if b.Adding() {
		for rest := b.Adds(); rest != 0; rest &= rest - 1 {
			to := bits.TrailingZeros64(rest)
			dst = append(dst, game.Move{Name: names[to], To: r.Position(b.after(0, 1<<to))})
		}
		return dst
	}
	for chips := b.Chips[b.Mover]; chips != 0; chips &= chips - 1 {
		from := bits.TrailingZeros64(chips)
		for rest := b.Steps(from); rest != 0; rest &= rest - 1 {
			to := bits.TrailingZeros64(rest)
			dst = append(dst, game.Move{Name: names[from] + "-" + names[to], To: r.Position(b.after(1<<from, 1<<to))})
		}
	}
	return dst
}

// moveName reads the notations of the course. "34", "3 4" and "add 3 4" add a chip on square
// 34. "24-34", "24 34" and "step 3 4 2 4" move a chip from 24 to 34; the last form names the
// target first, like the course's class Move.
func moveName(text string) string {
	digits := ""
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if word != "add" && word != "step" {
		word, rest = "", text
	}
	for _, part := range strings.FieldsFunc(rest, func(c rune) bool { return c == ' ' || c == '-' }) {
		digits += part
	}
	if strings.Trim(digits, "01234567") != "" {
		return text
	}
	switch {
	case len(digits) == 2 && word != "step":
		return digits
	case len(digits) == 4 && word == "step":
		return digits[2:] + "-" + digits[:2]
	case len(digits) == 4 && word == "":
		return digits[:2] + "-" + digits[2:]
	}
	return text
}

// letters are the letters of the players in texts.
const letters = "WB"

// AppendText appends the squares and the player to move.
func (r *Rules) AppendText(dst []byte, p game.Position) []byte {
	b := r.Board(p)
	for at := range 64 {
		dst = append(dst, b.on(at))
	}
	return append(dst, ' ', letters[b.Mover])
}

// on returns the content of a square: W, B, or . if it is empty.
func (b *Board) on(at int) byte {
	for player, chips := range b.Chips {
		if chips>>at&1 != 0 {
			return letters[player]
		}
	}
	return '.'
}

// Parse is the inverse of AppendText.
func (r *Rules) Parse(text string) (game.Position, error) {
	b, err := ParseBoard(text)
	if err != nil {
		return 0, err
	}
	if err := b.Check(); err != nil {
		return 0, fmt.Errorf("board %q: %w", text, err)
	}
	return r.Position(b), nil
}

// ParseBoard is like Parse, but accepts any number of chips, and groups.
func ParseBoard(text string) (b Board, err error) {
	squares, mover, _ := strings.Cut(text, " ")
	if len(squares) != 64 || len(mover) != 1 || !strings.Contains(letters, mover) {
		return b, fmt.Errorf("board %q: expected 64 squares, column by column, a blank, and the player to move, W or B", text)
	}
	b.Mover = game.Player(strings.Index(letters, mover))
	for at := range squares {
		player := strings.IndexByte(letters, squares[at])
		switch {
		case squares[at] == '.':
			continue
		case player < 0:
			return b, fmt.Errorf("board %q has %q on square %s, expected W, B or a point", text, squares[at], names[at])
		case colors[player].may>>at&1 == 0:
			return b, fmt.Errorf("board %q has %c on square %s, where it may not lie", text, squares[at], names[at])
		}
		b.Chips[player] |= 1 << at
	}
	return b, nil
}

// Picture returns the board as the course draws it, with the numbers of rows on the left.
func (r *Rules) Picture(p game.Position) game.Picture {
	b := r.Board(p)
	pic := game.Picture{Rows: make([][]game.Square, 8)}
	for y := range pic.Rows {
		pic.Left = append(pic.Left, "_"+strconv.Itoa(y))
		pic.Below = append(pic.Below, strconv.Itoa(y)+"_")
		for x := range 8 {
			pic.Rows[y] = append(pic.Rows[y], b.square(8*x+y))
		}
	}
	return pic
}

// Arrange writes the squares column by column.
func (r *Rules) Arrange(squares [][]string, turn game.Player) string {
	var b strings.Builder
	for x := range 8 {
		for y := range 8 {
			b.WriteString((squares[y][x] + game.Empty)[:1]) // a gap is empty
		}
	}
	return b.String() + " " + letters[turn:turn+1]
}

// square returns a square of the picture.
func (b *Board) square(at int) game.Square {
	var s game.Square
	white, black := colors[0].may>>at&1 != 0, colors[1].may>>at&1 != 0
	switch {
	case !white && !black:
		return game.Square{Kind: game.Gap}
	case white != black:
		s.Kind, s.Owner = game.Goal, game.OfFirst
		if black {
			s.Owner = game.OfSecond
		}
	}
	s.Text = "."
	for player, chips := range b.Chips {
		if chips>>at&1 != 0 {
			s.Text, s.Owner = strings.Repeat(letters[player:player+1], 2), game.OwnedBy(game.Player(player))
		}
	}
	return s
}
