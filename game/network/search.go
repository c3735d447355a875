package network

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// This file is Network as a search likes it. It rests on one idea: who may put a chip on
// the board and has no network has *winning squares*, on which one chip more makes it one.
// A chip of the other's can only take such squares away, by lying there or in a line. So
// of a position in which nobody wins at once, all that is to be known is the winning
// squares of who has just moved; they are the threats that the player to move must parry;
// and where he has parried them all, his opponent has none.
//
// The words of a State: White's chips; Black's; what the player to move wins on at once,
// which is known of the root, and none elsewhere; and who is to move.
const (
	stateWhite = iota
	stateBlack
	stateWins
	stateMover
)

// stateOf is the State of a board on which the player to move does not win at once; boardOf
// is its inverse.
func stateOf(b Board) game.State {
	return game.State{b.Chips[game.First], b.Chips[game.Second], 0, uint64(b.Mover)}
}

func boardOf(s *game.State) Board {
	return Board{[2]uint64{s[stateWhite], s[stateBlack]}, game.Player(s[stateMover])}
}

// Moves are numbered by where to, and for steps where from too, and so are the squares of
// history.
const (
	stepMoves = 64
	allMoves  = stepMoves + 64*64
)

// killerRank is what a move that refuted at the same depth counts.
const killerRank = 64

// lateMoves are how many moves are looked at as far ahead as asked.
const lateMoves = 4

// Traits say that play may go in circles.
func (r *Rules) Traits() game.Traits {
	return game.Traits{MaxMoves: allMoves, KeyBits: 63, Squares: allMoves, Killer: killerRank, Late: lateMoves}
}

// Root finds the winning squares of the player to move.
func (r *Rules) Root(n *game.Node, p game.Position) {
	b := r.Board(p)
	n.State = stateOf(b)
	if b.Adding() {
		n.State[stateWins], _ = b.winning(b.Mover)
	}
	n.Key = p
}

// KeyOf is the hash.
func (r *Rules) KeyOf(s *game.State) uint64 { return r.Position(boardOf(s)) }

// MoveOf is the move of a number.
func (r *Rules) MoveOf(p game.Position, move uint16) game.Move {
	b := r.Board(p)
	if move < stepMoves {
		return game.Move{Name: names[move], To: r.Position(b.after(0, 1<<move))}
	}
	from, to := (move-stepMoves)/64, (move-stepMoves)%64
	return game.Move{Name: names[from] + "-" + names[to], To: r.Position(b.after(1<<from, 1<<to))}
}

// fewChips is up to how many chips mirror images are taken for one another.
const fewChips = 5

// Expand takes a win, and leaves out moves that do not parry threats. At the horizon it says
// nothing that takes time: to look for threats there does not pay.
func (r *Rules) Expand(n *game.Node) {
	b := boardOf(&n.State)
	n.Children = n.Children[:0]
	n.Low, n.High = game.LostIn(1), game.WonIn(1)
	fold := !n.NoFold && !n.Exact && bits.OnesCount64(b.all()) < fewChips
	switch {
	case n.Exact:
		if winner, over := b.over(); over {
			if n.Low = game.LostIn(0); winner == b.Mover {
				n.Low = game.WonIn(0)
			}
			n.High = n.Low
		} else if !n.Leaf {
			b.expand(n, b.Adds(), fold)
		}
	case !b.Adding():
		b.expandSteps(n)
	case n.State[stateWins] != 0:
		n.Low = game.WonIn(1)
	case n.Horizon:
	default:
		legal := b.Adds()
		if legal == 0 {
			n.Low, n.High = game.LostIn(0), game.LostIn(0)
			return
		}
		if threats, spoil := b.winning(b.Mover.Other()); threats != 0 {
			if legal = b.parries(legal&spoil, threats); legal == 0 {
				n.Low, n.High = game.LostIn(2), game.LostIn(2)
				return
			}
		}
		b.expand(n, legal, fold)
	}
}

