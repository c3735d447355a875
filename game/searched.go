package game

// Searched is a game that helps whoever looks ahead in it, through millions of positions
// a second: all that it knows of a position it says in one call. Turns alternate, and
// play that nobody wins ends in the last tier, which is MaxByteRemoteness at most.
type Searched interface {
	Acyclic
	// MaxMoves is the most moves that a position has.
	MaxMoves() int
	// Root prepares a node for an unfinished position: its State and its Key.
	Root(n *Node, p Position)
	// Expand says what is known of the position whose State and Key n has.
	Expand(n *Node)
	// Assess is how the position of an expanded node looks where nothing is proven:
	// positive if well for the player to move, 0 if even, within ±400.
	Assess(n *Node) int
	// MoveOf is the move of p that Expand numbers so.
	MoveOf(p Position, move uint16) Move
}

// An Evaluator is a game that can say how an unfinished position looks: positive if well
// for the player to move, 0 if even, within ±400.
type Evaluator interface {
	Evaluate(p Position) int
}

// A State is a position in the form in which its game likes to be searched; nobody else
// reads it.
type State [4]uint64

// A Node is a position in a search, and what its game says of it. Values are as the
// player to move sees them: WonIn, LostIn, or 0 for a tie.
type Node struct {
	State State
	Key   uint64 // a hash of KeyBits bits: one for all positions that are worth the same
	Asked
	// The value is not below Low and not above High. Bounds that leave no doubt on which
	// side of the window it lies are good enough.
	Low, High int
	// Children are the moves that are worth a look: each that is left out is no better
	// than one that is not, or than Low. None, if Low or High is outside the window.
	Children []Child
}

// Asked is what the search asks of Expand.
type Asked struct {
	Alpha, Beta int  // the window: whether the value is above Alpha, and whether below Beta
	Leaf        bool // whether the game is over, and no more: Children may be left out
	NoBounds    bool // leave out bounds for which no line of play is followed
	NoFold      bool // take no two positions for one another's mirror image
}

// A Child is a move.
type Child struct {
	State  State
	Key    uint64
	Rank   int32  // how promising it is: more is better, 1<<10 for a threat, say
	Move   uint16 // its number: of all moves that are one in different positions the same
	Square uint8  // what history counts it by
	Quick  bool   // what follows is soon seen: not worth the table
	Again  bool   // the same player is to move again
}

// won is the value of a position that is won; that of one that will be is a move less.
const won = 1 << 15

// WonIn is the value of a win after so many moves.
func WonIn(moves int) int { return won - moves }

// LostIn is the value of a loss after so many moves.
func LostIn(moves int) int { return moves - won }
