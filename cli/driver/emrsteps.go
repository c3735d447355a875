package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/emr"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/filesys"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/runner/emrsteps"
	"github.com/treereduce/treereduce/internal/runner/inline"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/s3"
	"github.com/treereduce/treereduce/solve"
)

const (
	// stepTime is how long a step with one small job takes on a cluster: the service looks
	// for it every few seconds, and Hadoop starts three JVMs.
	stepTime = 45 * time.Second
	// clusterTime is how long a cluster takes until it takes a step.
	clusterTime = 10 * time.Minute
)

// perJob is the flag of --runner emr that makes each job a step.
const perJob = "step-per-job"

// stepsDir is where the objects of such runs are below --bucket.
const stepsDir = "steps"

// A stepRunner runs each job as a step of a cluster, which it makes when the first job
// comes, and ends when the run does.
type stepRunner struct {
	*emrCommand
	g        game.Game
	spec     *emr.Spec
	programs *emr.Bundle
	estimate *emrEstimate

	cluster *emr.Cluster     // nil before the first job
	steps   *emrsteps.Runner // nil before the cluster is ready
}

var _ readyRunner = (*stepRunner)(nil)

// newStepRunner reads the flags of a run with a step for each job.
func newStepRunner(c *cli.Context, _ *filesys.Place, _ string, _ int) (readyRunner, error) {
	place, err := bucketOf(c)
	if err != nil {
		return nil, err
	}
	if err := checkEMRFlags(c); err != nil {
		return nil, err
	}
	spec, err := specOf(c, place)
	if err != nil {
		return nil, err
	}
	// It waits for each step, and ends itself if none comes, when nobody is there any more.
	spec.Keep = true
	return &stepRunner{emrCommand: &emrCommand{c: c, place: place}, spec: spec}, nil
}

// Preflight asks whether the run can be, and whether it may cost what it does.
func (r *stepRunner) Preflight(ctx context.Context, g game.Game, _ jobdir.Codec, _ string) (err error) {
	if err := emrsteps.Check(g); err != nil {
		return command.Usagef("%w", err)
	}
	r.g = g
	// By its name driver emr rm knows where it writes; the policy of who runs driver wants
	// the tag.
	at := r.place.String() + "/" + stepsDir
	r.spec.Name = "treereduce " + at + " " + g.Spec()
	r.spec.Tags[emr.TagOfRun] = at
	if r.emrCommand, err = newEMRCommand(ctx, r.c, r.place); err != nil {
		return err
	}
	if err := r.openBucket(ctx); err != nil {
		return err
	}
	r.sayRegions()
	arch, err := emr.Architecture(r.spec.Worker)
	if err != nil {
		return err
	}
	if r.programs, err = programsFor(r.c, arch, "mapper", "reducer"); err != nil {
		return err
	}
	if id := r.c.String("cluster-id"); id != "" {
		if r.cluster, err = r.service.Join(ctx, id); err != nil {
			return err
		}
	}
	r.estimate = r.prices(r.spec)
	wall := clusterTime + time.Duration(jobsOf(g))*stepTime
	if r.estimate.limit, err = r.limitOf(max(usualLimit, 3*wall), r.estimate); err != nil {
		return err
	}
	if r.dry {
		return nil
	}
	text := fmt.Sprintf("%s, a step for each of %d jobs: about %s", game.TitleOf(g), jobsOf(g), hours(wall.Hours()))
	if r.estimate.perHour > 0 {
		text += fmt.Sprintf(" and $%.2f", r.estimate.perHour*wall.Hours())
	}
	what := "the cluster ends itself"
	if r.cluster != nil {
		text, what = text+" on cluster "+r.cluster.ID, "the run should end"
	}
	return confirm(ctx, r.c, text+"; "+r.estimate.latest(what))
}

// jobsOf is how many jobs a game by blocks has: one forward to each tier and one back,
// but from the last, and the text of all.
func jobsOf(g game.Game) int {
	tiers, ok := game.ByMethod(g).(game.Tiered)
	if !ok {
		return 0
	}
	return 2*tiers.Tiers() + 2
}

// Keeps is no: what a step writes that nobody has waited for is made again.
func (r *stepRunner) Keeps(context.Context, string) (bool, error) { return false, nil }

// Run runs a job as a step.
func (r *stepRunner) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	if r.steps == nil {
		if err := r.begin(ctx); err != nil {
			return runner.Stats{}, r.explain(ctx, err)
		}
	}
	stats, err := r.steps.Run(ctx, job)
	return stats, r.explain(ctx, err)
}

