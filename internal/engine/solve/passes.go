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

// A passIndex is the index of a pass.
type passIndex struct {
	Game   string      `json:"game"`
	Passes []passFound `json:"passes"` // up to this one, in order
	Runs   []string    `json:"runs"`   // the directories with the newest states, from the oldest to the newest
}

// readIndex reads the index in the directory of a pass.
func (b *byLayers) readIndex(pass string) (index passIndex, err error) {
	name := path.Join(b.run.data.Dir(pass), store.IndexFile)
	text, err := jobdir.ReadSealed(b.run.data.FS, name)
	if err == nil {
		err = store.UnmarshalSummed(name, text, &index)
	}
	if err == nil && index.Game != b.g.Spec() {
		err = store.OtherGame(name, b.g.Spec(), index.Game)
	}
	return index, err
}

// positions returns the number of positions that the passes reached, or decided.
func (x *passIndex) positions() (n int64) {
	for _, found := range x.Passes {
		n += found.Positions
	}
	return n
}

// passFound is what a pass did.
type passFound struct {
	Name      string `json:"name"`      // of its directory
	Positions int64  `json:"positions"` // that it reached, or decided
	Sent      int64  `json:"sent"`      // messages within the tier
	Received  int64  `json:"received"`  // of these, by this pass
	States    int64  `json:"states"`    // that it wrote
}

// passes are the passes over a tier in one direction.
type passes struct {
	*byLayers
	d     *outputs
	tier  int
	done  []*passOutput
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

// rows returns the numbers of states in the runs.
func (p *passes) rows() (rows []int64) {
	for _, dir := range p.index.Runs {
		i := slices.IndexFunc(p.index.Passes, func(f passFound) bool { return f.Name == dir })
		rows = append(rows, p.index.Passes[i].States)
	}
	return rows
}

// dirs returns the paths of directories.
func (b *byLayers) dirs(names []string) (dirs []string) {
	for _, name := range names {
		dirs = append(dirs, b.run.data.Dir(name))
	}
	return dirs
}

// commit writes the index of a pass, and commits its directory.
func (p *passes) commit(ctx context.Context, job *runner.Job, stats runner.Stats) error {
	next := passIndex{Game: p.g.Spec(), Passes: append(slices.Clone(p.index.Passes), passFound{Name: job.Name, Positions: stats.Positions, Sent: stats.Inner, Received: stats.Received})}
	var absorbed []string
	if job.Step != step.Begin { // whose states are those of the forward passes
		absorbed = p.index.Runs[len(p.index.Runs)-job.Absorb:]
	}
	next.Runs = append(slices.Clone(p.index.Runs[:len(p.index.Runs)-len(absorbed)]), job.Name)
	records := stats.Records
	if job.Step == step.Solve || job.Step == step.Ties {
		next.Passes[len(next.Passes)-1].States, records = records, 0
	} else {
		n, err := stateRecords(job)
		if err != nil {
			return err
		}
		next.Passes[len(next.Passes)-1].States = n
	}
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
	return p.prune(absorbed)
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
	all := p.index.Passes[0].Positions // that begin has read
	p.share = float64(p.index.positions()-all) / float64(max(1, all))
	return (p.share - before) * p.weight(step.Ties, p.tier)
}

// stateRecords returns the number of states in the output of a job.
func stateRecords(job *runner.Job) (n int64, err error) {
	files, err := jobdir.SealAll(job.FS, job.Output)
	for _, f := range files {
		if layers.IsStates(f.Name) {
			n += int64(f.Records)
		}
	}
	return n, err
}

// prune deletes states that have been absorbed, and messages that have been received.
func (p *passes) prune(absorbed []string) error {
	if p.run.KeepAll {
		return nil
	}
	now := p.done[len(p.done)-1].stage
	for _, o := range p.done {
		states := slices.Contains(absorbed, o.name)
		waits := slices.ContainsFunc(o.receivers, func(to int) bool { return layers.Stage(to) > now || layers.Stage(to).Tier() != p.tier })
		_, err := o.drop(p.run, func(file string) bool {
			return states && layers.IsStates(file) || !waits && strings.HasPrefix(file, store.OutboxPrefix)
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
	names, err := p.dirNames()
	if err != nil || len(names) == 0 {
		return err
	}
	last := names[len(names)-1]
	p.index, err = p.readIndex(last)
	for _, found := range p.index.Passes {
		var o *passOutput
		if err == nil {
			if o, err = p.d.open(ctx, found.Name, p.stageOf(found.Name)); o == nil && err == nil {
				err = &store.DamageError{Name: p.run.data.Dir(found.Name), Reason: "missing or not complete"}
			}
		}
		p.done = append(p.done, o)
	}
	if err == nil {
		_, _, err = p.next()
	}
	if err == nil {
		p.run.skip(p.progress())
	}
	if err == nil || !jobdir.Damaged(err) {
		return err
	}
	p.run.notify(Damaged, last, "%v: the passes over tier %d are run again", err, p.tier)
	p.done, p.index = nil, passIndex{}
	return p.remove()
}

// remove deletes the directories of the passes, the last first.
func (p *passes) remove() error {
	names, err := p.dirNames()
	for _, name := range slices.Backward(names) {
		err = errors.Join(err, p.run.remove(name))
	}
	return err
}

// stageOf returns the stage of a directory.
func (p *passes) stageOf(name string) layers.Stage {
	at, _ := layers.ParseStage("0"+strings.TrimPrefix(name, p.d.name(p.tier)), 0) // not ok: pass 0
	return layers.At(p.tier, at.Pass())
}

// dirNames returns the names of the directories of the passes, in their order.
func (p *passes) dirNames() (names []string, err error) {
	entries, err := p.run.data.FS.ReadDir(p.run.data.Path)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), p.d.name(p.tier))
		if ok && jobName.MatchString(e.Name()) && (strings.HasPrefix(rest, ".") || rest == "" && p.d.forward) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(p.stageOf(a), p.stageOf(b)) })
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
		job := &runner.Job{Name: passName(true, at), Step: step.Mark, Tier: p.tier, Pass: at.Pass(), BordersFrom: b.run.data.Dir(first(p.tier)),
			Inbox: inbox, Runs: b.dirs(p.index.Runs), Absorb: layers.Absorb(p.rows(), p.index.Passes[len(p.done)-1].Positions)}
		if err := p.execute(ctx, job, 0); err != nil {
			return err
		}
	}
	b.run.result.Tiers[p.tier] = p.index.positions()
	b.run.done += (1 - p.share) * b.weight(step.Possible, p.tier)
	return nil
}

