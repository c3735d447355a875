package runner

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/step"
)

// A Pass is one map and reduce over a game with cycles: what a Job is to a tiered
// game. Its Input is the directories of the positions that were new in the passes
// before; for create a file with any line, for the final step that of the table. The
// parts of its Output are the positions that are new.
type Pass struct {
	Work
	Game   game.Cyclic // the rules
	Number int         // of the pass, from 1; what is decided has it as remoteness
	// States is the directory of the pass before, whose index has the states of
	// all ranges; none for create and the final step.
	States string
}

// Part is the part of the pass in which a range is.
func (p *Pass) Part(rng uint64) int {
	part := 0
	for part+1 < p.Reducers && rng >= step.CyclicBorder(p.Game, part+1, p.Reducers) {
		part++
	}
	return part
}

// PassStats are what a runner tells of a pass.
type PassStats struct {
	Stats
	New game.Tally // positions that are new
}

// Add counts positions that are new.
func (s *PassStats) Add(fresh game.Tally) {
	s.New.Add(fresh)
	s.Records += fresh.Total()
	s.Finished += fresh.Decided()
}
