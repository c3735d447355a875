package stream

import (
	"os"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// blocks runs one side of a step of a game that is solved by blocks.
func (t *task) blocks(m game.Method) (n step.Counters, err error) {
	in := t.in
	if t.o.Codec == jobdir.Packed {
		t.o.Predecessors = os.Getenv(command.Environment("parents")[0])
		files, err := t.openFiles("the part")
		if err != nil {
			return n, err
		}
		defer closeFiles(files, &n)
		if !t.work.reduces {
			if in, err = mapInput(in, files, &t.o); err != nil {
				return n, err
			}
		}
	} else if !t.work.reduces && t.name == step.Solve && t.o.Turn == "" {
		return n, command.Usagef("missing --turn (or %s in the environment), X or O: it distinguishes successors from predecessors", command.Environment("turn")[0])
	}
	return t.work.do(t.name, m, in, t.out, t.o)
}

// lists runs one side of a step of a game that is solved by lists. The output of a reducer is
// its shard; its messages to other tiers go to files.
func (t *task) lists(g game.Game) (n step.Counters, err error) {
	if t.work.reduces && t.name != step.Final {
		if t.name != step.Init && t.o.Tier < 0 {
			return n, command.Usagef("missing --tier (or %s in the environment): the tier of the positions", command.Environment("tier")[0])
		}
		files, err := t.openFiles("the outgoing edges")
		if err != nil {
			return n, err
		}
		defer closeFiles(files, &n)
		if os.Getenv(command.Environment("packed")[0]) == "true" {
			t.o.Codec = jobdir.Packed
		}
	}
	return t.work.lists(t.name, g, t.in, t.out, t.o)
}
