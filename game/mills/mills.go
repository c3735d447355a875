// Package mills implements Three, Five, Six, Seven and Nine Men's Morris, also called merels or mills.
// The players, W and B, take turns to place their pieces on empty points of a board, W first. Then a
// move slides a piece along a line to the next point, if that is empty. In Nine Men's, a player with
// three pieces left moves any of them to any empty point. Three pieces of a player on successive
// points of a line are a mill. A move that closes a mill, or two, takes one piece of the other player:
// one that is in no mill, or any if all are in mills. A player with fewer than three pieces, those in
// hand included, has lost, and so has one who cannot move. There are no ties, but play may never end.
//
// These are the rules of GamesmanOne (GamesCrafters), where Three Men's is missing: here it has lines
// along the diagonals, too, and the first mill wins, because it leaves the other player two pieces.
//
// # The hash
//
// Points are named as in the literature: columns by letters, rows by numbers from the bottom. They are numbered
// column by column, each from the bottom: a1 a3 a5 b2 …. The key has a bit for each point with a piece of B, lowest
// bit first, then a bit for each with one of W, then the phase: the number of pieces that were placed, or one more
// if all were and B is to move. So the phase determines the player to move and the pieces in hand.
package mills

import (
	_ "embed"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
)

//go:embed rules.txt
var rulesText string

// Kind describes the Morris games to a program.
var Kind = game.Kind{
	Name:   "mills",
	Usage:  "Three to Nine Men's Morris: put three pieces in a row, and take one of the other player's",
	Params: []game.Param{{Name: "men", Usage: "pieces of each player: 3, 5, 6, 7 or 9", Default: 5}},
	New:    func(args []int) (game.Game, error) { return New(args[0]) },
}

// A variant is what depends on the number of pieces.
type variant struct {
	title string
	lines string // the points of each line in order
	flies bool   // a player with three pieces moves them to any empty point
}

// twoSquares are the lines of two squares, one in the other, whose sides are joined at their middles.
const twoSquares = "a1a3a5 b2b3b4 d2d3d4 e1e3e5 a1c1e1 b2c2d2 b4c4d4 a5c5e5 "

// The variants, by the number of pieces of each player.
var variants = map[int]variant{
	3: {"Three Men's Morris", "a1a2a3 b1b2b3 c1c2c3 a1b1c1 a2b2c2 a3b3c3 a1b2c3 a3b2c1", false},
	5: {"Five Men's Morris", twoSquares + "a3b3 d3e3 c1c2 c4c5", false},
	6: {"Six Men's Morris", twoSquares + "a3b3 d3e3 c1c2 c4c5", false},
	7: {"Seven Men's Morris", twoSquares + "a3b3c3d3e3 c1c2c3c4c5", false},
	9: {"Nine Men's Morris", "a1a4a7 b2b4b6 c3c4c5 d1d2d3 d5d6d7 e3e4e5 f2f4f6 g1g4g7 " +
		"a1d1g1 b2d2f2 c3d3e3 a4b4c4 e4f4g4 c5d5e5 b6d6f6 a7d7g7", true},
}

const (
	pieces = ".WB" // what is on a point in texts: nothing, or a piece of W or B
	fewest = 3     // the pieces without which a player has lost
)

// rules are the rules for one number of pieces. A set of points has a bit for the number of each.
type rules struct {
	variant
	all    int          // pieces of both players, and the first phase in which all are placed
	side   int          // columns and rows of the board
	points []string     // the names of the points, in the order of their numbers
	links  [][][2]int   // the ends of the lines, as squares of the picture
	full   uint32       // the set of all points
	beside []uint32     // the neighbours of each point; the hand, which follows, is beside all
	mills  []uint32     // the points of each possible mill
	names  [][][]string // of the moves: [from][to][taken], where the hand and no piece follow the points
	game.BitMoves
}

