// Package mills implements Three, Five, Six, Seven and Nine Men's Morris, also known as merels or
// mills. The board has points, which are joined by lines:
//
//	c  o--o--o      e  o-----o-----o      g  o--------o--------o
//	   |\ | /|         |     |     |         |  o-----o-----o  |
//	b  o--o--o         |  o--o--o  |         |  |  o--o--o  |  |
//	   |/ | \|         o--o     o--o         o--o--o     o--o--o
//	a  o--o--o         |  o--o--o  |         |  |  o--o--o  |  |
//	                   |     |     |         |  o-----o-----o  |
//	                   o-----o-----o         o--------o--------o
//
// Three Men's is played on the first, Five and Six Men's on the second, Seven Men's on the second
// with one more point in the centre, which is joined to the four around it, and Nine Men's on the
// third. Points are named as in the literature: a1 is at the bottom left.
//
// Each player puts Men pieces on empty points, one in each turn; the first player has W, white, and
// moves first. When all are placed, a move slides a piece along a line to the next point, which is
// empty. In Nine Men's, a player with three pieces left moves them to any empty point. Three pieces
// of a player on successive points of a line are a mill. A move that closes one takes a piece of
// the other player off the board: one that is in no mill, or any if all are in mills; one piece even
// if it closes two mills. A player who has fewer than three pieces, those in hand included, has
// lost, and so has a player who cannot move. Play may never end.
//
// These are the rules of the package mills of GamesmanOne (GamesCrafters), in which pieces do not
// fly in Five, Six and Seven Men's. It does not have Three Men's: here its pieces do not fly, and
// move along the diagonals, too. The first mill wins, because it leaves the other player two pieces.
//
// # The hash
//
// Points are numbered column by column from the left, each from the bottom: a1 a3 a5 b2 …. From the
// lowest bit, the key has a bit for each point that is set if there is a black piece, the same for
// white pieces, and then the phase: the number of pieces that have been placed, and one more if all
// have been and black is to move. The phase determines the player to move and the pieces in hand.
package mills

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

//go:embed rules.txt
var rulesText string

// Kind describes the Morris games to a program.
var Kind = game.Kind{
	Name:   "mills",
	Usage:  "Nine Men's Morris and its smaller forms: close mills, and take the other's pieces",
	Params: []game.Param{{Name: "men", Usage: "pieces of a player: 3, 5, 6, 7 or 9", Default: 5}},
	New:    func(args []int) (game.Game, error) { return New(args[0]) },
}

// fewest is the number of pieces with which a player can still close a mill.
const fewest = 3

// rules are the rules for one number of pieces.
type rules struct {
	variant
	men    int
	placed int // the phase from which on all pieces are placed
	*board
	names []string // of moves, see name
	turns []string // by phase: the player to move and the pieces in hand
}

// New returns the rules for 3, 5, 6, 7 or 9 pieces of each player.
func New(men int) (game.Layered, error) {
	v, ok := variants[men]
	if !ok {
		return nil, fmt.Errorf("mills: men must be 3, 5, 6, 7 or 9, found %d", men)
	}
	r := &rules{variant: v, men: men, placed: 2 * men, board: newBoard(v)}
	for phase := range r.placed + 2 {
		s := state{phase: phase}
		r.turns = append(r.turns, fmt.Sprintf("%c %d %d", pieces[1+s.toMove()], r.hand(s, game.First), r.hand(s, game.Second)))
	}
	none := r.size()
	for from := range none + 1 {
		for to := range none {
			name := r.points[to].name
			if from < none {
				name = r.points[from].name + "-" + name
			}
			for _, taken := range r.points {
				r.names = append(r.names, name+"x"+taken.name)
			}
			r.names = append(r.names, name)
		}
	}
	return r, nil
}

// name returns the name of the move from one point to another, which takes a piece from a third.
// The number after that of the last point stands for the hand, or for no piece.
func (r *rules) name(from, to, taken int) string {
	return r.names[(from*r.size()+to)*(r.size()+1)+taken]
}

