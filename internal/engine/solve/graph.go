package solve

import (
	"cmp"
	"context"
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

// The jobs of a game are a graph. A node of it is the jobs of a tier in one direction: one job, or if the tier has inner moves,
// passes (passes.go). The directory of a job has
//
//	parts      positions, or their values: reads says which nodes read them
//	messages   files for other stages in the same direction, if the method sends messages
//	states     files for later passes over the tier
//	shards     of the table, if the job gives the positions of the tier values: they move there when the directory is committed
//
// A resumed run looks for the complete directories of all nodes (look). Then it finds the nodes whose jobs must run (plan): those
// that give values to a tier that the table lacks, and, if their output is missing, those whose output such a node reads. After
// each job, what no later one reads is deleted (prune).
//
// When messages have been deleted, the seal of their directory still lists the stages that they were for. So a resumed run
// knows which jobs must run to send them again. Therefore a data_secondN stays until the game is solved, at the end as a
// directory with nothing but a seal.

// A node is the jobs of a tier in one direction.
type node struct {
	number  int // nodes run in the order of their numbers
	forward bool
	tier    int
	values  bool    // whether it gives the positions of the tier values
	loops   bool    // whether the tier has inner moves
	reader  int     // the number of the last node that reads its parts; its own if none does
	weight  float64 // its part of the work of the run

	runs  bool      // whether jobs must run
	dirs  []*dir    // its complete directories, in the order of their jobs; retrograde, if all are complete, only the last
	ended bool      // whether all its directories are complete
	lacks string    // the first directory that is not, if an earlier run has made the others
	fault error     // why passes of an earlier run cannot be continued
	index passIndex // what the last pass has written
}

// newNodes makes the nodes of the graph, forward from tier 0 to the last one, then back. If the positions of the last tier are
// all terminal, its forward job may give them values. The weight of a forward node is the number of
// slots of its tier, if that is known. All retrograde nodes together have twice the weight of all forward ones.
func (r *run) newNodes() {
	slots, sum := make([]float64, r.last+1), 0.0
	for tier := range slots {
		slots[tier], _ = r.method.Slots(tier)
		slots[tier] = cmp.Or(slots[tier], 1)
		sum += slots[tier]
	}
	for tier := range slots {
		r.nodes = append(r.nodes, &node{tier: tier, forward: true, values: r.method.ValuedFirst(tier), weight: slots[tier] / sum})
	}
	for tier := r.last; tier >= 0; tier-- {
		if !r.method.ValuedFirst(tier) {
			r.nodes = append(r.nodes, &node{tier: tier, values: true})
		}
	}
	for i, n := range r.nodes {
		n.number, n.reader, n.loops = i, i, game.Loops(r.g, n.tier)
		for _, of := range r.reads(n) {
			of.reader = i
		}
	}
}

// node returns a node: forward, or the one that gives the positions of a tier values.
func (r *run) node(forward bool, tier int) *node { return r.nodes[r.number(forward, tier)] }

// number returns the number of a node.
func (r *run) number(forward bool, tier int) int {
	if forward {
		return tier
	}
	return len(r.nodes) - 1 - tier
}

// reads returns the nodes whose parts a node reads. With messages, that is only what the forward pass has found; otherwise the
// tier beside its own, too. Values of positions that the table stores are read there.
func (r *run) reads(n *node) []*node {
	switch sends := r.method.Sends(); {
	case n.forward && (sends || n.tier == 0):
		return nil
	case n.forward:
		return []*node{r.node(true, n.tier-1)}
	case sends || r.stored:
		return []*node{r.node(true, n.tier)}
	}
	return []*node{r.node(true, n.tier), r.node(false, n.tier+1)}
}

// senders returns the nodes that may send messages to a node.
func (r *run) senders(n *node) []*node {
	switch {
	case !r.method.Sends():
		return nil
	case n.forward:
		return r.nodes[:n.number]
	}
	return r.nodes[r.last+1 : n.number]
}

// name returns the name of the directory of a node's job. A tier with passes has several: forward this is the first, retrograde
// the last.
func (n *node) name() string {
	if n.forward {
		return fmt.Sprintf("data_first%d", n.tier)
	}
	return fmt.Sprintf("data_second%d", n.tier)
}

// jobName matches the directories of all jobs but the last: those of tiers and of passes, also of earlier formats.
var jobName = regexp.MustCompile(`^(create|(data_first|data_second|mark|solve|ties)[0-9]+(\.t?[0-9]+)?)$`)

// IsRunArtifact reports whether a name in a data directory is one that runs use there, apart
// from the manifest and the names that begin with "_".
func IsRunArtifact(name string) bool {
	return jobName.MatchString(name) || slices.Contains([]string{table.Dir, FinalDir, store.JournalFile}, name)
}

// A dir is a complete directory of a job.
type dir struct {
	name      string
	stage     step.Stage
	seal      *store.Seal
	whole     bool          // whether its parts are usable: have all positions, if the runner needs all
	receivers []int         // the numbers of the stages that its messages are for, ascending
	box       runner.Sender // its messages; nil if there are none, or they have been deleted
}

// open opens a complete directory; nil: it is not complete.
func (r *run) open(ctx context.Context, name string, at step.Stage) (*dir, error) {
	seal, err := r.sealOf(ctx, name)
	if err != nil || seal == nil {
		return nil, err
	}
	d := &dir{name: name, stage: at, seal: seal, whole: true, receivers: seal.Receivers}
	if !r.stored {
		if d.whole, err = r.method.Whole(r.data.FS, r.data.Dir(name), seal); err != nil {
			return nil, err
		}
	}
	if d.has(store.OutboxPrefix) {
		if d.box, err = r.method.OpenSender(r.data.FS, r.data.Dir(name)); err == nil {
			d.receivers = d.box.Receivers()
		}
	}
	return d, err
}

// has reports whether a directory has files whose names begin with a prefix.
func (d *dir) has(prefix string) bool {
	return slices.ContainsFunc(d.seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, prefix) })
}

