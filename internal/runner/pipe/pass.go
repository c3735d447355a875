package pipe

import (
	"context"
	"io"
	"path/filepath"
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// RunPass runs a pass over a game with cycles. The reducers write the states of
// their ranges themselves.
func (r *Runner) RunPass(ctx context.Context, pass *runner.Pass) (stats runner.PassStats, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	splits, done, err := passSplits(pass)
	if err != nil {
		return stats, err
	}
	defer done()
	p := &pipeline{Runner: r, budget: Divide(pass.Game, r.Memory, pass.Reducers), Work: &pass.Work, ctx: ctx, cancel: cancel,
		properties: step.PassProperties(pass.Game, pass.Number, pass.States), keyWidth: streamfmt.KeyWidth(pass.Game.KeyBits())}
	for i := 1; i < pass.Reducers; i++ {
		first := step.CyclicBorder(pass.Game, i, pass.Reducers) * uint64(pass.Game.RangeSize())
		p.borders = append(p.borders, streamfmt.AppendKey(nil, first, p.keyWidth))
	}
	p.create = func(i int) (io.WriteCloser, error) {
		return pass.FS.Create(filepath.Join(pass.Output, jobdir.PartName(i, pass.Codec)))
	}
	p.write = func(out io.Reader, f io.WriteCloser, source string) error {
		if pass.Codec == jobdir.Text {
			return copyText(out, f)
		}
		w := jobdir.NewRangeWriter(f, pass.Game, pass.Codec)
		return w.Finish(w.AppendLines(out, source))
	}
	err = p.run(splits)
	stats.Records, stats.Finished = p.reduced[step.RecordsOut], p.reduced[step.RecordsDone]
	stats.Messages = p.mapped[step.MessagesSaid]
	for result := range stats.New {
		stats.New[result] = p.reduced[step.NewRecords(game.Result(result))]
	}
	return stats, err
}

// passSplits cuts the input of a pass into splits; done closes what they read.
func passSplits(pass *runner.Pass) (ss []split, done func(), err error) {
	var open []*jobdir.States
	done = func() {
		for _, p := range open {
			p.Close()
		}
	}
	if pass.Step == step.Create {
		return []split{fileSplit(pass.FS, pass.Input[0])}, done, nil
	}
	for _, dir := range pass.Input {
		parts, err := jobdir.Parts(pass.FS, dir, pass.Game.Spec())
		if err != nil {
			done()
			return nil, nil, err
		}
		for _, part := range parts {
			if jobdir.IsText(part) {
				ss = append(ss, fileSplit(pass.FS, part))
				continue
			}
			t, err := jobdir.OpenStateFile(pass.FS, part, pass.Game)
			if err != nil {
				done()
				return nil, nil, err
			}
			open = append(open, t)
			shares := max(1, min(t.Len(), runtime.GOMAXPROCS(0)/len(parts)))
			for i := range shares {
				ss = append(ss, split{part, func(w io.Writer) error {
					return t.WriteLines(w, i*t.Len()/shares, (i+1)*t.Len()/shares)
				}})
			}
		}
	}
	return ss, done, nil
}