// A state is a position: the points of each player's pieces, and the phase.
type state struct {
	men   [2]uint32
	phase int
}

func (s state) toMove() game.Player { return game.Player(s.phase & 1) }

// state is the inverse of key.
func (r *rules) state(p game.Position) state {
	n := r.size()
	return state{[2]uint32{uint32(p>>n) & r.full, uint32(p) & r.full}, int(p >> (2 * n))}
}

// key returns the position of a state.
func (r *rules) key(s state) game.Position {
	n := r.size()
	return uint64(s.phase)<<(2*n) | uint64(s.men[0])<<n | uint64(s.men[1])
}

// hand returns the number of pieces that a player has in hand.
func (r *rules) hand(s state, player game.Player) int {
	return r.men - (min(s.phase, r.placed)+1-int(player))/2
}

// left returns the number of pieces that a player has on the board and in hand.
func (r *rules) left(s state, player game.Player) int {
	return bits.OnesCount32(s.men[player]) + r.hand(s, player)
}

// Info describes the game.
func (r *rules) Info() game.Info {
	return game.Info{Title: r.title, Rules: rulesText, TierUnit: "pieces placed and pieces taken", Boards: r.boards,
		Look: game.Look{Square: "cell", Pieces: map[string]string{"W": "disc", "B": "disc", "*": "number"}}}
}

func (r *rules) Spec() string         { return fmt.Sprintf("mills men=%d", r.men) }
func (r *rules) KeyBits() uint        { return uint(2*r.size() + bits.Len(uint(r.placed+1))) }
func (r *rules) Start() game.Position { return 0 }

// Values returns values from the view of the player to move; there are no ties.
func (r *rules) Values() game.Values {
	return game.Values{OfMover: true, TiesSoon: true, Players: [2]string{"W", "B"}}
}

// Tiers returns the tier of a player with two pieces left and another with three.
func (r *rules) Tiers() int { return r.placed + r.mostTaken() }

// mostTaken returns the largest number of pieces that can be taken.
func (r *rules) mostTaken() int { return 2*(r.men-fewest) + 1 }

// Tier returns the number of pieces placed, plus the number of those taken.
func (r *rules) Tier(p game.Position) int {
	s := r.state(p)
	placed := min(s.phase, r.placed)
	return 2*placed - bits.OnesCount32(s.men[0]|s.men[1])
}

// Loops reports whether pieces can slide: all are placed, and the game is not over.
func (r *rules) Loops(tier int) bool { return tier >= r.placed && tier < r.Tiers() }

// boards returns an upper bound on the positions of a tier.
func (r *rules) boards(tier int) (n float64) {
	for phase := range r.placed + 2 {
		s := state{phase: phase}
		first, second := r.men-r.hand(s, game.First), r.men-r.hand(s, game.Second)
		for white := range first + 1 {
			black := 2*min(phase, r.placed) - tier - white
			if black >= 0 && black <= second {
				n += choose(r.size(), white) * choose(r.size()-white, black)
			}
		}
	}
	return n
}

// choose returns the number of sets of k points of n.
func choose(n, k int) float64 {
	ways := 1.0
	for i := range k {
		ways *= float64(n-i) / float64(i+1)
	}
	return ways
}

// Check requires that no point has two pieces, that no player has more pieces than have been placed,
// and that the game was not over before the last move.
func (r *rules) Check(p game.Position) error {
	s := r.state(p)
	switch {
	case p>>(2*r.size()) >= uint64(r.placed+2):
		return fmt.Errorf("%#x is not a position of %s: it has more than %d pieces placed", p, r.title, r.placed)
	case s.men[0]&s.men[1] != 0:
		return fmt.Errorf("%#x is not a position of %s: two pieces are on one point", p, r.title)
	}
	for player, men := range s.men {
		left := r.left(s, game.Player(player))
		least := fewest // the mover may have lost a piece
		if s.toMove() == game.Player(player) {
			least--
		}
		if left < least || left > r.men {
			return fmt.Errorf("%#x is not a position of %s: %c has %d pieces on the board and %d in hand, expected %d to %d in all",
				p, r.title, pieces[1+player], bits.OnesCount32(men), r.hand(s, game.Player(player)), least, r.men)
		}
	}
	return nil
}

