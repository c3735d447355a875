package stream

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// blocks runs one side of a step of a game that is solved by blocks.
func (t *task) blocks() (n step.Counters, err error) {
	if t.o.Packed {
		t.o.Predecessors = os.Getenv(command.Environment("predecessors")[0])
		files, err := t.openFiles("the part")
		if err != nil {
			return n, err
		}
		defer closeFiles(files, &n)
	} else if !t.work.reduces && t.name == step.Solve && t.o.Turn == "" {
		return n, command.Usagef("missing --turn (or %s in the environment), X or O: it distinguishes successors from predecessors", command.Environment("turn")[0])
	}
	return t.work.do(t.method, t.name, t.in, t.out, t.o)
}

// layers runs one side of a step of a game that is solved by layers. The states of a reducer and its messages to other jobs
// are files; its output is its shard, which is a file, too, if records are packed.
func (t *task) layers(g game.Game) (n step.Counters, err error) {
	writes := t.work.reduces && t.name != step.Final
	if writes || t.o.Packed {
		if writes {
			err = t.checkReduce(g)
		}
		if err != nil {
			return n, err
		}
		if t.name == step.Ties {
			t.o.Pass += step.TiesPass
		}
		files, err := t.openFiles("the states and the messages to other jobs")
		if err != nil {
			return n, err
		}
		defer closeFiles(files, &n)
		t.o.ByHand = !t.o.Packed && os.Getenv(command.Environment(step.DriverProperty)[0]) == ""
	}
	return t.work.do(t.method, t.name, t.in, t.out, t.o)
}

// layerOptions sets the options of a step of a game that is solved by layers.
func layerOptions(c *cli.Context, g game.Game, o *step.Options) (err error) {
	if o.Tier, err = tier(c, g); err != nil {
		return err
	}
	if o.Pass, o.Absorb = c.Int("pass"), c.Int("absorb"); o.Pass < 0 || o.Pass > game.MaxRemoteness {
		return command.Usagef("--pass %d: expected 1 to %d", o.Pass, game.MaxRemoteness)
	}
	if o.Runs, err = directories(c, "states"); err != nil {
		return err
	}
	if o.Edges, err = directories(c, "edges"); err != nil {
		return err
	}
	for key := range strings.SplitSeq(c.String("borders"), ",") {
		if key == "" {
			continue
		}
		border, err := strconv.ParseUint(key, 16, 64)
		if n := len(o.Borders); err != nil || n > 0 && border <= o.Borders[n-1] {
			return command.Usagef("--borders %s: expected ascending keys in hexadecimal digits, with commas between them", c.String("borders"))
		}
		o.Borders = append(o.Borders, border)
	}
	return command.AtLeast(c, 0, "absorb")
}

// directories returns the paths of the directories that a flag names. For a job of the driver they are in its data directory.
func directories(c *cli.Context, flag string) (dirs []string, err error) {
	for dir := range strings.SplitSeq(c.String(flag), ",") {
		if dir == "" {
			continue
		}
		if dir, err = pathOf(dir); err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		dirs = append(dirs, path.Join(os.Getenv(command.Environment("data")[0]), dir))
	}
	return dirs, nil
}

// checkReduce checks that a reducer has the parameters that its step needs: without its states, a pass would silently
// compute other values.
func (t *task) checkReduce(g game.Game) error {
	name, o := t.name, &t.o
	if name == step.Init {
		return nil
	}
	if o.Tier < 0 {
		return command.Usagef("missing --tier (or %s in the environment): the tier of the positions", command.Environment("tier")[0])
	}
	loops, passes := game.Loops(g, o.Tier), name == step.Mark || name == step.Solve || name == step.Ties
	if !loops {
		if name != step.Possible && name != step.Solve || o.Pass > 0 {
			return command.Usagef("tier %d has no inner moves: its steps are %s and %s, without --pass", o.Tier, step.Possible, step.Solve)
		}
		o.Absorb = len(o.Runs)
		return nil
	}
	if passes != (o.Pass > 0) {
		return command.Usagef("--pass %d: expected the number of the pass, from 1, for %s, %s and %s of a tier with inner moves, and none for other steps", o.Pass, step.Mark, step.Solve, step.Ties)
	}
	if name != step.Possible && len(o.Runs) == 0 {
		return command.Usagef("--states is missing: the directories of the earlier passes over the tier with states")
	}
	switch _, reversible := g.(game.Reversible); name {
	case step.Begin, step.Values:
		o.Absorb = len(o.Runs)
	case step.Solve, step.Ties:
		if len(o.Edges) == 0 && !reversible {
			return command.Usagef("--edges is missing: the directory of begin, with the predecessors of the positions")
		}
	}
	return nil
}
