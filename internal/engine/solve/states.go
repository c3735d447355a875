package solve

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// states solves a game with cycles, pass by pass. Work is measured in positions: one half is
// reaching them, the other half finding their values. The number of positions is known after
// the forward passes; the number of draws, whose value no pass finds, only at the end.
type states struct {
	*loop
	g     game.Cyclic
	index *jobdir.Index // of the last complete pass; nil before create
	told  bool          // the forward passes store the edges, which the retrograde passes read
}

func newStates(l *loop, g game.Cyclic) *states {
	l.work = 2 * float64(g.Positions())
	return &states{loop: l, g: g, told: !game.KnowsBackward(g)}
}

func (r *states) solve(ctx context.Context) error {
	if !r.sealed || r.KeepAll {
		r.measure()
		r.before = r.done
		for job := r.next(); job != nil; job = r.next() {
			if err := r.prune(); err != nil {
				return err
			}
			if err := r.job(ctx, job); err != nil {
				return err
			}
		}
	}
	if r.UntilTier >= 0 {
		r.count()
		return nil
	}
	if r.sealed {
		return nil
	}
	if err := r.prune(); err != nil {
		return err
	}
	if err := r.table(); err != nil {
		return fmt.Errorf("%s: %w", table.CyclicFile, err)
	}
	return nil
}

// count sets Result.Tiers to what the forward passes found, up to Options.UntilTier.
func (r *states) count() {
	for i, found := range r.index.Passes {
		if i <= r.UntilTier && step.IsForward(found.Step) {
			r.result.Tiers = append(r.result.Tiers, found.Total())
		}
	}
}

// stepOf returns the step of a pass, numberOf its number, which is 0 for create.
func stepOf(pass string) string { return strings.TrimRight(pass, "0123456789") }

func numberOf(pass string) int {
	n, err := strconv.Atoi(pass[len(stepOf(pass)):])
	if err != nil {
		return 0
	}
	return n
}

// passSteps lists the steps whose passes write directories, in execution order.
var passSteps = []string{step.Create, step.Mark, step.Solve, step.Ties}

// passDirs lists the directories of passes, in the order in which they are written.
func (r *states) passDirs() (dirs []string, err error) {
	entries, err := r.data.FS.ReadDir(r.data.Path)
	for _, e := range entries {
		if r.ours(e.Name()) {
			dirs = append(dirs, e.Name())
		}
	}
	slices.SortFunc(dirs, func(a, b string) int {
		if a, b := slices.Index(passSteps, stepOf(a)), slices.Index(passSteps, stepOf(b)); a != b {
			return a - b
		}
		return numberOf(a) - numberOf(b)
	})
	return dirs, err
}

// lookOver reads the index of the table, or of the last pass from which the run can continue.
func (r *states) lookOver(ctx context.Context) (err error) {
	switch {
	case r.sealed:
		r.index, err = jobdir.ReadIndex(r.data.FS, r.data.Dir(table.Dir), r.g)
	case r.data.Resumed:
		if err := r.damage[table.Dir]; errors.Is(err, store.ErrIncomplete) {
			r.warn("%v: made again", err)
		}
		err = r.find(ctx)
	}
	if err == nil && r.data.Resumed && r.KeepAll && !r.LateKeep && r.index != nil {
		err = r.findKept(ctx)
	}
	return err
}

