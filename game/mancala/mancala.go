// Package mancala implements Mancala as played in a university course: two rows of Pits pits,
// each with a goal at its end, and initially Stones stones in every pit.
//
//	  9 8 7 6      row 1: pits 6 to 9, goal 10      pits 4: board of 10 places
//	10        4
//	  0 1 2 3      row 0: pits 0 to 3, goal 4       row 0 moves first
//
// A move takes all stones of one of the mover's own pits and sows them one by one in
// the places that follow, in the order of their numbers and around the board, except the
// opponent's goal. The pit that the stones came from is not skipped. If the last stone is
// alone in a pit of the mover's row, and the opposite pit is not empty, both pits are
// emptied into the mover's goal. A player without stones in his pits passes, which is a
// move. There are no extra moves, and there is no final sweep: the game ends when all pits are
// empty. The larger goal wins, equal goals are a tie; the difference does not count. Players
// delay a tie: 4 pits of 3 stones are a tie in 76 plies, passes included, which agrees with
// other programs; if players preferred the nearest tie, it would be a tie in 16.
//
// # The tier
//
// Stones only move forward, and a move around the board puts stones into a goal. So every
// move lowers
//
//	2·((Pits·(Pits-1)+1)·s + D) + p
//
// where s is the number of stones in pits, D is the sum of their distances to the
// last pit of their row, and p is 1 if the mover must pass. A pass lowers p. Sowing
// within the row lowers D. Sowing beyond the goal leaves one stone in the goal for at
// most two rows of other stones. These add at most Pits·(Pits-1) to D, the distances of
// two rows with a stone in each pit: less than the stone in the goal subtracts. A capture
// subtracts more. And a p that becomes 1 is less than any of these changes. The tier is
// this number for the initial position minus that for the position.
//
// # The hash
//
// The counts of all places have a constant sum, so a board is a way to divide the stones
// among the places. All ways are numbered in lexicographic order of the counts: first the
// pits, from 0, then row 0's goal, then row 1's. The key is twice the number, plus the row to
// move. For m places and r stones there are ways(m, r) = (r+m-1 choose m-1) ways, so the
// number of those that begin with less than c stones is:
//
//	ways(m-1, r) + … + ways(m-1, r-c+1) = ways(m, r) - ways(m, r-c)
//
// Boards with empty pits come first.
package mancala

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// maxPits is the largest number of pits per row for which keys fit into 64 bits, with one
// stone in each pit.
const maxPits = 16

//go:embed rules.txt
var rulesText string

// Kind describes Mancala to a program.
var Kind = game.Kind{
	Name:  "mancala",
	Usage: "Mancala: sow stones round the board, the larger goal wins",
	Params: []game.Param{
		{Name: "pits", Usage: "pits of a row", Default: 3},
		{Name: "stones", Usage: "stones in each pit at the start", Default: 2},
	},
	New: func(args []int) (game.Game, error) { return New(args[0], args[1]) },
}

// maxPlaces is the number of pits and goals of the largest board.
const maxPlaces = 2*maxPits + 2

// Rules are the rules for one size of board. Places are numbered here in the order in which
// the key compares them: row 0's pits, row 1's pits, the goals.
type Rules struct {
	pits   int
	all    int                     // number of stones on the board
	spec   string                  // the Spec
	title  string                  // the Title
	start  game.Position           // the initial position
	tiers  int                     // the potential (what every move lowers) of the initial position
	places int                     // number of pits and goals
	ways   [maxPlaces + 1][]uint64 // number of ways to divide r stones among m places: ways[m][r]
	next   [2][maxPlaces]uint8     // the place that each row sows after a place
	weight [maxPlaces]int          // what a stone in the place adds to the potential
	course [maxPlaces]int          // the place with a given number on the board
	names  [2 * maxPits]string     // names of the pits: their numbers
	bound  bound                   // numbers of boards, for Boards
}

// A bound contains numbers of boards, indexed by the potential without the pass.
type bound struct {
	once      sync.Once
	all, pass []float64 // pass: boards where a row must pass
}

// A board is the number of stones in each place, at most game.MaxRemoteness: see New and From.
type board [maxPlaces]uint16

