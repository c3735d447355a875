package game

// Searched is a game that supports fast game tree search, with millions of positions per
// second: one call returns all that the game knows of a position. If play always ends (IsAcyclic),
// a search can prove the value of a position. Otherwise play may return to an earlier
// position, and a search only looks ahead a limited number of plies.
type Searched interface {
	Game
	// Traits returns the constants of the game that a search needs.
	Traits() Traits
	// Root initializes a node for an unfinished position: its State, its Key, and Quick.
	// It must not replace the position by its mirror image.
	Root(n *Node, p Position)
	// Expand fills in what the game knows of the position that n.State and n.Key contain.
	Expand(n *Node)
	// Assess evaluates the position of an expanded node whose value is not proven: positive
	// if it is good for the player to move, 0 if even, within ±MostAssessed.
	Assess(n *Node) int
	// MoveOf returns the move of p to which Expand gave this number.
	MoveOf(p Position, move uint16) Move
}

// Traits are the constants of a game that a search needs.
type Traits struct {
	MaxMoves int // the largest number of moves of a position, 1 to 1<<16
	// MaxPlies is the largest number of plies from any position to the end; 0: unknown or
	// unlimited. A Tiered game must set it.
	MaxPlies int
	// KeyBits is the number of bits of a Key; 0: as many as a position. With fewer bits, the
	// search's table has more entries.
	KeyBits uint
	// Squares is greater than the Square of every Child; 0: 256.
	Squares int
	// TiesLast means that in this Tiered game, play without a winner always lasts to the last
	// tier. In other games, a search seldom proves the remoteness of a tie.
	TiesLast bool
	// OnlyWho means that only the outcome matters, not the remoteness. The search then spends
	// no time on the remoteness, and its table has more entries.
	OnlyWho bool
	// Killer is added to the Rank of the two moves that most recently caused a cutoff at the
	// same distance from the root; 0: nothing.
	Killer int32
	// Late is the number of moves of a position that are searched to full depth. Moves after
	// them, in order of rank, are first searched one or two plies less deep, to see whether
	// they are better. 0: all moves are searched to full depth. Late applies only if the time
	// or the number of nodes is limited; a search may then find a win a ply or two later.
	Late int
}

// MostAssessed is the limit of evaluations: they are within ±MostAssessed.
const MostAssessed = 400

// Keyed is a Searched game whose keys are expensive. It leaves the Key of a child 0; the
// search calls KeyOf when it visits the child, and does not probe its table for children
// in advance.
type Keyed interface {
	Searched
	// KeyOf returns the key of a position.
	KeyOf(s *State) uint64
}

// Prepared is a Searched game that must build something once before it is searched.
type Prepared interface {
	Searched
	// Prepare builds it, so that it does not use up the time of a move.
	Prepare()
}

// An Evaluator is a game that can evaluate an unfinished position: positive if it is good
// for the player to move, 0 if even, within ±MostAssessed. For a Searched game, this is the
// result of Assess.
type Evaluator interface {
	Evaluate(p Position) int
}

// A State is a position in the game's own representation for searches. Only the game
// reads it.
type State [4]uint64

// A Node is a position in a search, and what the game knows of it. Values are from the view
// of the player to move: WonIn, LostIn, or 0 for a tie.
type Node struct {
	State State
	// Key identifies the position. Two positions may have the same key only if they have
	// the same value and the same result of Assess. A position should have only one key.
	Key uint64
	// Quick is set by Root. It means the same as Child.Quick.
	Quick bool
	Asked
	// The value is at least Low and at most High. The bounds need only be good enough to
	// decide whether the value is inside, below or above the window.
	Low, High int
	// Beyond is the number of further positions that Expand has examined; Expand adds to it.
	Beyond uint64
	// Children are the moves worth searching: each omitted move is no better than one of
	// them, or than Low. There are none if Low or High is outside the window.
	Children []Child
}

// Asked are the options of a call of Expand.
type Asked struct {
	Alpha, Beta int  // the window: find out whether the value is above Alpha, and below Beta
	Horizon     bool // the search ends here: return bounds, and one Child if the move is forced
	Leaf        bool // only find out whether the game is over: Children may be left out
	NoBounds    bool // leave out bounds that require following a line of play
	NoFold      bool // do not identify positions with their mirror images

	// Exact requests the bare rules, for a search to exactly a given depth. If the game is
	// over (terminal positions are not omitted then), Low and High are both its value:
	// WonIn(0), LostIn(0) or 0. If not, they are LostIn(1) and WonIn(1), which means unknown,
	// and Children are all moves; of several moves to the same Key, at least one.
	Exact bool
}

// A Child is a move.
type Child struct {
	State  State
	Key    uint64
	Rank   int32  // how promising it is: larger is better, e.g. 1<<10 for a threat
	Move   uint16 // its number, below MaxMoves; the same move has the same number in all positions
	Square uint16 // the index of the move in the history table
	Quick  bool   // the subtree is small: not worth a table entry
	Again  bool   // the same player moves again
}

// won is the value of a won game; a win some plies away is worth one less per ply.
const won = 1 << 15

// WonIn returns the value of a win after this number of plies.
func WonIn(moves int) int { return won - moves }

// LostIn returns the value of a loss after this number of plies.
func LostIn(moves int) int { return moves - won }
