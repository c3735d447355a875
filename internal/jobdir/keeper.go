package jobdir

import (
	"cmp"
	"errors"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/store"
)

// A Keeper is the states of a reducer: those of the pass before, and a file of the
// new ones.
type Keeper struct {
	*StateCursor
	writer *Writer
	chunk  *Chunk
}

// NewKeeper opens the states after the pass whose directory is before, or blank
// ones if that is "", and begins the file of reducer i in a directory.
func NewKeeper(fsys store.FS, before, dir string, i int, g game.Cyclic) (*Keeper, error) {
	states, err := OpenStates(fsys, before, g)
	if err != nil {
		return nil, err
	}
	k := &Keeper{StateCursor: states.Cursor(), chunk: NewChunk(g, Blocks)}
	if k.writer, err = createStates(fsys, dir, i, g); err != nil {
		return nil, errors.Join(err, states.Close())
	}
	return k, nil
}

// Save writes the new state of a range; ranges ascend.
func (k *Keeper) Save(rng uint64, s *block.State) error {
	k.chunk.Reset()
	k.chunk.packed.AddState(rng, game.RangeLen(k.p.g, rng), s)
	return k.writer.Append(k.chunk)
}

// Finish ends the file, if what was to be written has been (err is nil), and closes
// everything. It returns the first error.
func (k *Keeper) Finish(err error) error {
	return cmp.Or(k.writer.Finish(err), k.p.Close())
}
