package task

import (
	"cmp"
	"fmt"
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// pass is a pass over a game with cycles.
type pass struct {
	*Job
	g game.Cyclic
}

func (p *pass) mapShares(in io.Reader, out io.Writer) (n step.Counters, err error) {
	w := &pairWriter{out: out}
	var packed []byte
	var encoder streamfmt.Encoder
	emit := func(rng uint64, h *block.Inbox) error {
		n.Records += int64(h.Count())
		packed = encoder.AppendInbox(packed[:0], game.RangeLen(p.g, rng), h)
		return w.add(rng, packed)
	}
	by := step.NewPass(p.g, p.Step, p.Tier)
	if step.NeedsMoves(p.g, p.Step) {
		moves, err := lists.OpenMoves(p.FS, p.States, p.g)
		if err != nil {
			return n, err
		}
		defer moves.Close()
		by.Moves = moves.Reader()
	}
	holder := step.NewCombiner(p.g, p.Memory, emit)
	err = eachShare(in, func(s Share) error {
		if p.Step == step.Create {
			n.In++
			by.MapStart(holder.Send)
			return holder.Err()
		}
		return p.mapShare(s, by, holder, &n)
	})
	if err != nil {
		return n, err
	}
	n.Messages = by.Messages
	if err := holder.Flush(); err != nil {
		return n, err
	}
	return n, w.flush()
}

// mapShare sends the messages of the positions of a share.
func (p *pass) mapShare(s Share, by *step.Pass, holder *step.Combiner, n *step.Counters) error {
	fresh, err := jobdir.OpenStateFile(p.FS, s.Part, p.g)
	if err != nil {
		return err
	}
	defer fresh.Close()
	c := fresh.Cursor()
	var from block.State
	for i := range fresh.Len() {
		rng := fresh.Range(i)
		if rng < s.From || rng >= s.To {
			continue
		}
		if err := c.Read(i, &from); err != nil {
			return err
		}
		n.In += int64(from.Reached.Count())
		if err := cmp.Or(by.Map(rng, &from, holder.Send), holder.Err()); err != nil {
			return fmt.Errorf("%s: %w", s.Part, err)
		}
	}
	return nil
}

func (p *pass) reduce(partition int, in io.Reader, dir string) (n step.Counters, err error) {
	came, err := readPairs(in, step.CyclicBorders(p.g, p.Reducers), partition)
	if err != nil {
		return n, err
	}
	r := &passReduction{pass: p, pairs: came, step: step.NewPass(p.g, p.Step, p.Tier), n: &n,
		chunk: jobdir.NewStateChunk(p.g, jobdir.Blocks)}
	states, err := jobdir.OpenStates(p.FS, p.States, p.g)
	if err != nil {
		return n, err
	}
	defer states.Close()
	r.states = states.Cursor()
	if err := p.FS.MkdirAll(dir); err != nil {
		return n, err
	}
	if r.out, err = jobdir.NewStateWriter(p.FS, dir, partition, p.g, jobdir.Blocks); err != nil {
		return n, err
	}
	if !step.StoresEdges(p.g, p.Step) {
		return n, r.out.Finish(r.run())
	}
	create := func(name string) (io.WriteCloser, error) { return p.FS.Create(path.Join(dir, name)) }
	told := lists.NewMovesTeller(create, partition, p.g, cmp.Or(p.Memory, step.DefaultMemory)/lists.RowMemory)
	r.step.Tell = told.TellMove
	return n, r.out.Finish(told.Finish(r.run()))
}

// A passReduction is the run of one reducer of a pass.
type passReduction struct {
	*pass
	*pairs
	step    *step.Pass
	n       *step.Counters
	states  *jobdir.StateCursor
	out     *jobdir.StateWriter
	chunk   *jobdir.StateChunk
	decoder streamfmt.Decoder
}

// run reduces every range that received a pair.
func (r *passReduction) run() error {
	var heard, piece block.Inbox
	var state, fresh block.State
	for !r.ended {
		rng := r.rng
		if rng >= game.Ranges(r.g) {
			return fmt.Errorf("range %#x, but the game has %d", rng, game.Ranges(r.g))
		}
		size := game.RangeLen(r.g, rng)
		heard.Reset(size)
		for r.at(rng) {
			if err := r.decoder.DecodeInbox(r.packed, size, &piece); err != nil {
				return fmt.Errorf("range %#x: %w", rng, err)
			}
			r.n.In += int64(piece.Count())
			if !heard.Add(&piece) {
				return step.HeardTooOften(rng)
			}
			if err := r.next(); err != nil {
				return err
			}
		}
		if err := r.states.Load(rng, &state); err != nil {
			return err
		}
		changed, err := r.step.Reduce(rng, &state, &heard, &fresh)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		r.chunk.Add(rng, &state, &fresh)
		if r.chunk.Size() >= flushSize {
			if err := r.write(); err != nil {
				return err
			}
		}
	}
	return r.write()
}

// write writes the chunk, and counts its new positions.
func (r *passReduction) write() error {
	r.n.AddNew(r.chunk.New)
	err := r.out.Append(r.chunk)
	r.chunk.Reset()
	return err
}
