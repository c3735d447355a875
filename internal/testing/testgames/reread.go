package testgames

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// Reread is a Blockwise game with other Values, in which terminal positions of every third tier
// are ties. So there are ties with different remoteness, and it matters which of them a
// player takes. Its Spec is that of the original game.
type Reread struct {
	game.Blockwise
	Reading game.Values
}

// AllValues returns the four combinations of OfMover and TiesSoon.
func AllValues() (all []game.Values) {
	for i := range 4 {
		all = append(all, game.Values{OfMover: i&1 != 0, TiesSoon: i&2 != 0, Players: [2]string{"X", "O"}})
	}
	return all
}

// Values returns Reading.
func (g Reread) Values() game.Values { return g.Reading }

// Primitive returns a tie in every third tier.
func (g Reread) Primitive(p game.Position) game.Value {
	if v := g.Blockwise.Primitive(p); v == 0 || g.Tier(p)%3 != 0 {
		return v
	}
	return game.NewValue(game.Tie, 0)
}

// Finish sets ties in every third tier.
func (g Reread) Finish(b *block.Block) {
	g.Blockwise.Finish(b)
	if b.Tier%3 == 0 {
		for slot := range b.Done.All() {
			b.Val[slot] = byte(game.NewValue(game.Tie, 0))
		}
	}
}