// explain says of an error whether the cluster has ended, and what to do.
func (r *stepRunner) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if r.cluster != nil && !errors.Is(err, emr.ErrEnded) {
		if state, asked := r.cluster.State(ctx); asked == nil && state.Over() {
			err = fmt.Errorf("%w (%w: %s)", err, emr.ErrEnded, state)
		}
	}
	return fmt.Errorf("%w; driver solve … --resume goes on", err)
}

// begin makes the cluster, if none was named, and waits for it.
func (r *stepRunner) begin(ctx context.Context) error {
	bin, err := r.put(r.programs)
	if err != nil {
		return err
	}
	if r.cluster == nil {
		if err := r.limit(r.spec, r.estimate.limit); err != nil {
			return err
		}
		// A Ctrl-C meanwhile waits: a cluster of which nobody knows must not be.
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.cluster, err = r.make(context.WithoutCancel(ctx), r.spec); err != nil {
			return err
		}
	}
	last := ""
	if err := r.cluster.Ready(ctx, func(s emr.ClusterState) {
		if text := s.String(); text != last && !r.dry {
			last = text
			r.tell(text)
		}
	}); err != nil {
		return err
	}
	_, binDir, err := s3.Split(bin)
	if err != nil {
		return err
	}
	r.steps = &emrsteps.Runner{
		Cluster: r.cluster, Cause: r.cause, FS: r.fs, Bin: binDir,
		Dir:    path.Join(r.place.prefix, stepsDir, r.cluster.ID),
		Define: r.c.StringSlice("D"),
	}
	return nil
}

// cause is why a step failed, from its logs.
func (r *stepRunner) cause(ctx context.Context, id string) (string, error) {
	_, dir, err := s3.Split(r.spec.LogURI)
	if err != nil {
		return "", err
	}
	logs := emr.Logs{FS: r.fs, Dir: dir, Cluster: r.cluster.ID, Every: r.c.Duration("poll"), Patience: logPatience, News: r.tell}
	return logs.Cause(ctx, id)
}

// close takes away what only the run needed, its cluster and its objects in S3, and returns
// the error of the run with those of that.
func (r *stepRunner) close(err error) error {
	errs := []error{err}
	// The cluster first: it costs, and may still write.
	switch {
	case r.cluster == nil:
	case r.c.IsSet("cluster-id") || r.c.Bool("keep-cluster"):
		r.tell(fmt.Sprintf("cluster %s goes on: driver emr down --cluster-id %s ends it", r.cluster.ID, r.cluster.ID))
	default:
		err := r.cluster.End(context.WithoutCancel(r.c.Context))
		if err == nil && !r.dry {
			r.tell(fmt.Sprintf("cluster %s ends", r.cluster.ID))
			forget(r.cluster.ID)
		}
		errs = append(errs, err)
	}
	if r.steps != nil {
		errs = append(errs, r.steps.Clean())
	}
	if errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil }); len(errs) == 1 {
		return errs[0] // as it is
	}
	return errors.Join(errs...)
}

// dryObjects are those of a dry run, in a folder of this machine.
type dryObjects struct {
	store.Local
	root, bucket string
}

func (o dryObjects) Name(name string) string {
	return "s3://" + path.Join(o.bucket, strings.TrimPrefix(name, o.root))
}

func (o dryObjects) Create(name string) (io.WriteCloser, error) {
	if err := o.MkdirAll(path.Dir(name)); err != nil {
		return nil, err
	}
	return o.Local.Create(name)
}

// showSteps is a dry run: it shows all requests of a run with a step for each job. What a
// step reads depends on what others write, so this process does what they would, into a
// folder that goes then.
func showSteps(c *cli.Context, g game.Game) (err error) {
	ready, err := newStepRunner(c, nil, "", 0)
	if err != nil {
		return err
	}
	r, ok := ready.(*stepRunner)
	if !ok {
		return fmt.Errorf("a runner of %T", ready)
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	if err := r.Preflight(ctx, g, jobdir.Text, ""); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "treereduce-dry-run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := r.begin(ctx); err != nil {
		return err
	}
	objects := dryObjects{root: filepath.Join(dir, "s3"), bucket: r.place.bucket}
	r.steps.FS, r.steps.Instead = objects, &inline.Runner{}
	r.steps.Bin, r.steps.Dir = path.Join(objects.root, r.steps.Bin), path.Join(objects.root, r.steps.Dir)
	o, err := solveOptions(c)
	if err != nil {
		return err
	}
	o.Runner, o.Codec, o.Reducers = r, jobdir.Text, max(1, o.Reducers)
	data, err := store.Create(store.Local{}, filepath.Join(dir, "data"), g.Spec(), store.Fresh, nil)
	if err != nil {
		return err
	}
	defer data.Close()
	_, err = solve.Run(ctx, data, g, o)
	return r.close(err)
}
