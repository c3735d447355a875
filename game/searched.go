package game

// Searched is a game that helps whoever looks ahead in it, through millions of positions
// a second: all that it knows of a position it says in one call. One that is Acyclic too
// is proven to the end; in one that is not, play may come back to where it has been, and
// a search only looks a number of moves ahead.
type Searched interface {
	Game
	// Traits are what a search has to know before it looks at a position.
	Traits() Traits
	// Root prepares a node for an unfinished position, taken as it is and not for its
	// mirror image: its State and its Key, and whether it is Quick.
	Root(n *Node, p Position)
	// Expand says what is known of the position whose State and Key n has.
	Expand(n *Node)
	// Assess is how the position of an expanded node looks where nothing is proven:
	// positive if well for the player to move, 0 if even, within ±MostAssessed.
	Assess(n *Node) int
	// MoveOf is the move of p that Expand numbers so.
	MoveOf(p Position, move uint16) Move
}

// Traits are what a search has to know of a game before it looks at a position.
type Traits struct {
	MaxMoves int // the most moves that a position has, 1 to 1<<16
	// MaxPlies is the most moves that play can last, from any position; 0: nobody knows,
	// or it may go on for ever. Of an Acyclic game it is given.
	MaxPlies int
	// KeyBits is how many bits a Key takes; 0: as many as a position. Few make a table
	// with more entries.
	KeyBits uint
	// Squares is above every Child's Square; 0: 256.
	Squares int
	// TiesLast says that play which nobody wins lasts to the last tier of an Acyclic game.
	// In other games a search seldom proves how far off a tie is.
	TiesLast bool
	// OnlyWho says that only who wins counts, and not how soon: then nothing is spent on
	// it, and the table has more entries.
	OnlyWho bool
	// Killer is what is added to the Rank of the two moves that refuted last at the same
	// distance from the root; 0: nothing.
	Killer int32
	// Late is how many moves of a position are looked at as far ahead as asked; of those
	// after them, in the order of what they promise, it is first asked a ply or two less
	// far ahead whether they are better. 0: all. It is heeded only where the time is
	// limited; a win may be missed so until a ply or two later.
	Late int
}

// MostAssessed is above every judgement of a position, and its negative below.
const MostAssessed = 400

// Keyed is a Searched game whose keys take long. The Key of a child is left 0; a search
// asks for it when it gets there, and looks no children up beforehand.
type Keyed interface {
	Searched
	// KeyOf is the key of a position.
	KeyOf(s *State) uint64
}

// Prepared is a Searched game that has something to make before it is searched, once.
type Prepared interface {
	Searched
	// Prepare makes it, so that the time of no move is taken for it.
	Prepare()
}

// An Evaluator is a game that can say how an unfinished position looks: positive if well
// for the player to move, 0 if even, within ±MostAssessed. That of a Searched game is
// what Assess says.
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
	// Key tells positions apart: two have the same only if they are worth the same, and
	// Assess says the same of them. No two keys are of one position, if it can be helped.
	Key uint64
	// Quick is set by Root: what follows is soon seen, as of a Child.
	Quick bool
	Asked
	// The value is not below Low and not above High. Bounds that leave no doubt on which
	// side of the window it lies are good enough.
	Low, High int
	// Beyond counts the positions that Expand has looked at besides: it adds to it.
	Beyond uint64
	// Children are the moves that are worth a look: each that is left out is no better
	// than one that is not, or than Low. None, if Low or High is outside the window.
	Children []Child
}

// Asked is what the search asks of Expand.
type Asked struct {
	Alpha, Beta int  // the window: whether the value is above Alpha, and whether below Beta
	Horizon     bool // look no further than bounds, and one Child, if it is forced: what is not Exact is assessed
	Leaf        bool // whether the game is over, and no more: Children may be left out
	NoBounds    bool // leave out bounds for which no line of play is followed
	NoFold      bool // take no two positions for one another's mirror image

	// Exact asks for the bare rules, as a depth is to be exactly that depth. If the game
	// is over here, which then is not left out above, Low and High are what it is worth:
	// WonIn(0), LostIn(0) or 0. If not, nothing is known, LostIn(1) to WonIn(1), and all
	// moves are Children; of several that lead to one Key, one at least.
	Exact bool
}

// A Child is a move.
type Child struct {
	State  State
	Key    uint64
	Rank   int32  // how promising it is: more is better, 1<<10 for a threat, say
	Move   uint16 // its number, below MaxMoves: of all moves that are one in different positions the same
	Square uint16 // what history counts it by
	Quick  bool   // what follows is soon seen: not worth the table
	Again  bool   // the same player is to move again
}

// won is the value of a position that is won; that of one that will be is a move less.
const won = 1 << 15

// WonIn is the value of a win after so many moves.
func WonIn(moves int) int { return won - moves }

// LostIn is the value of a loss after so many moves.
func LostIn(moves int) int { return moves - won }
