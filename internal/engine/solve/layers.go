package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// byLayers solves a game by layers of rows. The messages that a job sends to other stages
// are files in its directory, the outgoing files; they stay until all those stages have read
// them. The forward work is measured in tiers, as the number of positions is not yet known;
// the retrograde work in rows.
//
// When the outgoing files of a directory have been deleted, its seal still lists the stages
// that they were for. So a resumed run knows which jobs must be rerun to send their messages
// again. For the same purpose a data_secondN that is no longer needed stays until the game is
// solved, as a directory with nothing but a seal.
//
// A tier with inner moves has a directory for each pass over it, see passes.
type byLayers struct {
	run   *run
	g     game.Game
	table *tierTable

	rows []float64 // by tier, number of rows in data_first
	sum  float64   // of rows
	like string    // the last data_first that contains positions

	firsts, seconds outputs
}

// minDrop is the default of Options.MinDrop: writing the seal again costs as much as writing
// about this many bytes.
const minDrop = 256 << 10

// A layerOutput is the complete directories of a tier: one, or one for each forward pass over a tier with inner moves.
type layerOutput struct {
	output
	passes []*passOutput
}

// A passOutput is a complete directory of a job.
type passOutput struct {
	name      string
	stage     layers.Stage
	receivers []int // the stages that its messages are for
	seal      *store.Seal
	dir       *layers.Dir // nil if dropped
}

// sendsTo reports whether a directory had messages for a stage.
func (p *passOutput) sendsTo(to layers.Stage) bool {
	_, found := slices.BinarySearch(p.receivers, int(to))
	return found
}

// outputs are the directories of one direction.
type outputs struct {
	run     *run
	g       game.Game
	name    func(tier int) string
	forward bool

	mu sync.Mutex
	of []*layerOutput // by tier; nil if not complete or not checked yet
}

func newLayers(r *run, g game.Game) *tiers {
	t := newTierTable(r, g)
	r.work = 2
	n := r.last + 1
	return newTiers(r, g, t, &byLayers{run: r, g: g, table: t, rows: make([]float64, n),
		firsts: outputs{run: r, g: g, name: first, forward: true, of: make([]*layerOutput, n)}, seconds: outputs{run: r, g: g, name: second, of: make([]*layerOutput, n)}})
}

func (b *byLayers) weight(name string, tier int) float64 {
	all := b.rows[tier] / b.sum // of the retrograde jobs of the tier
	switch {
	case name == step.Possible:
		return 1 / float64(b.run.last+1)
	case name == step.Solve:
		return all
	case name == step.Ties: // all passes
		return all / 2
	}
	return all / 4 // begin, or values
}

// open opens a complete directory; nil: it is not complete.
func (d *outputs) open(ctx context.Context, name string, at layers.Stage) (*passOutput, error) {
	seal, err := d.run.sealOf(ctx, name)
	if err != nil || seal == nil {
		return nil, err
	}
	p := &passOutput{name: name, stage: at, seal: seal, receivers: seal.Receivers}
	sends := slices.ContainsFunc(seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.OutboxPrefix) })
	if sends || len(seal.Receivers) == 0 {
		if p.dir, err = layers.OpenDir(d.run.data.FS, d.run.data.Dir(name), d.g); err != nil {
			return nil, err
		}
		p.receivers = p.dir.Receivers()
	}
	return p, nil
}

// get returns the directories of a tier; nil: they are not complete.
func (d *outputs) get(ctx context.Context, tier int) (*layerOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.of[tier]; o != nil {
		return o, nil
	}
	passes, err := d.chain(ctx, tier)
	if err != nil || passes == nil {
		return nil, err
	}
	o := &layerOutput{passes: passes}
	for _, p := range passes {
		o.shards = o.shards || slices.ContainsFunc(p.seal.Files, func(f store.SealedFile) bool { return strings.HasPrefix(f.Name, store.PartPrefix) })
		for _, to := range p.receivers {
			if to := layers.Stage(to); to.Pass() == 0 {
				o.receivers = append(o.receivers, to.Tier())
				o.dropped = o.dropped || p.dir == nil
			}
		}
	}
	slices.Sort(o.receivers)
	o.receivers = slices.Compact(o.receivers)
	d.of[tier] = o
	return o, nil
}

