package stream

import (
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// pass runs one side of a pass over a game with cycles. Messages are shuffled; the states
// of a reducer's ranges are files. So are the moves of a game that cannot compute predecessors:
// reducers write them, and mappers of later passes read them.
func (t *task) pass(m game.Method) (n step.Counters, err error) {
	g, work, name := m.States, t.work, t.name
	needsMoves := !work.reduces && step.NeedsMoves(g, name)
	packed := t.o.Codec == jobdir.Packed
	if name == step.Final || !work.reduces && !needsMoves && !packed {
		return work.do(name, m, t.in, t.out, t.o)
	}
	states := t.states
	if name != step.Create && states == "" {
		return n, command.Usagef("--states is missing: the directory of the previous pass")
	}
	files, err := t.openFiles("the new states")
	if err != nil {
		return n, err
	}
	defer closeFiles(files, &n)
	if states != "" {
		if states, err = pathOf(states); err != nil {
			return n, fmt.Errorf("--states: %w", err)
		}
		if err := checkStates(files.FS, states, name, t.o.Number, g); err != nil {
			return n, err
		}
	}
	if needsMoves {
		moves, err := layers.OpenMoves(files.FS, states, g)
		if err != nil {
			return n, err
		}
		defer moves.Close()
		t.o.Moves = moves.Reader()
	}
	if !work.reduces {
		in, err := mapInput(t.in, files, &t.o)
		if err != nil {
			return n, err
		}
		return work.do(name, m, in, t.out, t.o)
	}
	before, err := jobdir.OpenStates(files.FS, states, g)
	if err != nil {
		return n, err
	}
	defer before.Close()
	t.o.LoadState = before.Cursor().Load
	edges := layers.NewEdgeOutbox(t.o.Create, t.o.Part, g, t.o.Memory/layers.RowMemory)
	if step.StoresEdges(g, name) {
		t.o.StoreEdges = edges.SendEdges
	}
	n, err = work.do(name, m, t.in, t.out, t.o)
	return n, edges.Finish(layers.NameMove(err, files.FS, states, g))
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
