package game

import (
	"fmt"
	"sort"
)

// A Player is one of the two sides.
type Player uint8

// First is the first player (X in Connect N), Second the second player (O).
const (
	First Player = iota
	Second
)

// String is X for the first player, O for the second.
func (p Player) String() string { return [...]string{"X", "O"}[p&1] }

// Other returns the opponent.
func (p Player) Other() Player { return p ^ 1 }

// An Outcome is the winner, or a tie, under best play.
type Outcome uint8

// The outcomes have the numbers of the CMU course's value byte.
const (
	Undecided  Outcome = 0
	SecondWins Outcome = 1
	FirstWins  Outcome = 2
	Tie        Outcome = 3
)

// WinFor returns the outcome in which p wins.
func WinFor(p Player) Outcome { return FirstWins - Outcome(p) }

// Winner returns the player who wins in o, which is FirstWins or SecondWins.
func (o Outcome) Winner() Player { return Player(FirstWins - o) }

// A Result is an outcome from the view of the player to move. Values with Values.OfMover are
// Results. If First is to move, Results and Outcomes have the same numbers.
type Result uint8

// The results. A draw is play that never ends: neither player can force an end that he
// prefers to it.
const (
	Draws Result = iota
	Loses
	Wins
	Ties
)

// String is DRAW, LOSE, WIN or TIE.
func (r Result) String() string { return [...]string{"DRAW", "LOSE", "WIN", "TIE"}[r&3] }

// For returns the result that o means for p as the player to move; Undecided is a draw.
func (o Outcome) For(p Player) Result {
	switch o {
	case Undecided, Tie:
		return Result(o)
	case WinFor(p):
		return Wins
	}
	return Loses
}

// In returns the value of a position with this result and remoteness, for a game whose
// values are from the view of the player to move. The value of a draw is 0.
func (r Result) In(remoteness int) Value {
	if r == Draws {
		return 0
	}
	return NewValue(Outcome(r), remoteness)
}

// The largest remoteness of a Value, and the largest one that fits into a byte together
// with its outcome, as in blocks.
const (
	MaxRemoteness     = 1<<14 - 1
	MaxByteRemoteness = 1<<6 - 1
)

// A Value has the outcome in its two low bits, and the remoteness (plies to the end under
// best play) in the others. Up to MaxByteRemoteness it is the value byte of the CMU course:
//
//	bit   7 6 5 4 3 2 | 1 0
//	      remoteness  | outcome
//
// Zero is a draw: play that never ends. Where a value can be unknown, zero means that it is.
type Value uint16

// NewValue returns a value; remoteness must be at most MaxRemoteness.
func NewValue(o Outcome, remoteness int) Value { return Value(remoteness<<2) | Value(o) }

// Outcome returns the outcome: the winner, or a tie.
func (v Value) Outcome() Outcome { return Outcome(v & 3) }

// Remoteness returns the number of plies to the end.
func (v Value) Remoteness() int { return int(v >> 2) }

// Valid reports whether v can be the value of a decided position.
func (v Value) Valid() bool { return v.Outcome() != Undecided }

// String returns the value in words, with the players called X (first) and O (second).
func (v Value) String() string {
	return Values{Players: [2]string{First.String(), Second.String()}}.Text(v)
}

// Values describes how to read the values of a game.
type Values struct {
	// OfMover means that outcomes are Results, from the view of the player to move, as in
	// games where both players have the same moves. Otherwise, an outcome names a player.
	OfMover bool
	// TiesSoon means that players prefer the nearest of several ties; otherwise, they
	// prefer the farthest.
	TiesSoon bool
	// Puzzle means that one player makes all moves. A tie is a solved puzzle, and play that never ends one that
	// cannot be solved.
	Puzzle bool
	// Players are the names of the two players, such as X and O.
	Players [2]string
}

// Word returns an outcome in words: "X wins", "tie", "draw"; "WIN", "TIE", "DRAW" if outcomes are
// from the view of the player to move; "solved" or "unsolvable" in a puzzle.
func (vs Values) Word(o Outcome) string {
	switch {
	case vs.Puzzle && o == Tie:
		return "solved"
	case vs.Puzzle && o == Undecided:
		return "unsolvable"
	case vs.OfMover:
		return Result(o).String()
	case o == Undecided:
		return "draw"
	case o == Tie:
		return "tie"
	}
	return vs.Players[o.Winner()] + " wins"
}

// Text returns a value in words: "X wins in 3", "tie in 9", "draw"; or "WIN in 3", "DRAW".
func (vs Values) Text(v Value) string {
	if !v.Valid() {
		return vs.Word(Undecided)
	}
	return fmt.Sprintf("%s in %d", vs.Word(v.Outcome()), v.Remoteness())
}

// Better reports whether player p prefers a move to a position of value v to a move to one of
// value w. The order is: wins, ties, play that never ends, losses. A player prefers
// the fastest win and the slowest loss.
func (vs Values) Better(p Player, v, w Value) bool { return vs.rank(p, v) > vs.rank(p, w) }

// Ended converts the value of a terminal position, whose outcome names a player (see
// Game.Primitive), into the value of this game if it is the turn of mover. It returns 0 for 0.
func (vs Values) Ended(v Value, mover Player) Value {
	if !vs.OfMover || v == 0 {
		return v
	}
	return v.Outcome().For(mover).In(v.Remoteness())
}

// Before returns the value of a position whose best move leads to a position of value v. Its
// remoteness is one ply more; if values are from the view of the player to move, wins
// and losses are exchanged. The remoteness of v must be below MaxRemoteness.
func (vs Values) Before(v Value) Value {
	switch o := v.Outcome(); {
	case o == Undecided:
		return 0
	case vs.OfMover && o != Tie:
		return NewValue(SecondWins+FirstWins-o, v.Remoteness()+1)
	}
	return v + NewValue(0, 1)
}

// rank orders the values of a successor for player p, who moves to it.
func (vs Values) rank(p Player, v Value) int {
	const each = MaxRemoteness + 1
	r, result := v.Remoteness(), v.Outcome().For(p)
	if vs.OfMover { // the value is from the view of the opponent, the player to move in the successor
		result = v.Outcome().For(Second)
	}
	switch result {
	case Wins:
		return 4*each - r
	case Ties:
		if vs.TiesSoon {
			return 3*each - r
		}
		return 2*each + r
	case Loses:
		return r
	}
	return each // a draw
}

// A Score orders the values that a player may choose from: a larger score is better, in the
// order of Values.Better. Zero means that there is no move.
type Score = uint8

// Scores is a player's order of the values that fit into a byte, as tables.
type Scores struct {
	// OfSuccessor is the score of a move to a position of value v, with the ply of the move
	// included in the remoteness; zero if v is no value.
	OfSuccessor [256]Score
	// Value is the value of a position whose best move has this score. Successor is the value
	// of the position that the move leads to: the inverse of OfSuccessor.
	Value, Successor [256]Value
}

// Scores returns the order of values for p.
func (vs Values) Scores(p Player) *Scores {
	var values []Value
	for v := range Value(MaxByteRemoteness << 2) { // a move from a position of more plies does not fit
		if v.Valid() {
			values = append(values, v)
		}
	}
	sort.Slice(values, func(i, j int) bool { return vs.rank(p, values[i]) < vs.rank(p, values[j]) })
	s := new(Scores)
	for i, v := range values {
		score := Score(i + 1) // at most 189: three outcomes, and 63 values of remoteness
		s.OfSuccessor[v], s.Value[score], s.Successor[score] = score, vs.Before(v), v
	}
	return s
}
