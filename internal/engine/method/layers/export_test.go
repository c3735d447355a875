package layers

import (
	"context"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
)

// CompareRows exports compareRows.
var CompareRows = compareRows

// SortRows exports sorter.sort.
func SortRows(rows []Row) { new(sorter).sort(rows) }

// Merge exports merge.
var Merge = merge

// Outer exports State.outer.
var Outer = State.outer

// A Small is a runner that works on intervals, and with outboxes, of few rows.
type Small struct{ Rows, Box int }

// Run runs a job.
func (s Small) Run(ctx context.Context, of *runner.Job) (runner.Stats, error) {
	j, err := inline.NewJob(of)
	if err != nil {
		return runner.Stats{}, err
	}
	return inline.Run(ctx, j, smallWork{&inlineWork{Job: j, inlineRunner: &inlineRunner{m: of.Method.(*Method)}}, s})
}

type smallWork struct {
	*inlineWork
	small Small
}

func (w smallWork) Open(ctx context.Context) error {
	err := w.inlineWork.Open(ctx)
	w.outbox = w.small.Box
	w.set(cutAt(w.Firsts, w.small.Rows, append(w.received, w.stored.absorbed...)...))
	return err
}