// New returns the rules. The keys must fit into 64 bits, and the last tier must not exceed
// the largest remoteness. The result is a game.Searched if the board is small enough for
// that (see fastest).
func New(pits, stones int) (game.Tiered, error) {
	switch {
	case pits < 1 || stones < 1:
		return nil, fmt.Errorf("mancala: pits and stones must be at least 1, found %d and %d", pits, stones)
	case pits > maxPits:
		return nil, fmt.Errorf("mancala: a row may have %d pits at most, found %d", maxPits, pits)
	case !fits(pits, stones):
		most := 1
		for fits(pits, most+1) {
			most++
		}
		return nil, fmt.Errorf("mancala: %d stones in each of %d pits are too many: %d at most", stones, pits, most)
	}
	r := newRules(pits, 2*pits*stones)
	var b board
	for pit := range 2 * pits {
		b[pit] = uint16(stones)
	}
	of := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	r.title = fmt.Sprintf("Mancala, %s of %s", of(pits, "pit"), of(stones, "stone"))
	r.begin(&b, 0, fmt.Sprintf("mancala pits=%d stones=%d", pits, stones))
	return r.fastest(), nil
}

// From returns the rules of a game that begins with the given board and row to move. The board
// lists row 0's pits and goal, then row 1's, as in the course. It need not be reachable from
// the usual initial position.
func From(places []int, row int) (game.Tiered, error) {
	pits, all := len(places)/2-1, 0
	if pits < 1 || len(places)%2 != 0 {
		return nil, fmt.Errorf("mancala: expected an even number of places from 4, found %d", len(places))
	}
	if pits > maxPits {
		return nil, fmt.Errorf("mancala: a row may have %d pits at most, found %d", maxPits, pits)
	}
	if row != 0 && row != 1 {
		return nil, fmt.Errorf("mancala: expected row 0 or 1 to move, found %d", row)
	}
	for i, n := range places {
		if n < 0 || n > game.MaxRemoteness {
			return nil, fmt.Errorf("mancala: expected a number of stones up to %d in place %d, found %d", game.MaxRemoteness, i, n)
		}
		all += n
	}
	if !keysFit(pits, all) || potential(pits, all, all*(pits-1))+1 > game.MaxRemoteness {
		return nil, fmt.Errorf("mancala: %d stones on a board of %d pits a row are too many", all, pits)
	}
	r := newRules(pits, all)
	var b board
	for i, n := range places {
		b[r.course[i]] = uint16(n)
	}
	r.begin(&b, row, "")
	r.spec = fmt.Sprintf("mancala from %s", r.AppendText(nil, r.start))
	r.title = "M" + r.spec[1:]
	return r.fastest(), nil
}

// Is reports whether a game was made by New or From.
func Is(g game.Game) bool {
	switch g.(type) {
	case *Rules, *Searched:
		return true
	}
	return false
}

// begin sets the initial position.
func (r *Rules) begin(b *board, row int, spec string) {
	r.spec, r.start = spec, r.key(b, row)
	r.tiers = -r.Tier(r.start)
}

// newRules returns rules without an initial position.
func newRules(pits, all int) *Rules {
	r := &Rules{pits: pits, all: all, places: 2*pits + 2}
	for m := range r.places + 1 {
		r.ways[m] = make([]uint64, r.all+1)
		r.ways[m][0] = 1
		for n := 1; m > 0 && n <= r.all; n++ {
			r.ways[m][n] = r.ways[m][n-1] + r.ways[m-1][n]
		}
	}
	for number := range r.places {
		row, i := number/(pits+1), number%(pits+1)
		place := row*pits + i
		if i == pits {
			place = r.goal(row)
		} else {
			r.weight[place] = potential(pits, 1, pits-1-i)
			r.names[place] = strconv.Itoa(number)
		}
		r.course[number] = place
	}
	for row := range r.next {
		for number := range r.places {
			after := (number + 1) % r.places
			if r.course[after] == r.goal(1-row) {
				after = (after + 1) % r.places
			}
			r.next[row][r.course[number]] = uint8(r.course[after])
		}
	}
	return r
}

// fits reports whether the keys, 2·ways(2·pits+2, all) of them, take at most 64 bits, and a
// remoteness can be as large as the last tier.
func fits(pits, stones int) bool {
	if stones > game.MaxRemoteness {
		return false
	}
	return keysFit(pits, 2*pits*stones) && lastTier(pits, stones) <= game.MaxRemoteness
}

// keysFit reports whether the keys of boards with all stones take at most 64 bits.
func keysFit(pits, all int) bool {
	keys := 2.0
	for i := range 2*pits + 1 {
		keys *= float64(all+i+1) / float64(i+1)
	}
	return keys < math.MaxUint64
}

// potential returns what every move lowers, without the pass: for this number of
// stones in pits and the sum of their distances to the ends of their rows.
func potential(pits, stones, distance int) int { return 2 * ((pits*(pits-1)+1)*stones + distance) }

// lastTier returns the potential of the initial position.
func lastTier(pits, stones int) int { return potential(pits, 2*pits*stones, stones*pits*(pits-1)) }

