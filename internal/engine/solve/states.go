package solve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// states solves a game with cycles, pass by pass. Work is measured in positions: one half is
// reaching them, the other half finding their values. The number of positions is known after
// the forward passes; the number of draws, whose value no pass finds, only at the end.
type states struct {
	run   *run
	g     game.Cyclic
	index *jobdir.Index   // the index of the last complete pass; nil before create
	edges bool            // the forward passes store the edges, which the retrograde passes read
	bare  map[string]bool // the directories whose states have been deleted, but not their edges
}

// passes returns the passes that have run.
func (s *states) passes() []jobdir.Found {
	if s.index == nil {
		return nil
	}
	return s.index.Passes
}

func (s *states) solve(ctx context.Context) error {
	if !s.run.tableComplete || s.run.KeepAll {
		s.measure()
		s.run.before = s.run.done
		for p := nextPass(s.passes(), s.run.UntilTier); p != nil; p = nextPass(s.passes(), s.run.UntilTier) {
			if err := s.prune(); err != nil {
				return err
			}
			if err := s.execute(ctx, p); err != nil {
				return err
			}
		}
	}
	if s.run.UntilTier >= 0 {
		s.count()
		return nil
	}
	return nil
}

// count sets Result.Tiers to what the forward passes found, up to Options.UntilTier.
func (s *states) count() {
	for i, found := range s.passes() {
		if i <= s.run.UntilTier && step.IsForward(found.Step) {
			s.run.result.Tiers = append(s.run.result.Tiers, found.Total())
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
func (s *states) passDirs() (dirs []string, err error) {
	entries, err := s.run.data.FS.ReadDir(s.run.data.Path)
	for _, e := range entries {
		if jobName.MatchString(e.Name()) && slices.Contains(passSteps, stepOf(e.Name())) {
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

// resume reads the index of the table, or of the last pass from which the run can continue.
func (s *states) resume(ctx context.Context) (err error) {
	switch {
	case s.run.tableComplete:
		s.index, err = jobdir.ReadIndex(s.run.data.FS, s.run.data.Dir(table.Dir), s.g)
	case s.run.data.Resumed:
		if err := s.run.damage[table.Dir]; errors.Is(err, store.ErrIncomplete) {
			s.run.notify(Damaged, table.Dir, "%v: made again", err)
		}
		err = s.find(ctx)
	}
	if err == nil && s.run.data.Resumed && s.run.KeepAll && !s.run.LateKeep {
		err = s.findKept(ctx)
	}
	return err
}

// findKept looks for a damaged pass that --keep all keeps. It goes back to the pass before it,
// and deletes the later ones: each pass depends on those before it.
func (s *states) findKept(ctx context.Context) error {
	passes := s.passes()
	for i, found := range passes {
		err := s.mustBeComplete(ctx, found.Pass)
		if err == nil {
			continue
		}
		if !jobdir.Damaged(err) {
			return err
		}
		s.run.notify(Damaged, found.Pass, "%v: %s is run again, and the passes after it", err, found.Pass)
		s.index = nil
		if i > 0 {
			if s.index, err = jobdir.ReadIndex(s.run.data.FS, s.run.data.Dir(passes[i-1].Pass), s.g); err != nil {
				return err
			}
		}
		for _, later := range passes[i:] {
			if err := s.run.remove(later.Pass); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// find finds the last pass from which the run can continue. It deletes the passes after it,
// which are damaged or depend on damaged ones.
func (s *states) find(ctx context.Context) error {
	dirs, err := s.passDirs()
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		index, err := s.check(ctx, dir)
		if err == nil {
			s.index = index
			return nil
		}
		if !jobdir.Damaged(err) {
			return err
		}
		delete(s.run.damage, dir)
		s.run.notify(Damaged, dir, "%v: %s is run again", err, dir)
		if err := s.run.remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// check checks everything that the passes after the given one will read: its index, the
// states of all ranges, the new positions, and the edges if they are stored. It returns the
// index.
func (s *states) check(ctx context.Context, pass string) (*jobdir.Index, error) {
	if err := s.mustBeComplete(ctx, pass); err != nil {
		return nil, err
	}
	index, err := jobdir.ReadIndex(s.run.data.FS, s.run.data.Dir(pass), s.g)
	if err != nil {
		return nil, err
	}
	for _, dir := range append(index.Dirs(), stillRead(index.Passes, s.edges)...) {
		if err := s.mustBeComplete(ctx, dir); err != nil {
			return nil, err
		}
	}
	if s.edges {
		moves, err := layers.OpenMoves(s.run.data.FS, s.run.data.Dir(pass), s.g)
		if err != nil {
			return nil, err
		}
		if err := moves.Close(); err != nil {
			return nil, err
		}
	}
	states, err := jobdir.OpenStates(s.run.data.FS, s.run.data.Dir(pass), s.g)
	if err != nil {
		return nil, err
	}
	return index, states.Close()
}

// mustBeComplete returns an error that describes what is wrong with a directory, nil if it is
// complete.
func (s *states) mustBeComplete(ctx context.Context, dir string) error {
	complete, err := s.run.complete(ctx, dir)
	if err != nil || complete {
		return err
	}
	if err := s.run.damage[dir]; err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", s.run.data.Dir(dir), store.ErrIncomplete)
}

func (s *states) canKeep(ctx context.Context) error {
	for _, found := range s.passes() {
		if err := s.run.canKeepDir(ctx, found.Pass, true); err != nil {
			return err
		}
	}
	return nil
}

// measure computes the work done by the passes of the index and, after the last forward pass,
// the total work.
func (s *states) measure() {
	s.run.done = 0
	for _, found := range s.passes() {
		s.run.done += float64(found.Total())
	}
	if s.index == nil {
		return
	}
	if last := s.last(); last.Total() == 0 || !step.IsForward(last.Step) {
		s.run.work = 2 * float64(s.reached())
	}
}

// last returns the last pass that has run.
func (s *states) last() jobdir.Found { return s.index.Passes[len(s.index.Passes)-1] }

// reached returns the number of positions that the forward passes have reached.
func (s *states) reached() (n int64) {
	for _, found := range s.passes() {
		if step.IsForward(found.Step) {
			n += found.Total()
		}
	}
	return n
}

// execute runs a pass.
func (s *states) execute(ctx context.Context, p *pass) error {
	job := &runner.Job{Name: p.name(), Step: p.step, Tier: p.number}
	if p.step != step.Create {
		job.PreviousPass = s.run.data.Dir(s.last().Pass)
	}
	for _, dir := range p.from {
		job.Input = append(job.Input, s.run.data.Dir(dir))
	}
	// The weight of a pass is 0, because the number of positions that it will find is not known.
	return s.run.execute(ctx, job, 0, func(stats runner.Stats) error { return s.commit(job, stats) })
}

// commit writes the index of a pass, then commits its directory.
func (s *states) commit(job *runner.Job, stats runner.Stats) error {
	index, err := s.index.WriteNext(s.run.data.FS, job.Output, s.g, job.Found(stats))
	if err != nil {
		return err
	}
	if err := s.run.commit(job, stats.Records); err != nil {
		return err
	}
	s.index = index
	s.measure()
	return nil
}

// prune deletes what no later job needs. It keeps a pass that has the newest states of some
// range. If only the new positions or the edges of a pass are still to be read, it deletes the
// states of the pass. It deletes all other passes completely.
func (s *states) prune() error {
	if s.run.KeepAll || s.index == nil {
		return nil
	}
	dirs, err := s.passDirs()
	if err != nil {
		return err
	}
	states, read := s.index.Dirs(), stillRead(s.passes(), s.edges)
	for _, dir := range dirs {
		switch {
		case slices.Contains(states, dir):
		case s.bare[dir]:
		case slices.Contains(read, dir):
			err = jobdir.RemoveStates(s.run.data.FS, s.run.data.Dir(dir))
			s.bare[dir] = true
		default:
			err = s.run.remove(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *states) positions() uint64 { return uint64(s.reached()) }

func (s *states) final(job *runner.Job) {
	job.Tier = 1
}
