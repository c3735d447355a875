//go:build !js

package table

import (
	"context"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// name returns the path of the file.
func (t *states) name() string { return t.file.Files()[0] }

// WriteCyclic writes the states after the last pass to out, as the file of a table. Open
// positions are draws now, so their numbers of undecided moves are set to 0. WriteCyclic
// always closes out.
func WriteCyclic(out io.WriteCloser, g game.Cyclic, states *jobdir.StateFiles) error {
	w := jobdir.NewRangeWriter(out, g, jobdir.Packed)
	return w.Finish(appendCyclic(w, g, states))
}

func appendCyclic(w *jobdir.Writer, g game.Cyclic, states *jobdir.StateFiles) error {
	c, chunk := states.Cursor(), jobdir.NewChunk(g, jobdir.Packed)
	var s block.State
	open := make(block.Set, block.Words(g.RangeSize()))
	for i := range states.Len() {
		if err := c.Read(i, &s); err != nil {
			return err
		}
		if s.Reached.Empty() {
			continue
		}
		open = open[:len(s.Reached)]
		s.Open(open)
		s.Number.PutAll(0, open)
		s.Odd = nil
		chunk.Reset()
		chunk.AddState(g, states.Range(i), &s)
		if err := w.Append(chunk); err != nil {
			return err
		}
	}
	return nil
}

// verifyBand is the number of bytes of memory for the ranges whose values are checked at a
// time.
const verifyBand = 256 << 20

func (t *states) verify(ctx context.Context, report func(share float64)) error {
	return t.verifyBands(ctx, verifyBand, report)
}

// parts returns one part, because its positions lead to one another.
func (t *states) parts() (parts []*rulesPart, most int, err error) {
	return []*rulesPart{{
		own:    true,
		ranges: stateRanges{t},
		files:  []rulesFile{{t.name(), CountsOf(t.file.Counts()), t.file.Len()}},
		slots:  func(rng uint64) int { return game.RangeLen(t.g, rng) },
		reader: func(ahead int) rulesReader {
			return &stateReader{t: t, cursor: t.file.CursorOf(ahead), states: make(map[uint64]*block.State)}
		},
	}}, game.MaxByteRemoteness, nil
}

// stateRanges are the ranges of states.
type stateRanges struct{ *states }

func (r stateRanges) Len() int { return r.file.Len() }

func (r stateRanges) at(i int) (rng uint64, most int, err error) {
	rng = r.file.Range(i)
	return rng, min(r.file.MostRecords(i), game.RangeLen(r.g, rng)), nil
}

// A stateReader reads the table of a game with cycles.
type stateReader struct {
	t      *states
	cursor *jobdir.StateCursor
	states map[uint64]*block.State // cache, see rulesKeep
	rng    uint64
	home   *block.State
}

func (r *stateReader) load(slots []uint32, rng uint64) (_ []uint32, err error) {
	r.rng = rng
	if r.home, err = r.state(rng); err != nil {
		return nil, err
	}
	return r.home.Reached.Append(slots), nil
}

func (r *stateReader) at(slot int) (game.Position, game.Value) {
	value, _ := r.home.Value(slot)
	return r.rng*uint64(r.t.g.RangeSize()) + uint64(slot), game.Value(value)
}

func (r *stateReader) find(p game.Position) (rng uint64, slot int, v game.Value, ok bool, err error) {
	size := uint64(r.t.g.RangeSize())
	rng, slot = p/size, int(p%size)
	s, err := r.state(rng)
	if err != nil || s == nil {
		return 0, 0, 0, false, err
	}
	value, ok := s.Value(slot)
	return rng, slot, game.Value(value), ok, nil
}

// state returns the state of a range, or nil if the table does not contain it.
func (r *stateReader) state(rng uint64) (*block.State, error) {
	if s, ok := r.states[rng]; ok {
		return s, nil
	}
	i, ok := r.t.file.Find(rng)
	if !ok {
		return nil, nil
	}
	if len(r.states)*block.StatePlanes*r.t.g.RangeSize()/8 > rulesKeep {
		clear(r.states)
	}
	s := new(block.State)
	if err := r.cursor.Read(i, s); err != nil {
		return nil, err
	}
	r.states[rng] = s
	return s, nil
}