// goal returns the place of a row's goal.
func (r *Rules) goal(row int) int { return 2*r.pits + row }

// row returns the row to move.
func row(p game.Position) int { return int(p & 1) }

// key returns the position of a board.
func (r *Rules) key(b *board, row int) game.Position {
	var n uint64
	left := r.all
	for place, m := 0, r.places; m > 1; place, m = place+1, m-1 {
		ways := r.ways[m]
		n += ways[left]
		left -= int(b[place])
		n -= ways[left]
	}
	return n<<1 | uint64(row)
}

// read decodes a key into b, which must be empty. It is the inverse of key.
func (r *Rules) read(b *board, p game.Position) {
	n, left, place := p>>1, r.all, 0
	for m := r.places; m > 2; m-- {
		ways := r.ways[m]
		to, after := ways[left]-n, left
		for after > 0 && ways[after-1] >= to {
			after--
		}
		b[place] = uint16(left - after)
		n, left, place = ways[after]-to, after, place+1
	}
	b[place], b[place+1] = uint16(n), uint16(left)-uint16(n)
}

func (r *Rules) Spec() string { return r.spec }

// Info describes the game. The title is "Mancala, P pits of S stones", or "Mancala from" and
// the initial board.
func (r *Rules) Info() game.Info {
	return game.Info{Title: r.title, Rules: rulesText, Boards: r.tierBoards, Look: game.Look{Square: "pit", Pieces: map[string]string{"*": "number"}, Place: []game.Square{{Text: game.Add}, {Text: game.Take}}}}
}

// Values returns values that name a row; players prefer the farthest tie.
func (r *Rules) Values() game.Values {
	return game.Values{Players: [2]string{"row 0", "row 1"}}
}

// boards returns the number of all boards.
func (r *Rules) boards() uint64 { return r.ways[r.places][r.all] }

func (r *Rules) KeyBits() uint { return uint(bits.Len64(2*r.boards() - 1)) }

func (r *Rules) Start() game.Position { return r.start }

// Check requires that p is the number of a board, and that its tier is valid: its potential
// must be below that of the initial position.
func (r *Rules) Check(p game.Position) error {
	if p>>1 >= r.boards() {
		return fmt.Errorf("%d is not a board of %d stones in %d places: the largest is %d", p, r.all, r.places, 2*r.boards()-1)
	}
	if p != r.Start() && r.Tier(p) <= 0 {
		return fmt.Errorf("%s is farther from its end than the start: stones only go forward", r.AppendText(nil, p))
	}
	return nil
}

func (r *Rules) ToMove(p game.Position) game.Player { return game.Player(row(p)) }

// Primitive compares the goals if all pits are empty. These boards have the lowest numbers, in
// the order of row 0's goal.
func (r *Rules) Primitive(p game.Position) game.Value {
	switch goal := p >> 1; {
	case goal > uint64(r.all):
		return 0
	case 2*goal > uint64(r.all):
		return game.NewValue(game.FirstWins, 0)
	case 2*goal < uint64(r.all):
		return game.NewValue(game.SecondWins, 0)
	}
	return game.NewValue(game.Tie, 0)
}

func (r *Rules) Tiers() int { return r.tiers }

// Loops returns false: in every move stones travel.
func (r *Rules) Loops(int) bool { return false }

// Tier returns the tier, see the package comment.
func (r *Rules) Tier(p game.Position) int {
	var b board
	r.read(&b, p)
	var weights, stones [2]int // of the pits of each row
	for pit := range r.pits {
		n, m := int(b[pit]), int(b[r.pits+pit])
		stones[0] += n
		stones[1] += m
		weights[0] += n * r.weight[pit]
		weights[1] += m * r.weight[r.pits+pit]
	}
	tier := r.tiers - weights[0] - weights[1]
	if stones[row(p)] == 0 && stones[1-row(p)] > 0 {
		tier--
	}
	return tier
}

// Moves appends the pits that are not empty, named by their numbers, or a pass.
func (r *Rules) Moves(dst []game.Move, p game.Position) []game.Move {
	if r.Primitive(p) != 0 {
		return dst
	}
	var b board
	r.read(&b, p)
	before, first := len(dst), row(p)*r.pits
	for pit := first; pit < first+r.pits; pit++ {
		if b[pit] > 0 {
			dst = append(dst, game.Move{Name: r.names[pit], To: r.sow(b, pit, row(p))})
		}
	}
	if len(dst) == before {
		dst = append(dst, game.Move{Name: game.Pass, To: p ^ 1})
	}
	return dst
}

