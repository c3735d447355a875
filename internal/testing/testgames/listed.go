package testgames

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/game"
)

// listed is the part of a game.Tiered that a list of positions gives.
type listed struct {
	numbers
	name      string
	bits      uint
	tiers     int
	positions map[game.Position]node
	start     game.Position
	values    game.Values
}

type node struct {
	tier  int
	mover game.Player
	next  []game.Position // none: the position is terminal
	end   game.Value
}

// Positions returns all positions, ascending, including unreachable ones.
func (g *listed) Positions() []game.Position { return slices.Sorted(maps.Keys(g.positions)) }

// Spec returns the name of the game, which contains a random number.
func (g *listed) Spec() string { return g.name }

// Info returns nothing.
func (g *listed) Info() game.Info { return game.Info{} }

// KeyBits returns 1 to 64.
func (g *listed) KeyBits() uint { return g.bits }

// Start returns a position of tier 0.
func (g *listed) Start() game.Position { return g.start }

// Tiers returns the last tier, which may be empty.
func (g *listed) Tiers() int { return g.tiers }

// Tier returns the tier of a position.
func (g *listed) Tier(p game.Position) int { return g.positions[p].tier }

// Check requires a position of the list.
func (g *listed) Check(p game.Position) error {
	if _, ok := g.positions[p]; !ok {
		return errors.New("not in the list")
	}
	return nil
}

// Primitive returns the value of a position without moves.
func (g *listed) Primitive(p game.Position) game.Value { return g.positions[p].end }

// Moves names the moves by their indices, "m0" the first.
func (g *listed) Moves(dst []game.Move, p game.Position) []game.Move {
	for i, to := range g.positions[p].next {
		dst = append(dst, game.Move{Name: "m" + strconv.Itoa(i), To: to})
	}
	return dst
}

// Values returns the values that were chosen when the game was made.
func (g *listed) Values() game.Values { return g.values }

// ToMove returns the player to move.
func (g *listed) ToMove(p game.Position) game.Player { return g.positions[p].mover }

// Parse reads a number.
func (g *listed) Parse(text string) (game.Position, error) { return parseNumber(g.Check, text) }