// findKept looks for a damaged pass that --keep all keeps. It goes back to the pass before it,
// and deletes the later ones: each pass depends on those before it.
func (r *states) findKept(ctx context.Context) error {
	passes := r.index.Passes
	for i, found := range passes {
		err := r.mustBeWhole(ctx, found.Pass)
		if err == nil {
			continue
		}
		if !jobdir.Damaged(err) {
			return err
		}
		r.warn("%v: %s is run again, and the passes after it", err, found.Pass)
		r.index = nil
		if i > 0 {
			if r.index, err = jobdir.ReadIndex(r.data.FS, r.data.Dir(passes[i-1].Pass), r.g); err != nil {
				return err
			}
		}
		for _, later := range passes[i:] {
			if err := r.remove(later.Pass); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// find finds the last pass from which the run can continue. It deletes the passes after it,
// which are damaged or depend on damaged ones.
func (r *states) find(ctx context.Context) error {
	dirs, err := r.passDirs()
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		index, err := r.stands(ctx, dir)
		if err == nil {
			r.index = index
			return nil
		}
		if !jobdir.Damaged(err) {
			return err
		}
		delete(r.damage, dir)
		r.warn("%v: %s is run again", err, dir)
		if err := r.remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// stands checks everything that the passes after the given one will read: its index, the
// states of all ranges, the new positions, and the edges if they are stored. It returns the
// index.
func (r *states) stands(ctx context.Context, pass string) (*jobdir.Index, error) {
	if err := r.mustBeWhole(ctx, pass); err != nil {
		return nil, err
	}
	index, err := jobdir.ReadIndex(r.data.FS, r.data.Dir(pass), r.g)
	if err != nil {
		return nil, err
	}
	for _, dir := range append(index.Dirs(), (&states{loop: r.loop, g: r.g, index: index, told: r.told}).parts()...) {
		if err := r.mustBeWhole(ctx, dir); err != nil {
			return nil, err
		}
	}
	if r.told {
		moves, err := lists.OpenMoves(r.data.FS, r.data.Dir(pass), r.g)
		if err != nil {
			return nil, err
		}
		if err := moves.Close(); err != nil {
			return nil, err
		}
	}
	states, err := jobdir.OpenStates(r.data.FS, r.data.Dir(pass), r.g)
	if err != nil {
		return nil, err
	}
	return index, states.Close()
}

// mustBeWhole returns an error that describes what is wrong with a directory, nil if it is
// complete.
func (r *states) mustBeWhole(ctx context.Context, dir string) error {
	whole, err := r.whole(ctx, dir)
	if err != nil || whole {
		return err
	}
	if err := r.damage[dir]; err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", r.data.Dir(dir), store.ErrIncomplete)
}

func (r *states) canKeep(ctx context.Context) error {
	if r.index == nil {
		return nil
	}
	for _, found := range r.index.Passes {
		if err := r.canKeepDir(ctx, found.Pass, true); err != nil {
			return err
		}
	}
	return nil
}

// next returns the job of the pass that follows those of the index, or nil after the last pass
// or the last one requested.
func (r *states) next() *runner.Job {
	if r.index == nil {
		return &runner.Job{Name: step.Create, Step: step.Create, Tier: 1, Input: []string{r.data.Dir(seedFile)}}
	}
	last := r.index.Passes[len(r.index.Passes)-1]
	name, number := step.After(last.Step, last.Number, last.Total() > 0)
	var from []string // directories with new positions
	switch {
	case last.Total() > 0:
		from = []string{last.Pass}
	case name == step.Solve:
		from = r.finished(game.Loses, game.Wins)
	case name == step.Ties:
		if from = r.finished(game.Ties); from == nil {
			return nil
		}
	default:
		return nil
	}
	if r.UntilTier >= 0 && (name != step.Mark || number > r.UntilTier) {
		return nil
	}
	pass := &runner.Job{Name: name + strconv.Itoa(number), Step: name, Tier: number, States: r.data.Dir(last.Pass)}
	for _, dir := range from {
		pass.Input = append(pass.Input, r.data.Dir(dir))
	}
	return pass
}

// finished lists the forward passes that found terminal positions with one of these results.
func (r *states) finished(results ...game.Result) (passes []string) {
	for _, found := range r.index.Passes {
		n := int64(0)
		for _, result := range results {
			n += found.New[result]
		}
		if n > 0 && step.IsForward(found.Step) {
			passes = append(passes, found.Pass)
		}
	}
	return passes
}

// measure computes the work done by the passes of the index and, after the last forward pass,
// the total work.
func (r *states) measure() {
	if r.index == nil {
		return
	}
	r.done = 0
	for _, found := range r.index.Passes {
		r.done += float64(found.Total())
	}
	if last := r.index.Passes[len(r.index.Passes)-1]; last.Total() == 0 || !step.IsForward(last.Step) {
		r.work = 2 * float64(r.reached())
	}
}

// reached returns the number of positions that the forward passes have reached.
func (r *states) reached() (n int64) {
	for _, found := range r.index.Passes {
		if step.IsForward(found.Step) {
			n += found.Total()
		}
	}
	return n
}

// weight returns 0: the number of positions that a pass will find is not known.
func (r *states) weight(*runner.Job) float64 { return 0 }

// finish writes the index of a pass, then commits its directory.
func (r *states) finish(job *runner.Job, stats runner.Stats) error {
	if job.Step == step.Final { // it writes no states
		return r.commit(job, stats.Records)
	}
	written, err := jobdir.Written(r.data.FS, job.Output, r.g)
	if err != nil {
		return err
	}
	found := jobdir.Found{Pass: job.Name, Step: job.Step, Number: job.Tier, New: stats.New, Messages: stats.Messages}
	before := r.index
	if before == nil {
		before = &jobdir.Index{Game: r.g.Spec(), Runs: []jobdir.Run{{}}} // no range has any states
	}
	index := before.Next(game.Ranges(r.g), found, written)
	if err := index.Write(r.data.FS, job.Output); err != nil {
		return err
	}
	if err := r.commit(job, stats.Records); err != nil {
		return err
	}
	r.index = index
	r.measure()
	return nil
}

// prune deletes what no later job needs. It keeps a pass that has the newest states of some
// range. If only the new positions or the edges of a pass are still to be read, it deletes the
// states of the pass. It deletes all other passes completely.
func (r *states) prune() error {
	if r.KeepAll || r.index == nil {
		return nil
	}
	dirs, err := r.passDirs()
	if err != nil {
		return err
	}
	states, parts := r.index.Dirs(), r.parts()
	for _, dir := range dirs {
		switch {
		case slices.Contains(states, dir):
		case slices.Contains(parts, dir):
			err = jobdir.RemoveStates(r.data.FS, r.data.Dir(dir))
		default:
			err = r.remove(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parts returns the directories whose new positions, or edges, are still to be read: the last
// pass, whose index is also needed, and the forward passes that found terminal positions that
// have not been read. If edges are stored, it returns the last pass and all forward passes,
// because every retrograde pass reads the edges.
func (r *states) parts() []string {
	last := r.index.Passes[len(r.index.Passes)-1]
	parts := []string{last.Pass}
	switch {
	case r.told:
		for _, found := range r.index.Passes {
			if step.IsForward(found.Step) {
				parts = append(parts, found.Pass)
			}
		}
	case step.IsForward(last.Step):
		parts = append(parts, r.finished(game.Loses, game.Wins, game.Ties)...)
	case last.Step == step.Solve:
		parts = append(parts, r.finished(game.Ties)...)
	}
	return parts
}

// table writes the table from the states after the last pass.
func (r *states) table() error {
	last := r.index.Passes[len(r.index.Passes)-1].Pass
	states, err := jobdir.OpenStates(r.data.FS, r.data.Dir(last), r.g)
	if err != nil {
		return err
	}
	defer states.Close()
	attempt, err := r.data.Attempt(table.Dir)
	if err != nil {
		return err
	}
	out, err := r.data.FS.Create(filepath.Join(attempt, filepath.Base(table.CyclicFile)))
	if err != nil {
		return err
	}
	if err := table.WriteCyclic(out, r.g, states); err != nil {
		return err
	}
	index := &jobdir.Index{Game: r.g.Spec(), Passes: r.index.Passes, Runs: []jobdir.Run{{Dir: table.Dir}}}
	if err := index.Write(r.data.FS, attempt); err != nil {
		return err
	}
	files, err := jobdir.SealAll(r.data.FS, attempt)
	if err != nil {
		return err
	}
	if err := r.data.EnableSync(); err != nil {
		return err
	}
	return r.data.Commit(attempt, table.Dir, files)
}

func (r *states) final(job *runner.Job) {
	job.Tier, job.Input = 1, []string{r.data.Dir(table.CyclicFile)}
	r.result.Positions = uint64(r.reached())
}

func (r *states) ours(name string) bool {
	return slices.Contains(passSteps, stepOf(name)) && (numberOf(name) == 0) == (name == step.Create)
}