// sow returns the position after a move.
func (r *Rules) sow(b board, pit, row int) game.Position {
	next := &r.next[row]
	hand, at := b[pit], pit
	b[pit] = 0
	for ; hand > 0; hand-- {
		at = int(next[at])
		b[at]++
	}
	if i := at - row*r.pits; i >= 0 && i < r.pits && b[at] == 1 {
		if across := 2*r.pits - 1 - at; b[across] > 0 {
			b[r.goal(row)] += 1 + b[across]
			b[at], b[across] = 0, 0
		}
	}
	return r.key(&b, 1-row)
}

// Places returns the stones in all places of a position of Mancala, in the order of the
// course: row 0's pits and goal, then row 1's. For other games it returns nil.
func Places(g game.Game, p game.Position) []int {
	r, ok := g.(*Rules)
	if fast, searched := g.(*Searched); searched {
		r, ok = fast.Rules, true
	}
	if !ok {
		return nil
	}
	var b board
	r.read(&b, p)
	list := make([]int, r.places)
	for i, place := range r.course[:r.places] {
		list[i] = int(b[place])
	}
	return list
}

// AppendText appends the state as the course prints it: "State([2, 2, 0, 2, 2, 0], 0)".
func (r *Rules) AppendText(dst []byte, p game.Position) []byte {
	dst = append(dst, "State(["...)
	var b board
	r.read(&b, p)
	for i, place := range r.course[:r.places] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendUint(dst, uint64(b[place]), 10)
	}
	dst = append(dst, "], "...)
	return append(strconv.AppendInt(dst, int64(row(p)), 10), ')')
}

// Parse reads the text of AppendText, with or without blanks.
func (r *Rules) Parse(text string) (game.Position, error) {
	p, err := r.parse(text)
	if err == nil {
		err = r.Check(p)
	}
	if err != nil {
		return 0, fmt.Errorf("state %q: %w", text, err)
	}
	return p, nil
}

// parse is Parse for any board with the right number of stones, without Check.
func (r *Rules) parse(text string) (game.Position, error) {
	state := strings.Map(func(c rune) rune {
		if c == ' ' || c == '\t' {
			return -1
		}
		return c
	}, text)
	state, open := strings.CutPrefix(state, "State([")
	state, closed := strings.CutSuffix(state, ")")
	counts, toMove, ok := strings.Cut(state, "],")
	if !open || !closed || !ok || toMove != "0" && toMove != "1" {
		return 0, errors.New("expected State([…], ROW): the stones of all places, and the row to move, 0 or 1")
	}
	places := strings.Split(counts, ",")
	if len(places) != r.places {
		return 0, fmt.Errorf("%d places, expected %d: pits and goal of row 0, pits and goal of row 1", len(places), r.places)
	}
	var b board
	all := 0
	for i, place := range places {
		n, err := strconv.ParseUint(place, 10, 16)
		if err != nil || int(n) > r.all {
			return 0, fmt.Errorf("%q in place %d, expected a number of stones up to %d", place, i, r.all)
		}
		b[r.course[i]] = uint16(n)
		all += int(n)
	}
	if all != r.all {
		return 0, fmt.Errorf("%d stones, expected %d, as in the initial position", all, r.all)
	}
	return r.key(&b, int(toMove[0]-'0')), nil
}

// Arrange is the inverse of Picture.
func (r *Rules) Arrange(squares [][]string, turn game.Player) string {
	last := r.pits + 1
	top := slices.Clone(squares[0][1:last])
	slices.Reverse(top)
	places := slices.Concat(squares[2][1:last], squares[1][last:], top, squares[1][:1])
	return fmt.Sprintf("State([%s], %d)", strings.Join(places, ", "), turn)
}

// Picture returns the board, with the numbers of the pits above and below.
func (r *Rules) Picture(p game.Position) game.Picture {
	var b board
	r.read(&b, p)
	square := func(place, row int, kind game.SquareKind) game.Square {
		return game.Square{Kind: kind, Text: strconv.Itoa(int(b[place])), Owner: game.OwnedBy(game.Player(row))}
	}
	gap := game.Square{Kind: game.Gap}
	top, goals, bottom := []game.Square{gap}, []game.Square{square(r.goal(1), 1, game.Goal)}, []game.Square{gap}
	above, below := []string{""}, []string{""}
	for i := range r.pits {
		across := 2*r.pits - 1 - i
		top, above = append(top, square(across, 1, game.Field)), append(above, r.names[across])
		goals = append(goals, gap)
		bottom, below = append(bottom, square(i, 0, game.Field)), append(below, r.names[i])
	}
	return game.Picture{
		Rows:  [][]game.Square{append(top, gap), append(goals, square(r.goal(0), 0, game.Goal)), append(bottom, gap)},
		Above: append(above, ""),
		Below: append(below, ""),
	}
}