// expand makes the children: of these adds, or of all steps.
func (b *Board) expand(n *game.Node, adds uint64, fold bool) {
	if b.Adding() {
		v := b.views()
		for rest := adds; rest != 0; rest &= rest - 1 {
			to := bits.TrailingZeros64(rest)
			b.child(n, 0, rest&-rest, uint16(to), v.rank(to), fold)
		}
		return
	}
	for chips := b.Chips[b.Mover]; chips != 0; chips &= chips - 1 {
		from := bits.TrailingZeros64(chips)
		for rest := b.Steps(from); rest != 0; rest &= rest - 1 {
			b.child(n, chips&-chips, rest&-rest, uint16(stepMoves+64*from+bits.TrailingZeros64(rest)), 0, false)
		}
	}
}

// child adds a child, if it is not the mirror image of one.
func (b *Board) child(n *game.Node, from, to uint64, move uint16, rank int32, fold bool) {
	after := b.after(from, to)
	if fold {
		after = after.folded()
	}
	state := stateOf(after)
	if from != 0 && after.Adding() { // as no game gets there, a step parries nothing
		state[stateWins], _ = after.winning(after.Mover)
	}
	if fold {
		for i := range n.Children {
			if n.Children[i].State == state {
				return
			}
		}
	}
	n.Children = append(n.Children, game.Child{State: state, Rank: rank, Move: move, Square: move})
}

// expandSteps looks for a step that wins, and leaves out those that lose at once.
func (b *Board) expandSteps(n *game.Node) {
	if n.Horizon {
		return
	}
	own, other := b.Chips[b.Mover], b.Chips[b.Mover.Other()]
	mine, his := &colors[b.Mover], &colors[b.Mover.Other()]
	legal := false
	for chips := own; chips != 0; chips &= chips - 1 {
		chip := chips & -chips
		from := bits.TrailingZeros64(chip)
		to := b.Steps(from)
		legal = legal || to != 0
		opens := his.network(other, own&^chip|other)
		wins, _ := mine.winning(own&^chip, own&^chip|other, to)
		for ; wins != 0; wins &= wins - 1 {
			if !opens || !his.network(other, own&^chip|other|wins&-wins) {
				n.Children = n.Children[:0]
				n.Low = game.WonIn(1)
				return
			}
		}
		for ; to != 0; to &= to - 1 {
			if !opens || !his.network(other, own&^chip|other|to&-to) {
				b.child(n, chip, to&-to, uint16(stepMoves+64*from+bits.TrailingZeros64(to)), 0, false)
			}
		}
	}
	switch {
	case !legal:
		n.Low, n.High = game.LostIn(0), game.LostIn(0)
	case len(n.Children) == 0:
		n.High = game.LostIn(1)
	}
}

// winning are the squares on which a chip more makes a network of a player's who has chips
// in hand, and what spoils them: see color.winning. None, if he has no chips in hand.
func (b *Board) winning(p game.Player) (wins, spoil uint64) {
	chips, all := b.Chips[p], b.all()
	if c := &colors[p]; bits.OnesCount64(chips) < Chips && c.enough(chips, 1) {
		return c.winning(chips, all, c.adds(chips, all))
	}
	return 0, ^uint64(0)
}

// parries are the adds after which no threat is one any more.
func (b *Board) parries(adds, threats uint64) uint64 {
	other := b.Mover.Other()
	c, chips, all := &colors[other], b.Chips[other], b.all()
	for rest := threats; rest != 0 && adds != 0; rest &= rest - 1 {
		threat := rest & -rest
		for maybe := adds &^ threat; maybe != 0; maybe &= maybe - 1 {
			if add := maybe & -maybe; c.network(chips|threat, all|threat|add) {
				adds ^= add
			}
		}
	}
	return adds
}

// folded is the least of the mirror images.
func (b Board) folded() Board {
	w, k := b.Chips[0], b.Chips[1]
	for i := range 3 {
		if i == 1 {
			w, k = upsideDown(w), upsideDown(k)
		} else {
			w, k = bits.ReverseBytes64(w), bits.ReverseBytes64(k)
		}
		if w < b.Chips[0] || w == b.Chips[0] && k < b.Chips[1] {
			b.Chips = [2]uint64{w, k}
		}
	}
	return b
}

// upsideDown turns a board over: its top row is at the bottom.
func upsideDown(b uint64) uint64 { return bits.ReverseBytes64(bits.Reverse64(b)) }