func (r *rules) ToMove(p game.Position) game.Player { return r.state(p).toMove() }

// Primitive returns a loss for the player to move if he has fewer than three pieces, or no move.
func (r *rules) Primitive(p game.Position) game.Value {
	if s := r.state(p); r.over(s) {
		return game.NewValue(game.WinFor(s.toMove().Other()), 0)
	}
	return 0
}

// over reports whether the player to move has lost.
func (r *rules) over(s state) bool {
	if r.left(s, s.toMove()) < fewest {
		return true
	}
	if s.phase < r.placed {
		return false
	}
	for own := s.men[s.toMove()]; own != 0; own &= own - 1 {
		if r.targets(s, bits.TrailingZeros32(own)) != 0 {
			return false
		}
	}
	return true
}

// targets returns the points to which the piece of the player to move on a point can go.
func (r *rules) targets(s state, from int) uint32 {
	empty := r.full &^ (s.men[0] | s.men[1])
	if r.flies && bits.OnesCount32(s.men[s.toMove()]) == fewest {
		return empty
	}
	return empty & r.beside[from]
}

// Moves appends the moves. A piece from the hand is named by its point: d2. A piece that moves is
// named by both its points: a1-a4. A move that takes a piece adds the point of this: d2xa1,
// a1-a4xd7.
func (r *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	s := r.state(p)
	if r.over(s) {
		return dst
	}
	if s.phase < r.placed {
		for empty := r.full &^ (s.men[0] | s.men[1]); empty != 0; empty &= empty - 1 {
			dst = r.move(dst, s, r.size(), bits.TrailingZeros32(empty))
		}
		return dst
	}
	for own := s.men[s.toMove()]; own != 0; own &= own - 1 {
		from := bits.TrailingZeros32(own)
		for to := r.targets(s, from); to != 0; to &= to - 1 {
			dst = r.move(dst, s, from, bits.TrailingZeros32(to))
		}
	}
	return dst
}

// move appends the moves of a piece from one point to another, one for each piece that it can take.
func (r *rules) move(dst []game.Move, s state, from, to int) []game.Move {
	own, other := &s.men[s.toMove()], &s.men[s.toMove().Other()]
	*own = *own&^(1<<from) | 1<<to
	var take uint32
	if r.closes(*own, to) {
		take = r.free(*other)
	}
	if s.phase++; s.phase > r.placed+1 {
		s.phase = r.placed
	}
	if take == 0 {
		return append(dst, game.Move{Name: r.name(from, to, r.size()), To: r.key(s)})
	}
	for before := *other; take != 0; take &= take - 1 {
		*other = before &^ (take & -take)
		dst = append(dst, game.Move{Name: r.name(from, to, bits.TrailingZeros32(take)), To: r.key(s)})
	}
	return dst
}

// closes reports whether a piece at a point is in a mill.
func (r *rules) closes(men uint32, at int) bool {
	for _, others := range r.partners[at] {
		if men&others == others {
			return true
		}
	}
	return false
}

// free returns the pieces that may be taken: those in no mill, or all if there are none of these.
func (r *rules) free(men uint32) uint32 {
	var closed uint32
	for _, mill := range r.mills {
		if men&mill == mill {
			closed |= mill
		}
	}
	if closed == men {
		return men
	}
	return men &^ closed
}

var _ game.Symmetric = (*rules)(nil)

// Canonical returns the least of the images of p.
func (r *rules) Canonical(p game.Position) game.Position {
	least := p
	for _, m := range r.images {
		least = min(least, m.Of(p))
	}
	return least
}

// Images appends the images of p by the symmetries of the square, and by the exchange of the inner and
// the outer square.
func (r *rules) Images(dst []game.Position, p game.Position) []game.Position {
	n := len(dst)
	dst = append(dst, p)
	for _, m := range r.images {
		dst = append(dst, m.Of(p))
	}
	return game.Distinct(dst, n)
}
