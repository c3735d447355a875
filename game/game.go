// Package game defines the Game interface, its optional extensions, and the values of
// positions. The rules of a game know positions, moves and values; they know nothing of
// files, jobs, Hadoop or players.
package game

import "github.com/treereduce/treereduce/game/block"

// A Position is the hash of a position: the game can invert it, and it is the key by which
// records are sorted.
type Position = uint64

// A Move leads from one position to the next.
type Move struct {
	Name string // as a person types it, e.g. the column "3"
	To   Position
}

// Pass is the name of the move of a player who has no other, in games with passes. A player is
// not asked for it.
const Pass = "pass"

// A Game is the rules of one game with its parameters. A game that is not Tiered has one tier,
// in which play may never end. Methods that take a Position require a valid one, except Check.
// All methods are safe for concurrent use.
type Game interface {
	// Spec returns the name of the game and its parameters: "connectn width=4 height=5
	// connect=3". Two games are the same if and only if their specs are equal.
	Spec() string
	// Info describes the game.
	Info() Info
	// KeyBits returns the number of bits of a position, 1 to 64.
	KeyBits() uint
	// Start returns the initial position.
	Start() Position
	// Check returns an error if the pieces cannot lie as they do in p. It does not check
	// whether play can reach p.
	Check(p Position) error
	// Primitive returns the value of a terminal position, and 0 for all others. The outcome
	// is always that of a player, whatever Values returns: WinFor(ToMove(p)) if the player
	// to move has won.
	Primitive(p Position) Value
	// Moves appends the moves of p, sorted by name; a terminal position has none.
	Moves(dst []Move, p Position) []Move
	// Values describes how to read the values of the game, and which of several ties a
	// player prefers.
	Values() Values
	// ToMove returns the player to move at p. In an impartial game, where both players
	// have the same moves and p does not show whose turn it is, ToMove returns First: the
	// player to move counts as First.
	ToMove(p Position) Player
	// AppendText appends p as one line of text. Parse is its inverse. Picture returns p
	// as a drawing for people.
	AppendText(dst []byte, p Position) []byte
	Parse(text string) (Position, error)
	Picture(p Position) Picture
}

// A Decider is a game whose rules decide some positions before play ends, such as those in which the player to move can
// capture the king. Positions that play can reach only from these are not stored. It is optional.
type Decider interface {
	Game
	// Known returns the value of p that Primitive returns, or a win of the player to move in one
	// move if the rules decide all successors of p; 0: the rules do not decide p.
	Known(p Position) Value
}

// KnownValue returns the value of a position that the rules decide, with an outcome that names a player: that of a Decider, or
// else of a terminal position; 0: they do not decide it.
func KnownValue(g Game, p Position) Value {
	if d, ok := g.(Decider); ok {
		return d.Known(p)
	}
	return g.Primitive(p)
}

// Tiered is a game with tiers. No move lowers the tier, so that a tier can be solved when all
// later tiers are solved.
type Tiered interface {
	Game
	// Tiers returns the number of the last tier; the initial position is in tier 0.
	Tiers() int
	// Tier returns the tier of a valid position.
	Tier(p Position) int
	// Loops reports whether a move may stay in the tier, so that play may never end there. If
	// it returns false, every move from a position of the tier leads to a later tier.
	Loops(tier int) bool
}

// Loops reports whether a move may stay in a tier of a game.
func Loops(g Game, tier int) bool {
	l, ok := g.(Tiered)
	return !ok || l.Loops(tier)
}

// IsAcyclic reports whether every play of a game ends, because no move stays in its tier.
func IsAcyclic(g Game) bool {
	for tier := range LastTier(g) + 1 {
		if Loops(g, tier) {
			return false
		}
	}
	return true
}

// Blockwise is a game in which every move leads from a tier to the next one, and which is
// solved by blocks, sets of positions. Its keys consist of a range and a low part, and each
// move changes only one of the two:
//
//   - a move across leads to another range and keeps the low part; both ranges
//     have the same slots;
//   - a move within leads to another slot of the same range (one tier later); the
//     slot depends only on the two lists of slots.
//
// The map and reduce steps therefore process a block of positions at once: a move
// across is a union of bitmaps, a move within is a table look-up.
type Blockwise interface {
	Tiered
	// TierToMove returns the player to move in all positions of a tier.
	TierToMove(tier int) Player
	// LowBits returns the number of bits of a key's low part, at most 31. So slots, and their
	// number, have 32 bits.
	LowBits() uint
	// Low returns the low parts, ascending, that positions of this tier and range
	// can have; nil if there are none. The caller must not modify the slice.
	Low(tier int, rng uint64) []uint32
	// Sources appends the ranges from which moves across lead into range rng of this
	// tier. Targets appends the ranges into which moves across lead from it.
	Sources(dst []uint64, tier int, rng uint64) []uint64
	Targets(dst []uint64, tier int, rng uint64) []uint64
	// Within returns the moves within a range. For each slot of the tier, in
	// order, successors has kinds entries: the slots of the successors. An entry equal to
	// the number of the successors' slots means that there is no such move. Within
	// returns nil if no move stays within the range.
	Within(tier int, rng uint64) (successors []uint32, kinds int)
	// Finish moves the terminal positions of b from Open to Done and sets their
	// values, which are those that Primitive returns.
	Finish(b *block.Block)
	// Slots returns the number of slots in all ranges of a tier. It is an upper bound on
	// the tier's positions, and measures the work to be done.
	Slots(tier int) float64
	// Ranges returns an upper bound on the ranges of a tier that contain positions.
	Ranges(tier int) float64
	// Tables returns the approximate size in bytes of all the tables that Low and Within
	// use.
	Tables() int
	// Border returns the range that begins after the fraction f (0 to 1) of a tier's
	// slots. If the tier is a single range, Border returns 0 for every f.
	Border(tier int, f float64) uint64
}

// LastTier returns the number of the last tier of a game, 0 if the game has no tiers.
func LastTier(g Game) int {
	if a, ok := g.(Tiered); ok {
		return a.Tiers()
	}
	return 0
}

// TierOf returns the tier of a valid position, 0 if the game has no tiers.
func TierOf(g Game, p Position) int {
	if a, ok := g.(Tiered); ok {
		return a.Tier(p)
	}
	return 0
}
