package table

import (
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// states is the contents of the table of a game with cycles: a range file, and the index of
// the passes.
type states struct {
	g     game.Cyclic
	file  *jobdir.StateFiles
	index *jobdir.Index

	random chan *jobdir.StateCursor  // free cursors
	recent *recent[int, block.State] // by index of the range
}

// recentStates is the number of bytes of states that look-ups cache; they cache at least one
// state.
const recentStates = 8 << 20

func openStates(fsys store.FS, data string, g game.Cyclic) (c contents, err error) {
	index, err := jobdir.ReadIndex(fsys, path.Join(data, Dir), g)
	if err != nil {
		return c, err
	}
	file, err := jobdir.OpenStateFile(fsys, path.Join(data, CyclicFile), g)
	if err != nil {
		return c, err
	}
	t := &states{g: g, file: file, index: index, random: make(chan *jobdir.StateCursor, maxFree),
		recent: newRecent[int, block.State](max(1, min(recentViews, recentStates/(block.StatePlanes*g.RangeSize()/8+1))))}
	return t.contents(), nil
}

// Close closes the file.
func (t *states) Close() error { return t.file.Close() }

func (t *states) counts(int) (Counts, error) { return CountsOf(t.file.Counts()), nil }

// lookup reads one range, unless it is cached.
func (t *states) lookup(p game.Position) (v game.Value, ok bool, err error) {
	size := uint64(t.g.RangeSize())
	i, found := t.file.Find(p / size)
	if !found {
		return 0, false, nil
	}
	t.recent.Lock()
	defer t.recent.Unlock()
	state, err := t.recent.get(i, func(s *block.State) error {
		var c *jobdir.StateCursor
		select {
		case c = <-t.random:
		default:
			c = t.file.CursorOf(0)
		}
		defer func() {
			select {
			case t.random <- c:
			default:
			}
		}()
		return c.Read(i, s)
	})
	if err != nil {
		return 0, false, err
	}
	value, ok := state.Value(int(p % size))
	return game.Value(value), ok, nil
}
