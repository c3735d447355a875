// Package game says what a game is: the interface behind which every game's
// rules stand. Rules know positions, moves and values; they know nothing of
// files, of jobs, of Hadoop or of who plays.
package game

import (
	"fmt"

	"github.com/treereduce/treereduce/game/block"
)

// A Position is a game's hash of a position: invertible, and the key under
// which records are sorted.
type Position = uint64

// A Move leads from one position to the next.
type Move struct {
	Name string // as a person types it, e.g. the column "3"
	To   Position
}

// A Game is the rules of one game with its parameters: all that a game must be. One that
// is no more may go on for ever, see Cyclic, which it is made by ByMethod. Methods that
// take a Position want a valid one, but for Check. All are safe for concurrent use.
type Game interface {
	// Spec names the game and its parameters: "connectn width=4 height=5 connect=3".
	// Two games are the same if and only if their specs are.
	Spec() string
	// KeyBits is how many bits a position takes, 1 to 64.
	KeyBits() uint
	// Start is the position before the first move.
	Start() Position
	// Check says what is wrong with p, nil if it obeys the rules of how
	// pieces lie. It does not say whether play can reach p.
	Check(p Position) error
	// Primitive is the value of a finished position, 0 while play goes on. Its
	// outcome is a player's, whatever Values says: WinFor(ToMove(p)), if who is to
	// move there has won.
	Primitive(p Position) Value
	// Moves appends the moves of p in the order of their names; none when it
	// is finished.
	Moves(dst []Move, p Position) []Move
	// Values says how the values of the game are read, and which of several ties is
	// played for.
	Values() Values
	// ToMove is the player whose turn it is at p. Where p does not tell, as both
	// players have the same moves (an impartial game), it is First: whoever is
	// to move counts as First.
	ToMove(p Position) Player
	// AppendText appends p as one line of text, Parse is its inverse, Picture
	// is p as a person sees it.
	AppendText(dst []byte, p Position) []byte
	Parse(text string) (Position, error)
	Picture(p Position) Picture
}

// Acyclic is a game in which every move raises the tier, by one or by more: no
// position comes twice, and a tier can be solved when those after it are.
type Acyclic interface {
	Game
	// Tiers is the number of the last tier; the start is tier 0.
	Tiers() int
	// Tier is the tier of a valid position.
	Tier(p Position) int
}

// TierUnit is an Acyclic game that can say what its tiers are the numbers of.
type TierUnit interface {
	// TierUnit is a few words for people: "pieces on the board".
	TierUnit() string
}

// Titled is a game that has a title for people, where its Spec is for programs.
type Titled interface {
	// Title names the game and its parameters: "Connect 3 on 4×5".
	Title() string
}

// TitleOf is the title of a game; its Spec, if it has none.
func TitleOf(g Game) string {
	if t, ok := g.(Titled); ok {
		return t.Title()
	}
	return g.Spec()
}

// Tiered is a game in which every move leads from a tier to the next, so that
// it is solved a tier at a time, and whose keys split into a range and a low
// part such that a move changes only one of the two:
//
//   - a move across leads to another range and keeps the low part, and the
//     slots of both ranges are the same;
//   - a move within leads from slot to slot of the same range (one tier on),
//     and which slot depends on nothing but the two lists of slots.
//
// The map and reduce steps then treat a block of positions at once: a move
// across is a union of bitmaps, a move within a table look-up.
type Tiered interface {
	Acyclic
	// TierToMove is the player whose turn it is in every position of a tier.
	TierToMove(tier int) Player
	// LowBits is how many bits of a key are its low part, at most 31.
	LowBits() uint
	// Low lists the low parts, ascending, that positions of this tier in this
	// range may have; nil when there can be none. Not to be written to.
	Low(tier int, rng uint64) []uint32
	// Sources appends the ranges from which a move leads across into range
	// rng of this tier, Targets those into which a move leads from it.
	Sources(dst []uint64, tier int, rng uint64) []uint64
	Targets(dst []uint64, tier int, rng uint64) []uint64
	// Within returns the moves within a range: for each slot of the parent, one
	// after the other, the slots of so many kinds of children; the number of the
	// children's slots stands where there is no such move. Nil when no move
	// stays within.
	Within(tier int, rng uint64) (children []uint32, kinds int)
	// Finish moves the finished positions of b from Open to Done and sets
	// their values, which are those of Primitive.
	Finish(b *block.Block)
	// Slots is the number of slots of all ranges of a tier: a bound on its
	// positions, and the measure of the work to be done.
	Slots(tier int) float64
	// Ranges is a bound on the ranges of a tier in which positions lie.
	Ranges(tier int) float64
	// Tables is about how many bytes the tables behind Low and Within take, once
	// all of them are made.
	Tables() int
	// Border returns the range that begins after the fraction f (0 to 1) of
	// a tier's slots; 0 for every f where all of a tier is one range.
	Border(tier int, f float64) uint64
}

// CheckLength wants a game to end within as many moves as its values can tell: of a
// longer one, the first positions would come out wrong. Of a Cyclic game the length
// is not known before it is solved; step.Pass refuses to decide beyond it.
func CheckLength(g Game) error {
	most := MaxRemoteness
	if _, ok := g.(Tiered); ok {
		most = MaxByteRemoteness
	}
	if a, ok := g.(Acyclic); ok && a.Tiers() > most {
		return fmt.Errorf("%s: it can last %d moves, at most %d are provided for", g.Spec(), a.Tiers(), most)
	}
	return nil
}

// A Lister is a game that leaves positions out of the text of all positions, final. A
// game that is none has a line there for each.
type Lister interface {
	Listed(p Position) bool
}

// Listed reports whether a position of a game has a line in final.
func Listed(g Game, p Position) bool {
	l, ok := g.(Lister)
	return !ok || l.Listed(p)
}

// LastTier is the number of the last tier of a game; 0 of one without tiers.
func LastTier(g Game) int {
	if a, ok := g.(Acyclic); ok {
		return a.Tiers()
	}
	return 0
}

// TierOf is the tier of a valid position; 0 in a game without tiers.
func TierOf(g Game, p Position) int {
	if a, ok := g.(Acyclic); ok {
		return a.Tier(p)
	}
	return 0
}

// Vast is a game that has too many positions to go through them all: it is played and
// searched, never solved.
type Vast interface {
	Game
	// Vast is about how many positions it has.
	Vast() float64
}

// Typed is a game in which people write a move in more than one way.
type Typed interface {
	Game
	// MoveName is the name that a text would be, were it a move; the text itself, if it is
	// written in no way that the game knows.
	MoveName(text string) string
}
