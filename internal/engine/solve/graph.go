package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// The jobs of a game are a graph: each has a directory, and reads directories of others. It is the same for both methods.
// A job that has run puts its tier into the table if it gives all positions values, and commits its directory. What no
// missing job reads is deleted. A resumed run looks up which directories are complete, and runs the jobs that are
// missing and wanted.

// A planner is what differs between blocks and layers: what a job reads, and how much work it is.
type planner interface {
	// weight returns a job's part of the work of the run. weigh is called before the retrograde pass.
	weight(step string, tier int) float64
	weigh(ctx context.Context) error
	// readers returns the tiers from first to end-1, whose jobs may read the directory of a tier.
	readers(forward bool, tier int) (first, end int)
	// open completes the description of a directory, of which name and seal are set.
	open(d *dir, forward bool) error
	// next returns the next job of a chain, with its input; nil: there is none.
	next(ctx context.Context, c *chain) (*runner.Job, error)
	// positions returns the number of positions of a tier that is not in the table.
	positions(o *output) (int64, error)
}

func first(tier int) string  { return fmt.Sprintf("data_first%d", tier) }
func second(tier int) string { return fmt.Sprintf("data_second%d", tier) }

// valued returns the name of the directory of the job that gives the positions of a tier values. By blocks, those of the
// last tier are all terminal.
func valued(m runner.Method, tier int) string {
	if m.ValuedFirst(tier) {
		return first(tier)
	}
	return second(tier)
}

// eachDir calls do for each directory that the jobs of a tier write in one direction. do returns the numbers of the stages
// to which the directory sends.
func eachDir(m runner.Method, tier int, forward bool, do func(name string, at step.Stage) (receivers []int, err error)) error {
	name := first(tier)
	switch loops := game.Loops(m.Game(), tier); {
	case loops && forward:
		return eachPass(tier, true, do)
	case loops:
		if err := eachPass(tier, false, do); err != nil {
			return err
		}
		fallthrough
	case !forward:
		name = valued(m, tier)
	}
	_, err := do(name, step.At(tier, 0))
	return err
}

// jobName matches the directories of all jobs but the last: those of tiers and of passes, also of earlier formats.
var jobName = regexp.MustCompile(`^(create|(data_first|data_second|mark|solve|ties)[0-9]+(\.t?[0-9]+)?)$`)

// IsRunArtifact reports whether a name in a data directory is one that runs use there, apart
// from the manifest and the names that begin with "_".
func IsRunArtifact(name string) bool {
	return jobName.MatchString(name) || slices.Contains([]string{table.Dir, FinalDir, store.JournalFile, store.SeedFile}, name)
}

// A dir is a complete directory of a job.
type dir struct {
	name      string
	stage     step.Stage
	seal      *store.Seal
	receivers []int         // the stages that read its messages, or by blocks its parts
	shards    bool          // whether it has parts: positions, or their values
	dropped   bool          // whether what the receivers read has been deleted
	box       runner.Sender // its messages, by layers; nil if dropped
}

// sendsTo reports whether a directory had messages for a stage.
func (d *dir) sendsTo(to step.Stage) bool {
	_, found := slices.BinarySearch(d.receivers, int(to))
	return found
}

// drop deletes the files that goes selects, if they are large enough.
func (d *dir) drop(r *run, goes func(file string) bool) (dropped bool, err error) {
	var bytes int64
	for _, f := range d.seal.Files {
		if goes(f.Name) {
			bytes += f.Length
		}
	}
	if bytes < cmp.Or(r.MinDrop, minDrop) {
		return false, nil
	}
	d.seal.Receivers = d.receivers
	return true, d.seal.Drop(r.data.FS, r.data.Dir(d.name), goes)
}

// minDrop is the default of Options.MinDrop: writing the seal again costs as much as writing
// about this many bytes.
const minDrop = 256 << 10