// sendsTo reports whether a directory has, or had, messages for a stage.
func (d *dir) sendsTo(to step.Stage) bool {
	_, found := slices.BinarySearch(d.receivers, int(to))
	return found
}

// hasParts reports whether the parts of a node exist.
func (n *node) hasParts() bool {
	return n.ended && slices.ContainsFunc(n.dirs, func(d *dir) bool { return d.whole && d.has(store.PartPrefix) })
}

// dropped reports whether messages of a node to a tier have been deleted, or may be missing.
func (n *node) dropped(tier int) bool {
	return !n.ended || slices.ContainsFunc(n.dirs, func(d *dir) bool { return d.box == nil && d.sendsTo(step.At(tier, 0)) })
}

// look finds the complete directories of a node in a data directory of an earlier run.
func (r *run) look(ctx context.Context, n *node) error {
	if n.loops {
		return r.lookPasses(ctx, n)
	}
	d, err := r.open(ctx, n.name(), step.At(n.tier, 0))
	if n.lacks = n.name(); d != nil {
		n.dirs, n.ended = []*dir{d}, true
	}
	return err
}

// plan finds the nodes whose jobs must run, up to a node: those whose output is wanted and missing, and those whose output a
// node that runs reads, if it is missing.
func (r *run) plan(until int) error {
	for _, n := range slices.Backward(r.nodes[:until+1]) {
		_, tabled := r.tabled(n.tier)
		wanted := n.values
		if r.UntilTier >= 0 {
			wanted = !n.hasParts()
		}
		if n.runs = n.runs || wanted && !tabled || r.KeepAll && !n.hasParts(); !n.runs {
			continue
		}
		for _, of := range r.reads(n) {
			of.runs = of.runs || !of.hasParts()
		}
		for _, of := range r.senders(n) {
			of.runs = of.runs || of.dropped(n.tier)
		}
		if n.ended { // its job replaces its directory, but passes would continue after those that are there
			if n.loops {
				if err := r.removeNode(n); err != nil {
					return err
				}
			}
			n.dirs, n.ended = nil, false
		}
	}
	return nil
}

