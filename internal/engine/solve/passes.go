package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
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
func (b *byLayers) readIndex(pass string) (index passIndex, err error) {
	name := path.Join(b.data.Dir(pass), store.IndexFile)
	text, err := jobdir.ReadSealed(b.data.FS, name)
	if err == nil {
		err = store.UnmarshalSummed(name, text, &index)
	}
	if err == nil && index.Game != b.g.Spec() {
		err = store.OtherGame(name, b.g.Spec(), index.Game)
	}
	return index, err
}

// passes are the passes over a tier in one direction.
type passes struct {
	*byLayers
	d     *outputs
	tier  int
	done  []*dir
	index passIndex
	share float64 // of the weight of the tier, done by these
}

// passName returns the name of the directory of a pass. The first one backward is begin.
func passName(forward bool, at layers.Stage) string {
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
func eachPass(tier int, forward bool, do func(name string, at layers.Stage) (receivers []int, err error)) error {
	now, stages := layers.At(tier, 0), []layers.Stage{layers.At(tier, 0)}
	for {
		receivers, err := do(passName(forward, now), now)
		if err != nil {
			return err
		}
		for _, to := range receivers {
			if to := layers.Stage(to); to.Tier() == tier && to > now {
				stages = append(stages, to)
			}
		}
		stages = slices.DeleteFunc(stages, func(to layers.Stage) bool { return to <= now })
		if len(stages) == 0 {
			return nil
		}
		now = slices.Min(stages)
	}
}

// setRuns sets the states that a job reads. It absorbs some if the job writes about the given number of rows.
func (p *passes) setRuns(job *runner.Job, rows int64) {
	var states []int64
	for _, run := range p.index.Runs {
		job.Runs = append(job.Runs, p.data.Dir(run.Dir))
		states = append(states, run.States)
	}
	job.Absorb = layers.Absorb(states, rows)
}

// commit writes the index of a pass, and commits its directory.
func (p *passes) commit(ctx context.Context, job *runner.Job, stats runner.Stats) error {
	next, absorbed := p.index, job.Absorb
	if next.Game = p.g.Spec(); len(p.done) == 0 { // what begin absorbs is of the forward passes
		next.First, absorbed = stats.Positions, 0
	} else {
		next.Positions += stats.Positions
	}
	next.Sent, next.Received = next.Sent+stats.Inner, next.Received+stats.Received
	states, records := stats.Records, int64(0)
	if job.Step != step.Solve && job.Step != step.Ties {
		n, err := stateRecords(job)
		if err != nil {
			return err
		}
		states, records = n, stats.Records
	}
	stay := len(next.Runs) - absorbed
	next.Runs = append(slices.Clone(next.Runs[:stay]), stateRun{job.Name, states})
	text, err := store.MarshalSummed(next)
	if err == nil {
		err = store.WriteFile(job.FS, path.Join(job.Output, store.IndexFile), text)
	}
	if err == nil {
		err = p.run.commit(job, records)
	}
	if err != nil {
		return err
	}
	done, err := p.d.open(ctx, job.Name, job.Stage())
	if err != nil {
		return err
	}
	p.index, p.done = next, append(p.done, done)
	p.run.done += p.progress()
	return p.prune()
}

// progress returns the weight of what has been done since the last call. How many passes follow is unknown. Forward, each
// pass is a tenth of the rest of the tier's weight; backward, the weight without begin and values is that of the
// positions that are decided.
func (p *passes) progress() float64 {
	before := p.share
	if p.d.forward {
		p.share = 1 - math.Pow(0.9, float64(len(p.done)))
		return (p.share - before) * p.weight(step.Possible, p.tier)
	}
	p.share = float64(p.index.Positions) / float64(max(1, p.index.First))
	return (p.share - before) * p.weight(step.Ties, p.tier)
}

// stateRecords returns the number of states in the output of a job.
func stateRecords(job *runner.Job) (n int64, err error) {
	entries, err := job.FS.ReadDir(job.Output)
	for _, e := range entries {
		if err == nil && layers.IsStates(e.Name()) {
			var f store.SealedFile
			f, err = jobdir.Seal(job.FS, path.Join(job.Output, e.Name()))
			n += int64(f.Records)
		}
	}
	return n, err
}

// prune deletes states that have been absorbed, and messages that have been received.
func (p *passes) prune() error {
	if p.KeepAll {
		return nil
	}
	now := p.done[len(p.done)-1].stage
	for _, o := range p.done {
		read := slices.ContainsFunc(p.index.Runs, func(r stateRun) bool { return r.Dir == o.name })
		waits := slices.ContainsFunc(o.receivers, func(to int) bool { return layers.Stage(to) > now || layers.Stage(to).Tier() != p.tier })
		_, err := o.drop(p.run, func(file string) bool {
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
func (p *passes) resume(ctx context.Context) error {
	names, err := p.passNames(p.d, p.tier)
	if err != nil || len(names) == 0 {
		return err
	}
	err = eachPass(p.tier, p.d.forward, func(name string, at layers.Stage) ([]int, error) {
		o, err := p.d.open(ctx, name, at)
		if o != nil {
			p.done = append(p.done, o)
			return o.receivers, nil
		}
		if err == nil && len(p.done) < len(names) {
			err = &store.DamageError{Name: p.data.Dir(name), Reason: "missing or not complete"}
		}
		return nil, err
	})
	last := names[len(names)-1]
	if err == nil {
		p.index, err = p.readIndex(last)
	}
	if err == nil {
		err = p.checkRuns()
	}
	if err == nil {
		_, _, err = p.next()
	}
	if err == nil {
		p.skip(p.progress())
	}
	if err == nil || !jobdir.Damaged(err) {
		return err
	}
	p.notify(Damaged, last, "%v: the passes over tier %d are run again", err, p.tier)
	p.done, p.index = nil, passIndex{}
	return p.removePasses(p.d, p.tier)
}

// checkRuns returns an error if states that the next pass reads have been deleted, because a later pass, which is missing
// now, had absorbed them.
func (p *passes) checkRuns() error {
	for _, run := range p.index.Runs {
		i := slices.IndexFunc(p.done, func(o *dir) bool { return o.name == run.Dir })
		if i < 0 || statesIn(p.done[i].seal) != run.States {
			return &store.DamageError{Name: p.data.Dir(run.Dir), Reason: "its states have been deleted"}
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
	stage := func(name string) layers.Stage {
		at, _ := layers.ParseStage("0"+strings.TrimPrefix(name, of.name(tier)), 0) // not ok: pass 0
		return at
	}
	entries, err := r.data.FS.ReadDir(r.data.Path)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), of.name(tier))
		if ok && jobName.MatchString(e.Name()) && (strings.HasPrefix(rest, ".") || rest == "" && of.forward) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(stage(a), stage(b)) })
	return names, err
}

// forward runs the forward passes over a tier with inner moves; of is the first.
func (b *byLayers) forward(ctx context.Context, of *runner.Job) error {
	p := &passes{byLayers: b, d: &b.firsts, tier: of.Tier}
	if err := p.resume(ctx); err != nil {
		return err
	}
	if len(p.done) == 0 {
		if p.tier == 0 {
			of.Step = step.Init
		} else if err := b.setPossible(ctx, of); err != nil {
			return err
		}
		if err := p.execute(ctx, of, 0); err != nil {
			return err
		}
	}
	for {
		at, inbox, err := p.next()
		if err != nil {
			return err
		}
		if at == 0 {
			break
		}
		if err := p.pass(ctx, step.Mark, at, inbox, b.data.Dir(first(p.tier))); err != nil {
			return err
		}
	}
	b.result.Tiers[p.tier] = p.index.First + p.index.Positions
	b.done += (1 - p.share) * b.weight(step.Possible, p.tier)
	return nil
}

// backward runs the retrograde passes over a tier with inner moves, and sets the input of the job values.
func (b *byLayers) backward(ctx context.Context, job *runner.Job, forward *output) error {
	p := &passes{byLayers: b, d: &b.seconds, tier: job.Tier}
	if err := p.resume(ctx); err != nil {
		return err
	}
	if len(p.done) == 0 {
		if err := p.begin(ctx, job, forward); err != nil {
			return err
		}
	} else {
		b.skip(b.weight(step.Begin, p.tier))
	}
	for {
		next, inbox, err := p.next()
		if err != nil {
			return err
		}
		if next == 0 {
			break
		}
		name := step.Solve
		if next.Pass() > layers.Ties {
			name = step.Ties
		}
		if err := p.pass(ctx, name, next, inbox, job.BordersFrom); err != nil {
			return err
		}
	}
	b.done += (1 - p.share) * b.weight(step.Ties, p.tier)
	if sent, received := p.index.Sent, p.index.Received; sent != received {
		return fmt.Errorf("%s: its passes sent %d messages, but received %d: driver solve --overwrite starts over", job.Name, sent, received)
	}
	job.Step, job.Edges = step.Values, p.edges()
	p.setRuns(job, 0)
	job.Absorb = len(job.Runs)
	return nil
}

// edges returns the directory with the predecessors of the tier's positions; none if the game computes them.
func (p *passes) edges() []string {
	if _, ok := p.g.(game.Reversible); ok {
		return nil
	}
	return []string{p.data.Dir(p.done[0].name)}
}

// begin runs the first retrograde job of the tier.
func (p *passes) begin(ctx context.Context, of *runner.Job, forward *output) error {
	job := &runner.Job{Name: passName(false, of.Stage()), Step: step.Begin, Tier: p.tier, BordersFrom: of.BordersFrom}
	for _, o := range forward.passes {
		job.Runs = append(job.Runs, p.data.Dir(o.name))
	}
	job.Absorb = len(job.Runs)
	if _, ok := p.g.(game.Reversible); !ok {
		job.Edges = job.Runs
	}
	if err := p.send(ctx, job, &p.seconds, p.tier+1, p.last+1); err != nil {
		return err
	}
	return p.execute(ctx, job, p.weight(step.Begin, p.tier))
}

// execute runs the job of a pass.
func (p *passes) execute(ctx context.Context, job *runner.Job, weight float64) error {
	return p.run.execute(ctx, job, weight, func(stats runner.Stats) error { return p.commit(ctx, job, stats) })
}

// next returns the next stage that receives rows, and the directories that have them; 0: there is none.
func (p *passes) next() (next layers.Stage, inbox []*layers.Dir, err error) {
	now := p.done[len(p.done)-1].stage
	for _, o := range p.done {
		for _, to := range o.receivers {
			if to := layers.Stage(to); to.Tier() == p.tier && to > now && (next == 0 || to < next) {
				next = to
			}
		}
	}
	for _, o := range p.done {
		if next == 0 || !o.sendsTo(next) {
			continue
		}
		if o.box == nil { // they have been received, by a directory that is gone
			return 0, nil, &store.DamageError{Name: p.data.Dir(o.name), Reason: "its messages to " + passName(p.d.forward, next) + " have been deleted"}
		}
		inbox = append(inbox, o.box)
	}
	return next, inbox, nil
}

// pass runs a pass after the first.
func (p *passes) pass(ctx context.Context, name string, at layers.Stage, inbox []*layers.Dir, bordersFrom string) error {
	job := &runner.Job{Name: passName(p.d.forward, at), Step: name, Tier: p.tier, Pass: at.Pass(), BordersFrom: bordersFrom, Inbox: inbox}
	if !p.d.forward {
		job.Edges = p.edges()
	}
	rows := int64(0)
	for _, d := range inbox {
		rows += d.Rows(at)
	}
	p.setRuns(job, rows)
	return p.execute(ctx, job, 0)
}
