package solve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// The passes over a tier with inner moves are data_firstN, data_firstN.1, …, forward, and data_secondN.0 (begin),
// data_secondN.1, …, data_secondN.t1, …, retrograde, before data_secondN (values). The index in the seal of a pass
// says what the passes up to it have done, and where the states of the positions are. As long as the tier is not solved, all
// these directories stay; files that no later pass reads are dropped. So a damaged one is noticed, and the passes of the
// tier run again, in its direction.

// A passIndex is the index of a pass: what the passes up to it have done.
type passIndex struct {
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

// reads reports whether a later pass reads the states in a directory.
func (x *passIndex) reads(name string) bool {
	return slices.ContainsFunc(x.Runs, func(run stateRun) bool { return run.Dir == name })
}

// passName returns the name of the directory of a pass. The first one backward is begin.
func (n *node) passName(at step.Stage) string {
	if !n.forward && at.Pass() == 0 {
		return n.name() + ".0"
	}
	return n.name() + at.Suffix()
}

// nextStage returns the next pass: the first one after the last that receives messages from those before.
func (n *node) nextStage() (next step.Stage, ok bool) {
	if len(n.dirs) == 0 {
		return step.At(n.tier, 0), true
	}
	now := n.dirs[len(n.dirs)-1].stage
	for _, d := range n.dirs {
		for _, to := range d.receivers {
			if to := step.Stage(to); to.Tier() == n.tier && to > now && (!ok || to < next) {
				next, ok = to, true
			}
		}
	}
	return next, ok
}

// nextPass completes the next job of a tier with inner moves; nil: there is none.
func (r *run) nextPass(n *node, job *runner.Job) (_ *runner.Job, err error) {
	at, ok := n.nextStage()
	if n.forward && !ok {
		return nil, nil
	}
	if ok {
		if job.Inbox, err = r.inbox(n, at); err != nil {
			return nil, err
		}
	}
	forward := r.node(true, n.tier)
	job.BordersFrom = r.data.Dir(forward.name())
	_, reversible := r.g.(game.Reversible)
	if !n.forward && len(n.dirs) == 0 {
		job.Name, job.Step, job.Table = n.passName(at), step.Begin, false
		for _, d := range forward.dirs {
			job.Runs = append(job.Runs, r.data.Dir(d.name))
		}
		if job.Absorb = len(job.Runs); !reversible {
			job.Edges = job.Runs
		}
		return job, nil
	}
	if !n.forward && !reversible { // begin has written the edges
		job.Edges = []string{r.data.Dir(n.dirs[0].name)}
	}
	var states []int64
	for _, run := range n.index.Runs {
		job.Runs, states = append(job.Runs, r.data.Dir(run.Dir)), append(states, run.States)
	}
	switch {
	case !ok:
		if n.index.Sent != n.index.Received {
			return nil, fmt.Errorf("%s: its passes sent %d messages, but received %d: driver solve --overwrite starts over", job.Name, n.index.Sent, n.index.Received)
		}
		job.Step, job.Absorb = step.Values, len(job.Runs)
		return job, nil
	case n.forward:
		job.Step = step.Mark
	case at.Pass() > step.TiesPass:
		job.Step = step.Ties
	}
	job.Name, job.Pass, job.Table = n.passName(at), at.Pass(), false
	rows := int64(0)
	for _, d := range job.Inbox {
		rows += d.Rows(at)
	}
	job.Absorb = absorb(states, rows)
	return job, nil
}

// absorb is how many of the newest of runs, whose numbers of rows are given from the oldest to the newest, a job absorbs
// that writes a number of new rows: each that has at most four times the rows that follow it. So a tier has few runs, and
// a row is written again only a few times.
func absorb(runs []int64, rows int64) (n int) {
	for n < len(runs) && runs[len(runs)-1-n] <= 4*rows {
		rows += runs[len(runs)-1-n]
		n++
	}
	return n
}

// commitPass commits the directory of a pass, with its index.
func (r *run) commitPass(ctx context.Context, n *node, job *runner.Job, stats runner.Stats) error {
	next, absorbed, records := n.index, job.Absorb, stats.Records
	if len(n.dirs) == 0 { // what begin absorbs is of the forward passes
		next.First, absorbed = stats.Positions, 0
	} else {
		next.Positions += stats.Positions
	}
	if job.Step == step.Solve || job.Step == step.Ties { // these are states, and there are no parts
		records = 0
	}
	next.Sent, next.Received = next.Sent+stats.Inner, next.Received+stats.Received
	next.Runs = slices.Clone(next.Runs[:len(next.Runs)-absorbed])
	if err := r.commit(job, records, &next); err != nil {
		return err
	}
	d, err := r.open(ctx, job.Name, job.Stage())
	n.index, n.dirs = next, append(n.dirs, d)
	return err
}

// statesIn returns the number of states in the directory of a seal.
func statesIn(seal *store.Seal) (n int64) {
	for _, f := range seal.Files {
		if strings.HasPrefix(f.Name, store.StatesPrefix) {
			n += int64(f.Records)
		}
	}
	return n
}

// progress returns which parts of the weight of a node the jobs before a job have done, and the job does. How many passes follow
// is unknown. Forward, each pass is a tenth of the rest; backward, half of the weight is that of the positions that are decided.
func (n *node) progress(name string) (before, of float64) {
	switch {
	case !n.loops:
		return 0, 1
	case n.forward:
		rest := math.Pow(0.9, float64(len(n.dirs)))
		return 1 - rest, 0.1 * rest
	case len(n.dirs) == 0: // begin
		return 0, 0.25
	case name == step.Values:
		return 0.75, 0.25
	}
	return 0.25 + float64(n.index.Positions)/float64(max(1, n.index.First))/2, 0
}

// lookPasses is look for a tier with inner moves. Passes of an earlier run can be continued if the directories of all of them
// are complete.
func (r *run) lookPasses(ctx context.Context, n *node) error {
	var values *dir
	if !n.forward {
		d, err := r.open(ctx, n.name(), step.At(n.tier, 0))
		if err != nil {
			return err
		}
		if values = d; d != nil && !r.KeepAll {
			n.dirs, n.ended = []*dir{d}, true
			return nil
		}
	}
	names, err := r.passNames(n)
	for range names {
		at, ok := n.nextStage()
		n.lacks = n.passName(at)
		d, failed := r.open(ctx, n.lacks, at)
		if err = cmp.Or(err, failed); err == nil && (!ok || d == nil) {
			err = &store.DamageError{Name: r.data.Dir(n.lacks), Reason: "missing or not complete"}
		}
		if err != nil {
			break
		}
		n.dirs = append(n.dirs, d)
	}
	if err == nil && len(names) > 0 {
		n.lacks = names[len(names)-1]
		if failed := json.Unmarshal(n.dirs[len(n.dirs)-1].seal.Passes, &n.index); failed != nil {
			err = &store.DamageError{Name: r.data.Dir(n.lacks), Reason: fmt.Sprintf("the index of its passes: %v", failed)}
		}
	}
	if err == nil {
		err = r.checkRuns(n)
	}
	at, more := n.nextStage()
	if err == nil && more && len(n.dirs) > 0 {
		_, err = r.inbox(n, at) // messages may have been received by a directory that is gone
	}
	if jobdir.Damaged(err) {
		n.fault, n.dirs = err, nil
		return nil
	}
	switch {
	case err != nil:
	case more:
		n.lacks = n.passName(at)
	case n.forward:
		n.ended = true
	case values != nil:
		n.dirs, n.ended = []*dir{values}, true
	default:
		n.lacks = n.name()
	}
	return err
}

// checkRuns returns an error if states that the next pass reads have been deleted, because a later pass, which is missing
// now, had absorbed them.
func (r *run) checkRuns(n *node) error {
	for _, run := range n.index.Runs {
		i := slices.IndexFunc(n.dirs, func(d *dir) bool { return d.name == run.Dir })
		if i < 0 || statesIn(n.dirs[i].seal) != run.States {
			return &store.DamageError{Name: r.data.Dir(run.Dir), Reason: "its states have been deleted"}
		}
	}
	return nil
}

// removePasses deletes the directories of the passes over a tier, the last first.
func (r *run) removePasses(n *node) error {
	names, err := r.passNames(n)
	for _, name := range slices.Backward(names) {
		err = errors.Join(err, r.remove(name))
	}
	return err
}

// passNames returns the names of the directories of the passes over a tier, in their order.
func (r *run) passNames(n *node) (names []string, err error) {
	stage := func(name string) step.Stage {
		at, _ := step.ParseStage("0"+strings.TrimPrefix(name, n.name()), 0) // not ok: pass 0
		return at
	}
	entries, err := r.data.FS.ReadDir(r.data.Path)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), n.name())
		if ok && jobName.MatchString(e.Name()) && (strings.HasPrefix(rest, ".") || rest == "" && n.forward) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(stage(a), stage(b)) })
	return names, err
}
