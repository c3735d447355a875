// Package step has what the steps of all methods have in common: their names and parameters, the splits that a mapper
// reads, the counters of a task, and the lines of the final step. It does not know what a method's records are.
package step

import (
	"strings"

	"github.com/treereduce/treereduce/game"
)

// The names of the steps, in the order in which they run. A game in which no tier has inner moves has Init, Possible, Solve
// and Final.
const (
	Init     = "init"     // the initial position
	Possible = "possible" // the positions to which moves from earlier tiers lead
	Mark     = "mark"     // those to which inner moves lead, one pass after the other
	Begin    = "begin"    // receives the values from later tiers, in a tier with inner moves
	Solve    = "solve"    // the values of a tier; of one with inner moves, a pass that finds wins and losses
	Ties     = "ties"     // a pass that finds ties
	Values   = "values"   // sends the values of a tier with inner moves to earlier ones
	Final    = "final"    // the text of all positions
)

// AllNames lists the steps of all games.
func AllNames() []string { return []string{Init, Possible, Mark, Begin, Solve, Ties, Values, Final} }

// NamesOf lists the steps of a game.
func NamesOf(g game.Game) []string {
	if !game.IsAcyclic(g) {
		return AllNames()
	}
	return []string{Init, Possible, Solve, Final}
}

// IsForward reports whether a step belongs to the forward pass, from positions to their
// successors.
func IsForward(step string) bool { return step == Init || step == Possible || step == Mark }

// InputTier returns the tier that a step reads to write the given tier: the tier above for
// solve, the tier below for all other steps.
func InputTier(step string, tier int) int {
	if step == Solve {
		return tier + 1
	}
	return tier - 1
}

// Valued reports whether each record that the job of a step writes for a tier has a value.
func Valued(name string, g game.Game, tier int) bool {
	return name == Values || name == Solve && !game.Loops(g, tier)
}

// A Property is a parameter of a stream. In the job configuration, its name has the prefix
// "treereduce.".
type Property struct{ Name, Value string }

// DriverProperty is the property of a task that exchanges lines with a driver. Without it, a reducer is run by hand, see
// Options.ByHand.
const DriverProperty = "driver"

// Properties returns the parameters that the streams of all steps of a game need.
func Properties(g game.Game) []Property {
	words := strings.Fields(g.Spec())
	ps := []Property{{BuildProperty, Build(g)}, {"game", words[0]}}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		ps = append(ps, Property{name, value})
	}
	return ps
}
