// Package emrsteps runs each job as a step of a cluster of Amazon EMR: Hadoop Streaming
// on lines of text, from S3 to S3. It is for small boards, and for whoever wants to see
// the loop of jobs as steps: the time of a job is that of its start.
//
//	data_first12/part-00000                        on the driver's machine
//	    DIR/in/CONTENT/part-00000, _SUCCESS        put there, unless it is there
//	    BIN/mapper, reducer
//	command-runner.jar hadoop-streaming …          a step, and its end is waited for
//	    DIR/out/data_first13-TRY/part-00000, _SUCCESS
//	_attempt-data_first13-TRY/part-00000           fetched
//
// What a step has made is input to the next where it lies: it is known by its content.
// The data directory is where the driver runs, with all that holds for it; S3 has copies.
// Only jobs on blocks can be run: in others the tasks keep files of their own beside
// their parts. The package knows nothing of the loop of jobs, nor who made the cluster.
package emrsteps

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/emr"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Cluster runs steps; an *emr.Cluster is one.
type Cluster interface {
	// RunStep adds a step and waits until it has ended. It returns its id as soon as
	// there is one, with an error too.
	RunStep(ctx context.Context, step emr.Step) (id string, err error)
	// Cancel ends steps.
	Cancel(ctx context.Context, ids ...string) error
}

// Objects are the files of S3; an *s3.FS is one.
type Objects interface {
	store.FS
	// Name is the name of a path for all: s3://bucket/path.
	Name(path string) string
}

// Runner is the runner of steps.
type Runner struct {
	Cluster Cluster
	// Cause is why a step has failed, in a line; nil, or an error of its: what the
	// service says has to do.
	Cause func(ctx context.Context, id string) (string, error)

	FS  Objects
	Dir string // the path in FS below which the objects of the run are

	// Bin is the path in FS of a directory with mapper and reducer, built for the cluster.
	Bin    string
	Define []string // further properties of the jobs, k=v

	// Instead, if it is not nil, makes what the steps would have made: of a dry run, whose
	// steps are shown and not done.
	Instead runner.Runner

	dirs map[string]string // paths in FS of directories whose content is known, by that
}

var _ runner.Runner = (*Runner)(nil)

const (
	// MostSlots is how many slots the tiers of a game may have: of 5×4 they are 10
	// million, of 5×5, which nobody sends as text through forty steps, 170 million.
	MostSlots = 20e6
	// poll is how often client, application master and resource manager ask one another
	// for news, in ms; the defaults, 1 to 5 s, are for jobs of hours.
	poll = 200
	// uberMaps is how many maps an application master runs itself; of more files each
	// map reads several.
	uberMaps = 9
	// cancelWait bounds what is done for a step that is to end before its time.
	cancelWait = 30 * time.Second
)

// Check says why the jobs of a game cannot be steps; nil if they can.
func Check(g game.Game) error {
	tiers, ok := game.ByMethod(g).(game.Tiered)
	if !ok {
		return fmt.Errorf("the tasks of %s keep files of their own, which a step in S3 has no place for: without --step-per-job the driver is the step", g.Spec())
	}
	slots := 0.0
	for tier := range tiers.Tiers() + 1 {
		slots += tiers.Slots(tier)
	}
	if slots > MostSlots {
		return fmt.Errorf("%s is too large for a step each job (%.2g slots, at most %.2g): without --step-per-job the driver is the step", g.Spec(), slots, float64(MostSlots))
	}
	return nil
}

// Run runs a job as a step.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	g, ok := game.ByMethod(job.Game).(game.Tiered)
	if !ok {
		return stats, Check(job.Game)
	}
	words, out, err := r.plan(ctx, job, g)
	if err != nil {
		return stats, err
	}
	s := emr.Step{Name: "treereduce " + job.Name + ": " + job.Game.Spec(), Args: words}
	if err := s.Check(); err != nil {
		return stats, err
	}
	id, err := r.Cluster.RunStep(ctx, s)
	if ctx.Err() != nil {
		r.cancel(ctx, id)
		return stats, context.Cause(ctx)
	}
	if err != nil {
		return stats, r.cause(ctx, id, err)
	}
	if r.Instead != nil {
		if stats, err = r.Instead.Run(ctx, job); err != nil {
			return stats, err
		}
		return stats, r.made(job, out)
	}
	parts, err := r.fetch(ctx, job, out)
	if err != nil {
		return stats, fmt.Errorf("step %s: %w", id, err)
	}
	stats.Application = id
	err = count(job, g, parts, &stats)
	return stats, err
}

