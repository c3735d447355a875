package solve

import (
	"cmp"
	"context"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/table"
)

// tiers solves a game tier by tier: a forward pass to the last tier, then a retrograde pass.
type tiers struct {
	run     *run
	g       game.Game
	table   *tierTable
	records records
}

// records is the part of the method that depends on the record format: blocks or layers. It
// decides what a job reads and which directories can be deleted.
type records interface {
	// weight returns a job's part of the work of the run.
	weight(step string, tier int) float64
	// toRun returns, by tier, which jobs of data_first and data_second must run. The forward
	// pass ends with the tier until. It deletes the existing directories of these jobs.
	toRun(ctx context.Context, until int) (first, second []bool, err error)
	// setPossible sets the input of the possible job of a tier after 0. forwardDone is called
	// when a tier's data_first exists or is not needed; it deletes what no later job needs.
	setPossible(ctx context.Context, job *runner.Job) error
	forwardDone(ctx context.Context, tier int) error
	// setSolve sets the input of the solve job of a tier.
	setSolve(ctx context.Context, job *runner.Job) error
	// clean deletes what no job needs once a tier is in the table.
	clean(tier int) error
	// positions returns the number of positions of a tier that is not in the table.
	positions(ctx context.Context, tier int) (int64, error)
}

func first(tier int) string  { return fmt.Sprintf("data_first%d", tier) }
func second(tier int) string { return fmt.Sprintf("data_second%d", tier) }

// eachDir calls do for each directory that the jobs of a tier write. do returns the numbers of the stages to which the
// directory of a pass sends.
func eachDir(g game.Game, tier int, do func(name string) (receivers []int, err error)) error {
	if game.MethodOf(g).Layers != nil && game.Loops(g, tier) {
		for _, forward := range []bool{true, false} {
			if err := eachPass(tier, forward, func(name string, _ layers.Stage) ([]int, error) { return do(name) }); err != nil {
				return err
			}
		}
		_, err := do(second(tier))
		return err
	}
	_, err := do(first(tier))
	if game.MethodOf(g).Blocks == nil || tier < game.LastTier(g) {
		if err == nil {
			_, err = do(second(tier))
		}
	}
	return err
}

func newTiers(r *run, g game.Game, t *tierTable, by records) *tiers {
	for range t.tabled {
		r.result.Tiers = append(r.result.Tiers, -1)
	}
	return &tiers{run: r, g: g, table: t, records: by}
}

func (t *tiers) resume(ctx context.Context) error { return t.table.resume(ctx) }

func (t *tiers) canKeep(ctx context.Context) error {
	for tier := range t.run.last + 1 {
		_, solved := t.table.positions(tier)
		err := eachDir(t.g, tier, func(dir string) ([]int, error) {
			seal, err := t.run.canKeepDir(ctx, dir, solved)
			if err != nil || seal == nil {
				return nil, err
			}
			return receiversIn(t.run.data.FS, t.run.data.Dir(dir), t.g)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tiers) solve(ctx context.Context) error {
	until, stop := t.run.last, t.run.UntilTier >= 0
	if stop {
		until = min(until, t.run.UntilTier)
	}
	first, second, err := t.records.toRun(ctx, until)
	if err != nil {
		return err
	}
	if err := t.forward(ctx, until, first); err != nil {
		return err
	}
	if stop {
		return t.count(ctx, until)
	}
	return t.backward(ctx, second)
}

// forward runs InitFirst and PossibleMoves for the given tiers.
func (t *tiers) forward(ctx context.Context, until int, run []bool) error {
	for tier := range t.run.last + 1 {
		if !run[tier] {
			t.run.skip(t.records.weight(step.Possible, tier))
		} else if err := t.possible(ctx, tier); err != nil {
			return err
		}
		if tier <= until {
			if err := t.records.forwardDone(ctx, tier); err != nil {
				return err
			}
		}
	}
	return nil
}

// possible runs PossibleMoves for a tier, or InitFirst for tier 0.
func (t *tiers) possible(ctx context.Context, tier int) error {
	job := &runner.Job{Name: first(tier), Step: step.Possible, Tier: tier, Parts: true}
	if b, blocks := t.records.(*byBlocks); blocks && tier == t.run.last {
		job.Table = b.wants(tier)
	}
	if b, layered := t.records.(*byLayers); layered && game.Loops(t.g, tier) {
		return b.forward(ctx, job)
	}
	if tier == 0 {
		job.Step = step.Init
	} else if err := t.records.setPossible(ctx, job); err != nil {
		return err
	}
	return t.run.execute(ctx, job, t.records.weight(step.Possible, tier), func(stats runner.Stats) error {
		t.run.result.Tiers[tier] = cmp.Or(stats.Positions, stats.Records)
		return t.commit(ctx, job, stats.Records)
	})
}

// commit puts the shards that a job has written for the table there, and commits its directory: if that is complete, so
// is the tier of the table.
func (t *tiers) commit(ctx context.Context, job *runner.Job, records int64) error {
	size, err := t.table.take(ctx, job, records)
	if err != nil {
		return err
	}
	err = t.run.commit(job, records)
	t.run.size += size
	return err
}

// count sets Result.Tiers for the tiers that earlier runs made.
func (t *tiers) count(ctx context.Context, until int) (err error) {
	counts := t.run.result.Tiers
	for tier := range until + 1 {
		if counts[tier] >= 0 {
			continue
		}
		if n, solved := t.table.positions(tier); solved {
			counts[tier] = int64(n)
		} else if counts[tier], err = t.records.positions(ctx, tier); err != nil {
			return err
		}
	}
	return nil
}

// backward runs SolveMoves for the given tiers, from the last to the first.
func (t *tiers) backward(ctx context.Context, run []bool) error {
	for tier := t.run.last; tier >= 0; tier-- {
		if !run[tier] {
			t.run.skip(t.records.weight(step.Solve, tier))
		} else if err := t.solveTier(ctx, tier); err != nil {
			return err
		}
		if t.run.KeepAll {
			continue
		}
		if err := t.records.clean(tier); err != nil {
			return err
		}
	}
	if t.run.tableComplete {
		return nil
	}
	return t.table.complete()
}

// solveTier runs SolveMoves for a tier.
func (t *tiers) solveTier(ctx context.Context, tier int) error {
	job := &runner.Job{Name: second(tier), Step: step.Solve, Tier: tier, Predecessors: t.run.data.Dir(first(tier)), Table: !t.table.tabled[tier], Parts: t.run.KeepAll}
	if err := t.records.setSolve(ctx, job); err != nil {
		return err
	}
	return t.run.execute(ctx, job, t.records.weight(job.Step, tier), func(stats runner.Stats) error {
		return t.commit(ctx, job, stats.Records)
	})
}

func (t *tiers) positions() (all uint64) {
	for tier := range t.run.last + 1 {
		n, _ := t.table.positions(tier)
		all += n
	}
	return all
}

// final reads the files of the table.
func (t *tiers) final(job *runner.Job) {
	job.Tier = t.run.last
	most := uint64(0)
	for tier := range t.run.last + 1 {
		name := t.run.data.Dir(table.TierFile(t.g, tier))
		if tier > 0 || game.Listed(t.g, t.g.Start()) {
			job.Input = append(job.Input, name)
		}
		if n, _ := t.table.positions(tier); n > most {
			most, job.BordersFrom = n, name
		}
	}
}
