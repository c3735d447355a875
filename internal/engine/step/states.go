package step

import (
	"cmp"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// stateCells is the encoding of the positions that the map of a pass reads, and of the
// messages between map and reduce.
type stateCells interface {
	// eachInput calls do with the positions of each range that the map reads.
	eachInput(do func(rng uint64, from *block.State) error) error
	// send writes messages to a range.
	send(rng uint64, h *block.Inbox) error
	// eachReceived calls do with the inbox of each range that received messages.
	eachReceived(do func(rng uint64, h *block.Inbox) error) error
}

// stateCells returns the encoding of the records of a pass.
func (s *stream) stateCells(g game.Cyclic, p *Pass) stateCells {
	if s.o.packed() {
		return &statePairs{pairs: pairs{stream: s}, g: g}
	}
	return &stateLines{stream: s, g: g, mover: p.mover}
}

// mapPass calls Pass.Map for each range, and merges the messages as far as the memory
// allows.
func (s *stream) mapPass(g game.Cyclic) (err error) {
	p := NewPass(g, s.name, s.o.Number)
	p.Moves = s.o.Moves
	c := s.stateCells(g, p)
	combiner := NewCombiner(g, s.o.Memory, c.send)
	if s.name == Create {
		if err = s.countLines(s.in, s.o.Source); s.In > 0 {
			p.MapStart(combiner.Send)
		}
	} else {
		err = c.eachInput(func(rng uint64, from *block.State) error {
			return cmp.Or(p.Map(rng, from, combiner.Send), combiner.Err())
		})
	}
	s.Messages = p.Messages
	if err != nil {
		return err
	}
	return combiner.Flush()
}

// reducePass updates the state of each range that received messages, and writes the states
// and a shard of the new positions.
func (s *stream) reducePass(g game.Cyclic) error {
	p := NewPass(g, s.name, s.o.Number)
	p.StoreEdges = s.o.StoreEdges
	out, err := jobdir.NewStateWriter(s.create, s.o.Part, g, s.o.Codec)
	if err != nil {
		return err
	}
	defer func() { s.AddNew(out.New()) }()
	var state, fresh block.State
	return out.Finish(s.stateCells(g, p).eachReceived(func(rng uint64, h *block.Inbox) error {
		if err := s.o.LoadState(rng, &state); err != nil {
			return err
		}
		changed, err := p.Reduce(rng, &state, h, &fresh)
		if err != nil {
			return fmt.Errorf("%s: %w", s.o.Source, err)
		}
		if !changed {
			return nil
		}
		return out.Add(rng, &state, &fresh)
	}))
}
