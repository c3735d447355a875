// Package mancala is the rules of Mancala as a course plays it: two rows of Pits pits,
// each with a goal at its end, and Stones stones in every pit at the start.
//
//	  9 8 7 6      row 1: pits 6 to 9, goal 10      pits 4: board of 10 places
//	10        4
//	  0 1 2 3      row 0: pits 0 to 3, goal 4       row 0 moves first
//
// A move takes all stones of one of the mover's own pits and sows them one by one in
// the places that follow, in the order of their numbers and round, but for the
// opponent's goal. The pit that they came from is not left out. If the last stone ends
// alone in a pit of the mover's row, and the pit across is not empty, both pits are
// emptied into the mover's goal. Who has no stone in his pits passes, which is a move.
// There is no other move for free, and no sweep: the game ends when all pits are empty.
// The larger goal wins, equal goals are a tie; by how much does not count. A tie is drawn
// out: 4 pits of 3 stones are a tie in 76 moves, passes counted, as others have it too; if
// it were settled soonest, it would be one in 16.
//
// # The tier
//
// Stones only go forward, and who goes round feeds a goal. So every move lowers
//
//	2·((Pits·(Pits-1)+1)·s + D) + p
//
// where s is the number of stones in pits, D the sum over them of the distance to the
// last pit of their row, and p is 1 if the mover must pass. For a pass lowers p. What is
// sown within the row lowers D. What goes on beyond the goal leaves a stone there for at
// most two rows of others, which add at most Pits·(Pits-1) to D, as much as two rows of
// a stone in each pit have: less than the stone in the goal takes away. A capture takes
// away more. And a p that becomes 1 is less than any of this. The tier is the start's
// number less the position's.
//
// # The hash
//
// The counts of all places have a fixed sum, so a board is a way to divide the stones
// among the places. All ways are numbered in ascending order of the counts, compared
// one after the other: first the pits, from 0, then row 0's goal, row 1's. The key is
// twice the number, plus the row that is to move. Of m places and r stones there are
// ways(m, r) = (r+m-1 choose m-1), so this many of them begin with less than c stones:
//
//	ways(m-1, r) + … + ways(m-1, r-c+1) = ways(m, r) - ways(m, r-c)
//
// Boards with empty pits come first.
package mancala

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// maxPits is how many pits of a row can have a stone each: of more, the keys would not
// fit into 64 bits.
const maxPits = 16

// Kind registers Mancala.
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

// Rules is the game on a board of one size. Places are counted here as the key compares
// them: row 0's pits, row 1's pits, the goals.
type Rules struct {
	pits   int
	all    int                     // stones of the board
	spec   string                  // of the game
	title  string                  // the same for people
	start  game.Position           // its first position
	tiers  int                     // what every move lowers, at the start
	places int                     // pits and goals
	ways   [maxPlaces + 1][]uint64 // to divide r stones among m places: ways[m][r]
	next   [2][maxPlaces]uint8     // where each row sows after a place
	weight [maxPlaces]int          // what a stone in it adds to what every move lowers
	course [maxPlaces]int          // the place that has a number
	names  [2 * maxPits]string     // of the pits: their numbers
	bound  bound                   // on the positions of each tier
}

// A bound is numbers of boards by what every move lowers, without the pass.
type bound struct {
	once      sync.Once
	all, pass []float64 // pass: of those where a row must pass
}

// A board is the number of stones in each place.
type board [maxPlaces]uint16

// New makes the rules. Keys must fit into 64 bits, and the number of the last tier must
// be no larger than a remoteness can be. What it makes is a game.Searched if the board is
// small enough for that (see newSearched).
func New(pits, stones int) (game.Acyclic, error) {
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

// From makes the rules of a game that begins at any board, as the course lists it: row 0's
// pits and goal, then row 1's; and with the row that is to move. It need not be one that
// play leads to.
func From(places []int, row int) (game.Acyclic, error) {
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
	if !keysFit(pits, all) || height(pits, all, all*(pits-1))+1 > game.MaxRemoteness {
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

// Is reports whether a game is Mancala, made here.
func Is(g game.Game) bool {
	switch g.(type) {
	case *Rules, *Searched:
		return true
	}
	return false
}

// begin sets the first position.
func (r *Rules) begin(b *board, row int, spec string) {
	r.spec, r.start = spec, r.key(b, row)
	r.tiers = -r.Tier(r.start)
}

// newRules makes the rules without a first position.
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
			r.weight[place] = height(pits, 1, pits-1-i)
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

// fits reports whether 2·ways(2·pits+2, all) keys take at most 64 bits, and the tiers
// can be told.
func fits(pits, stones int) bool {
	if stones > game.MaxRemoteness {
		return false
	}
	return keysFit(pits, 2*pits*stones) && lastTier(pits, stones) <= game.MaxRemoteness
}

// keysFit reports whether the keys of so many stones in all take at most 64 bits.
func keysFit(pits, all int) bool {
	keys := 2.0
	for i := range 2*pits + 1 {
		keys *= float64(all+i+1) / float64(i+1)
	}
	return keys < math.MaxUint64
}

// height is what every move lowers, without the pass: for so many stones in pits and
// so far to the ends of their rows.
func height(pits, stones, distance int) int { return 2 * ((pits*(pits-1)+1)*stones + distance) }

// lastTier is the height of the start.
func lastTier(pits, stones int) int { return height(pits, 2*pits*stones, stones*pits*(pits-1)) }

// goal is the place of a row's goal.
func (r *Rules) goal(row int) int { return 2*r.pits + row }

// row is who is to move.
func row(p game.Position) int { return int(p & 1) }

// key is the position of a board.
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

// read is the inverse of key, into an empty board.
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

// Title is "Mancala, P pits of S stones", or says from which board.
func (r *Rules) Title() string { return r.title }

// Values are the rows'; a tie is drawn out.
func (r *Rules) Values() game.Values {
	return game.Values{Players: [2]string{"row 0", "row 1"}}
}

// boards is the number of all boards.
func (r *Rules) boards() uint64 { return r.ways[r.places][r.all] }

func (r *Rules) KeyBits() uint { return uint(bits.Len64(2*r.boards() - 1)) }

func (r *Rules) Start() game.Position { return r.start }

// Pits is the number of pits of a row.
func (r *Rules) Pits() int { return r.pits }

// Stones is the number of all stones of the board.
func (r *Rules) Stones() int { return r.all }

// Check wants the number of a board, on which the stones do not lie farther back than
// at the start: of a tier, that is.
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

// Primitive compares the goals if all pits are empty. These boards come first, in the
// order of row 0's goal.
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

// Tier: see the package comment.
func (r *Rules) Tier(p game.Position) int {
	var b board
	r.read(&b, p)
	var weights, stones [2]int // of the rows' pits
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

// Pass is the name of a pass.
const Pass = "pass"

// Moves are the numbers of the pits that are not empty, or pass.
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
		dst = append(dst, game.Move{Name: Pass, To: p ^ 1})
	}
	return dst
}

// sow is the position after a move.
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

// Places are the stones of a position of a game that is made here, as the course lists
// them: row 0's pits and goal, then row 1's. Of another game there are none.
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

// Parse reads AppendText's text, with or without blanks.
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

// parse is Parse of any board of so many stones.
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
		return 0, fmt.Errorf("%d stones, expected %d, as at the start", all, r.all)
	}
	return r.key(&b, int(toMove[0]-'0')), nil
}

// Picture is the board as it stands, with the numbers of the pits above and below.
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
