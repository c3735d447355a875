package solve

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// The passes over a tier with inner moves are data_firstN, data_firstN.1, …, forward, and data_secondN.0 (begin),
// data_secondN.1, …, data_secondN.t1, …, retrograde, before data_secondN (values). The index in the directory of a pass
// says what the passes up to it have done, and where the states of the positions are. As long as the tier is not solved, all
// these directories stay; files that no later pass reads are dropped. So a damaged one is noticed, and the passes of the
// tier run again, in its direction.

// A passIndex is the index of a pass: what the passes up to it have done.
type passIndex struct {
	Game      string     `json:"game"`
	First     int64      `json:"first"`     // positions that the first pass reached; backward, all positions of the tier
	Positions int64      `json:"positions"` // that the passes after it reached, or decided
	Sent      int64      `json:"sent"`      // messages within the tier
	Received  int64      `json:"received"`  // of these
	Runs      []stateRun `json:"runs"`      // where the newest states are, from the oldest to the newest
}

// A stateRun is a directory with states.
type stateRun struct {
	Dir    string `json:"dir"`
	States int64  `json:"states"`
}

// readIndex reads the index in the directory of a pass.
func (r *run) readIndex(pass string) (index passIndex, err error) {
	name := path.Join(r.data.Dir(pass), store.IndexFile)
	text, err := jobdir.ReadSealed(r.data.FS, name)
	if err == nil {
		err = store.UnmarshalSummed(name, text, &index)
	}
	if err == nil && index.Game != r.data.Game {
		err = store.OtherGame(name, r.data.Game, index.Game)
	}
	return index, err
}

// passName returns the name of the directory of a pass. The first one backward is begin.
func passName(forward bool, at step.Stage) string {
	switch {
	case forward:
		return first(at.Tier()) + at.Suffix()
	case at.Pass() == 0:
		return second(at.Tier()) + ".0"
	}
	return second(at.Tier()) + at.Suffix()
}

// eachPass calls do for the directory of each pass over a tier in one direction, in the order of the passes: those that
// receive messages from the ones before, which do returns.
func eachPass(tier int, forward bool, do func(name string, at step.Stage) (receivers []int, err error)) error {
	var all []int
	for now, more := step.At(tier, 0), true; more; now, more = nextPass(now, all) {
		receivers, err := do(passName(forward, now), now)
		if err != nil {
			return err
		}
		all = append(all, receivers...)
	}
	return nil
}

// nextPass returns the first pass over the tier of now that comes after it and is one of the receivers.
func nextPass(now step.Stage, receivers []int) (next step.Stage, ok bool) {
	for _, to := range receivers {
		if to := step.Stage(to); to.Tier() == now.Tier() && to > now && (!ok || to < next) {
			next, ok = to, true
		}
	}
	return next, ok
}

// setRuns sets the states that a job reads. It absorbs some if the job writes about the given number of rows.
func (c *chain) setRuns(job *runner.Job, rows int64) {
	var states []int64
	for _, run := range c.index.Runs {
		job.Runs = append(job.Runs, c.run.data.Dir(run.Dir))
		states = append(states, run.States)
	}
	job.Absorb = layers.Absorb(states, rows)
}

// commitPass writes the index of a pass, and commits its directory.
func (c *chain) commitPass(ctx context.Context, job *runner.Job, stats runner.Stats) error {
	next, absorbed := c.index, job.Absorb
	if next.Game = c.run.data.Game; len(c.done) == 0 { // what begin absorbs is of the forward passes
		next.First, absorbed = stats.Positions, 0
	} else {
		next.Positions += stats.Positions
	}
	next.Sent, next.Received = next.Sent+stats.Inner, next.Received+stats.Received
	states, records := stats.Records, int64(0)
	if job.Step != step.Solve && job.Step != step.Ties {
		files, err := jobdir.SealAll(job.FS, job.Output)
		if err != nil {
			return err
		}
		states, records = statesIn(&store.Seal{Files: files}), stats.Records
	}
	stay := len(next.Runs) - absorbed
	next.Runs = append(slices.Clone(next.Runs[:stay]), stateRun{job.Name, states})
	text, err := store.MarshalSummed(next)
	if err == nil {
		err = store.WriteFile(job.FS, path.Join(job.Output, store.IndexFile), text)
	}
	if err == nil {
		err = c.run.commit(job, records)
	}
	if err != nil {
		return err
	}
	done, err := c.open(ctx, job.Name, job.Stage())
	if err != nil {
		return err
	}
	c.index, c.done = next, append(c.done, done)
	c.run.done += c.progress()
	return c.prune()
}