// backward runs the retrograde passes over a tier with inner moves, and sets the input of the job values.
func (b *byLayers) backward(ctx context.Context, job *runner.Job, forward *layerOutput) error {
	p := &passes{byLayers: b, d: &b.seconds, tier: job.Tier}
	if err := p.resume(ctx); err != nil {
		return err
	}
	if len(p.done) == 0 {
		if err := p.begin(ctx, job, forward); err != nil {
			return err
		}
	}
	for {
		next, inbox, err := p.next()
		if err != nil {
			return err
		}
		if next == 0 {
			break
		}
		if err := p.pass(ctx, job, next, inbox); err != nil {
			return err
		}
	}
	b.run.done += (1 - p.share) * b.weight(step.Ties, p.tier)
	sent, received := int64(0), int64(0)
	for _, found := range p.index.Passes {
		sent, received = sent+found.Sent, received+found.Received
	}
	if sent != received {
		return fmt.Errorf("%s: its passes sent %d messages, but received %d: driver solve --overwrite starts over", job.Name, sent, received)
	}
	job.Step, job.Edges, job.Runs, job.Absorb = step.Values, p.edges(), b.dirs(p.index.Runs), len(p.index.Runs)
	return nil
}

// edges returns the directory with the predecessors of the tier's positions; none if the game computes them.
func (p *passes) edges() []string {
	if _, ok := p.g.(game.Reversible); ok {
		return nil
	}
	return p.dirs([]string{p.index.Passes[0].Name})
}

// begin runs the first retrograde job of the tier.
func (p *passes) begin(ctx context.Context, of *runner.Job, forward *layerOutput) error {
	job := &runner.Job{Name: passName(false, of.Stage()), Step: step.Begin, Tier: p.tier, BordersFrom: of.BordersFrom}
	for _, o := range forward.passes {
		job.Runs = append(job.Runs, p.run.data.Dir(o.name))
	}
	job.Absorb = len(job.Runs)
	if _, ok := p.g.(game.Reversible); !ok {
		job.Edges = job.Runs
	}
	if err := p.seconds.send(ctx, job, p.tier+1, p.run.last+1); err != nil {
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
		if o.dir == nil { // they have been received, by a directory that is gone
			return 0, nil, &store.DamageError{Name: p.run.data.Dir(o.name), Reason: "its messages to " + passName(p.d.forward, next) + " have been deleted"}
		}
		inbox = append(inbox, o.dir)
	}
	return next, inbox, nil
}

// pass runs a pass of solve or ties.
func (p *passes) pass(ctx context.Context, of *runner.Job, at layers.Stage, inbox []*layers.Dir) error {
	job := &runner.Job{Name: passName(false, at), Step: step.Solve, Tier: p.tier, Pass: at.Pass(), BordersFrom: of.BordersFrom,
		Inbox: inbox, Edges: p.edges(), Runs: p.dirs(p.index.Runs)}
	if at.Pass() > layers.Ties {
		job.Step = step.Ties
	}
	rows := int64(0)
	for _, d := range inbox {
		rows += d.Rows(at)
	}
	job.Absorb = layers.Absorb(p.rows(), rows)
	return p.execute(ctx, job, 0)
}