// cancel ends a step that nobody waits for any more.
func (r *Runner) cancel(ctx context.Context, id string) {
	if id == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
	defer stop()
	_ = r.Cluster.Cancel(ctx, id) // one that cannot be ended writes where nobody looks
}

// cause is why a step failed, as far as its logs tell.
func (r *Runner) cause(ctx context.Context, id string, said error) error {
	var failed *emr.StepError
	if r.Cause == nil || !errors.As(said, &failed) {
		return said
	}
	text, err := r.Cause(ctx, id)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w (%w)", said, err)
	}
	return fmt.Errorf("%w: %s", said, text)
}

// plan puts what a job reads into S3, and returns the words of its step, and where it
// writes.
func (r *Runner) plan(ctx context.Context, job *runner.Job, g game.Tiered) (words []string, out string, err error) {
	inputs, files, err := r.inputs(ctx, job, g)
	if err != nil {
		return nil, "", err
	}
	borders, err := job.Borders()
	if err != nil {
		return nil, "", err
	}
	out = path.Join(r.Dir, "out", job.Name+"-"+strings.ToLower(rand.Text()[:12]))
	mapper, reducer := job.Step+"_map", job.Step+"_reduce"

	words = []string{"hadoop-streaming"}
	define := func(name string, value any) { words = append(words, "-D", fmt.Sprintf("%s=%v", name, value)) }
	define("mapreduce.job.name", "treereduce "+job.Name)
	define("mapreduce.client.completion.pollinterval", poll)
	define("mapreduce.client.progressmonitor.pollinterval", poll)
	define("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", poll)
	define("stream.jobconf.truncate.limit", 20000)
	for _, property := range step.Properties(job.Game, job.Step, job.Tier, job.States) {
		define("treereduce."+property.Name, property.Value)
	}
	define("treereduce.combine", job.Combine)
	keys := partKeys(borders, streamfmt.KeyWidth(job.Game.KeyBits()))
	define("mapreduce.job.reduces", len(keys)+1)
	if len(keys) == 0 {
		define("mapreduce.job.ubertask.enable", true)
		define("mapreduce.job.ubertask.maxmaps", uberMaps)
	} else {
		ranges, err := r.put(ctx, []part{{"ranges", hadoop.SequenceFile(hadoop.TextClass, keys)}})
		if err != nil {
			return nil, "", err
		}
		define("mapreduce.totalorderpartitioner.path", r.FS.Name(path.Join(ranges, "ranges")))
		define("mapreduce.totalorderpartitioner.naturalorder", false)
	}
	if files > uberMaps {
		define("stream.map.input.ignoreKey", true) // of any format but TextInputFormat it is put before the line
	}
	for _, d := range r.Define {
		words = append(words, "-D", d)
	}
	words = append(words, "-files", r.FS.Name(path.Join(r.Bin, "mapper"))+"#"+mapper+","+r.FS.Name(path.Join(r.Bin, "reducer"))+"#"+reducer,
		"-mapper", mapper, "-reducer", reducer)
	if len(keys) > 0 {
		words = append(words, "-partitioner", "org.apache.hadoop.mapred.lib.TotalOrderPartitioner")
	}
	if files > uberMaps {
		words = append(words, "-inputformat", hadoop.TogetherFormat)
	}
	for _, dir := range inputs {
		words = append(words, "-input", r.FS.Name(dir))
	}
	return append(words, "-output", r.FS.Name(out)), out, nil
}

// partKeys are the keys at which parts begin; of equal ones, which Hadoop would refuse,
// one.
func partKeys(borders []game.Position, width int) (keys [][]byte) {
	var last game.Position
	for _, border := range borders {
		if border > last {
			keys = append(keys, streamfmt.AppendKey(nil, border, width))
			last = border
		}
	}
	return keys
}

// A part is a file of a directory.
type part struct {
	name string
	text []byte
}

// inputs puts the directories that a job reads into S3, and returns where they are, and
// how many files they have.
func (r *Runner) inputs(ctx context.Context, job *runner.Job, g game.Tiered) (dirs []string, files int, err error) {
	add := func(parts []part, err error) error {
		if err != nil {
			return err
		}
		dir, err := r.put(ctx, parts)
		dirs, files = append(dirs, dir), files+len(parts)
		return err
	}
	for i, dir := range job.Input {
		if job.Step == step.Init {
			text, err := jobdir.ReadSealed(job.FS, dir)
			if err := add([]part{{jobdir.PartName(0, jobdir.Text), text}}, err); err != nil {
				return nil, 0, err
			}
			continue
		}
		if err := add(readParts(job, g, dir, job.InputTier(i))); err != nil {
			return nil, 0, err
		}
	}
	if job.Step == step.Solve {
		if err := add(readParts(job, g, job.Parents, job.Tier)); err != nil {
			return nil, 0, err
		}
	}
	return dirs, files, nil
}

