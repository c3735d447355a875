package stream

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// streamBlocks runs one side of a step of a game that is solved by blocks.
func streamBlocks(c *cli.Context, name string, m game.Method, work side, o step.Options) (n step.Counters, err error) {
	in := c.App.Reader
	if o.Codec == jobdir.Packed {
		if o.Tier, err = tierOf(c, m.Blocks); err != nil {
			return n, err
		}
		o.Predecessors = os.Getenv(command.Environment("parents")[0])
		files, err := openFiles(c, work, &o, "the part")
		if err != nil {
			return n, err
		}
		defer closeFiles(files, &n)
		if !work.reduces {
			if in, err = mapInput(in, files, &o); err != nil {
				return n, err
			}
		}
	} else if !work.reduces && name == step.Solve && o.Turn == "" {
		return n, command.Usagef("missing --turn (or %s in the environment), X or O: it distinguishes successors from predecessors", command.Environment("turn")[0])
	}
	return work.do(name, m, in, c.App.Writer, o)
}

// streamLists runs one side of a step of a game that is solved by lists. The output of a
// reducer is its shard; its messages to other tiers go to files.
func streamLists(c *cli.Context, name string, g game.Acyclic, work side, o step.Options) (n step.Counters, err error) {
	if o.Tier, err = tierOf(c, g); err != nil {
		return n, err
	}
	if work.reduces && name != step.Final {
		if name != step.Init && o.Tier < 0 {
			return n, command.Usagef("missing --tier (or %s in the environment): the tier of the positions", command.Environment("tier")[0])
		}
		files, err := openFiles(c, work, &o, "the outgoing edges")
		if err != nil {
			return n, err
		}
		defer closeFiles(files, &n)
		if os.Getenv(command.Environment("packed")[0]) == "true" {
			o.Codec = jobdir.Packed
		}
	}
	return work.lists(name, g, c.App.Reader, c.App.Writer, o)
}

// tierOf returns the tier of a job, or -1 if --tier is not given.
func tierOf(c *cli.Context, g game.Acyclic) (int, error) {
	if !c.IsSet("tier") {
		return -1, nil
	}
	tier := c.Int("tier")
	if tier < 0 || tier > g.Tiers() {
		return 0, command.Usagef("--tier %d: expected 0 to %d", tier, g.Tiers())
	}
	return tier, nil
}
