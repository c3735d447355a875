package network

import (
	"math/bits"

	"github.com/treereduce/treereduce/game"
)

// This file implements Network for searches. It is based on one idea: a player with chips in
// hand and without a network has *winning squares*, on which one more chip completes a
// network. A chip of the opponent can only remove such squares, by occupying them or by
// blocking a line. So in a position where the player to move does not win at once, all that
// matters are the winning squares of the opponent. They are the threats that the player to
// move must parry; if he parries them all, the opponent has no winning squares left.
//
// The words of a State are: White's chips; Black's chips; the winning squares of the player to
// move, which are computed for the root, and are empty elsewhere; and the player to move.
const (
	stateWhite = iota
	stateBlack
	stateWins
	stateMover
)

// stateOf returns the State of a board on which the player to move does not win at once;
// boardOf is its inverse.
func stateOf(b Board) game.State {
	return game.State{b.Chips[game.First], b.Chips[game.Second], 0, uint64(b.Mover)}
}

func boardOf(s *game.State) Board {
	return Board{[2]uint64{s[stateWhite], s[stateBlack]}, game.Player(s[stateMover])}
}

// The number of a move is its target square, or, for a step, is computed from both squares; it is
// below allMoves. It is also the Square of the move for the search's history.
const (
	stepMoves = 64
	allMoves  = stepMoves + 64*64
)

// killerRank is the value of Traits.Killer.
const killerRank = 64

// lateMoves is the value of Traits.Late.
const lateMoves = 4

// Traits: the game may have cycles.
func (r *Rules) Traits() game.Traits {
	return game.Traits{MaxMoves: allMoves, KeyBits: 63, Squares: allMoves, Killer: killerRank, Late: lateMoves}
}

// Root computes the winning squares of the player to move.
func (r *Rules) Root(n *game.Node, p game.Position) {
	b := r.Board(p)
	n.State = stateOf(b)
	if b.Adding() {
		n.State[stateWins], _ = b.winning(b.Mover)
	}
	n.Key = p
}

// KeyOf returns the hash.
func (r *Rules) KeyOf(s *game.State) uint64 { return r.Position(boardOf(s)) }

// MoveOf returns the move with a number.
func (r *Rules) MoveOf(p game.Position, move uint16) game.Move {
	b := r.Board(p)
	if move < stepMoves {
		return game.Move{Name: names[move], To: r.Position(b.after(0, 1<<move))}
	}
	from, to := (move-stepMoves)/64, (move-stepMoves)%64
	return game.Move{Name: names[from] + "-" + names[to], To: r.Position(b.after(1<<from, 1<<to))}
}

// With fewer than fewChips chips on the board, mirror images count as the same position.
const fewChips = 5

// Expand plays a win, and omits moves that do not parry all threats. At the horizon, it omits
// everything that takes time: looking for threats there does not pay off.
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

// expand appends the children: for these adds, or for all steps.
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

// child appends a child, unless a mirror image of it is already there.
func (b *Board) child(n *game.Node, from, to uint64, move uint16, rank int32, fold bool) {
	after := b.after(from, to)
	if fold {
		after = after.folded()
	}
	state := stateOf(after)
	if from != 0 && after.Adding() { // does not occur in a game: a step here parries nothing
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

// expandSteps looks for a winning step, and omits those that lose at once.
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

// winning returns the winning squares of a player, and the squares that spoil them: see
// color.winning. If he has no chips in hand, there are no winning squares.
func (b *Board) winning(p game.Player) (wins, spoil uint64) {
	chips, all := b.Chips[p], b.all()
	if c := &colors[p]; bits.OnesCount64(chips) < Chips && c.enough(chips, 1) {
		return c.winning(chips, all, c.adds(chips, all))
	}
	return 0, ^uint64(0)
}

// parries returns the adds that remove all threats.
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

// images returns b and its mirror images.
func (b Board) images() (all [4]Board) {
	for i := range all {
		all[i] = b
		if i%2 == 0 {
			b.Chips = [2]uint64{bits.ReverseBytes64(b.Chips[0]), bits.ReverseBytes64(b.Chips[1])}
		} else {
			b.Chips = [2]uint64{upsideDown(b.Chips[0]), upsideDown(b.Chips[1])}
		}
	}
	return all
}

// folded returns the smallest of the mirror images.
func (b Board) folded() Board {
	for _, image := range b.images() {
		if c := image.Chips; c[0] < b.Chips[0] || c[0] == b.Chips[0] && c[1] < b.Chips[1] {
			b = image
		}
	}
	return b
}

// upsideDown exchanges the top and the bottom of a board.
func upsideDown(b uint64) uint64 { return bits.ReverseBytes64(bits.Reverse64(b)) }
