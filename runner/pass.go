package runner

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/store"
	"github.com/treereduce/treereduce/tierio"
)

// A Pass is one map and reduce over a game with cycles: what a Job is to a tiered
// game.
type Pass struct {
	Name   string      // of the directory that it makes, e.g. mark3
	Step   string      // one of step.CyclicNames
	Number int         // of the pass, from 1; what is decided has it as remoteness
	Game   game.Cyclic // the rules
	FS     store.FS    // where all directories are

	// Input is what the map reads: the directories of the positions that were new
	// in the passes before; for create a file with any line, for the final step
	// that of the table.
	Input []string
	// States is the directory of the pass before, whose index has the states of
	// all ranges; none for create and the final step.
	States string
	// Output is the directory of the attempt, made and empty.
	Output string
	// Reducers is how many parts are written; their ranges ascend.
	Reducers int
	Codec    tierio.Codec // of the positions that are new
	// Combine lets mappers merge what they print; it does not change the result.
	Combine bool
	// Progress is as in Job.
	Progress func(Progress)
}

// Part is the part of the pass in which a range is.
func (p *Pass) Part(rng uint64) int {
	part := 0
	for part+1 < p.Reducers && rng >= step.CyclicBorder(p.Game, part+1, p.Reducers) {
		part++
	}
	return part
}

// Report calls Progress, if there is one.
func (p *Pass) Report(share float64) {
	if p.Progress != nil {
		p.Progress(Progress{Share: share})
	}
}

// PassStats are what a runner tells of a pass.
type PassStats struct {
	Stats
	New [4]int64 // positions that are new, by game.Result; open ones count as draws
}

// A PassRunner runs passes. As with Runner, whoever made the attempt writes the
// index and _SUCCESS.
type PassRunner interface {
	RunPass(ctx context.Context, pass *Pass) (PassStats, error)
}