// errLacking is returned for a directory that is not complete.
var errLacking = errors.New("a directory is not complete")

// chain returns the directories of the job of a tier and, forward, of the passes after it; nil: one is not complete. If
// all are kept, the retrograde passes must be complete, too.
func (d *outputs) chain(ctx context.Context, tier int) (passes []*passOutput, err error) {
	open := func(name string, at layers.Stage) ([]int, error) {
		p, err := d.open(ctx, name, at)
		if p == nil {
			return nil, cmp.Or(err, errLacking)
		}
		passes = append(passes, p)
		return p.receivers, nil
	}
	loops := game.Loops(d.g, tier)
	if loops && (d.forward || d.run.KeepAll) {
		err = eachPass(tier, d.forward, open)
	}
	if !loops || !d.forward && err == nil {
		passes = nil
		_, err = open(d.name(tier), layers.At(tier, 0))
	}
	if err != nil {
		passes = nil
	}
	if err == errLacking {
		err = nil
	}
	return passes, err
}

// send adds to a job's input the messages that the tiers first to end-1 have for pass 0 of its tier.
func (d *outputs) send(ctx context.Context, job *runner.Job, first, end int) error {
	for tier := first; tier < end; tier++ {
		o, err := d.get(ctx, tier)
		if err != nil {
			return err
		}
		if o == nil {
			continue
		}
		for _, p := range o.passes {
			if !p.sendsTo(layers.At(job.Tier, 0)) {
				continue
			}
			if p.dir == nil {
				return fmt.Errorf("%s: its messages to tier %d have been deleted", p.name, job.Tier)
			}
			job.Inbox = append(job.Inbox, p.dir)
		}
	}
	return nil
}

// remove deletes the directories of a tier.
func (d *outputs) remove(tier int) error {
	d.mu.Lock()
	o := d.of[tier]
	d.of[tier] = nil
	d.mu.Unlock()
	if o == nil {
		return d.run.remove(d.name(tier))
	}
	var err error
	for _, p := range slices.Backward(o.passes) {
		err = errors.Join(err, d.run.remove(p.name))
	}
	return err
}

// drop deletes the files of the directories of a tier whose names begin with prefix, where they are large
// enough. They include all messages.
func (d *outputs) drop(tier int, prefix string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.of[tier]
	for _, p := range o.passes {
		dropped, err := p.drop(d.run, func(file string) bool { return strings.HasPrefix(file, prefix) })
		if err != nil {
			return err
		}
		if dropped {
			o.dropped, p.dir = true, nil
		}
	}
	return nil
}

// drop deletes the files that goes selects, if they are large enough.
func (p *passOutput) drop(r *run, goes func(file string) bool) (dropped bool, err error) {
	var bytes int64
	for _, f := range p.seal.Files {
		if goes(f.Name) {
			bytes += f.Length
		}
	}
	if bytes < cmp.Or(r.MinDrop, minDrop) {
		return false, nil
	}
	p.seal.Receivers = p.receivers
	return true, p.seal.Drop(r.data.FS, r.data.Dir(p.name), goes)
}

func (b *byLayers) toRun(ctx context.Context, until int) (firsts, seconds []bool, err error) {
	look := func(d *outputs) func(tier int) *output {
		return func(tier int) *output {
			o, failed := d.get(ctx, tier)
			if failed != nil {
				err = failed
			}
			if o == nil {
				return nil
			}
			return &o.output
		}
	}
	firsts, seconds = layersToRun(tierState{tabled: b.table.tabled, until: until, stop: b.run.UntilTier >= 0, keepAll: b.run.KeepAll,
		first: look(&b.firsts), second: look(&b.seconds)})
	for tier := range firsts {
		if err == nil && firsts[tier] && b.firsts.of[tier] != nil {
			err = b.firsts.remove(tier)
		}
		if err == nil && seconds[tier] && b.seconds.of[tier] != nil {
			err = b.seconds.remove(tier)
		}
	}
	return firsts, seconds, err
}

