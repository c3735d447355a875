package jobdir

import (
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Keeper is the states of a reducer: those of the pass before, and a file of the
// new ones.
type Keeper struct {
	g      game.Cyclic
	before *States // nil: all are blank
	cursor *StateCursor
	writer *StateWriter
	chunk  *streamfmt.Packed
}

// NewKeeper opens the states after the pass whose directory is before, or blank
// ones if that is "", and begins the file of reducer i in a directory.
func NewKeeper(fsys store.FS, before, dir string, i int, g game.Cyclic) (*Keeper, error) {
	k := &Keeper{g: g, chunk: new(streamfmt.Packed), writer: &StateWriter{g: g}}
	var err error
	if before != "" {
		if k.before, err = OpenStates(fsys, before, g); err != nil {
			return nil, err
		}
		k.cursor = k.before.Cursor()
	}
	if k.writer.states, err = k.writer.begin(fsys, path.Join(dir, StateName(i))); err != nil {
		return nil, k.Finish(err)
	}
	return k, nil
}

// Load reads the state of a range.
func (k *Keeper) Load(rng uint64, s *block.State) error {
	if k.cursor == nil {
		s.Reset(game.RangeLen(k.g, rng))
		return nil
	}
	return k.cursor.Read(int(rng), s)
}

// Save writes the new state of a range; ranges ascend.
func (k *Keeper) Save(rng uint64, s *block.State) error {
	k.chunk.Reset()
	k.chunk.AddState(rng, game.RangeLen(k.g, rng), s, false)
	return k.writer.states.Append(k.chunk)
}

// Finish ends the file, if what was to be written has been (err is nil), and closes
// everything. It returns the first error.
func (k *Keeper) Finish(err error) error {
	err = k.writer.Finish(err)
	if k.before != nil {
		if closed := k.before.Close(); err == nil {
			err = closed
		}
	}
	return err
}
