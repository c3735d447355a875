package lists

import (
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/step"
)

// Map runs the map of a step (step.Init, Possible, Solve, Final) from in to out, line by
// line.
func Map(name string, g game.Acyclic, in io.Reader, out io.Writer, o StepOptions) (step.Counters, error) {
	return step.Counters{}, errNotYet
}

// Reduce runs the reduce of a step from in, sorted by key, to out.
func Reduce(name string, g game.Acyclic, in io.Reader, out io.Writer, o StepOptions) (step.Counters, error) {
	return step.Counters{}, errNotYet
}