// An output is the complete directories of a tier in one direction: one, or one for each forward pass over a tier with
// inner moves. If there are none, it describes what may have been there.
type output struct {
	passes    []*dir
	shards    bool  // whether it has its shards: positions, or their values
	receivers []int // the tiers that its messages are for, ascending
	dropped   bool  // whether its messages have been deleted
}

// mustRun reports whether the job of a directory must run: because its shards are wanted and missing, or because a job
// that runs needs messages from it that have been deleted. The slice reports, by tier, which of the jobs that may
// receive messages run.
func (o *output) mustRun(wanted bool, runs []bool) bool {
	receives := func(tier int) bool { return 0 <= tier && tier < len(runs) && runs[tier] }
	return wanted && !o.shards || o.dropped && slices.ContainsFunc(o.receivers, receives)
}

// outputs are the directories of one direction.
type outputs struct {
	run     *run
	forward bool
	of      []*output // by tier; nil if not complete or not checked yet
}

// directory returns the name of the directory of the last job of a tier; forward, of the first.
func (s *outputs) directory(tier int) string {
	if s.forward {
		return first(tier)
	}
	return valued(s.run.method, tier)
}

// open opens a complete directory; nil: it is not complete.
func (s *outputs) open(ctx context.Context, name string, at step.Stage) (*dir, error) {
	seal, err := s.run.sealOf(ctx, name)
	if err != nil || seal == nil {
		return nil, err
	}
	d := &dir{name: name, stage: at, seal: seal, receivers: seal.Receivers, shards: slices.ContainsFunc(seal.Files, isPart)}
	if err := s.run.by.open(d, s.forward); err != nil {
		return nil, err
	}
	return d, nil
}

func isPart(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.PartPrefix) }

// get returns the complete directories of a tier; nil: they are not complete.
func (s *outputs) get(ctx context.Context, tier int) (*output, error) {
	if o := s.of[tier]; o != nil {
		return o, nil
	}
	passes, err := s.chain(ctx, tier)
	if err != nil || passes == nil {
		return nil, err
	}
	o := &output{passes: passes}
	for _, d := range passes {
		o.shards = o.shards || d.shards
		for _, to := range d.receivers {
			if to := step.Stage(to); to.Pass() == 0 {
				o.receivers = append(o.receivers, to.Tier())
				o.dropped = o.dropped || d.dropped
			}
		}
	}
	slices.Sort(o.receivers)
	o.receivers = slices.Compact(o.receivers)
	s.of[tier] = o
	return o, nil
}

// look is get, but describes what is missing.
func (s *outputs) look(ctx context.Context, tier int) (*output, error) {
	o, err := s.get(ctx, tier)
	if o != nil || err != nil {
		return o, err
	}
	o = &output{dropped: true}
	for first, end := s.run.by.readers(s.forward, tier); first < end; first++ {
		o.receivers = append(o.receivers, first)
	}
	return o, nil
}

// errLacking is returned for a directory that is not complete.
var errLacking = errors.New("a directory is not complete")

// chain returns the directories of the job of a tier and, forward, of the passes after it; nil: one is not complete. If
// all are kept, the retrograde passes must be complete, too.
func (s *outputs) chain(ctx context.Context, tier int) (passes []*dir, err error) {
	open := func(name string, at step.Stage) ([]int, error) {
		d, err := s.open(ctx, name, at)
		if d == nil {
			return nil, cmp.Or(err, errLacking)
		}
		passes = append(passes, d)
		return d.receivers, err
	}
	if s.forward || s.run.KeepAll {
		err = eachDir(s.run.method, tier, s.forward, open)
	} else {
		_, err = open(s.directory(tier), step.At(tier, 0))
	}
	switch {
	case err == errLacking:
		return nil, nil
	case err == nil && !s.forward:
		passes = passes[len(passes)-1:]
	}
	return passes, err
}