// runJobs runs the jobs that are missing and wanted.
func (r *run) runJobs(ctx context.Context) error {
	until := len(r.nodes) - 1
	if r.UntilTier >= 0 {
		until = min(r.last, r.UntilTier)
	}
	for _, n := range r.nodes[:until+1] {
		if r.data.Resumed {
			if err := r.look(ctx, n); err != nil {
				return err
			}
		}
	}
	if err := r.plan(until); err != nil {
		return err
	}
	for i, n := range r.nodes[:until+1] {
		if i == r.last+1 {
			r.weigh()
		}
		if !n.runs {
			r.before += n.weight
		} else if err := r.runNode(ctx, n); err != nil {
			return err
		}
		r.done += n.weight
		if err := r.prune(n); err != nil {
			return err
		}
	}
	if r.UntilTier >= 0 {
		for tier := range until + 1 {
			r.result.Tiers = append(r.result.Tiers, r.positions(tier))
		}
		return nil
	}
	if r.tableComplete {
		return nil
	}
	return r.completeTable()
}

// runNode runs the jobs of a node.
func (r *run) runNode(ctx context.Context, n *node) error {
	if n.fault != nil {
		r.reportDamage(n.lacks, "%v: the passes over tier %d run again", n.fault, n.tier)
		if err := r.removeNode(n); err != nil {
			return err
		}
	}
	done, _ := n.progress("")
	r.before += done * n.weight
	for n.runs {
		job, err := r.next(n)
		if err != nil {
			return err
		}
		if job == nil { // no pass receives messages
			n.ended, n.runs = true, false
			break
		}
		pass := n.loops && job.Step != step.Values
		if err := r.execute(ctx, job, n, func(stats runner.Stats) error {
			if pass {
				return r.commitPass(ctx, n, job, stats)
			}
			return r.commitTier(ctx, n, job, stats)
		}); err != nil {
			return err
		}
		if n.runs {
			if err := r.prune(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the next job of a node, with its input; nil: there is none.
func (r *run) next(n *node) (job *runner.Job, err error) {
	_, tabled := r.tabled(n.tier)
	forward := r.data.Dir(r.node(true, n.tier).name())
	job = &runner.Job{Name: n.name(), Step: step.Solve, Tier: n.tier, Table: n.values && !tabled && r.UntilTier < 0, Parts: n.forward || r.KeepAll}
	switch {
	case n.forward && n.tier == 0:
		job.Step = step.Init
	case n.forward:
		job.Step = step.Possible
	}
	switch {
	case n.loops && (!n.forward || len(n.dirs) > 0):
		return r.nextPass(n, job)
	case r.method.Sends():
		if job.Inbox, err = r.inbox(n, job.Stage()); err != nil {
			return nil, err
		}
		if !n.forward {
			job.BordersFrom = forward
			job.Edges, job.Runs, job.Absorb = []string{forward}, []string{forward}, 1
			return job, nil
		}
		for _, of := range slices.Backward(r.nodes[:n.number]) { // the last that contains positions
			if of.hasParts() && of.dirs[0].seal.Records() > 0 {
				job.BordersFrom = r.data.Dir(of.name())
				break
			}
		}
	case n.forward:
		if n.tier > 0 {
			job.Input = []string{r.data.Dir(r.node(true, n.tier-1).name())}
		}
	default:
		successors := table.TierFile(n.tier + 1)
		if job.Parts = !r.stored; job.Parts {
			successors = r.node(false, n.tier+1).name()
		}
		job.Input, job.Predecessors = []string{r.data.Dir(successors)}, forward
	}
	return job, nil
}

// inbox returns the directories that have messages for a stage of a node.
func (r *run) inbox(n *node, at step.Stage) (dirs []runner.Sender, err error) {
	senders := []*node{n} // for a pass
	if at.Pass() == 0 {
		senders = r.senders(n)
	}
	for _, of := range senders {
		for _, d := range of.dirs {
			if !d.sendsTo(at) {
				continue
			}
			if d.box == nil {
				return nil, &store.DamageError{Name: r.data.Dir(d.name), Reason: "its messages to " + n.passName(at) + " have been deleted"}
			}
			dirs = append(dirs, d.box)
		}
	}
	return dirs, nil
}

// commitTier puts the shards that a job has written for the table there, and commits its directory: if that is complete,
// so is the tier of the table.
func (r *run) commitTier(ctx context.Context, n *node, job *runner.Job, stats runner.Stats) error {
	size, err := r.take(ctx, job, stats.Records)
	if err != nil {
		return err
	}
	if err := r.commit(job, stats.Records, nil); err != nil {
		return err
	}
	r.size += size
	d, err := r.open(ctx, job.Name, job.Stage())
	n.dirs, n.ended, n.runs = []*dir{d}, true, false
	return err
}

// prune deletes what no job reads after those that a node has run.
func (r *run) prune(now *node) error {
	if r.KeepAll {
		return nil
	}
	nodes := r.nodes[:now.number+1]
	if now.runs { // the other nodes are read until it has ended
		nodes = nodes[now.number:]
	}
	for _, n := range nodes {
		read := n.reader > now.number || now.runs || r.UntilTier >= 0
		if n.forward && !read {
			if n.reader == now.number { // otherwise it has been deleted
				if err := r.removeNode(n); err != nil {
					return err
				}
			}
			continue
		}
		for _, d := range n.dirs {
			if err := r.drop(n, d, now, read); err != nil {
				return err
			}
		}
	}
	if now.loops && !now.forward && !now.runs {
		return r.removePasses(now)
	}
	return nil
}

// minDrop is the default of Options.MinDrop: writing the seal again costs as much as writing
// about this many bytes.
const minDrop = 256 << 10

// drop deletes the files of a directory that no job reads after those that the node now has run, if they are large enough. read
// reports whether the parts are read.
func (r *run) drop(n *node, d *dir, now *node, read bool) error {
	waits := slices.ContainsFunc(d.receivers, func(stage int) bool {
		to := step.Stage(stage)
		number := r.number(n.forward, to.Tier())
		return number > now.number || number == now.number && now.runs && to > now.dirs[len(now.dirs)-1].stage
	})
	goes := func(file string) bool {
		switch {
		case strings.HasPrefix(file, store.OutboxPrefix):
			return !waits
		case n.loops && strings.HasPrefix(file, store.StatesPrefix):
			return !n.index.reads(d.name)
		}
		return !n.forward && n.ended && !waits && !read
	}
	var bytes int64
	for _, f := range d.seal.Files {
		if goes(f.Name) {
			bytes += f.Length
		}
	}
	if bytes < cmp.Or(r.MinDrop, minDrop) {
		return nil
	}
	if !waits {
		d.box = nil
	}
	d.seal.Receivers = d.receivers
	return d.seal.Drop(r.data.FS, r.data.Dir(d.name), goes)
}

// removeNode deletes the directories of a node.
func (r *run) removeNode(n *node) error {
	n.dirs, n.ended, n.index = nil, false, passIndex{}
	if n.loops {
		return r.removePasses(n)
	}
	return r.remove(n.name())
}

// positions returns the number of positions of a tier in the table, or in the directories of its forward node.
func (r *run) positions(tier int) int64 {
	if tabled, ok := r.tabled(tier); ok {
		return int64(tabled)
	}
	n := r.node(true, tier)
	if n.loops {
		return n.index.First + n.index.Positions
	}
	seal := n.dirs[0].seal
	return cmp.Or(statesIn(seal), int64(seal.Records()))
}

// weigh sets the weights of the retrograde nodes: positions in the table, or records of the forward nodes.
func (r *run) weigh() {
	sum := 0.0
	for _, n := range r.nodes[r.last+1:] {
		tabled, _ := r.tabled(n.tier)
		n.weight = float64(tabled)
		for _, d := range r.node(true, n.tier).dirs { // none if the tier is in the table
			n.weight += float64(d.seal.Records())
		}
		sum += n.weight
	}
	for _, n := range r.nodes[r.last+1:] {
		n.weight *= 2 / max(1, sum)
	}
}
