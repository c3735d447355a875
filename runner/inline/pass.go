package inline

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/treereduce/treereduce/block"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/rangeio"
	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/step"
)

// defaultMemory is Runner.Memory where it is 0.
const defaultMemory = 512 << 20

// mapShare is about what share of the time of a pass its map takes.
const mapShare = 0.5

// RunPass runs a pass over a game with cycles: all maps, then all reduces.
func (r *Runner) RunPass(ctx context.Context, pass *runner.Pass) (stats runner.PassStats, err error) {
	if pass.Step == step.Final {
		return runCyclicFinal(ctx, pass)
	}
	limit := r.Memory
	if limit == 0 {
		limit = defaultMemory
	}
	s := newShuffle(pass, limit)
	defer func() { err = errors.Join(err, s.close()) }()
	var states *rangeio.Positions
	var ranges []uint64
	if pass.Step == step.Create {
		for rng := range game.Ranges(pass.Game) {
			ranges = append(ranges, rng)
		}
	} else {
		if stats.Messages, err = mapPass(ctx, pass, s); err != nil {
			return stats, err
		}
		ranges = s.ranges()
		if states, err = rangeio.OpenStates(pass.FS, pass.States, pass.Game); err != nil {
			return stats, err
		}
		defer states.Close()
	}
	err = reducePass(ctx, pass, s, states, ranges, &stats)
	return stats, err
}

// mapPass runs the map over the positions that were new, on all cores.
func mapPass(ctx context.Context, pass *runner.Pass, s *shuffle) (messages int64, err error) {
	input, err := rangeio.Open(pass.FS, pass.Input, pass.Game)
	if err != nil {
		return 0, err
	}
	defer input.Close()
	var next, sum atomic.Int64
	var all sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), input.Len())) {
		all.Go(func() {
			p := step.NewPass(pass.Game, pass.Step, pass.Number)
			c := input.Cursor()
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

// reducePass brings the ranges that heard something up to it, on all cores.
func reducePass(ctx context.Context, pass *runner.Pass, s *shuffle, states *rangeio.Positions, ranges []uint64, stats *runner.PassStats) error {
	parts := parts[*rangeio.Writer]{create: func(n int) (*rangeio.Writer, error) {
		return rangeio.NewWriter(pass.FS, pass.Output, n, pass.Game, pass.Codec)
	}}
	err := inOrder(ctx, len(ranges),
		func() *rangeio.Chunk { return rangeio.NewChunk(pass.Game, pass.Codec) },
		func() func(int, *rangeio.Chunk) error {
			p := step.NewPass(pass.Game, pass.Step, pass.Number)
			l := listener{shuffle: s}
			var cursor *rangeio.Cursor
			if states != nil {
				cursor = states.Cursor()
			}
			var state, fresh block.State
			return func(i int, out *rangeio.Chunk) error {
				rng := ranges[i]
				h, err := l.fetch(rng)
				if err != nil {
					return err
				}
				defer s.give(h)
				if cursor == nil {
					state.Reset(game.RangeLen(pass.Game, rng))
				} else if err := cursor.Read(int(rng), &state); err != nil {
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
		func(i int, chunk *rangeio.Chunk) error {
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
