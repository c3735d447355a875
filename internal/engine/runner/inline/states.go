package inline

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// mapShare is about the share of a pass's time that its map takes.
const mapShare = 0.5

// runStates runs a pass over a game with cycles: all maps, then all reduces.
func (r *Runner) runStates(ctx context.Context, job *jobOf[game.Cyclic]) (stats runner.Stats, err error) {
	if job.Step == step.Final {
		return r.runStatesFinal(ctx, job)
	}
	s := &shuffle{job: job, limit: r.inboxMemory(), boxes: make([]box, game.Ranges(job.g)), free: r.inboxes}
	r.inboxes = nil
	defer func() {
		err = errors.Join(err, s.close())
		r.inboxes = s.free
	}()
	if job.Step == step.Create {
		step.NewPass(job.g, job.Step, job.Tier).MapStart(s.send)
	} else if stats.Messages, err = r.mapStates(ctx, job, s); err != nil {
		return stats, err
	}
	states, err := jobdir.OpenStates(job.FS, job.PreviousPass, job.g)
	if err != nil {
		return stats, err
	}
	defer states.Close()
	err = r.reduceStates(ctx, job, s, states, s.ranges(), &stats)
	return stats, err
}

// mapStates runs the map over the new positions of earlier passes, on all cores.
func (r *Runner) mapStates(ctx context.Context, job *jobOf[game.Cyclic], s *shuffle) (messages int64, err error) {
	input, err := jobdir.OpenNew(job.FS, job.Input, job.g)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	var sum atomic.Int64
	needs := r.passNeeds(job, input)
	var moves *lists.Moves
	if step.NeedsMoves(job.g, job.Step) {
		if moves, err = lists.OpenMoves(job.FS, job.PreviousPass, job.g); err != nil {
			return 0, err
		}
		defer moves.Close()
		needs.shared += moves.Files()*fileMemory + moves.Cells()*cellMemory
		needs.worker += moves.Memory()
	}
	plan, err := r.planPass(job.g, needs)
	if err != nil {
		return 0, err
	}
	err = parallel.Each(ctx, plan.workers, input.Len(), 1, func() func(int) error {
		p := step.NewPass(job.g, job.Step, job.Tier)
		if moves != nil {
			p.Moves = moves.Reader()
		}
		c := input.CursorOf(plan.window)
		var from block.State
		return func(i int) error {
			if err := c.Read(i, &from); err != nil {
				return err
			}
			p.Messages = 0
			if err := p.Map(input.Range(i), &from, s.send); err != nil {
				return err
			}
			sum.Add(p.Messages)
			return s.failed()
		}
	})
	if err == nil {
		job.Report(runner.Progress{Share: mapShare})
	}
	return sum.Load(), err
}

// passNeeds returns what the map or the reduce of a pass needs to read. A worker has the state
// that it reads, the fresh one, and the inbox of its range, and needs the same again for the
// sets of the step and those of the decoder.
func passNeeds(g game.Cyclic, codec jobdir.Codec) needs {
	state := stateMemory(g)
	return needs{worker: 6 * state, windows: 1, record: state, chunk: func(int) int {
		if codec == jobdir.Text {
			return 3*state + g.RangeSize()*lineMemory(g)/4*5
		}
		return 3 * state
	}}
}

// passNeeds returns the needs of a job, with a full shuffle.
func (r *Runner) passNeeds(job *jobOf[game.Cyclic], from *jobdir.StateFiles) needs {
	n := passNeeds(job.g, job.Codec)
	n.shared = r.inboxMemory() + int(game.Ranges(job.g))*boxMemory + from.Len()*placeMemory
	n.windows = len(from.Files())
	return n
}

// reduceStates updates the ranges that received messages, on all cores.
func (r *Runner) reduceStates(ctx context.Context, job *jobOf[game.Cyclic], s *shuffle, states *jobdir.StateFiles, ranges []uint64, stats *runner.Stats) error {
	needs := r.passNeeds(job, states)
	edges, most := new(outgoing), 0
	if step.StoresEdges(job.g, job.Step) {
		edges = newOutgoing(job.create, job.Reducers, job.g, lists.Predecessors, jobdir.Packed)
		most = min(max(r.memory()/outboxShare/runtime.GOMAXPROCS(0)/sentRowMemory, leastRows), mostRows)
		needs.worker += outboxMemory + most*sentRowMemory
	}
	plan, err := r.planPass(job.g, needs)
	if err != nil {
		return err
	}
	o := output[int, *jobdir.StateChunk]{job: job.Job, plan: plan, tasks: numbered(len(ranges)), before: mapShare,
		partition: func(i int) int { return job.partition(ranges[i] * uint64(job.g.RangeSize())) },
		create: func(number int) (shard[*jobdir.StateChunk], error) {
			return jobdir.NewStateWriter(job.create, number, job.g, job.Codec)
		},
		chunk: func() *jobdir.StateChunk { return jobdir.NewStateChunk(job.g, job.Codec) },
		count: func(c *jobdir.StateChunk) { stats.AddNew(c.New) },
	}
	o.worker = func() func(int, *jobdir.StateChunk) error {
		p := step.NewPass(job.g, job.Step, job.Tier)
		l := receiver{shuffle: s}
		cursor := states.CursorOf(plan.window)
		var state, fresh block.State
		var out *sender
		if most > 0 {
			out = edges.newSender(most)
			p.StoreEdge = out.SendEdge
		}
		return func(i int, chunk *jobdir.StateChunk) error {
			rng := ranges[i]
			if out != nil {
				if err := out.setPartition(o.partition(i)); err != nil {
					return err
				}
			}
			h, err := l.fetch(rng)
			if err != nil {
				return err
			}
			defer s.give(h)
			if err := cursor.Load(rng, &state); err != nil {
				return err
			}
			changed, err := p.Reduce(rng, &state, h, &fresh)
			if err != nil {
				return err
			}
			chunk.Reset()
			if changed {
				chunk.Add(rng, &state, &fresh)
			}
			return nil
		}
	}
	return edges.finish(o.run(ctx))
}
