package inline

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
)

// mapShare is about what share of the time of a pass its map takes.
const mapShare = 0.5

// RunPass runs a pass over a game with cycles: all maps, then all reduces.
func (r *Runner) RunPass(ctx context.Context, pass *runner.Pass) (stats runner.PassStats, err error) {
	if pass.Step == step.Final {
		return r.runCyclicFinal(ctx, pass)
	}
	s := newShuffle(pass, r.memory()/4)
	s.free, r.heard = r.heard, nil
	defer func() {
		err = errors.Join(err, s.close())
		r.heard = s.free
	}()
	var ranges []uint64
	if pass.Step == step.Create {
		for rng := range game.Ranges(pass.Game) {
			ranges = append(ranges, rng)
		}
	} else {
		if stats.Messages, err = r.mapPass(ctx, pass, s); err != nil {
			return stats, err
		}
		ranges = s.ranges()
	}
	states, err := jobdir.OpenStates(pass.FS, pass.States, pass.Game)
	if err != nil {
		return stats, err
	}
	defer states.Close()
	err = r.reducePass(ctx, pass, s, states, ranges, &stats)
	return stats, err
}

// mapPass runs the map over the positions that were new, on all cores.
func (r *Runner) mapPass(ctx context.Context, pass *runner.Pass, s *shuffle) (messages int64, err error) {
	input, err := jobdir.OpenNew(pass.FS, pass.Input, pass.Game)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	var next, sum atomic.Int64
	var all sync.WaitGroup
	plan := r.plan(r.passNeeds(pass, input))
	for range max(1, min(plan.workers, input.Len())) {
		all.Go(func() {
			p := step.NewPass(pass.Game, pass.Step, pass.Number)
			c := input.CursorOf(plan.window)
			var from block.State
			for ctx.Err() == nil && s.failed() == nil {
				i := int(next.Add(1)) - 1
				if i >= input.Len() {
					break
				}
				if err := c.Read(i, &from); err != nil {
					s.fail(err)
					break
				}
				p.Map(input.Range(i), &from, s.say)
			}
			sum.Add(p.Messages)
		})
	}
	all.Wait()
	if err := s.failed(); err != nil {
		return 0, err
	}
	pass.Report(runner.Progress{Share: mapShare})
	return sum.Load(), context.Cause(ctx)
}

// passNeeds are what a map needs of what it reads, or a reduce: the shuffle as full
// as it gets, and for a worker the state that it reads, the fresh one and what its
// range heard, with as much for the sets of the step and those of the decoder.
func (r *Runner) passNeeds(pass *runner.Pass, from *jobdir.States) needs {
	g := pass.Game
	state := stateMemory(g)
	n := needs{worker: 6 * state, record: state, chunk: func(int) int {
		if pass.Codec == jobdir.Text {
			return 3*state + g.RangeSize()*lineMemory(g)/4*5
		}
		return 3 * state
	}}
	n.shared = r.memory()/4 + int(game.Ranges(g))*boxMemory
	n.windows = len(from.Files())
	n.shared += from.Len() * placeMemory
	return n
}

// reducePass brings the ranges that heard something up to it, on all cores.
func (r *Runner) reducePass(ctx context.Context, pass *runner.Pass, s *shuffle, states *jobdir.States, ranges []uint64, stats *runner.PassStats) error {
	parts := parts[*jobdir.StateWriter]{create: func(n int) (*jobdir.StateWriter, error) {
		return jobdir.NewStateWriter(pass.FS, pass.Output, n, pass.Game, pass.Codec)
	}}
	plan := r.plan(r.passNeeds(pass, states))
	err := inOrder(ctx, len(ranges), plan,
		func() *jobdir.StateChunk { return jobdir.NewStateChunk(pass.Game, pass.Codec) },
		func() func(int, *jobdir.StateChunk) error {
			p := step.NewPass(pass.Game, pass.Step, pass.Number)
			l := listener{shuffle: s}
			cursor := states.CursorOf(plan.window)
			var state, fresh block.State
			return func(i int, out *jobdir.StateChunk) error {
				rng := ranges[i]
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
				out.Reset()
				if changed {
					out.Add(rng, &state, &fresh)
				}
				return nil
			}
		},
		func(i int, chunk *jobdir.StateChunk) error {
			part, err := parts.upTo(pass.Part(ranges[i]))
			if err != nil {
				return err
			}
			if err := part.Append(chunk); err != nil {
				return err
			}
			stats.Add(chunk.New)
			pass.Report(runner.Progress{Share: mapShare + (1-mapShare)*float64(i+1)/float64(len(ranges))})
			return nil
		})
	return parts.finish(pass.Reducers, err)
}