// readParts reads the parts of a directory, or a packed file, as text.
func readParts(job *runner.Job, g game.Tiered, dir string, tier int) (parts []part, err error) {
	names, err := jobdir.Parts(job.FS, dir, job.Game.Spec())
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		p := part{name: jobdir.PartName(i, jobdir.Text)}
		if jobdir.IsText(name) {
			p.text, err = jobdir.ReadSealed(job.FS, name)
		} else {
			p.text, err = unpacked(job.FS, name, g, tier)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// unpacked is a packed file as text.
func unpacked(fsys store.FS, name string, g game.Tiered, tier int) ([]byte, error) {
	t, err := jobdir.OpenTierFiles(fsys, []string{name}, g, tier)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var text bytes.Buffer
	err = t.WriteLines(&text, 0, t.Len())
	return text.Bytes(), err
}

// content is a name that tells the content of a directory.
func content(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%s %d\n", p.name, len(p.text))
		h.Write(p.text)
	}
	return fmt.Sprintf("%.12x", h.Sum(nil))
}

// put puts a directory into S3, unless it is there: a step has made it, or an earlier run
// has put it. What says that it is whole comes last.
func (r *Runner) put(ctx context.Context, parts []part) (dir string, err error) {
	sum := content(parts)
	if dir, ok := r.dirs[sum]; ok {
		return dir, nil
	}
	dir = path.Join(r.Dir, "in", sum)
	if _, err := r.FS.Stat(path.Join(dir, store.Success)); err == nil {
		r.known(sum, dir)
		return dir, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, p := range append(slices.Clone(parts), part{name: store.Success}) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := store.WriteFile(r.FS, path.Join(dir, p.name), p.text); err != nil {
			return "", err
		}
	}
	r.known(sum, dir)
	return dir, nil
}

// known notes where a content lies.
func (r *Runner) known(sum, dir string) {
	if r.dirs == nil {
		r.dirs = make(map[string]string)
	}
	r.dirs[sum] = dir
}

// fetch fetches what a step has written, if it is whole.
func (r *Runner) fetch(ctx context.Context, job *runner.Job, out string) (parts []part, err error) {
	if _, err := r.FS.Stat(path.Join(out, store.Success)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("it has ended, but %s is not whole: there is no %s", r.FS.Name(out), store.Success)
		}
		return nil, err
	}
	entries, err := r.FS.ReadDir(out)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(e.Name(), store.PartPrefix) {
			continue
		}
		p := part{name: e.Name()}
		if p.text, err = store.ReadFile(r.FS, path.Join(out, e.Name())); err != nil {
			return nil, err
		}
		if err := store.WriteFile(job.FS, path.Join(job.Output, p.name), p.text); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s has no part", r.FS.Name(out))
	}
	r.known(content(parts), out)
	return parts, nil
}

// made notes that a step would have written what is in the directory of its job.
func (r *Runner) made(job *runner.Job, out string) error {
	entries, err := job.FS.ReadDir(job.Output)
	if err != nil {
		return err
	}
	var parts []part
	for _, e := range entries {
		text, err := store.ReadFile(job.FS, path.Join(job.Output, e.Name()))
		if err != nil {
			return err
		}
		parts = append(parts, part{e.Name(), text})
	}
	r.known(content(parts), out)
	return nil
}

// count counts and checks what a job has written.
func count(job *runner.Job, g game.Tiered, parts []part, stats *runner.Stats) error {
	var names []string
	for _, p := range parts {
		names = append(names, path.Join(job.Output, p.name))
		stats.Records += int64(bytes.Count(p.text, []byte{'\n'}))
	}
	if job.Step == step.Final { // which is of no tier
		return nil
	}
	t, err := jobdir.OpenTierFiles(job.FS, names, g, job.Tier)
	if err != nil {
		return err
	}
	defer t.Close()
	counts := t.Counts()
	stats.Records = int64(counts.Total())
	if job.Step == step.Possible {
		stats.Finished = stats.Records - int64(counts[streamfmt.Open])
	}
	return nil
}

// Clean removes what the run has in S3.
func (r *Runner) Clean() error {
	r.Bin, r.dirs = "", nil
	return r.FS.RemoveAll(r.Dir)
}