// New returns the rules for 3, 5, 6, 7 or 9 pieces of each player.
func New(men int) (game.Tiered, error) {
	v, ok := variants[men]
	if !ok {
		return nil, fmt.Errorf("mills: men must be 3, 5, 6, 7 or 9, found %d", men)
	}
	r := &rules{variant: v, all: 2 * men}
	for line := range strings.FieldsSeq(v.lines) {
		for i := 0; i < len(line); i += 2 {
			r.points = append(r.points, line[i:i+2])
		}
	}
	slices.Sort(r.points)
	r.points = slices.Compact(r.points)
	n := len(r.points)
	r.full, r.side = 1<<n-1, int(r.points[n-1][0]-'a')+1
	r.beside = append(make([]uint32, n), r.full)
	for line := range strings.FieldsSeq(v.lines) {
		r.links = append(r.links, [][2]int{r.square(slices.Index(r.points, line[:2])), r.square(slices.Index(r.points, line[len(line)-2:]))})
		for i := 2; i < len(line); i += 2 {
			a, b := slices.Index(r.points, line[i-2:i]), slices.Index(r.points, line[i:i+2])
			r.beside[a] |= 1 << b
			r.beside[b] |= 1 << a
			if i > 2 {
				r.mills = append(r.mills, 1<<slices.Index(r.points, line[i-4:i-2])|1<<a|1<<b)
			}
		}
	}
	r.BitMoves = r.symmetries()
	for from := range n + 1 {
		r.names = append(r.names, nil)
		for _, name := range r.points {
			if from < n {
				name = r.points[from] + "-" + name
			}
			var all []string
			for _, taken := range r.points {
				all = append(all, name+"x"+taken)
			}
			r.names[from] = append(r.names[from], append(all, name))
		}
	}
	return r, nil
}

// at returns the column and row of a point, both from 0 at the bottom left.
func (r *rules) at(point int) (x, y int) {
	return int(r.points[point][0] - 'a'), int(r.points[point][1] - '1')
}

// place returns the index of a point in the text of the board.
func (r *rules) place(point int) int {
	x, y := r.at(point)
	return (r.side-1-y)*(r.side+1) + x
}

// symmetries returns the symmetries of the board but the identity. If there is no point in the centre, the
// outer and the inner square can be exchanged, too.
func (r *rules) symmetries() (all game.BitMoves) {
	centre, n := r.side/2, len(r.points)
	for _, to := range (game.Grid{Width: r.side, Height: r.side}).Symmetries() {
		for exchange := range 2 - n%2 {
			bits := make([]int, 2*n)
			for i := range r.points {
				x, y := to(r.at(i))
				if dx, dy := x-centre, y-centre; exchange > 0 {
					k := max(dx, -dx, dy, -dy)
					x, y = centre+dx/k*(centre+1-k), centre+dy/k*(centre+1-k)
				}
				bits[i] = slices.Index(r.points, fmt.Sprintf("%c%d", 'a'+x, 1+y))
				bits[n+i] = n + bits[i]
			}
			all = append(all, game.NewBitMove(bits))
		}
	}
	return all[1:]
}

// A state is a position: the points with each player's pieces, and the phase.
type state struct {
	men   [2]uint32
	phase int
}

func (s state) mover() game.Player { return game.Player(s.phase & 1) }

// state is the inverse of key.
func (r *rules) state(p game.Position) state {
	return state{[2]uint32{uint32(p>>len(r.points)) & r.full, uint32(p) & r.full}, int(p >> (2 * len(r.points)))}
}

// key returns the position of a state.
func (r *rules) key(s state) game.Position {
	return uint64(s.phase)<<(2*len(r.points)) | uint64(s.men[0])<<len(r.points) | uint64(s.men[1])
}

// hand returns the number of pieces that a player has in hand, left that of all pieces not yet taken.
func (r *rules) hand(s state, p game.Player) int { return (r.all - min(s.phase, r.all) + int(p)) / 2 }
func (r *rules) left(s state, p game.Player) int { return bits.OnesCount32(s.men[p]) + r.hand(s, p) }

// Info describes the game.
func (r *rules) Info() game.Info {
	return game.Info{Title: r.title, Rules: rulesText, TierUnit: "pieces placed or taken",
		Look: game.Look{Square: "point", Pieces: map[string]string{"*": "disc"}, Colours: "white-black"}}
}