// remove deletes the directories of a tier.
func (s *outputs) remove(tier int) error {
	o := s.of[tier]
	if s.of[tier] = nil; o == nil {
		return s.run.remove(s.directory(tier))
	}
	var err error
	for _, d := range slices.Backward(o.passes) {
		err = errors.Join(err, s.run.remove(d.name))
	}
	return err
}

// forget makes the jobs of a tier run again: the last one replaces its directory, but passes would continue after those
// that are there.
func (s *outputs) forget(tier int) error {
	if s.of[tier] != nil && game.Loops(s.run.g, tier) {
		return s.remove(tier)
	}
	s.of[tier] = nil
	return nil
}

// drop deletes the files of the directories of a tier whose names begin with prefix, where they are large
// enough. They include what the receivers read.
func (s *outputs) drop(tier int, prefix string) error {
	o := s.of[tier]
	for _, d := range o.passes {
		dropped, err := d.drop(s.run, func(file string) bool { return strings.HasPrefix(file, prefix) })
		if err != nil {
			return err
		}
		if dropped {
			o.dropped, d.dropped, d.box = true, true, nil
		}
	}
	return nil
}

// prune deletes what no missing job reads once the jobs of a tier in one direction are done: forward, messages; then
// positions, passes, and what the jobs of earlier tiers have read.
func (r *run) prune(ctx context.Context, forward bool, tier int) error {
	if r.KeepAll {
		return nil
	}
	if forward {
		for from, o := range r.firsts.of[:tier+1] {
			if o == nil || o.dropped || len(o.receivers) == 0 && len(o.passes) == 1 || len(o.receivers) > 0 && o.receivers[len(o.receivers)-1] > tier {
				continue
			}
			if err := r.firsts.drop(from, store.OutboxPrefix); err != nil {
				return err
			}
		}
		return nil
	}
	if valued(r.method, tier) != first(tier) {
		if err := r.firsts.remove(tier); err != nil {
			return err
		}
	}
	if game.Loops(r.g, tier) {
		if err := r.removePasses(&r.seconds, tier); err != nil {
			return err
		}
	}
	if _, err := r.seconds.get(ctx, tier); err != nil {
		return err
	}
	for from := tier; from <= r.last; from++ {
		o := r.seconds.of[from]
		if o == nil || len(o.passes[0].seal.Files) == 0 || len(o.receivers) > 0 && o.receivers[0] < tier {
			continue
		}
		if err := r.seconds.drop(from, ""); err != nil {
			return err
		}
	}
	return nil
}

// plan returns, by tier, which jobs must run: those of tiers that are not in the table, those of which all directories are
// kept, and those whose output a job that runs needs, or may need, if it is missing.
func (r *run) plan(ctx context.Context, until int) (firsts, seconds []bool, err error) {
	firsts, seconds = make([]bool, r.last+1), make([]bool, r.last+1)
	stop := r.UntilTier >= 0
	for tier := 0; tier <= r.last && !stop; tier++ {
		o, err := r.seconds.look(ctx, tier)
		if err != nil {
			return nil, nil, err
		}
		_, tabled := r.tabled(tier)
		seconds[tier] = o.mustRun(r.KeepAll, seconds) || !tabled
	}
	for tier := until; tier >= 0; tier-- {
		o, err := r.firsts.look(ctx, tier)
		if err != nil {
			return nil, nil, err
		}
		_, tabled := r.tabled(tier)
		firsts[tier] = o.mustRun(r.KeepAll || seconds[tier] || stop && !tabled, firsts)
	}
	if valued(r.method, r.last) == first(r.last) {
		firsts[r.last], seconds[r.last] = firsts[r.last] || seconds[r.last], false
	}
	for tier := range firsts {
		if err == nil && firsts[tier] {
			err = r.firsts.forget(tier)
		}
		if err == nil && seconds[tier] {
			err = r.seconds.forget(tier)
		}
	}
	return firsts, seconds, err
}

