package task

import (
	"cmp"
	"fmt"
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/lists"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Pass is what the tasks of a pass over a game with cycles know of it.
type Pass struct {
	Step     string // step.Create, Mark, Solve or Ties
	Game     game.Cyclic
	FS       store.FS
	Number   int    // of the pass
	Reducers int    // that were asked for; there are as many as step.CyclicBorders has
	States   string // the directory of the pass before; none in create
	Memory   int    // see step.NewHolder
}

// Map is Task's.
func (p *Pass) Map(in io.Reader, out io.Writer) (n step.Counters, err error) {
	w := &pairWriter{out: out}
	var packed []byte
	var encoder streamfmt.Encoder
	emit := func(rng uint64, h *block.Heard) error {
		n.Out += int64(h.Count())
		packed = encoder.AppendHeard(packed[:0], game.RangeLen(p.Game, rng), h)
		return w.add(rng, packed)
	}
	pass := step.NewPass(p.Game, p.Step, p.Number)
	if step.NeedsMoves(p.Game, p.Step) {
		moves, err := lists.OpenMoves(p.FS, p.States, p.Game)
		if err != nil {
			return n, err
		}
		defer moves.Close()
		pass.Moves = moves.Reader()
	}
	holder := step.NewHolder(p.Game, p.Memory, emit)
	err = eachShare(in, func(s Share) error {
		if p.Step == step.Create {
			n.In++
			pass.MapStart(holder.Say)
			return holder.Err()
		}
		return p.mapShare(s, pass, holder, &n)
	})
	if err != nil {
		return n, err
	}
	n.Messages = pass.Messages
	if err := holder.Flush(); err != nil {
		return n, err
	}
	return n, w.flush()
}

// mapShare has the positions of a share speak.
func (p *Pass) mapShare(s Share, pass *step.Pass, holder *step.Holder, n *step.Counters) error {
	fresh, err := jobdir.OpenStateFile(p.FS, s.Part, p.Game)
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
		if err := cmp.Or(pass.Map(rng, &from, holder.Say), holder.Err()); err != nil {
			return fmt.Errorf("%s: %w", s.Part, err)
		}
	}
	return nil
}

// Reduce is Task's.
func (p *Pass) Reduce(partition int, in io.Reader, dir string) (n step.Counters, err error) {
	came, err := readPairs(in, step.CyclicBorders(p.Game, p.Reducers), partition)
	if err != nil {
		return n, err
	}
	r := &passReduce{Pass: p, pairs: came, step: step.NewPass(p.Game, p.Step, p.Number), n: &n,
		chunk: jobdir.NewStateChunk(p.Game, jobdir.Blocks)}
	states, err := jobdir.OpenStates(p.FS, p.States, p.Game)
	if err != nil {
		return n, err
	}
	defer states.Close()
	r.states = states.Cursor()
	if err := p.FS.MkdirAll(dir); err != nil {
		return n, err
	}
	if r.out, err = jobdir.NewStateWriter(p.FS, dir, partition, p.Game, jobdir.Blocks); err != nil {
		return n, err
	}
	if !step.Tells(p.Game, p.Step) {
		return n, r.out.Finish(r.run())
	}
	create := func(name string) (io.WriteCloser, error) { return p.FS.Create(path.Join(dir, name)) }
	told := lists.NewMovesTeller(create, partition, p.Game, cmp.Or(p.Memory, step.DefaultMemory)/lists.RowMemory)
	r.step.Tell = told.TellMove
	return n, r.out.Finish(told.Finish(r.run()))
}

// A passReduce is the reducer of a pass at work.
type passReduce struct {
	*Pass
	*pairs
	step    *step.Pass
	n       *step.Counters
	states  *jobdir.StateCursor
	out     *jobdir.StateWriter
	chunk   *jobdir.StateChunk
	decoder streamfmt.Decoder
}

// run reduces every range of which a pair comes.
func (r *passReduce) run() error {
	var heard, piece block.Heard
	var state, fresh block.State
	for !r.ended {
		rng := r.rng
		if rng >= game.Ranges(r.Game) {
			return fmt.Errorf("range %#x, but the game has %d", rng, game.Ranges(r.Game))
		}
		size := game.RangeLen(r.Game, rng)
		heard.Reset(size)
		for r.at(rng) {
			if err := r.decoder.DecodeHeard(r.packed, size, &piece); err != nil {
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

// write writes what has been gathered, and counts what is new in it.
func (r *passReduce) write() error {
	r.n.AddNew(r.chunk.New)
	err := r.out.Append(r.chunk)
	r.chunk.Reset()
	return err
}