// progress returns the weight of what has been done since the last call. How many passes follow is unknown. Forward, each
// pass is a tenth of the rest of the tier's weight; backward, the weight without begin and values is that of the
// positions that are decided.
func (c *chain) progress() float64 {
	before := c.share
	if c.forward {
		c.share = 1 - math.Pow(0.9, float64(len(c.done)))
		return (c.share - before) * c.run.by.weight(step.Possible, c.tier)
	}
	c.share = float64(c.index.Positions) / float64(max(1, c.index.First))
	return (c.share - before) * c.run.by.weight(step.Ties, c.tier)
}

// prune deletes states that have been absorbed, and messages that have been received.
func (c *chain) prune() error {
	if c.run.KeepAll {
		return nil
	}
	now := c.done[len(c.done)-1].stage
	for _, o := range c.done {
		read := slices.ContainsFunc(c.index.Runs, func(r stateRun) bool { return r.Dir == o.name })
		waits := slices.ContainsFunc(o.receivers, func(to int) bool { return step.Stage(to) > now || step.Stage(to).Tier() != c.tier })
		_, err := o.drop(c.run, func(file string) bool {
			return !read && layers.IsStates(file) || !waits && strings.HasPrefix(file, store.OutboxPrefix)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// resume continues after the last of the passes of an earlier run, if all of their directories are complete; otherwise it
// removes them.
func (c *chain) resume(ctx context.Context) error {
	names, err := c.run.passNames(c.outputs, c.tier)
	if err != nil || len(names) == 0 {
		return err
	}
	err = eachPass(c.tier, c.forward, func(name string, at step.Stage) ([]int, error) {
		o, err := c.open(ctx, name, at)
		if o != nil {
			c.done = append(c.done, o)
			return o.receivers, nil
		}
		if err == nil && len(c.done) < len(names) {
			err = &store.DamageError{Name: c.run.data.Dir(name), Reason: "missing or not complete"}
		}
		return nil, err
	})
	last := names[len(names)-1]
	if err == nil {
		c.index, err = c.run.readIndex(last)
	}
	if err == nil {
		err = c.checkRuns()
	}
	if err == nil {
		_, _, err = c.next()
	}
	if err == nil {
		if !c.forward {
			c.run.skip(c.run.by.weight(step.Begin, c.tier))
		}
		c.run.skip(c.progress())
	}
	if err == nil || !jobdir.Damaged(err) {
		return err
	}
	c.run.notify(Damaged, last, "%v: the passes over tier %d run again", err, c.tier)
	c.done, c.index = nil, passIndex{}
	return c.run.removePasses(c.outputs, c.tier)
}

// checkRuns returns an error if states that the next pass reads have been deleted, because a later pass, which is missing
// now, had absorbed them.
func (c *chain) checkRuns() error {
	for _, run := range c.index.Runs {
		i := slices.IndexFunc(c.done, func(o *dir) bool { return o.name == run.Dir })
		if i < 0 || statesIn(c.done[i].seal) != run.States {
			return &store.DamageError{Name: c.run.data.Dir(run.Dir), Reason: "its states have been deleted"}
		}
	}
	return nil
}

// removePasses deletes the directories of the passes over a tier, the last first.
func (r *run) removePasses(of *outputs, tier int) error {
	names, err := r.passNames(of, tier)
	for _, name := range slices.Backward(names) {
		err = errors.Join(err, r.remove(name))
	}
	return err
}

// passNames returns the names of the directories of the passes over a tier, in their order.
func (r *run) passNames(of *outputs, tier int) (names []string, err error) {
	stage := func(name string) step.Stage {
		at, _ := step.ParseStage("0"+strings.TrimPrefix(name, of.directory(tier)), 0) // not ok: pass 0
		return at
	}
	entries, err := r.data.FS.ReadDir(r.data.Path)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), of.directory(tier))
		if ok && jobName.MatchString(e.Name()) && (strings.HasPrefix(rest, ".") || rest == "" && of.forward) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(stage(a), stage(b)) })
	return names, err
}

// next returns the next stage that receives rows, and the directories that have them; 0: there is none.
func (c *chain) next() (next step.Stage, inbox []runner.Sender, err error) {
	var all []int
	for _, o := range c.done {
		all = append(all, o.receivers...)
	}
	next, ok := nextPass(c.done[len(c.done)-1].stage, all)
	for _, o := range c.done {
		if !ok || !o.sendsTo(next) {
			continue
		}
		if o.box == nil { // they have been received, by a directory that is gone
			return 0, nil, &store.DamageError{Name: c.run.data.Dir(o.name), Reason: "its messages to " + passName(c.forward, next) + " have been deleted"}
		}
		inbox = append(inbox, o.box)
	}
	return next, inbox, nil
}