// runJobs runs the jobs that are missing and wanted.
func (r *run) runJobs(ctx context.Context) error {
	until, stop := r.last, r.UntilTier >= 0
	if stop {
		until = min(until, r.UntilTier)
	}
	firsts, seconds, err := r.plan(ctx, until)
	if err != nil {
		return err
	}
	for tier := range r.last + 1 {
		if !firsts[tier] {
			r.skip(r.by.weight(step.Possible, tier))
		} else if err := r.runTier(ctx, &r.firsts, tier); err != nil {
			return err
		}
		if tier > until {
			continue
		}
		if _, err := r.firsts.get(ctx, tier); err != nil {
			return err
		}
		if err := r.prune(ctx, true, tier); err != nil {
			return err
		}
	}
	if stop {
		return r.count(ctx, until)
	}
	if err := r.by.weigh(ctx); err != nil {
		return err
	}
	for tier := r.last; tier >= 0; tier-- {
		if !seconds[tier] {
			r.skip(r.by.weight(step.Solve, tier))
		} else if err := r.runTier(ctx, &r.seconds, tier); err != nil {
			return err
		}
		if err := r.prune(ctx, false, tier); err != nil {
			return err
		}
	}
	if r.tableComplete {
		return nil
	}
	return r.completeTable()
}

// A chain is the jobs of a tier in one direction: one, or, with inner moves, passes and, retrograde, values.
type chain struct {
	*outputs
	tier  int
	ended bool
	done  []*dir    // the passes
	index passIndex // the index of the last pass
	share float64   // the part of the tier's weight that the passes have done
}

// job returns the last job of the chain, without its input.
func (c *chain) job(step string) *runner.Job {
	_, tabled := c.run.tabled(c.tier)
	values := valued(c.run.method, c.tier) == c.directory(c.tier)
	return &runner.Job{Name: c.directory(c.tier), Step: step, Tier: c.tier, Table: values && !tabled && c.run.UntilTier < 0, Parts: c.forward || c.run.KeepAll}
}

// runTier runs the jobs of a tier in one direction.
func (r *run) runTier(ctx context.Context, of *outputs, tier int) error {
	c := &chain{outputs: of, tier: tier}
	loops := game.Loops(r.g, tier)
	if loops {
		if err := c.resume(ctx); err != nil {
			return err
		}
	}
	for !c.ended {
		job, err := r.by.next(ctx, c)
		if err != nil || job == nil {
			return err
		}
		if tier == 0 && job.Step == step.Possible {
			job.Step = step.Init
		}
		weight, pass := r.by.weight(job.Step, tier), loops && job.Step != step.Values
		if pass && job.Step != step.Begin {
			weight = 0 // see progress
		}
		c.ended = !pass
		if err := r.execute(ctx, job, weight, func(stats runner.Stats) error {
			if pass {
				return c.commitPass(ctx, job, stats)
			}
			return r.commitTier(ctx, job, stats)
		}); err != nil {
			return err
		}
	}
	return nil
}

// commitTier puts the shards that a job has written for the table there, and commits its directory: if that is complete,
// so is the tier of the table.
func (r *run) commitTier(ctx context.Context, job *runner.Job, stats runner.Stats) error {
	if step.IsForward(job.Step) {
		r.result.Tiers[job.Tier] = cmp.Or(stats.Positions, stats.Records)
	}
	size, err := r.take(ctx, job, stats.Records)
	if err != nil {
		return err
	}
	err = r.commit(job, stats.Records)
	r.size += size
	return err
}

// count sets Result.Tiers for the tiers that earlier runs made.
func (r *run) count(ctx context.Context, until int) (err error) {
	for tier := range until + 1 {
		n, solved := r.tabled(tier)
		switch counts := r.result.Tiers; {
		case counts[tier] >= 0:
		case solved:
			counts[tier] = int64(n)
		default:
			o, err := r.firsts.get(ctx, tier)
			if err != nil {
				return err
			}
			if counts[tier], err = r.by.positions(o); err != nil {
				return err
			}
		}
	}
	return nil
}
