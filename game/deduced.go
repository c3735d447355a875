package game

import "github.com/treereduce/treereduce/game/block"

// Deduced is a Blockwise game whose rules say much of a range of a tier without any other range: which
// boards no play can reach, as far as the board alone shows it; which positions are terminal; and in
// which the mover wins with one move. A table then stores only the rest.
type Deduced interface {
	Blockwise
	// Deduce sorts the slots of d.Unknown, in its words from to to-1, which belong to a range of a tier.
	// It moves those whose values the rules say to d.Known, whose words are empty, sets d.Values, and
	// removes slots that cannot be positions.
	Deduce(d *block.Deduced, tier int, rng uint64, from, to int)
}

// DeducerOf returns the Deducer of a game; nil if the game is not Deduced.
func DeducerOf(g Blockwise) block.Deducer {
	rules, ok := g.(Deduced)
	if !ok {
		return nil
	}
	return func(d *block.Deduced, tier int, rng uint64, from, to int) {
		d.Begin(from, to)
		rules.Deduce(d, tier, rng, from, to)
	}
}
