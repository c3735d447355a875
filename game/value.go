package game

import "fmt"

// A Player is one of the two sides.
type Player uint8

// First moves first (X in Connect N), Second moves second (O).
const (
	First Player = iota
	Second
)

// String is X for the first player, O for the second.
func (p Player) String() string { return [...]string{"X", "O"}[p&1] }

// Other returns the opponent.
func (p Player) Other() Player { return p ^ 1 }

// An Outcome is who wins under best play.
type Outcome uint8

// The outcomes, numbered as in the course's value byte.
const (
	Undecided  Outcome = 0
	SecondWins Outcome = 1
	FirstWins  Outcome = 2
	Tie        Outcome = 3
)

// WinFor returns the outcome in which p wins.
func WinFor(p Player) Outcome { return FirstWins - Outcome(p) }

// A Result is an outcome as the player to move sees it. All that a Cyclic game is
// solved for is said so. With First to move, the numbers are those of outcomes.
type Result uint8

// The results. A draw is play that need never end: neither player can force an
// end that he likes better.
const (
	Draws Result = iota
	Loses
	Wins
	Ties
)

// String is DRAW, LOSE, WIN or TIE.
func (r Result) String() string { return [...]string{"DRAW", "LOSE", "WIN", "TIE"}[r&3] }

// A Tally is numbers of positions by Result; those that wait for one count as draws.
type Tally [4]int64

// Add adds the numbers of another.
func (t *Tally) Add(other Tally) {
	for result, n := range other {
		t[result] += n
	}
}

// AddValues adds numbers of positions by value, of which the two low bits are a Result.
func (t *Tally) AddValues(counts [256]uint64) {
	for value, n := range counts {
		t[value&3] += int64(n)
	}
}

// Total is the number of all positions.
func (t Tally) Total() int64 { return t[Draws] + t.Decided() }

// Decided is the number of those with a result that ends the game.
func (t Tally) Decided() int64 { return t[Loses] + t[Wins] + t[Ties] }

// For is what o is for p, if it is his turn; a draw, if o is Undecided.
func (o Outcome) For(p Player) Result {
	switch o {
	case Undecided, Tie:
		return Result(o)
	case WinFor(p):
		return Wins
	}
	return Loses
}

// In is the value of a position that gets the result in so many moves, of a game whose
// values are those of the player to move; a draw is never got, its value is 0.
func (r Result) In(remoteness int) Value {
	if r == Draws {
		return 0
	}
	return NewValue(Outcome(r), remoteness)
}

// The largest remoteness: that a Value can hold, and that fits with its outcome into
// the byte that a block and the bit planes of a state have for a position.
const (
	MaxRemoteness     = 1<<14 - 1
	MaxByteRemoteness = 1<<6 - 1
)

// A Value is the outcome in the two low bits, the remoteness (moves to the end under
// best play) in the others. Up to MaxByteRemoteness it is the course's value byte:
//
//	bit   7 6 5 4 3 2 | 1 0
//	      remoteness  | outcome
//
// Zero is «not known»; but where the outcome is that of the player to move (see
// Values), a Result, zero is a draw.
type Value uint16

// NewValue makes a value; remoteness is at most MaxRemoteness.
func NewValue(o Outcome, remoteness int) Value { return Value(remoteness<<2) | Value(o) }

// Outcome returns who wins.
func (v Value) Outcome() Outcome { return Outcome(v & 3) }

// Remoteness returns the number of moves to the end.
func (v Value) Remoteness() int { return int(v >> 2) }

// Valid reports whether v can be the value of a decided position.
func (v Value) Valid() bool { return v.Outcome() != Undecided }

// String is the value in words, with the players called X (first) and O (second).
func (v Value) String() string {
	return Values{Players: [2]string{First.String(), Second.String()}}.Text(v)
}

// Values says how a game reads its values.
type Values struct {
	// OfMover says that an outcome is that of the player to move (see Result), as
	// where both have the same moves; otherwise it is a player's.
	OfMover bool
	// TiesSoon says which of several ties the mover takes: the nearest, otherwise
	// the farthest.
	TiesSoon bool
	// Players are the names of the players: X and O.
	Players [2]string
}