func (r *rules) Spec() string  { return fmt.Sprintf("mills men=%d", r.all/2) }
func (r *rules) KeyBits() uint { return uint(2*len(r.points) + bits.Len(uint(r.all+1))) }
func (r *rules) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{"W", "B"}}
}
func (r *rules) Start() game.Position               { return 0 }
func (r *rules) ToMove(p game.Position) game.Player { return r.state(p).mover() }

// Tiers returns the tier in which all pieces are placed, and one player has two left and the other three.
func (r *rules) Tiers() int { return 2*r.all - 2*fewest + 1 }

// Tier returns the number of pieces placed, plus the number of those taken.
func (r *rules) Tier(p game.Position) int {
	s := r.state(p)
	return 2*min(s.phase, r.all) - bits.OnesCount32(s.men[0]|s.men[1])
}

// Loops reports whether pieces may slide.
func (r *rules) Loops(tier int) bool { return tier >= r.all && tier < r.Tiers() }

// Check requires at most one piece on a point, and of each player at most those that were placed, and
// enough that the game was not over before the last move.
func (r *rules) Check(p game.Position) error {
	if !r.valid(r.state(p)) {
		return fmt.Errorf("%#x is not a position of %s: no play leads to such pieces on the board and in hand", p, r.title)
	}
	return nil
}

// valid reports whether play can lead to such numbers of pieces.
func (r *rules) valid(s state) bool {
	mover, other := r.left(s, s.mover()), r.left(s, s.mover().Other())
	return s.phase <= r.all+1 && s.men[0]&s.men[1] == 0 && max(mover, other) <= r.all/2 && other >= fewest && mover >= fewest-1
}

// Primitive returns a loss for the player to move if he has fewer than three pieces or no move.
func (r *rules) Primitive(p game.Position) game.Value {
	s := r.state(p)
	for range r.steps(s) {
		return 0
	}
	return game.NewValue(game.WinFor(s.mover().Other()), 0)
}

// Moves appends the moves, such as d2, from the hand, and a1-a4; d2xa1 and a1-a4xd7 take a piece.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	s := r.state(p)
	for from, to := range r.steps(s) {
		dst = r.move(dst, s, from, to)
	}
	return dst
}

// steps returns where the player to move can take a piece, a point or the hand, and where he can put it.
func (r *rules) steps(s state) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		left, own := r.left(s, s.mover()), s.men[s.mover()]
		if s.phase < r.all {
			own = r.full + 1 // the hand
		}
		for ; left >= fewest && own != 0; own &= own - 1 {
			from, to := bits.TrailingZeros32(own), r.full&^(s.men[0]|s.men[1])
			if !r.flies || left > fewest {
				to &= r.beside[from]
			}
			for ; to != 0; to &= to - 1 {
				if !yield(from, bits.TrailingZeros32(to)) {
					return
				}
			}
		}
	}
}

// move appends the moves from one point to another, one for each piece that can be taken.
func (r *rules) move(dst []game.Move, s state, from, to int) []game.Move {
	own, other := &s.men[s.mover()], &s.men[s.mover().Other()]
	*own = *own&^(1<<from) | 1<<to
	s.phase = min(s.phase+1, r.all+(s.phase+1)%2)
	names, before, taken := r.names[from][to], *other, uint32(0)
	if r.closed(*own)>>to&1 != 0 {
		taken = r.free(before)
	}
	if taken == 0 {
		return append(dst, game.Move{Name: names[len(r.points)], To: r.key(s)})
	}
	for ; taken != 0; taken &= taken - 1 {
		at := bits.TrailingZeros32(taken)
		*other = before &^ (1 << at)
		dst = append(dst, game.Move{Name: names[at], To: r.key(s)})
	}
	return dst
}

// closed returns those of a player's pieces that are in mills.
func (r *rules) closed(men uint32) (in uint32) {
	for _, mill := range r.mills {
		if men&mill == mill {
			in |= mill
		}
	}
	return in
}

// free returns those of a player's pieces that can be taken.
func (r *rules) free(men uint32) uint32 {
	if free := men &^ r.closed(men); free != 0 {
		return free
	}
	return men
}

// piece returns what is on a point, as an index of pieces and as a game.Owner.
func (s state) piece(point int) uint32 { return s.men[0]>>point&1 | s.men[1]>>point&1<<1 }

