package step

import (
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// A Property is a parameter of a stream. In the job configuration, its name has the prefix
// "treereduce.".
type Property struct{ Name, Value string }

// DriverProperty is the property of a task that exchanges lines with a driver. Without it, a reducer is run by hand, see
// Options.ByHand.
const DriverProperty = "driver"

// Properties returns the parameters that the streams of a step need to write a tier. A game
// with blocks needs the player to move, any other game the tier itself.
func Properties(m game.Method, name string, tier int) []Property {
	words := strings.Fields(m.Game.Spec())
	ps := []Property{{BuildProperty, Build(m.Game)}, {"game", words[0]}}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		ps = append(ps, Property{name, value})
	}
	if name == Init || name == Final {
		return ps
	}
	if m.Layers != nil {
		return append(ps, Property{"tier", strconv.Itoa(tier)})
	}
	successors := tier
	if name == Solve {
		successors++
	}
	return append(ps,
		Property{"turn", Turn(m.Blocks, successors-1)},
		Property{"last_round", strconv.FormatBool(successors == m.Blocks.Tiers())})
}

// Turn returns the name of the player who moves from a tier.
func Turn(g game.Tiered, tier int) string {
	return g.TierToMove(tier).String()
}