// Word is an outcome in words: "X wins", "tie"; or "WIN", "TIE", "DRAW" where it is
// that of the player to move.
func (vs Values) Word(o Outcome) string {
	switch {
	case vs.OfMover:
		return Result(o).String()
	case o == Undecided:
		return "undecided"
	case o == Tie:
		return "tie"
	}
	return vs.Players[FirstWins-o] + " wins"
}

// Text is a value in words: "X wins in 3", "tie in 9", or "WIN in 3", "DRAW".
func (vs Values) Text(v Value) string {
	if !v.Valid() {
		return vs.Word(Undecided)
	}
	return fmt.Sprintf("%s in %d", vs.Word(v.Outcome()), v.Remoteness())
}

// Better reports whether player p would rather move to a position of value v than to
// one of value w: a win before a tie, a tie before play that never ends, and that before
// a loss; the winner hastens, the loser delays.
func (vs Values) Better(p Player, v, w Value) bool { return vs.rank(p, v) > vs.rank(p, w) }

// Ended is how the value of a finished position, which is a player's (see
// Game.Primitive), is read, if it is the turn of mover; 0 of 0.
func (vs Values) Ended(v Value, mover Player) Value {
	if !vs.OfMover || v == 0 {
		return v
	}
	return v.Outcome().For(mover).In(v.Remoteness())
}

// Before is the value that a position gets by a move to one of value v: a move more from
// the end; and where values are those of the player to move, what the one wins, the other
// loses. The remoteness of v is below MaxRemoteness.
func (vs Values) Before(v Value) Value {
	switch o := v.Outcome(); {
	case o == Undecided:
		return 0
	case vs.OfMover && o != Tie:
		return NewValue(SecondWins+FirstWins-o, v.Remoteness()+1)
	}
	return v + NewValue(0, 1)
}

// rank orders values for the player who moves there; 0 is no value.
func (vs Values) rank(p Player, v Value) int {
	const each = MaxRemoteness + 1
	r, result := v.Remoteness(), v.Outcome().For(p)
	if vs.OfMover { // the opponent moves there
		result = v.Outcome().For(Second)
	}
	switch result {
	case Wins:
		return 5*each - r
	case Ties:
		if vs.TiesSoon {
			return 4*each - r
		}
		return 3*each + r
	case Loses:
		return each + r
	}
	if vs.OfMover {
		return 2 * each
	}
	return 0
}

// A Score orders the values that a player may choose from: more is better,
// zero is «no move». It is in the order of Values.Better.
type Score = uint8

// Where the scores of each outcome begin; each takes MaxByteRemoteness+1 of them.
const (
	lossScore = 1
	tieScore  = lossScore + MaxByteRemoteness + 1
	winScore  = tieScore + MaxByteRemoteness + 1
)

// Scores holds one player's order of the values that fit into a byte, as tables.
type Scores struct {
	// OfChild is the score of a move to a position of value v, counted where
	// the move is made: one move further from the end. Zero for no value.
	OfChild [256]Score
	// Value is the value of the position that has a move of this score, Child the
	// value of the position to which that move leads: the inverse of OfChild.
	Value, Child [256]Value
}

// Scores returns the order of p.
func (vs Values) Scores(p Player) *Scores {
	s := new(Scores)
	for i := range s.OfChild {
		child := Value(i)
		v := vs.Before(child)
		r := v.Remoteness()
		if !child.Valid() || r > MaxByteRemoteness {
			continue
		}
		result := v.Outcome().For(p)
		if vs.OfMover {
			result = Result(v.Outcome())
		}
		var score Score
		switch {
		case result == Wins:
			score = Score(winScore + MaxByteRemoteness - r)
		case result == Loses:
			score = Score(lossScore + r)
		case vs.TiesSoon:
			score = Score(tieScore + MaxByteRemoteness - r)
		default:
			score = Score(tieScore + r)
		}
		s.OfChild[i] = score
		s.Value[score], s.Child[score] = v, child
	}
	return s
}
