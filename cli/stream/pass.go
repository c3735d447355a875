package stream

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// streamPass runs one side of a pass over a game with cycles. Messages are shuffled; the states
// of a reducer's ranges are files. So are the moves of a game that cannot compute predecessors:
// reducers write them, and mappers of later passes read them.
func streamPass(c *cli.Context, name string, m game.Method, work side, o step.Options) (n step.Counters, err error) {
	if err := checkNumber(c, name); err != nil {
		return n, err
	}
	g := m.States
	o.Number = c.Int("number")
	needsMoves := !work.reduces && step.NeedsMoves(g, name)
	packed := o.Codec == jobdir.Packed
	if name == step.Final || !work.reduces && !needsMoves && !packed {
		return work.do(name, m, c.App.Reader, c.App.Writer, o)
	}
	states := c.String("states")
	if name != step.Create && states == "" {
		return n, command.Usagef("--states is missing: the directory of the previous pass")
	}
	files, err := openFiles(c, work, &o, "the new states")
	if err != nil {
		return n, err
	}
	defer closeFiles(files, &n)
	if states != "" {
		if states, err = pathOf(states); err != nil {
			return n, fmt.Errorf("--states: %w", err)
		}
		if err := checkStates(files.FS, states, name, o.Number, g); err != nil {
			return n, err
		}
	}
	if needsMoves {
		moves, err := lists.OpenMoves(files.FS, states, g)
		if err != nil {
			return n, err
		}
		defer moves.Close()
		o.Moves = moves.Reader()
	}
	if !work.reduces {
		in, err := mapInput(c.App.Reader, files, &o)
		if err != nil {
			return n, err
		}
		return work.do(name, m, in, c.App.Writer, o)
	}
	before, err := jobdir.OpenStates(files.FS, states, g)
	if err != nil {
		return n, err
	}
	defer before.Close()
	o.LoadState = before.Cursor().Load
	edges := lists.NewEdgeOutbox(o.Create, o.Part, g, o.Memory/lists.RowMemory)
	if step.StoresEdges(g, name) {
		o.StoreEdge = edges.SendEdge
	}
	n, err = work.do(name, m, c.App.Reader, c.App.Writer, o)
	return n, edges.Finish(err)
}

// checkNumber checks that the number of a pass is at least 1, and that it can be the remoteness
// of the positions that the pass decides; the last pass decides none.
func checkNumber(c *cli.Context, name string) error {
	n := c.Int("number")
	if err := command.AtLeast(c, 1, "number"); err != nil {
		return err
	}
	if last := game.MaxByteRemoteness + 1; n > last && (name == step.Solve || name == step.Ties) {
		return command.Usagef("--number %d: expected %d at most: values have at most %d moves to the end", n, last, game.MaxByteRemoteness)
	}
	return nil
}

// checkStates checks that the states in dir are those before this pass. The states of another
// pass lack messages, and nothing else would detect that.
func checkStates(fsys store.FS, dir, name string, number int, g game.Cyclic) error {
	x, err := jobdir.ReadIndex(fsys, dir, g)
	if err != nil {
		return err
	}
	last := x.Passes[len(x.Passes)-1]
	next, n := step.After(last.Step, last.Number, last.Total() > 0)
	if name != next || number != n {
		return fmt.Errorf("--states %s: expected the states for %s %d, found those for %s %d", dir, name, number, next, n)
	}
	return nil
}