// blank returns the text of a board without points.
func (r *rules) blank() string { return strings.Repeat("/"+strings.Repeat("-", r.side), r.side)[1:] }

// AppendText appends the board, the player to move, and the numbers of pieces that W and B have in hand:
// "W-.-B/-...-/..-../-...-/.-.-. W 4 4".
func (r *rules) AppendText(dst []byte, p game.Position) []byte {
	s, n := r.state(p), len(dst)
	dst = append(dst, r.blank()...)
	for i := range r.points {
		dst[n+r.place(i)] = pieces[s.piece(i)]
	}
	return fmt.Appendf(dst, " %c %d %d", pieces[1+s.mover()], r.hand(s, game.First), r.hand(s, game.Second))
}

// Parse reads the text of AppendText.
func (r *rules) Parse(text string) (game.Position, error) {
	var s state
	for i := range r.points {
		if at := r.place(i); at < len(text) && strings.IndexByte(pieces, text[at]) > 0 {
			s.men[strings.IndexByte(pieces, text[at])-1] |= 1 << i
		}
	}
	for ; s.phase <= r.all+1; s.phase++ {
		if p := r.key(s); string(r.AppendText(nil, p)) == text {
			return p, r.Check(p)
		}
	}
	return 0, fmt.Errorf("position %q: expected the board, whose points are ., W or B, the player to move, and the pieces in hand of W and B, as in %q",
		text, r.AppendText(nil, r.Start()))
}

// Arrange is the inverse of Picture.
func (r *rules) Arrange(squares [][]string, turn game.Player) string {
	text, hands := strings.Split(r.blank(), ""), squares[len(squares)-1]
	for i := range r.points {
		at := r.square(i)
		text[r.place(i)] = squares[at[1]][at[0]]
	}
	return fmt.Sprintf("%s %c %s %s", strings.Join(text, ""), pieces[1+turn], hands[0], hands[len(hands)-1])
}

// square returns the square of a point in the picture. In Three Men's, whose points have diagonal links, there
// are gaps between them.
func (r *rules) square(point int) [2]int {
	x, y := r.at(point)
	if y = r.side - 1 - y; r.side == 3 {
		return [2]int{2 * x, 2 * y}
	}
	return [2]int{x, y}
}

// Picture returns the board, and the numbers of pieces in hand below it.
func (r *rules) Picture(p game.Position) game.Picture {
	s, side := r.state(p), max(r.side, 5)
	pic := game.Picture{Above: make([]string, side), Left: make([]string, side+1), Links: r.links}
	for range side + 1 {
		pic.Rows = append(pic.Rows, slices.Repeat([]game.Square{{Kind: game.Gap}}, side))
	}
	for i, name := range r.points {
		at, on := r.square(i), s.piece(i)
		pic.Rows[at[1]][at[0]] = game.Square{Text: pieces[on : on+1], Owner: game.Owner(on)}
		pic.Above[at[0]], pic.Left[at[1]] = name[:1], name[1:]
	}
	for i, x := range []int{0, side - 1} {
		player := game.Player(i)
		pic.Rows[side][x] = game.Square{Kind: game.Goal, Text: fmt.Sprint(r.hand(s, player)), Owner: game.OwnedBy(player)}
	}
	if r.side == 3 && r.Primitive(p) != 0 { // the first mill wins
		won := r.closed(s.men[0]) | r.closed(s.men[1])
		for i := range r.points {
			if won>>i&1 != 0 {
				pic.Won = append(pic.Won, r.square(i))
			}
		}
	}
	return pic
}

// Evaluate compares the pieces left and the empty points beside them. Counting mills lost matches.
func (r *rules) Evaluate(p game.Position) (worth int) {
	s := r.state(p)
	for _, player := range [...]game.Player{s.mover().Other(), s.mover()} {
		own := 40 * r.left(s, player)
		for men := s.men[player]; men != 0; men &= men - 1 {
			own += bits.OnesCount32(r.beside[bits.TrailingZeros32(men)] &^ (s.men[0] | s.men[1]))
		}
		worth = own - worth
	}
	return worth
}