func (b *byLayers) setPossible(ctx context.Context, job *runner.Job) error {
	job.BordersFrom = b.like
	return b.firsts.send(ctx, job, 0, job.Tier)
}

// forwardDone deletes the outgoing files of all tiers whose receiving tiers have been made.
func (b *byLayers) forwardDone(ctx context.Context, tier int) error {
	o, err := b.firsts.get(ctx, tier)
	if err != nil {
		return err
	}
	if o != nil && o.shards && o.passes[0].seal.Records() > 0 {
		b.like = b.run.data.Dir(first(tier))
	}
	for from, o := range b.firsts.of[:tier+1] {
		if b.run.KeepAll || o == nil || o.dropped || len(o.receivers) == 0 && len(o.passes) == 1 || len(o.receivers) > 0 && o.receivers[len(o.receivers)-1] > tier {
			continue
		}
		if err := b.firsts.drop(from, store.OutboxPrefix); err != nil {
			return err
		}
	}
	if tier == b.run.last {
		return b.weigh(ctx)
	}
	return nil
}

// weigh counts the rows of the tiers or, where these have been deleted, the positions.
func (b *byLayers) weigh(ctx context.Context) error {
	for tier := range b.rows {
		switch o, err := b.firsts.get(ctx, tier); {
		case err != nil:
			return err
		case o != nil && o.shards:
			for _, p := range o.passes {
				b.rows[tier] += float64(p.seal.Records())
			}
		case b.table.tabled[tier]:
			n, _ := b.table.positions(tier)
			b.rows[tier] = float64(n)
		}
		b.sum += b.rows[tier]
	}
	return nil
}

func (b *byLayers) setSolve(ctx context.Context, job *runner.Job) error {
	o, err := b.firsts.get(ctx, job.Tier)
	if err != nil {
		return err
	}
	job.BordersFrom = b.run.data.Dir(first(job.Tier))
	if game.Loops(b.g, job.Tier) {
		return b.backward(ctx, job, o)
	}
	job.Edges, job.Runs, job.Absorb = []string{job.BordersFrom}, []string{job.BordersFrom}, 1
	return b.seconds.send(ctx, job, job.Tier+1, b.run.last+1)
}

// clean deletes the positions of a tier, the passes over it, and the messages from later tiers, if all tiers that
// they were for have been solved.
func (b *byLayers) clean(tier int) error {
	if err := b.firsts.remove(tier); err != nil {
		return err
	}
	if game.Loops(b.g, tier) {
		p := &passes{byLayers: b, d: &b.seconds, tier: tier}
		if err := p.remove(); err != nil {
			return err
		}
	}
	for from := tier; from <= b.run.last; from++ {
		b.seconds.mu.Lock()
		o := b.seconds.of[from]
		b.seconds.mu.Unlock()
		if o == nil || len(o.passes[0].seal.Files) == 0 || len(o.receivers) > 0 && o.receivers[0] < tier {
			continue
		}
		if err := b.seconds.drop(from, ""); err != nil {
			return err
		}
	}
	return nil
}

func (b *byLayers) positions(ctx context.Context, tier int) (n int64, err error) {
	o, err := b.firsts.get(ctx, tier)
	if err != nil {
		return 0, err
	}
	if game.Loops(b.g, tier) {
		index, err := b.readIndex(o.passes[len(o.passes)-1].name)
		return index.First + index.Positions, err
	}
	return statesIn(o.passes[0].seal), nil
}

// statesIn returns the number of states in the directory of a seal.
func statesIn(seal *store.Seal) (n int64) {
	for _, f := range seal.Files {
		if layers.IsStates(f.Name) {
			n += int64(f.Records)
		}
	}
	return n
}
